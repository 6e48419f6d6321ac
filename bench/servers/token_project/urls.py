"""The REST API, and the gateway beside it."""

from importlib import import_module

from django.conf import settings
from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter


def _router() -> SimpleRouter:
    if settings.API == "wide":
        return import_module("wide_urls").router
    # As in the example's own urls, which cannot be imported if Toolbooth is not installed.
    views = import_module("sales.views")
    router = SimpleRouter()
    router.register("companies", views.CompanyViewSet, "companies")
    router.register("tags", views.TagViewSet, "tags")
    router.register("contacts", views.ContactViewSet, "contacts")
    router.register("deals", views.DealViewSet, "deals")
    router.register("notes", views.NoteViewSet, "notes")
    return router


urlpatterns = [path("api/", include(_router().urls))]
if settings.GATEWAY == "toolbooth":
    urlpatterns.append(path("mcp", include("toolbooth.django.urls")))
if settings.GATEWAY == "frisian":
    urlpatterns.append(re_path(r"^mcp/?", include("frisian_mcp.urls")))
