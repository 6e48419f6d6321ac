"""Views of third-party packages, and the endpoint."""

from django.db.transaction import non_atomic_requests
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from rest_framework_nested.routers import NestedSimpleRouter
from shop import (
    schemas,  # noqa: F401  # registers itself
    views,
)

router = DefaultRouter()
router.register("domains", views.DomainViewSet)
router.register("projects", views.ProjectViewSet)
router.register("books", views.BookViewSet, "book")
router.register("flexbooks", views.FlexBookViewSet, "flexbook")
router.register("taggedbooks", views.TaggedBookViewSet, "taggedbook")
router.register("notes", views.NoteViewSet, "note")
router.register("guardednotes", views.GuardedNoteViewSet, "guardednote")
router.register("uploads", views.UploadViewSet, "upload")
router.register("plainuploads", views.PlainUploadViewSet, "plainupload")
router.register("apiauthors", views.ApiAuthorViewSet, "apiauthor")
domains = NestedSimpleRouter(router, "domains", lookup="domain")
domains.register("nameservers", views.NameserverViewSet, "nameserver")
nameservers = NestedSimpleRouter(domains, "nameservers", lookup="nameserver")
nameservers.register("records", views.RecordViewSet, "record")

urlpatterns = [
    path("api/", include([*router.urls, *domains.urls, *nameservers.urls])),
    path(
        "api/asyncauthors/",
        non_atomic_requests(views.AsyncAuthorView.as_view()),
        name="asyncauthor",
    ),
    path("api/strictauthors/", views.StrictAuthorView.as_view(), name="strictauthor"),
    path("auth/", include("djoser.urls")),
    path("auth/", include("djoser.urls.jwt")),
    path("knox/", include("knox.urls")),
    path("mcp/", include("toolbooth.django.urls")),
]
