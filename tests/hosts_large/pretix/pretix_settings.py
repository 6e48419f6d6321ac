"""pretix as its own package sets it up, with Toolbooth added.

Two lines are not enough for the URL: pretix's MultiDomainMiddleware sets `request.urlconf` to
`pretix.multidomain.maindomain_urlconf`, whatever ROOT_URLCONF is. So the app `pretix_mcp` adds the
URL there. ApiScopeMiddleware, which every call needs, runs by itself: TOOLBOOTH["INNER_MIDDLEWARE"]
is "auto".
"""

import os
from pathlib import Path

STATE = Path(os.environ["HOST_STATE"])
os.environ["DATA_DIR"] = str(STATE)
os.environ["PRETIX_CONFIG_FILE"] = str(STATE / "pretix.cfg")  # there is none: all defaults

from pretix.settings import *  # noqa: E402, F403
from pretix.settings import INSTALLED_APPS, LOGGING  # noqa: E402

INSTALLED_APPS = [*INSTALLED_APPS, "toolbooth.django", "pretix_mcp"]


class NoMigrations:
    """Tables are made from the models: on SQLite, pretix's migrations take very long."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


MIGRATION_MODULES = NoMigrations()
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = {**LOGGING, "loggers": {}, "root": {"level": "CRITICAL", "handlers": []}}
