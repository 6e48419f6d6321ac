"""`path("mcp", include("toolbooth.django.urls"))` serves one endpoint, at /mcp and at /mcp/. If you
include it at "mcp/", the endpoint is at /mcp/ only.
"""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage
from django.urls import URLPattern, re_path

from toolbooth.django.call.endpoint import endpoint
from toolbooth.django.checks import check_installed


class EndpointPattern(URLPattern):
    """A URL pattern that makes `manage.py check` report if the app of Toolbooth is not
    installed.
    """

    def check(self) -> list[CheckMessage]:
        """Return the messages of this pattern. Django calls this for each pattern of the
        URLconf.
        """
        return [*super().check(), *check_installed()]


app_name = "toolbooth"
# The slash is in a group, because Django warns of a slash at the start (urls.W002).
_pattern: Any = re_path(r"^(?:/)?$", endpoint, name="mcp")
urlpatterns = [EndpointPattern(_pattern.pattern, endpoint, name="mcp")]
