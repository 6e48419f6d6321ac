"""The receipt of a write, and that it is true: every receipt is compared with the row."""

import json
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Device, Part, Site, Thing
from sales.models import Company, Contact, Deal, Line, Tag
from sales.serializers import CompanySerializer, ContactSerializer
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as


class ThingSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        exclude = ["scan"]


class ThingViewSet(viewsets.ModelViewSet):
    queryset = Thing.objects.all()
    serializer_class = ThingSerializer


class VerifySerializer(serializers.ModelSerializer):
    """Has a field of its own called `verify`."""

    verify = serializers.CharField(source="notes", required=False)

    class Meta:
        model = Contact
        fields = ["id", "email", "verify"]


class VerifyViewSet(viewsets.ModelViewSet):
    queryset = Contact.objects.all()
    serializer_class = VerifySerializer


class SiteSerializer(serializers.ModelSerializer):
    """Makes its slug itself, shows no key, and counts the rows below it."""

    devices = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField()

    class Meta:
        model = Site
        fields = ["slug", "name", "devices", "history"]
        read_only_fields = ["slug"]

    def get_devices(self, site):
        return site.devices.count()

    def get_history(self, site):
        return ["x" * 500]

    def create(self, validated_data):
        return Site.objects.create(slug=validated_data["name"].lower(), **validated_data)


class SiteViewSet(viewsets.ModelViewSet):
    queryset = Site.objects.all()
    serializer_class = SiteSerializer
    lookup_field = "slug"


class DeviceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Device
        fields = ["serial", "label", "site", "parts"]


class ShownDevice(serializers.ModelSerializer):
    """Reads with another serializer than it writes with: relations whole."""

    site = SiteSerializer()
    parts = serializers.StringRelatedField(many=True)

    class Meta:
        model = Device
        fields = ["serial", "label", "site", "parts"]


class DeviceViewSet(viewsets.ModelViewSet):
    queryset = Device.objects.all()
    serializer_class = DeviceSerializer

    def create(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(ShownDevice(serializer.save()).data, status=201)

    def update(self, request, *args, **kwargs):
        serializer = self.get_serializer(self.get_object(), data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        return Response(ShownDevice(serializer.save()).data)


class Overruling(CompanyViewSet):
    """Stores other values than it received."""

    def perform_create(self, serializer):
        serializer.save(employees=0)

    def perform_update(self, serializer):
        pass


class OwnAnswer(CompanyViewSet):
    def create(self, request, *args, **kwargs):
        super().create(request, *args, **kwargs)
        return Response({"token": "shown once"}, status=201)

    @action(detail=True, methods=["post"], serializer_class=CompanySerializer)
    def rename(self, request, pk=None):
        company = self.get_object()
        serializer = self.get_serializer(company, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)


class OneContact(generics.UpdateAPIView):
    """The caller's own row: there is nothing in the address to find it by."""

    serializer_class = ContactSerializer

    def get_object(self):
        return Contact.objects.get()


class PutDefaults(serializers.ModelSerializer):
    kind = serializers.ChoiceField(choices=["small", "large"], default="small")

    class Meta:
        model = Thing
        fields = ["id", "title", "kind"]


class PutViewSet(viewsets.ModelViewSet):
    queryset = Thing.objects.all()
    serializer_class = PutDefaults


class Place(serializers.Serializer):
    rate = serializers.DecimalField(max_digits=6, decimal_places=None)
    name = serializers.CharField()


class Rates(serializers.ModelSerializer):
    """Keeps decimals in a document, with the digits that were sent."""

    rate = serializers.DecimalField(
        max_digits=6, decimal_places=None, source="document.rate", required=False
    )
    rates = serializers.ListField(
        child=serializers.DecimalField(max_digits=6, decimal_places=None),
        source="document.rates",
        required=False,
    )
    totals = serializers.DictField(
        child=serializers.DecimalField(max_digits=6, decimal_places=None),
        source="document.totals",
        required=False,
    )
    places = Place(many=True, source="document.places", required=False)
    words = serializers.ListField(
        child=serializers.CharField(), source="document.words", required=False
    )
    flags = serializers.JSONField(source="document.flags", required=False)

    class Meta:
        model = Thing
        fields = ["id", "rate", "rates", "totals", "places", "words", "flags"]

    def update(self, instance, validated_data):
        sent = validated_data.pop("document", {})
        instance.document |= json.loads(json.dumps(sent, default=str))
        return super().update(instance, validated_data)


class RatesViewSet(viewsets.ModelViewSet):
    queryset = Thing.objects.all()
    serializer_class = Rates


class Urls:
    router = SimpleRouter()
    router.register("rates", RatesViewSet, "rates")
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", CompanyViewSet, "companies")
    router.register("deals", DealViewSet, "deals")
    router.register("notes", NoteViewSet, "notes")
    router.register("things", ThingViewSet, "things")
    router.register("verify", VerifyViewSet, "verify")
    router.register("sites", SiteViewSet, "sites")
    router.register("devices", DeviceViewSet, "devices")
    router.register("overruling", Overruling, "overruling")
    router.register("own", OwnAnswer, "own")
    router.register("put", PutViewSet, "put")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("me/", OneContact.as_view(), name="me"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


# --- create ---


def test_create_receipt_lists_set_and_defaulted_fields(call):
    value = call("contacts__create", email="ann@x.io", subscribed=True).value
    made = Contact.objects.get()
    assert value == {
        "id": str(made.pk),
        "set": ["email", "subscribed"],
        "defaulted": ["first_name", "last_name", "company", "tags", "notes", "profile"],
    }
    assert (made.email, made.subscribed, made.first_name) == ("ann@x.io", True, "")


def test_create_receipt_of_an_empty_call_has_a_note(call):
    value = call("contacts__create", {}).value
    assert (value["set"], value["note"]) == (
        [],
        "No field was sent: the row has only default values.",
    )


def test_value_changed_when_stored_is_shown_in_the_receipt(call):
    value = call("overruling__create", name="  Acme ", employees=5).value
    made = Company.objects.get()
    assert (made.name, made.employees) == ("Acme", 0)
    assert value == {
        "id": made.pk,
        "name": "Acme",
        "set": [],
        "defaulted": ["website"],
        "stored_as": {"name": "Acme", "employees": 0},
    }


@pytest.mark.parametrize(
    "sent",
    [
        {"price": 5},
        {"price": "5.50"},
        {"moment": "2026-01-02T03:04:05+02:00"},
        {"day": "2026-01-02"},
        {"hour": "10:30"},
        {"span": "01:00:00"},
        {"span": "3600"},
        {"code": "6b7e67eb0000400080000000000000aa"},
        {"rank": 2},
        {"ratio": 1},
        {"active": False},
        {"big": 2**60},
        {"document": {"a": [1, {"b": None}]}},
        {"document": [1, "x"]},
        {"address": "2001:db8::1"},
    ],
    ids=json.dumps,
)
def test_same_value_in_another_form_counts_as_set(call, sent):
    value = call("things__create", title="t", **sent).value
    assert value["set"] == ["title", *sent], value
    assert "stored_as" not in value


def test_relations_are_the_same_by_key_and_by_object(call):
    acme = Company.objects.create(name="Acme")
    Tag.objects.create(slug="a", title="A")
    Tag.objects.create(slug="b", title="B")
    for tags in (["b", "a"], [{"slug": "a"}, "b"], ["a", "a", "b"]):
        value = call("contacts__create", company={"name": "Acme"}, tags=tags).value
        assert value["set"] == ["company", "tags"], value
        made = Contact.objects.get(pk=value["id"])
        assert (made.company, {each.slug for each in made.tags.all()}) == (acme, {"a", "b"})


def test_nested_rows_stored_as_sent_count_as_set(call):
    acme = Company.objects.create(name="Acme").pk
    value = call(
        "deals__create", title="t", company=acme, lines=[{"product": "tea", "price": 2.5}]
    ).value
    deal = Deal.objects.get()
    assert value == {
        "id": deal.pk,
        "title": "t",
        "set": ["title", "company", "lines"],
        "defaulted": ["closes_on"],
        "assigned": {"stage": "open", "reason": ""},
    }
    value = call(
        "deals__create", title="t", company=acme, lines=[{"product": " tea ", "price": 2.5}]
    ).value
    assert value["stored_as"] == {"lines": [{"product": "tea", "quantity": 1, "price": 2.5}]}


def test_receipt_identifies_the_row_by_key_lookup_field_and_name(call):
    value = call("sites__create", name="HQ").value
    made = Site.objects.get()
    assert value == {
        "id": made.pk,
        "slug": "hq",
        "name": "HQ",
        "set": ["name"],
        "defaulted": [],
        "assigned": {"devices": 0},
    }


def test_a_row_shown_by_another_serializer_is_still_compared(call):
    site = Site.objects.create(slug="hq", name="HQ")
    Part.objects.create(number="1", token="t")
    value = call("devices__create", label="d", site={"slug": "hq"}, parts=["1"]).value
    made = Device.objects.get()
    assert (made.site, made.parts.get().pk, value["serial"]) == (site, "1", str(made.pk))
    assert {"label", "site"} <= set(value["set"])
    same = call(
        "devices__partial_update", serial=str(made.pk), label="d", site=site.pk, parts=["1"]
    ).value
    assert same["unchanged"] == ["label", "site", "parts"]
    assert same["note"] == "Nothing changed: the row already had these values."


def test_a_long_value_does_not_make_a_long_receipt(call):
    text = "word " * 2000
    result = call("contacts__create", notes=text, email="a@x.io")
    assert Contact.objects.get().notes == text.strip()
    assert result.value["stored_as"]["notes"] == text[:99] + "…"
    assert len(result.text) < 500


def test_a_create_needs_no_more_queries_than_the_view_alone(call, rest):
    call("contacts__create", email="first@x.io")
    with CaptureQueriesContext(connection) as alone:
        call("contacts__create", email="a@x.io", verify=True)
    with CaptureQueriesContext(connection) as receipted:
        call("contacts__create", email="b@x.io")
    assert len(receipted) == len(alone)


# --- update ---


@pytest.fixture
def contact():
    return Contact.objects.create(email="ann@x.io", first_name="Ann")


@pytest.mark.parametrize("tool", ["contacts__update", "contacts__partial_update"])
def test_update_receipt_lists_changed_and_unchanged_fields(call, contact, tool):
    value = call(tool, id=str(contact.pk), email="ann@x.io", first_name="Anna").value
    assert value == {
        "id": str(contact.pk),
        "set": ["first_name"],
        "changed": {"first_name": {"from": "Ann", "to": "Anna"}},
        "unchanged": ["email"],
    }
    contact.refresh_from_db()
    assert (contact.email, contact.first_name) == ("ann@x.io", "Anna")


@pytest.mark.parametrize("tool", ["contacts__update", "contacts__partial_update"])
def test_update_receipt_without_changes_has_a_note(call, contact, tool):
    value = call(
        tool, id=str(contact.pk), first_name="Ann", tags=[], profile={}, company=None
    ).value
    assert value == {
        "id": str(contact.pk),
        "set": [],
        "unchanged": ["first_name", "company", "tags", "profile"],
        "note": "Nothing changed: the row already had these values.",
    }
    assert call(tool, id=str(contact.pk)).value["note"] == "Nothing changed: no field was sent."


def test_relations_and_nested_rows_are_compared_with_their_old_values(call, contact):
    acme = Company.objects.create(name="Acme").pk
    Tag.objects.create(slug="vip", title="V")
    sent = {"id": str(contact.pk), "company": {"name": "Acme"}, "tags": ["vip"]}
    assert call("contacts__partial_update", sent).value["set"] == ["company", "tags"]
    assert call("contacts__partial_update", sent).value["unchanged"] == ["company", "tags"]
    deal = call(
        "deals__create", title="t", company=acme, lines=[{"product": "tea", "price": 2}]
    ).value["id"]
    same = call(
        "deals__partial_update", id=deal, lines=[{"product": "tea", "price": "2.00", "quantity": 1}]
    ).value
    assert (same["set"], same["unchanged"]) == ([], ["lines"])
    other = call("deals__partial_update", id=deal, lines=[{"product": "tea", "price": 3}]).value
    assert other["set"] == ["lines"]


def test_the_receipt_shows_if_a_view_stores_nothing(call):
    company = Company.objects.create(name="Acme")
    value = call("overruling__partial_update", id=company.pk, name="Zenith").value
    assert value == {
        "id": company.pk,
        "name": "Acme",
        "set": [],
        "unchanged": ["name"],
        "note": "Nothing changed: the view stored something else.",
        "stored_as": {"name": "Acme"},
    }


def test_default_set_by_a_put_is_reported_as_assigned(call):
    thing = Thing.objects.create(title="t", kind="large")
    value = call("put__update", id=thing.pk, title="t").value
    thing.refresh_from_db()
    assert thing.kind == "small"
    assert value == {
        "id": thing.pk,
        "title": "t",
        "set": [],
        "unchanged": ["title"],
        "assigned": {"kind": "small"},
    }


def test_an_update_of_the_callers_own_row_needs_no_key(call, contact):
    assert call("me__partial_update", first_name="Ann").value["note"].startswith("Nothing changed")
    assert call("me__partial_update", first_name="Anna").value["set"] == ["first_name"]


def test_an_update_reads_the_row_only_once_more(call):
    company = Company.objects.create(name="Acme")
    call("companies__partial_update", id=company.pk, website="https://a.example")
    with CaptureQueriesContext(connection) as alone:
        call("companies__partial_update", id=company.pk, website="https://b.example", verify=True)
    with CaptureQueriesContext(connection) as receipted:
        call("companies__partial_update", id=company.pk, website="https://c.example")
    assert len(receipted) == len(alone) + 1


def test_missing_rows_and_rows_of_others_are_refused_as_over_rest(call, mcp_as):
    gone = call("companies__partial_update", id=99, name="x")
    assert gone.is_error
    assert "No Company matches" in gone.text
    note = call("notes__create", title="mine").value
    assert call("notes__partial_update", id=note["id"], title="mine").value["unchanged"] == [
        "title"
    ]


# --- verify, and answers that are not receipts ---


@pytest.mark.parametrize("verify", [True, "true"])
def test_verify_gives_the_whole_object(call, contact, verify):
    value = call("contacts__partial_update", id=str(contact.pk), notes="n", verify=verify).value
    assert value == {
        "id": str(contact.pk),
        "email": "ann@x.io",
        "first_name": "Ann",
        "last_name": "",
        "company": None,
        "tags": [],
        "notes": "n",
        "profile": {},
        "subscribed": False,
    }
    assert (
        "set" in call("contacts__partial_update", id=str(contact.pk), notes="n", verify=False).value
    )
    assert (
        "set" in call("contacts__partial_update", id=str(contact.pk), notes="n", verify=None).value
    )


def test_a_hosts_own_field_called_verify_is_its_own(call):
    value = call("verify__create", email="a@x.io", verify="by hand").value
    assert Contact.objects.get().notes == "by hand"
    assert value["set"] == ["email", "verify"]
    rows = [{"email": "b@x.io", "verify": "too"}]
    assert call("verify__create", objects=rows).value["created"] == 1
    assert Contact.objects.get(email="b@x.io").notes == "too"


def test_response_that_is_not_a_row_is_returned_unchanged(call):
    assert call("own__create", name="Acme").value == {"token": "shown once"}
    company = Company.objects.get()
    assert call("own__rename", id=company.pk, name="Zenith").value == {
        "id": company.pk,
        "name": "Zenith",
        "website": "",
        "employees": None,
    }


def test_only_writes_of_rows_accept_verify(call, ann):
    tools = acting_as(ann).tools()
    find = catalogue().registry.find
    takes = {name for name in tools if "verify" in find(name).controls}
    writes = {name for name in tools if name.endswith(("__create", "__update", "__partial_update"))}
    assert takes == {name for name in writes if not name.startswith("verify__")}
    assert tools["verify__create"]["inputSchema"]["properties"]["verify"]["type"] == "string"


def test_an_update_shows_numbers_in_the_input_format_and_cuts_long_texts(call):
    thing = Thing.objects.create(title="t", price="1.5", document={"a": "x" * 200})
    value = call("things__partial_update", id=thing.pk, price=2.25, document={"a": 1}).value
    changed = value["changed"]
    assert changed["price"] == {"from": 1.5, "to": 2.25}
    assert changed["document"] == {"from": '{"a":"' + "x" * 93 + "…", "to": {"a": 1}}


def test_nested_numbers_are_shown_as_they_are_taken(call):
    acme = Company.objects.create(name="Acme").pk
    lines = [{"product": "tea", "price": 2.5, "quantity": 1}]
    deal = call("deals__create", title="t", company=acme, lines=lines).value["id"]
    dearer = [{"product": "3.50", "price": 3.5, "quantity": 1}]
    value = call("deals__partial_update", id=deal, lines=dearer).value
    assert value["changed"] == {"lines": {"from": lines, "to": dearer}}
    assert [(line.product, line.price) for line in Line.objects.all()] == [("3.50", Decimal("3.5"))]


@pytest.mark.parametrize(
    ("field", "sent", "other"),
    [
        ("rates", ["1.00", "2.0"], ["1.00", "2.1"]),
        ("totals", {"net": "1.00"}, {"net": "1.01"}),
        ("places", [{"rate": "1.00", "name": "1.0"}], [{"rate": "1.0", "name": "1.00"}]),
        ("rate", "1.00", "1.01"),
        ("words", ["1.0"], ["1.00"]),
        ("flags", {"on": True}, {"on": 1}),
    ],
    ids=["list", "object", "nested rows", "decimal", "texts", "document"],
)
def test_a_nested_decimal_with_more_zeros_has_not_changed(call, field, sent, other):
    held = {
        "rates": ["1.0", "2.0"],
        "totals": {"net": "1.0"},
        "places": [{"rate": "1.0", "name": "1.0"}],
        "rate": "1.0",
        "words": ["1.0"],
        "flags": {"on": True},
    }
    thing = Thing.objects.create(title="t", document=held)
    same = call("rates__partial_update", {"id": thing.pk, field: sent}).value
    thing.refresh_from_db()
    assert thing.document == held | {field: sent}
    assert (same["set"], same["unchanged"]) == ([], [field])
    assert "changed" not in same
    changed = call("rates__partial_update", {"id": thing.pk, field: other}).value
    thing.refresh_from_db()
    assert thing.document == held | {field: other}
    assert [*changed["changed"]] == changed["set"] == [field]


def test_an_update_shows_no_secret_and_nothing_that_the_author_masks(settings_of, ann):
    class Masked(CompanySerializer):
        def to_representation(self, instance):
            return {**super().to_representation(instance), "website": "***"}

    class Masking(CompanyViewSet):
        serializer_class = Masked

    class Keyed(CompanyViewSet):
        serializer_class = type(
            "KeyedSerializer",
            (serializers.ModelSerializer,),
            {
                "api_key": serializers.CharField(source="website"),
                "Meta": type("Meta", (), {"model": Company, "fields": ["id", "name", "api_key"]}),
            },
        )

    router = SimpleRouter()
    router.register("masked", Masking, "masked")
    router.register("keyed", Keyed, "keyed")
    patterns = [*router.urls, path("mcp/", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    company = Company.objects.create(name="Acme", website="https://old.example")
    call = acting_as(ann).call
    text = call("masked__partial_update", id=company.pk, website="https://new.example").text
    assert "old.example" not in text
    text = call("keyed__partial_update", id=company.pk, api_key="https://a.example").text
    assert "new.example" not in text
    assert Company.objects.get().website == "https://a.example"
