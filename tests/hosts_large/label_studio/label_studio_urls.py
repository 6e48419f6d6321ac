"""label-studio's own URLs, and the endpoint."""

from core.urls import urlpatterns as own
from django.urls import include, path

urlpatterns = [*own, path("mcp/", include("toolbooth.django.urls"))]
