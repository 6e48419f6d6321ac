"""label-studio's own settings, and the two lines."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

STATE = Path(os.environ["HOST_STATE"])

os.environ |= {
    "LABEL_STUDIO_BASE_DATA_DIR": str(STATE),
    "LABEL_STUDIO_DATABASE_NAME": str(STATE / "label_studio.sqlite3"),
    "DJANGO_DB": "sqlite",
    "LOG_LEVEL": "CRITICAL",
    # No request leaves this machine.
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "USE_DEFAULT_BANNED_SUBNETS": "false",  # loopback is allowed
    "ML_BLOCK_LOCAL_IP": "false",
    "AWS_MAX_ATTEMPTS": "1",
    "LOCAL_FILES_SERVING_ENABLED": "true",
    # Rows name files in it, so that it is the same for every comparison.
    "LOCAL_FILES_DOCUMENT_ROOT": str(Path(sys.prefix) / "state" / "files"),
}
# Its packages import each other as `core`, `users`, ..., as its manage.py does.
spec = find_spec("label_studio")
assert spec is not None
assert spec.origin is not None
sys.path.insert(0, str(Path(spec.origin).parent))

# Its settings read themselves while they are being imported, so these names must be set before.
from core.settings.base import *  # noqa: E402, F403
from core.settings.label_studio import *  # noqa: E402, F403

INSTALLED_APPS = [*INSTALLED_APPS, "toolbooth.django"]  # noqa: F405
ROOT_URLCONF = "label_studio_urls"
# The views of its tokens too: all of its API is compared.
TOOLBOOTH = {"LOGIN_VIEWS": True}
