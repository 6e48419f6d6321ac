"""How the example hashes passwords. Not for a real project."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class DemoHasher(PBKDF2PasswordHasher):
    """Django's own hasher with few rounds. With Basic authentication the password is checked on
    every request, and Django's default makes that a second of work each time.
    """

    iterations = 1_000
