"""The description of a full update and the row agree on fields that are not sent."""

import json

import pytest
from django.urls import include, path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework import parsers, serializers, viewsets
from rest_framework.routers import SimpleRouter

from odd.models import Device, Part, Site, Thing
from sales.models import Company, Contact, Tag
from toolbooth.django.testing import acting_as

BOTH = "Send all required fields; optional fields left out keep their value."

FIELDS = {
    "mood": ("ok", ""),
    "rank": (1, 2),
    "size": (5, 7),
    "big": (1, None),
    "ratio": (1.5, 2.5),
    "price": ("1.5000000000", "2.5000000000"),
    "active": (True, False),
    "day": ("2026-01-01", None),
    "moment": ("2026-01-01T00:00:00Z", None),
    "hour": ("10:00:00", "11:00:00"),
    "span": ("00:10:00", "00:20:00"),
    "mail": ("a@x.io", ""),
    "site": ("https://x.io", ""),
    "code": ("5d7a9c1e-3b20-4f68-8a47-92e6d0b1c385", None),
    "handle": ("a", "b"),
    "address": ("10.0.0.1", None),
    "document": ({"a": 1}, [1]),
}
"""Optional fields of every kind: a value that the row has, and another one."""


def serializer_for(model, fields="__all__", **attributes):
    meta = type("Meta", (), {"model": model, "fields": fields})
    return type(
        f"{model.__name__}Serializer",
        (serializers.ModelSerializer,),
        {"Meta": meta, **attributes},
    )


def view_for(model, serializer, **attributes):
    parts = {"queryset": model.objects.all(), "serializer_class": serializer, **attributes}
    return type(f"{model.__name__}View", (viewsets.ModelViewSet,), parts)


@pytest.fixture
def serve(settings_of, ann):
    def serving(view):
        router = SimpleRouter()
        router.register("rows", view, "rows")
        patterns = [
            path("api/", include(router.urls)),
            path("mcp/", include("toolbooth.django.urls")),
        ]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return acting_as(ann)

    return serving


@pytest.fixture
def things(serve):
    return serve(view_for(Thing, serializer_for(Thing, ["id", "title", *FIELDS])))


@given(sent=st.sets(st.sampled_from(sorted(FIELDS))))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_optional_fields_left_out_of_a_full_update_keep_their_value(things, sent):
    assert things.tools()["rows__update"]["description"] == f"Replace a thing (rows). {BOTH}"
    held = {name: value for name, (value, _) in FIELDS.items()}
    row = things.call("rows__create", {"title": "old", **held}).value["id"]
    changes = {name: FIELDS[name][1] for name in sent}
    reply = things.call("rows__update", {"id": row, "title": "new", **changes})
    assert not reply.is_error, reply.text
    shown = json.loads(things.call("rows__retrieve", id=row).text)
    assert shown == {"id": row, "title": "new", **held, **changes}


def test_full_update_without_a_required_field_is_refused(things):
    row = things.call("rows__create", title="old", mood="ok").value["id"]
    refused = things.call("rows__update", id=row, mood="")
    assert [(each.where, each.code) for each in refused.problems] == [("$.title", "missing")]
    assert list(Thing.objects.values_list("title", "mood")) == [("old", "ok")]


def test_relations_left_out_of_a_full_update_are_kept(serve):
    client = serve(view_for(Device, serializer_for(Device, ["serial", "label", "site", "parts"])))
    assert client.tools()["rows__update"]["description"] == (
        "Replace a device (rows). Optional fields left out keep their value."
    )
    device = Device.objects.create(label="old", site=Site.objects.create(slug="s", name="S"))
    device.parts.add(Part.objects.create(number="1", token="t"))
    assert not client.call("rows__update", serial=str(device.pk), label="new").is_error
    device.refresh_from_db()
    assert (device.label, device.site.slug) == ("new", "s")
    assert [part.number for part in device.parts.all()] == ["1"]


def test_description_of_a_full_update_without_optional_fields_is_shorter(serve):
    client = serve(view_for(Tag, serializer_for(Tag, ["slug", "title"])))
    assert client.tools()["rows__update"]["description"] == (
        "Replace a tag (rows). Send all required fields."
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (["name", "website", "employees"], f'{BOTH} Left out, "employees" get their default.'),
        (
            ["name", "employees"],
            'Send all required fields. Left out, "employees" get their default.',
        ),
    ],
    ids=["others are kept", "no others"],
)
def test_field_with_a_default_is_named_and_reset(serve, fields, told):
    serializer = serializer_for(Company, fields, employees=serializers.IntegerField(default=3))
    client = serve(view_for(Company, serializer))
    assert client.tools()["rows__update"]["description"] == f"Replace a company (rows). {told}"
    row = Company.objects.create(name="old", website="https://x.io", employees=7)
    assert not client.call("rows__update", id=row.pk, name="new").is_error
    assert list(Company.objects.values_list("name", "website", "employees")) == [
        ("new", "https://x.io", 3)
    ]


@pytest.mark.parametrize("parser", [parsers.MultiPartParser, parsers.FormParser])
def test_view_that_takes_only_forms_does_not_promise_to_keep_fields(serve, parser):
    """REST framework reads a checkbox that is left out of a form as false."""
    serializer = serializer_for(Contact, ["email", "subscribed"])
    client = serve(view_for(Contact, serializer, parser_classes=[parser]))
    assert client.tools()["rows__update"]["description"] == (
        "Replace a contact (rows). Send all required fields."
    )
    contact = Contact.objects.create(email="ann@x.io", subscribed=True)
    assert not client.call("rows__update", id=str(contact.pk), email="b@x.io").is_error
    contact.refresh_from_db()
    assert contact.subscribed is False


def test_view_with_its_own_update_does_not_promise_to_keep_fields(serve):
    def update(self, instance, validated_data):
        instance.website = validated_data.get("website", "")
        instance.save()
        return instance

    serializer = serializer_for(Company, ["id", "name", "website"], update=update)
    client = serve(view_for(Company, serializer))
    assert client.tools()["rows__update"]["description"] == (
        "Replace a company (rows). Send all required fields."
    )
