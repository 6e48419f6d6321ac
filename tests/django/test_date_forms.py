"""Dates and times are published, and shown in receipts, in a format that the API accepts."""

import pytest
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.routers import SimpleRouter

from odd.models import Moment
from toolbooth.django.testing import acting_as


@pytest.fixture
def serve(settings_of, ann):
    """Serves moments with these fields."""

    def serving(**fields):
        meta = type("Meta", (), {"model": Moment, "fields": ["id", "day", "at", "hour"]})
        parts = {"Meta": meta, **fields}
        serializer = type("MomentSerializer", (serializers.ModelSerializer,), parts)
        parts = {"queryset": Moment.objects.order_by("pk"), "serializer_class": serializer}
        router = SimpleRouter()
        router.register("moments", type("Moments", (viewsets.ModelViewSet,), parts), "moments")
        patterns = [*router.urls, path("mcp/", include("toolbooth.django.urls"))]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return acting_as(ann)

    return serving


def day(**options):
    return {"day": serializers.DateField(required=False, allow_null=True, **options)}


def at(**options):
    return {"at": serializers.DateTimeField(required=False, allow_null=True, **options)}


def hour(**options):
    return {"hour": serializers.TimeField(required=False, allow_null=True, **options)}


@pytest.mark.parametrize(
    ("fields", "name", "before", "after"),
    [
        (day(format="%d.%m.%Y"), "day", "2026-03-05", "2026-03-06"),
        (at(format="%d.%m.%Y %H:%M"), "at", "2026-03-05T10:00:00Z", "2026-03-06T10:00:00Z"),
        (hour(format="%H h"), "hour", "10:00:00", "11:00:00"),
        (day(input_formats=["%d.%m.%Y"]), "day", "05.03.2026", "06.03.2026"),
        (hour(input_formats=["%H h"], format="%M"), "hour", "10 h", "11 h"),
        (day(format="%d.%m.%Y", input_formats=["%d.%m.%Y"]), "day", "05.03.2026", "06.03.2026"),
    ],
    ids=["day", "date and time", "time", "day taken otherwise", "time otherwise", "day both ways"],
)
def test_receipts_show_dates_in_the_accepted_format(serve, fields, name, before, after):
    client = serve(**fields)
    made = client.call("moments__create", {name: before}).value
    assert (made["set"], "stored_as" in made) == ([name], False)
    changed = client.call("moments__partial_update", {"id": made["id"], name: after}).value
    assert changed["changed"] == {name: {"from": before, "to": after}}
    same = client.call("moments__partial_update", {"id": made["id"], name: after}).value
    assert same["unchanged"] == [name]


def test_date_changed_by_the_view_is_reported_in_the_input_format(serve):
    class Late(serializers.DateField):
        def to_internal_value(self, value):
            return super().to_internal_value(value).replace(day=28)

    value = serve(day=Late(format="%d.%m.%Y")).call("moments__create", day="2026-03-05").value
    assert value["stored_as"] == {"day": "2026-03-28"}


def test_a_date_format_other_than_iso_8601_is_published(serve):
    client = serve(**day(input_formats=["%d.%m.%Y"]), **at(input_formats=["%d.%m.%Y", "iso-8601"]))
    listed = client.tools()["moments__create"]["inputSchema"]["properties"]
    assert listed["day"]["description"] == "DD.MM.YYYY, or null"
    assert listed["at"]["format"] == "date-time"
    refused = client.call("moments__create", day="2026-03-05")
    assert "Use one of these formats instead: DD.MM.YYYY." in refused.text


def test_date_formats_of_the_settings_are_accepted(serve, settings_of):
    settings_of(REST_FRAMEWORK={"DATE_INPUT_FORMATS": ["%d.%m.%Y"], "DATE_FORMAT": "%d/%m/%Y"})
    client = serve()
    value = client.call("moments__create", day="05.03.2026").value
    assert (value["set"], "stored_as" in value) == (["day"], False)
