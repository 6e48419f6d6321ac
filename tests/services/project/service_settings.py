"""Settings of the project of tests/services; the environment names the database."""

import json
import os

SECRET_KEY = "only for tests"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "toolbooth.django",
    "ledger",
]
# Outside the gateway, in front of every request. It ends the worker where a call requests it.
MIDDLEWARE = ["kill_points.KillPoints"]
ROOT_URLCONF = "service_urls"
DATABASES = {"default": json.loads(os.environ["SERVICES_DATABASE"])}
if DATABASES["default"]["ENGINE"].endswith("mysql"):
    # Django asks for mysqlclient, which needs a compiler and MariaDB's headers.
    import pymysql

    pymysql.install_as_MySQLdb()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Passwords are not tested here: the usual hasher takes longer than everything else.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# MariaDB and SQLite have no deferred constraints, and Django warns about that at every start.
SILENCED_SYSTEM_CHECKS = ["models.W038"]
USE_TZ = True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
}
TOOLBOOTH = {"PREVIEW_MIDDLEWARE": MIDDLEWARE}
