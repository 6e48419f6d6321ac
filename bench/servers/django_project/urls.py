"""The REST API, and the gateway beside it."""

from django.conf import settings
from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter
from servers.django_project import api
from servers.django_project.watched import authenticate, tell

router = SimpleRouter()
router.register("companies", api.CompanyViewSet, "companies")
router.register("tags", api.TagViewSet, "tags")
for name, view_set in api.VIEW_SETS.items():
    router.register(name, view_set, name)

urlpatterns = [
    path("api/", include(router.urls)),
    path("asked", tell),
    path("authenticate", authenticate),
]
if settings.GATEWAY == "toolbooth":
    urlpatterns.append(path("mcp", include("toolbooth.django.urls")))
if settings.GATEWAY == "frisian":
    urlpatterns.append(re_path(r"^mcp/?", include("frisian_mcp.urls")))
