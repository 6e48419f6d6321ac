"""The example's settings, with passwords that are checked quickly."""

from crm.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
