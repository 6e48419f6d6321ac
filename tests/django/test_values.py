"""Every value that REST accepts can be sent over MCP, and arrives exactly as sent
(`docs/project/evidence/gateways.md`).
"""

import json
from decimal import Decimal

import pytest
import rest_framework
from django.test import Client

from odd.models import Device, Log, Site, Thing
from odd.serializers import DeviceSerializer, ThingSerializer
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.catalogue import build

FULL = {
    "title": "all",
    "kind": "large",
    "mood": "",
    "rank": 2,
    "size": 10,
    "big": 2**62,
    "ratio": 0.1,
    "price": "12345.0123456789",
    "active": True,
    "day": "2026-02-28",
    "moment": "2026-02-28T12:00:00Z",
    "hour": "12:30:00",
    "span": "1 02:03:04",
    "mail": "a@example.com",
    "site": "https://example.com/",
    "code": "6b7e67eb-0000-4000-8000-000000000001",
    "handle": "a-b",
    "address": "::1",
    "document": {"firstName": "Ann", "HTTPServer": {"userID": 1}, "listOf": [{"camelKey": 1}]},
}


def test_every_kind_of_field_arrives_exactly_as_sent(mcp):
    assert mcp("things__create", FULL)["isError"] is False
    thing = Thing.objects.get()
    assert ThingSerializer(thing).data == {**FULL, "id": thing.pk, "scan": None}


NULLABLE = [
    "rank",
    "big",
    "ratio",
    "price",
    "active",
    "day",
    "moment",
    "hour",
    "span",
    "code",
    "address",
    "document",
]


@pytest.mark.parametrize("name", NULLABLE)
def test_null_is_accepted_if_the_field_accepts_it(mcp, name):
    mcp("things__create", FULL)
    assert (
        mcp("things__partial_update", {"id": Thing.objects.get().pk, name: None})["isError"]
        is False
    )
    assert getattr(Thing.objects.get(), name) is None


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("123456789012345678.012345678901", "123456789012345678.012345678901"),
        ('"123456789012345678.012345678901"', "123456789012345678.012345678901"),
        ("0.1", "0.1"),
        ("1e3", "1000"),
        ("7", "7"),
        ("123456789012345678", "123456789012345678"),
    ],
)
@pytest.mark.parametrize(
    "place", ['"amount":{}', '"prices":{{"a":{}}}'], ids=["field", "in-a-dict"]
)
def test_a_decimal_is_exact_as_number_and_as_text(ann, place, sent, stored):
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fancy__post",'
        f'"arguments":{{"words":[],{place.format(sent)}}}}}}}'
    )
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    result = client.post("/mcp/", body, content_type="application/json").json()["result"]
    read = result["structuredContent"]["read"]
    assert Decimal(read["prices"]["a"] if "prices" in read else read["amount"]) == Decimal(stored)


@pytest.mark.parametrize(
    "document",
    [{"a": {"b": [1, None, "x"]}}, [1, [2]], 5, 1.5, True, False, None],
    ids=lambda each: json.dumps(each),
)
def test_a_json_field_accepts_every_document(mcp, document):
    assert mcp("things__create", {"title": "t", "document": document})["isError"] is False
    assert Thing.objects.get().document == document


def test_a_document_sent_as_json_text_is_read_as_the_document(mcp):
    result = mcp("things__create", {"title": "t", "document": '{"firstName": "Ann"}'})
    assert result["_meta"]["toolbooth"]["repairs"] == [{"code": "json-text", "path": "$.document"}]
    assert Thing.objects.get().document == {"firstName": "Ann"}


def test_bare_text_is_refused_for_a_json_field_unless_declared(mcp):
    assert mcp("things__create", {"title": "t", "document": "hello"})["isError"] is True
    assert Thing.objects.count() == 0
    assert (
        mcp("fancy__post", {"words": [], "direction": "north"})["structuredContent"]["read"][
            "direction"
        ]
        == "north"
    )


FANCY = {
    "words": ["a", "b"],
    "anything": [1, "x", [None], {"k": 1}],
    "scores": {"firstName": 1},
    "loose": {"firstName": {"userID": [1]}},
    "prices": {"aB": "1.000000000001"},
    "flavours": ["mint"],
    "camelCase": "x",
    "passphrase": "p",
    "colour": {"r": 1},
    "direction": "south",
    "point": {"x": 1, "y": 2},
    "points": [{"x": 1, "y": 7}, {"x": 2, "y": 3}],
    "amount": "1.000000000001",
}


def test_fields_outside_the_model_arrive_exactly_as_sent(mcp):
    assert mcp("fancy__post", FANCY)["structuredContent"]["read"] == {**FANCY, "kept": "kept"}


@pytest.mark.parametrize("colour", [[1, 2, 3], {"r": 1}, "red", 5, '{"r": 1}'], ids=json.dumps)
def test_any_json_is_passed_to_a_custom_field(mcp, colour):
    assert (
        mcp("fancy__post", {"words": [], "colour": colour})["structuredContent"]["read"]["colour"]
        == colour
    )


FORMS = pytest.mark.parametrize("tool", ["form__post", "multipart__post"])
FORMS_KEEP_DICTIONARIES = tuple(map(int, rest_framework.VERSION.split("."))) >= (3, 18)
"""Before, REST framework reads an empty dictionary from every form."""


@FORMS
def test_a_view_that_reads_only_forms_is_sent_a_form(mcp, tool):
    sent = {
        "words": ["ä", 'b"\r'],
        "flavours": ["mint", "rose"],
        "camelCase": "x",
        "point": {"x": 1, "y": 2},
        "points": [{"x": 1}, {"x": 2, "y": 3}],
        "amount": 1.5,
    }
    read = mcp(tool, sent)["structuredContent"]["read"]
    assert read == {
        **({} if FORMS_KEEP_DICTIONARIES else {"scores": {}, "loose": {}, "prices": {}}),
        **sent,
        "words": ["ä", 'b"'],
        "flavours": read["flavours"],
        "points": [{"x": 1, "y": 7}, {"x": 2, "y": 3}],
        "amount": "1.500000000000",
        "kept": "kept",
    }
    assert sorted(read["flavours"]) == ["mint", "rose"]


@FORMS
def test_a_dictionary_is_sent_in_a_form_or_refused_where_it_would_be_lost(mcp, tool):
    result = mcp(tool, {"words": ["x"], "scores": {"a": 1}})
    if FORMS_KEEP_DICTIONARIES:
        assert result["structuredContent"]["read"]["scores"] == {"a": 1}
    else:
        [problem] = result["_meta"]["toolbooth"]["problems"]
        assert problem["path"] == "$.scores"
        why = "takes a dictionary, which REST framework reads from a form only since 3.18"
        left_out = {(each.what, each.why) for each in build(Configuration()).left_out}
        assert (tool, f"'scores' {why}") in left_out


def test_fields_named_like_protocol_arguments_are_fields(mcp):
    sent = {
        "data": {"firstName": "x"},
        "params": {"a": "b"},
        "arguments": "x",
        "name": "n",
        "mode": "m",
        "page": 1,
        "page_size": 2,
        "help": True,
        "toolCallId": "t",
        "detail": 1,
    }
    result = mcp("protocol__post", sent)
    assert result["structuredContent"] == {"read": sent}
    assert "_meta" not in result


def test_a_serializer_that_contains_itself_is_guarded_at_every_depth(mcp):
    tree = {"name": "a", "branches": [{"name": "b", "branches": [{"name": "c"}]}]}
    assert mcp("tree__post", tree)["structuredContent"] == {"read": tree}
    wrapped = {"name": "a", "branches": [{"name": "b", "branches": [{"data": {"name": "c"}}]}]}
    problems = mcp("tree__post", wrapped)["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in problems] == [
        ("nested-wrapper", "$.branches[0].branches[0].data")
    ]


def test_headers_and_query_parameters_are_sent_as_such(mcp):
    result = mcp("bodiless__post", {"X-Tenant": "t1", "colour": "red", "ids": [1, 2]})
    assert result["structuredContent"] == {"tenant": "t1", "query": {"colour": "red", "ids": "1,2"}}


def test_a_list_that_is_the_body_is_one_argument(mcp):
    result = mcp("lists__post", {"objects": [{"line": "a"}, {"line": "b"}]})["structuredContent"]
    assert [each["line"] for each in result["results"]] == ["a", "b"]
    assert Log.objects.count() == 2


# --- URLs ---


def test_every_part_of_a_url_is_an_argument(mcp):
    site = Site.objects.create(slug="hq", name="HQ")
    assert (
        mcp("sitedevices__create", {"site_pk": site.pk, "label": "d", "site": site.pk})["isError"]
        is False
    )
    made = DeviceSerializer(Device.objects.get()).data
    assert mcp("sitedevices__list", {"site_pk": site.pk})["structuredContent"]["results"] == [made]
    sent = {"site_pk": site.pk, "serial": made["serial"]}
    assert mcp("sitedevices__retrieve", sent)["structuredContent"] == made


def test_an_editable_key_has_separate_arguments_for_url_and_body(mcp):
    Site.objects.create(slug="old", name="Old")
    assert mcp("site__partial_update", {"slug_in_path": "old", "slug": "new"})["isError"] is False
    assert Site.objects.get().slug == "new"


@pytest.mark.parametrize(
    "slug", ["a/b", "../sites", "old.json", "", "old/", "{slug}", "?x=1", "old\n"]
)
def test_lookup_value_that_changes_the_path_is_refused(mcp, slug):
    Site.objects.create(slug="old", name="Old")
    result = mcp("site__destroy", {"slug": slug})
    assert result["isError"] is True
    assert Site.objects.count() == 1


# --- filters ---


@pytest.fixture
def things(db):
    for title, size, kind, rank, day in [
        ("anvil", 1, "large", 2, "2026-01-01"),
        ("bolt", 5, "small", 1, "2026-02-01"),
        ("cog", 9, "small", None, "2026-03-01"),
    ]:
        Thing.objects.create(
            title=title, size=size, kind=kind, rank=rank, day=day, price="0.1", active=size > 4
        )


@pytest.mark.parametrize(
    ("sent", "titles"),
    [
        ({}, "anvil bolt cog"),
        ({"title": "bolt"}, "bolt"),
        ({"title__icontains": "O"}, "bolt cog"),
        ({"active": True}, "bolt cog"),
        ({"active": False}, "anvil"),
        ({"size_min": 2, "size_max": 5}, "bolt"),
        ({"day_after": "2026-02-01"}, "bolt cog"),
        ({"kind": ["small"]}, "bolt cog"),
        ({"kind": ["small", "large"]}, "anvil bolt cog"),
        ({"rank__in": [1, 2]}, "anvil bolt"),
        ({"price__gte": 0.1}, "anvil bolt cog"),
        ({"by": ["-size"]}, "cog bolt anvil"),
        ({"by": ["-size", "title"]}, "cog bolt anvil"),
        ({"ordering": "-title"}, "cog bolt anvil"),
        ({"ordering": ["size", "-title"]}, "anvil bolt cog"),
        ({"ordering": "-size,title"}, "cog bolt anvil"),
        ({"search": "bo"}, "bolt"),
        ({"limit": 1, "offset": 1}, "bolt"),
        ({"active": None, "size_min": ""}, "anvil bolt cog"),
    ],
    ids=json.dumps,
)
def test_filters_return_the_matching_rows(mcp, things, sent, titles):
    result = mcp("things__list", sent)["structuredContent"]
    assert " ".join(each["title"] for each in result["results"]) == titles


@pytest.mark.parametrize(
    "sent",
    [
        {"tilte": "bolt"},
        {"filters": {"tilte": "bolt"}},
        {"filters": '{"tilte": "bolt"}'},
        {"filter": {"title": "bolt"}},
        {"title": {"icontains": "bolt"}},
        {"active": "yes"},
        {"ordering": "price"},
        {"ordering": ["title", "nope"]},
        {"ordering": "-size,nope"},
        {"kind": ["huge"]},
        {"size_min": "many"},
        {"rank__in": [3]},
        {"page": 2},
        {"pages": 1},
    ],
    ids=json.dumps,
)
def test_a_meaningless_filter_never_returns_the_whole_table(mcp, things, sent):
    assert mcp("things__list", sent)["isError"] is True


def test_next_links_can_be_followed(mcp, rest, things):
    page = mcp("things__list", {"limit": 1, "title__icontains": "o"})["structuredContent"]
    assert page["next"] == "http://testserver/odd/things/?limit=1&offset=1&title__icontains=o"
    assert [each["title"] for each in rest.get(page["next"]).json()["results"]] == ["cog"]
    Log.objects.bulk_create(Log(line=str(number)) for number in range(3))
    following = mcp("cursor__list")["structuredContent"]["next"]
    cursor = following.partition("cursor=")[2]
    assert [
        each["line"]
        for each in mcp("cursor__list", {"cursor": cursor.replace("%3D", "=")})[
            "structuredContent"
        ]["results"]
    ] == ["2"]
