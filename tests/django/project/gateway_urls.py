"""The example's API, the odd one, and both over MCP."""

from django.urls import include, path

urlpatterns = [
    path("", include("crm.urls")),
    path("odd/", include("odd.urls")),
]
