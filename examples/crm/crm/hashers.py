"""How the example hashes passwords. Not for a real project."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class DemoHasher(PBKDF2PasswordHasher):
    """Django's own hasher with few rounds. With Basic authentication the password is checked on
    every request, and Django's default takes about a second of CPU time for it.
    """

    iterations = 1_000
