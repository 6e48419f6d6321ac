"""The Django app: `INSTALLED_APPS += ["toolbooth.django"]`."""

from __future__ import annotations

from toolbooth.extras import require

# Called before the imports below: their own ImportError would not name the extra to install.
require(
    "toolbooth.django",
    extra="django",
    modules={
        "django": "Django",
        "rest_framework": "Django REST framework",
        "drf_spectacular": "drf-spectacular",
    },
)

from django.apps import AppConfig
from django.core.checks import register

from toolbooth.django.checks import check_configuration, check_entries, check_tools


class ToolboothConfig(AppConfig):
    name = "toolbooth.django"
    label = "toolbooth"
    verbose_name = "Toolbooth"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        register(check_configuration)
        # These two describe every view. That takes long, so they run only with `--deploy`.
        register(check_entries, deploy=True)
        register(check_tools, deploy=True)
