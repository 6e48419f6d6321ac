"""nautobot as its own package sets it up, with Toolbooth added: an app and a URL.

Its database is PostgreSQL's `toolbooth_nautobot`, its caches are Redis' databases 11 and 12.
"""

import os

DATABASE = os.environ.setdefault("NAUTOBOT_DB_NAME", "toolbooth_nautobot")
STATE = os.environ["HOST_STATE"]

os.environ.update(
    NAUTOBOT_ROOT=STATE,
    NAUTOBOT_DB_HOST="127.0.0.1",
    NAUTOBOT_DB_PORT="5432",
    NAUTOBOT_DB_USER=os.environ.get("NAUTOBOT_DB_USER", "postgres"),
    NAUTOBOT_DB_ENGINE="django.db.backends.postgresql",
    NAUTOBOT_REDIS_HOST="127.0.0.1",
    NAUTOBOT_INSTALLATION_METRICS_ENABLED="false",
    NAUTOBOT_SECRET_KEY="only for tests",
    NAUTOBOT_ALLOWED_HOSTS="testserver 127.0.0.1",
)

from nautobot.core.settings import *  # noqa: E402, F403
from nautobot.core.settings import CACHES, INSTALLED_APPS  # noqa: E402
from nautobot.core.settings_funcs import parse_redis_connection  # noqa: E402

CACHES["default"]["LOCATION"] = parse_redis_connection(redis_database=11)
CELERY_BROKER_URL = "memory://"
CELERY_TASK_ALWAYS_EAGER = True
OTEL_TRACES_EXPORTER = ["none"]
OTEL_METRICS_EXPORTER = ["none"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = {"version": 1, "disable_existing_loggers": False}

# The two lines that every project adds.
INSTALLED_APPS = [*INSTALLED_APPS, "toolbooth.django"]
ROOT_URLCONF = "nautobot_urls"
