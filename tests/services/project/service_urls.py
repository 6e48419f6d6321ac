"""The REST API of the ledger, and the same API over MCP."""

from django.urls import include, path
from rest_framework.routers import DefaultRouter

from ledger import views

router = DefaultRouter()
router.register("accounts", views.AccountViewSet, "accounts")
router.register("entries", views.EntryViewSet, "entries")
router.register("gated", views.GatedEntryViewSet, "gated")
router.register("remarks", views.RemarkViewSet, "remarks")
router.register("stubborn", views.StubbornEntryViewSet, "stubborn")
router.register("tickets", views.TicketViewSet, "tickets")

urlpatterns = [
    path("api/", include(router.urls)),
    path("api/statement/", views.StatementView.as_view(), name="statement"),
    path("api/careless/", views.CarelessView.as_view(), name="careless"),
    path("mcp", include("toolbooth.django.urls")),
]
