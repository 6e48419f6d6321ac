"""nautobot's URLs, and the endpoint."""

from django.urls import include, path
from nautobot.core.urls import handler404, handler500  # noqa: F401
from nautobot.core.urls import urlpatterns as own

urlpatterns = [*own, path("mcp/", include("toolbooth.django.urls"))]
