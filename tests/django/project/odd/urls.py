from django.urls import include, path
from rest_framework.routers import DefaultRouter

from odd import views

router = DefaultRouter()
router.register("things", views.ThingViewSet, "things")
router.register("sites", views.SiteViewSet, "site")
router.register("devices", views.AnyDeviceViewSet, "devices")
router.register("linked", views.LinkedViewSet, "linked")
router.register("owned", views.OwnedViewSet, "owned")
router.register("staffnotes", views.NoteViewSet, "staffnotes")
router.register("needsuser", views.NeedsUserViewSet, "needsuser")
router.register("partly", views.PartlyIgnoredViewSet, "partly")
router.register("answers", views.Answers, "answers")
router.register("writes", views.Writes, "writes")
router.register("restricted", views.RestrictedViewSet, "restricted")
router.register("owners", views.ObjectViewSet, "owners")
router.register("permitted", views.ModelPermissionViewSet, "permitted")
router.register("counted", views.CountedViewSet, "counted")

site = DefaultRouter()
site.register("devices", views.DeviceViewSet, "sitedevices")

urlpatterns = [
    path("", include(router.urls)),
    path("at/<int:site_pk>/", include(site.urls)),
    path("at/<int:site_pk>/logs/", views.SiteLogView.as_view(), name="sitelogs"),
    path("fancy/", views.FancyView.as_view(), name="fancy"),
    path("protocol/", views.ProtocolView.as_view(), name="protocol"),
    path("tree/", views.TreeView.as_view(), name="tree"),
    path("shelf/", views.ShelfView.as_view(), name="shelf"),
    path("cursor/", views.CursorView.as_view(), name="cursor-list"),
    path("known/", views.KnownView.as_view()),
    path("unknown/", views.UnknownView.as_view()),
    path("described/", views.described),
    path("undescribed/", views.undescribed),
    path("bodiless/", views.bodiless),
    path("list/", views.ListView.as_view(), name="lists"),
    path("form/", views.FormView.as_view(), name="form"),
    path("multipart/", views.MultipartView.as_view(), name="multipart"),
    path("ignored/", views.IgnoredView.as_view()),
    path("hidden/", views.HiddenView.as_view()),
    path("freely/", views.writes_freely, name="freely"),
    path("throttled/", views.ThrottledView.as_view(), name="throttled"),
    path("open/", views.OpenView.as_view(), name="open"),
    path("key/", views.KeyView.as_view(), name="key"),
    path("staff/", views.staff_only, name="staff"),
    path("who/", views.WhoView.as_view(), name="who"),
]
