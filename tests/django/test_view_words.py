"""The names and descriptions of the tools of views without a router."""

from types import SimpleNamespace

import pytest
from django.urls import include, path
from rest_framework import generics, serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from odd.models import Log
from toolbooth.django import decorators
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.model_words import english_plural, english_singular
from toolbooth.django.describe.view_words import view_words


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class Open:
    permission_classes = [AllowAny]
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer


def generic(name, kind, **attributes):
    return type(name, (Open, kind), attributes)


def plain(name, *methods):
    """Return a class with these methods."""

    def handle(self, request, **kwargs):
        return Response({})

    attributes = {"permission_classes": [AllowAny], **dict.fromkeys(methods, handle)}
    return type(name, (APIView,), attributes)


def function(name, *methods):
    """Return a function view."""

    def view(request, **kwargs):
        return Response({})

    view.__name__ = name
    return api_view([each.upper() for each in methods])(permission_classes([AllowAny])(view))


@pytest.fixture
def tools(settings_of, monkeypatch):
    """Return the descriptions of the tools of these URL patterns, by name."""
    monkeypatch.setattr(decorators, "declared", {})

    def served(*patterns):
        endpoint = path("mcp/", include("toolbooth.django.urls"))
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": [*patterns, endpoint]}))
        found = catalogue().registry.tools
        return {name: each.contract.description for name, each in found.items()}

    return served


LIST = generic("TreatmentList", generics.ListCreateAPIView)
DETAIL = generic("TreatmentDetail", generics.RetrieveUpdateDestroyAPIView)
TREATMENTS = [
    f"treatments__{each}"
    for each in ("list", "create", "retrieve", "update", "partial_update", "destroy")
]


def test_a_list_and_a_detail_view_are_one_resource(tools):
    found = tools(
        path("treatments/", LIST.as_view()), path("treatments/<int:pk>/", DETAIL.as_view())
    )
    assert list(found) == TREATMENTS
    assert found["treatments__list"] == "List logs (treatments)."
    assert found["treatments__retrieve"] == "Get a log (treatments)."


def test_names_in_the_urlconf_give_the_same_names(tools):
    found = tools(
        path("treatments/", LIST.as_view(), name="treatment-list"),
        path("treatments/<int:pk>/", DETAIL.as_view(), name="treatment-detail"),
    )
    assert list(found) == TREATMENTS


def test_a_view_named_after_one_of_its_actions_has_one_resource(tools):
    view = generic("UpdateTreatment", generics.RetrieveUpdateAPIView)
    assert list(tools(path("treatments/<pk>/", view.as_view(), name="update-treatment"))) == [
        "treatments__retrieve",
        "treatments__update",
        "treatments__partial_update",
    ]


def test_views_with_one_class_per_action_make_one_resource(tools):
    found = tools(
        path("logs/", generic("LogListView", generics.ListAPIView).as_view()),
        path("logs/create/", generic("LogCreateAPIView", generics.CreateAPIView).as_view()),
        path("logs/<pk>/", generic("LogRetrieveAPI", generics.RetrieveAPIView).as_view()),
        path("logs/<pk>/delete/", generic("LogDeleteView", generics.DestroyAPIView).as_view()),
    )
    assert list(found) == ["logs__list", "logs__create", "logs__retrieve", "logs__destroy"]
    assert found["logs__list"] == "List logs."
    assert found["logs__create"].startswith("Create a log.")


@pytest.mark.parametrize(
    ("name", "kind", "place", "tool"),
    [
        ("OwnerPetList", generics.ListAPIView, "owners/<owner>/pets/", "owner_pets__list"),
        ("Owner", generics.ListAPIView, "people/", "owners__list"),
        ("OwnerView", generics.RetrieveAPIView, "people/<pk>/", "owners__retrieve"),
        ("ProfileDetail", generics.RetrieveAPIView, "profile/", "profile__retrieve"),
        ("CompanyList", generics.ListAPIView, "firms/", "companies__list"),
        ("StaffList", generics.ListAPIView, "staff/", "staff__list"),
        ("StorageS3List", generics.ListAPIView, "storages/s3/", "storage_s3__list"),
        ("CursorList", generics.ListAPIView, "cursor/", "cursor__list"),
        ("IPAddressList", generics.ListAPIView, "a/", "ip_addresses__list"),
        ("OAuthList", generics.ListAPIView, "a/", "oauths__list"),
        ("PasswordReset", generics.CreateAPIView, "reset/", "password_reset__create"),
        ("ListView", generics.ListAPIView, "a/", "lists__list"),
        ("CreateTreatment", generics.CreateAPIView, "treatments/new/", "treatments__create"),
        ("ListTreatmentsView", generics.ListAPIView, "treatments/", "treatments__list"),
        ("DeleteTreatment", generics.DestroyAPIView, "treatments/<pk>/", "treatments__destroy"),
        ("UpdateLogs", generics.ListAPIView, "update-logs/", "update_logs__list"),
        ("Treatmentlist", generics.ListAPIView, "treatments/", "treatments__list"),
        ("treatmentdetail", generics.RetrieveAPIView, "treatments/<pk>/", "treatments__retrieve"),
        ("Checklist", generics.ListAPIView, "lists/", "checklists__list"),
    ],
)
def test_a_generic_view_is_named_after_its_class(tools, name, kind, place, tool):
    assert list(tools(path(place, generic(name, kind).as_view()))) == [tool]


def view_of(name, model_name, one, many):
    """A class of a view, whose model has this name."""
    model = type(model_name, (), {})
    model._meta = SimpleNamespace(verbose_name=one, verbose_name_plural=many, concrete_model=model)
    return type(name, (), {"queryset": SimpleNamespace(model=model)})


@pytest.mark.parametrize(
    ("view", "resource"),
    [
        (
            view_of("CheckinListList", "CheckinList", "checkin list", "checkin lists"),
            "checkin_lists",
        ),
        (
            view_of("CheckinListView", "CheckinList", "checkin list", "checkin lists"),
            "checkin_lists",
        ),
        (view_of("PersonList", "Person", "person", "people"), "people"),
        (view_of("StaffPersonList", "Person", "person", "people"), "staff_people"),
    ],
)
def test_resource_name_uses_the_names_of_the_model(view, resource):
    words = view_words(view, method="GET", does="list", path="/x/", route="")
    assert (words.resource, words.action) == (resource, "list")


def test_function_views_are_named_after_their_methods(tools):
    found = tools(
        path("clinics/", function("clinic_list", "get", "post")),
        path("clinics/<int:pk>/", function("clinic_detail", "get", "put", "delete")),
    )
    assert {name: words.partition(".")[0] for name, words in found.items()} == {
        "clinics__list": "List clinics",
        "clinics__create": "Create a clinic",
        "clinics__retrieve": "Get a clinic",
        "clinics__update": "Replace a clinic",
        "clinics__destroy": "Delete a clinic",
    }


@pytest.mark.parametrize(
    ("view", "place", "tool", "words"),
    [
        (function("ping", "get"), "ping/", "ping__get", "Ping (GET)"),
        (function("send_mail", "post"), "mail/", "send_mail__post", "Send mail (POST)"),
        (function("clinic_list", "get"), "clinic-list/", "clinic_list__get", "Clinic list (GET)"),
        (plain("PriceList", "get"), "price-lists/", "price_list__get", "Price list (GET)"),
        (plain("ClinicList", "get"), "clinics/", "clinics__list", "List clinics"),
        (
            plain("DeviceUpdate", "post"),
            "device/update/",
            "device_update__post",
            "Device update (POST)",
        ),
        (plain("Gen", "post"), "gen/", "gen__post", "Gen (POST)"),
        (function("list_clinics", "get"), "clinics/", "clinics__list", "List clinics"),
        (
            function("create_clinic", "post"),
            "clinics/create/",
            "clinics__create",
            "Create a clinic",
        ),
        (
            function("delete_clinic", "post"),
            "clinics/",
            "delete_clinic__post",
            "Delete clinic (POST)",
        ),
        (function("create_report", "post"), "mail/", "create_report__post", "Create report (POST)"),
        (function("cliniclist", "get"), "clinics/", "clinics__list", "List clinics"),
        (
            plain("ClinicListAPIView", "patch"),
            "clinics/",
            "clinic_list__patch",
            "Clinic list (PATCH)",
        ),
    ],
)
def test_a_plain_view_is_named_after_its_function(tools, view, place, tool, words):
    called = view.as_view() if isinstance(view, type) else view
    ((name, description),) = tools(path(place, called)).items()
    assert (name, description.partition(".")[0]) == (tool, words)


def test_list_and_detail_of_a_plain_class_get_distinct_names(tools):
    view = plain("FileView", "get")
    found = tools(path("files/", view.as_view()), path("files/<name>/", view.as_view()))
    assert list(found) == ["file__get_without_key", "file__get_by_name"]


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("clinic", "clinics"),
        ("company", "companies"),
        ("address", "addresses"),
        ("status", "statuses"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("warehouse", "warehouses"),
        ("cache", "caches"),
        ("menu", "menus"),
        ("alias", "aliases"),
        ("event_order", "event_orders"),
        ("staff", "staff"),
        ("category_child", "category_children"),
        ("person", "people"),
        ("series", "series"),
    ],
)
def test_singular_and_plural_names_are_one_resource(one, many):
    assert (english_plural(one), english_plural(many)) == (many, many)
    assert (english_singular(many), english_singular(one)) == (one, one)
