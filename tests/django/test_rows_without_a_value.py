"""Filters meant to find rows without a value: the refusal shows how to find them."""

import json
import re

import pytest
from django.urls import include, path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.routers import SimpleRouter

from sales.models import Contact, Tag
from sales.views import ContactViewSet, TagViewSet
from toolbooth.django.testing import acting_as

LISTED = 'to find rows without a value list them with "filter_keys": {} and compare'


class Contacts(ContactViewSet):
    filterset_fields = {"email": ["exact", "icontains"], "company": ["exact"]}


class ContactsWithLookup(ContactViewSet):
    filterset_fields = {"email": ["exact", "isnull"]}


class Tags(TagViewSet):
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["slug", "title"]


class EmailsSerializer(serializers.BaseSerializer):
    def to_representation(self, instance):
        return instance.email


class Emails(ContactViewSet):
    """Rows without columns."""

    http_method_names = ["get"]
    serializer_class = EmailsSerializer


VIEWS = {"contacts": Contacts, "looked": ContactsWithLookup, "tags": Tags, "emails": Emails}


@pytest.fixture
def call(settings_of, ann):
    router = SimpleRouter()
    for name, view in VIEWS.items():
        router.register(name, view, name)
    urls = [path("api/", include(router.urls)), path("mcp", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": urls}))
    return acting_as(ann).call


def advice(result):
    (problem,) = result.problems
    return problem.message.partition("; ")[2]


@pytest.mark.parametrize("lookup", ["isnull", "isempty", "empty", "isblank"])
@pytest.mark.parametrize("inside", [False, True], ids=["beside", "in filters"])
def test_unknown_null_lookup_is_refused_with_the_columns_to_compare(call, lookup, inside):
    blank = Contact.objects.create()
    Contact.objects.create(email="a@example.org")
    sent = {f"email__{lookup}": True}
    refused = call("contacts__list", {"filters": sent} if inside else sent)
    assert advice(refused) == LISTED.format('["id", "email"]')
    (columns,) = re.findall(r"(\[.+\]) and compare", refused.text)
    rows = call("contacts__list", filter_keys=json.loads(columns)).value["results"]
    assert [row for row in rows if row["email"] == ""] == [{"id": str(blank.pk), "email": ""}]


@pytest.mark.parametrize("sent", [{"email": ""}, {"email__isempty": True}], ids=json.dumps)
def test_a_null_lookup_of_the_view_is_named(call, sent):
    refused = call("looked__list", sent)
    assert 'to find rows without a value send "email__isnull": true' in advice(refused)


def test_the_columns_have_the_key_of_the_resource(call):
    Tag.objects.create(slug="vip", title="VIP")
    refused = call("tags__list", title__isnull=True)
    assert advice(refused) == LISTED.format('["slug", "title"]')
    assert call("tags__list", filter_keys=["slug", "title"]).value["results"] == [
        {"slug": "vip", "title": "VIP"}
    ]
    assert advice(call("tags__list", slug__isnull=True)) == LISTED.format('["slug"]')


def test_rows_without_columns_cannot_be_compared(call):
    assert advice(call("emails__list", email__isnull=True)) == ""
    assert advice(call("emails__list", email="")) == 'got ""'


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("contacts__list", {"email__iexact": "a"}),
        ("contacts__list", {"quux__isnull": True}),
        ("contacts__list", {"isnull": True}),
        ("contacts__create", {"email__isnull": True}),
        ("contacts__create", {"tags": [{"slug__isnull": True}]}),
    ],
    ids=json.dumps,
)
def test_other_undeclared_keys_are_refused_as_usual(call, tool, sent):
    refused = call(tool, sent)
    assert refused.is_error
    assert "without a value" not in refused.text


def test_behind_a_dispatcher_the_advice_is_the_same(settings_of, ann):
    settings_of(TOOLBOOTH={"DISPATCH": "app"})
    sent = {"resource": "contacts", "action": "list", "email__isnull": True}
    refused = acting_as(ann).call("sales", sent)
    assert advice(refused) == LISTED.format('["id", "email"]')
