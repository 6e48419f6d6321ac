"""The settings of the example project, with the gateway and the API that the environment names.

BENCH_GATEWAY: toolbooth, frisian or none (REST alone, for FastMCP's OpenAPI import). BENCH_API: crm
or wide.
BENCH_DISPATCH: JSON, the value of TOOLBOOTH["DISPATCH"] or FRISIAN_MCP_DISPATCH_GROUPS.
BENCH_BULK_TOOLS: JSON, the value of TOOLBOOTH["BULK_TOOLS"].
"""

import json
import os

import wide

from crm import settings as example

GATEWAY = os.environ["BENCH_GATEWAY"]
API = os.environ["BENCH_API"]
DISPATCH = json.loads(os.environ["BENCH_DISPATCH"])
BULK_TOOLS = json.loads(os.environ["BENCH_BULK_TOOLS"])

SECRET_KEY = example.SECRET_KEY
ALLOWED_HOSTS = example.ALLOWED_HOSTS
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "django_filters",
    *{"toolbooth": ["toolbooth.django"], "frisian": ["frisian_mcp"], "none": ["drf_spectacular"]}[
        GATEWAY
    ],
    *(["sales"] if API == "crm" else wide.APPS),
    "servers.token_project",
]
MIDDLEWARE = example.MIDDLEWARE
ROOT_URLCONF = "servers.token_project.urls"
DATABASES = {
    "default": {**example.DATABASES["default"], "NAME": os.environ["BENCH_DATABASE"]},
}
DEFAULT_AUTO_FIELD = example.DEFAULT_AUTO_FIELD
USE_TZ, TIME_ZONE = example.USE_TZ, example.TIME_ZONE
# Every request has a password to check, and only the content of the answers is measured.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
REST_FRAMEWORK = dict(example.REST_FRAMEWORK)
if GATEWAY == "none":
    REST_FRAMEWORK["DEFAULT_SCHEMA_CLASS"] = "drf_spectacular.openapi.AutoSchema"

TOOLBOOTH = {
    **example.TOOLBOOTH,
    "BULK_TOOLS": BULK_TOOLS,
    **({"DISPATCH": DISPATCH} if DISPATCH else {}),
}

# As in the bench of speed: by default, frisian-mcp has its own rules for who may write.
FRISIAN_MCP_AUTHENTICATION_CLASSES = REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"]
FRISIAN_MCP_TOKEN_TIER_MAP = {"superuser": "admin", "staff": "read_write", "default": "read_write"}
FRISIAN_MCP_TOOL_NAME_SEPARATOR = "__"
FRISIAN_MCP_DISPATCH_GROUPS = DISPATCH
