"""The shop, its API and the endpoint."""

import schemas  # noqa: F401  # registers itself
from django.apps import apps
from django.urls import include, path

urlpatterns = [
    path("api/", include("oscarapi.urls")),
    path("mcp/", include("toolbooth.django.urls")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
