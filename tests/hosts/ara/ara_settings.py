"""ARA as its own package sets it up, with Toolbooth added."""

import json
import os
from pathlib import Path

STATE = Path(__file__).resolve().parents[3] / ".hosts" / "ara" / "state"
os.environ["ARA_BASE_DIR"] = str(STATE)
os.environ["ARA_SECRET_KEY"] = "only for tests"
os.environ["ARA_WRITE_LOGIN_REQUIRED"] = "true"

from ara.server.settings import *  # noqa: E402, F403
from ara.server.settings import INSTALLED_APPS, MIDDLEWARE  # noqa: E402

ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
INSTALLED_APPS = [*INSTALLED_APPS, "toolbooth.django"]
MIDDLEWARE = list(MIDDLEWARE)
ROOT_URLCONF = "ara_urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": STATE / "db.sqlite3"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
TOOLBOOTH = {"DISPATCH": json.loads(os.environ.get("ARA_DISPATCH", "null"))}
