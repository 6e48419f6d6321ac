"""Plain Django, as in production. The environment selects the configuration to measure.

BENCH_GATEWAY: toolbooth, frisian or none. BENCH_SERVER: gunicorn or uvicorn. BENCH_RESOURCES: how
many besides contacts, companies and tags. BENCH_PERMISSIONS: see `api`. BENCH_DISPATCH: the setting
of Toolbooth, none by default. BENCH_WARM_FILE: the same. BENCH_MIDDLEWARE: the import path of one
more class, none by default.
"""

import os

GATEWAY = os.environ["BENCH_GATEWAY"]

SECRET_KEY = "only for the bench"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "rest_framework.authtoken",
    "servers.django_project",
    *{"toolbooth": ["toolbooth.django"], "frisian": ["frisian_mcp"], "none": []}[GATEWAY],
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    *filter(None, [os.environ.get("BENCH_MIDDLEWARE")]),
]
ROOT_URLCONF = "servers.django_project.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["BENCH_DATABASE"],
        "ATOMIC_REQUESTS": True,
        # Kept open, as in production, if threads live long enough; under ASGI they do not.
        "CONN_MAX_AGE": None if os.environ["BENCH_SERVER"] == "gunicorn" else 0,
        "OPTIONS": {
            "timeout": 60,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler", "level": "ERROR"}},
    "root": {"handlers": ["console"]},
}

# For a list, an authenticator that is not REST framework's own runs once per view.
_PERMISSIONS = os.environ.get("BENCH_PERMISSIONS", "watched")
_AUTHENTICATORS = {
    "of models": "rest_framework.authentication.TokenAuthentication",
    "of models, own stateless token": "servers.django_project.watched.StatelessToken",
}
_WATCHED = "servers.django_project.watched.WatchedToken"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [_AUTHENTICATORS.get(_PERMISSIONS, _WATCHED)],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 20,
}

_OWN_SETTINGS = {
    "DISPATCH": os.environ.get("BENCH_DISPATCH"),
    "WARM_FILE": os.environ.get("BENCH_WARM_FILE"),
}
TOOLBOOTH = {name: value for name, value in _OWN_SETTINGS.items() if value}

# frisian-mcp does not authenticate and has its own rules for who may write, unless it is set
# otherwise.
FRISIAN_MCP_AUTHENTICATION_CLASSES = REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"]
FRISIAN_MCP_TOKEN_TIER_MAP = {"superuser": "admin", "staff": "read_write", "default": "read_write"}
FRISIAN_MCP_TOOL_NAME_SEPARATOR = "__"
FRISIAN_MCP_PERMISSION_AWARE_DISCOVERY = _PERMISSIONS.startswith("of models")
