"""`path("mcp", include("toolbooth.django.urls"))`: one endpoint, at /mcp and at /mcp/. Included at
"mcp/", it answers at /mcp/ only.
"""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage
from django.urls import URLPattern, re_path

from toolbooth.django.call.endpoint import endpoint
from toolbooth.django.checks import check_installed


class EndpointPattern(URLPattern):
    """A pattern that `manage.py check` asks whether the app is installed too."""

    def check(self) -> list[CheckMessage]:
        """What Django calls for each pattern of the URLconf."""
        return [*super().check(), *check_installed()]


app_name = "toolbooth"
# In a group: a plain slash in front is what Django warns of (urls.W002).
_pattern: Any = re_path(r"^(?:/)?$", endpoint, name="mcp")
urlpatterns = [EndpointPattern(_pattern.pattern, endpoint, name="mcp")]
