"""The example's settings, with passwords that are checked quickly, and dispatchers where the
environment names them.
"""

import json
import os

from crm.settings import *  # noqa: F403
from crm.settings import TOOLBOOTH

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
TOOLBOOTH = {**TOOLBOOTH, "DISPATCH": json.loads(os.environ.get("CRM_DISPATCH", "null"))}
