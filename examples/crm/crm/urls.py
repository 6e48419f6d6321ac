"""The REST API, and the same API over MCP."""

from django.urls import include, path
from rest_framework.routers import DefaultRouter

from sales import views

router = DefaultRouter()
router.register("companies", views.CompanyViewSet, "companies")
router.register("tags", views.TagViewSet, "tags")
router.register("contacts", views.ContactViewSet, "contacts")
router.register("deals", views.DealViewSet, "deals")
router.register("notes", views.NoteViewSet, "notes")

urlpatterns = [
    path("api/", include(router.urls)),
    path("mcp", include("toolbooth.django.urls")),
]
