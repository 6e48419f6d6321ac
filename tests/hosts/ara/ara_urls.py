"""ARA's own URLs, and the endpoint."""

from ara.server.urls import urlpatterns as ara_patterns
from django.urls import include, path

urlpatterns = [path("mcp/", include("toolbooth.django.urls")), *ara_patterns]
