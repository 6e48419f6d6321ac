"""Results that fit: in pages that together are the whole, byte for byte, and nothing of them is lost on the way."""

import asyncio
import json
import re
from hashlib import sha256
from pathlib import Path

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.db import transaction
from django.http import HttpResponse
from django.test import AsyncClient
from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from rest_framework import pagination, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from odd.models import Log
from sales.models import Company, Contact
from sales.views import CompanyViewSet, ContactViewSet
from toolbooth.content import Text
from toolbooth.django import decorators
from toolbooth.django.conf import Configuration, mistakes
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.excerpts import plain, read
from toolbooth.django.testing import acting_as

MOST = 4_000
UNUSED = ["*__update", "*__partial_update", "*__destroy"]
answer: dict = {}
"""What the views that answer anything answer."""


class Unpaged(CompanyViewSet):
    pagination_class = None


class Numbered(pagination.PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 80


class ByNumber(CompanyViewSet):
    pagination_class = Numbered


class Offsets(pagination.LimitOffsetPagination):
    default_limit = 50


class ByOffset(CompanyViewSet):
    pagination_class = Offsets


class Cursors(pagination.CursorPagination):
    page_size = 50
    ordering = "id"


class ByCursor(CompanyViewSet):
    pagination_class = Cursors


class InItsOwnWords(pagination.PageNumberPagination):
    page_size = 50

    def get_paginated_response(self, data):
        return Response({"total": self.page.paginator.count, "tags": ["a", "b"], "items": data, "continuation": "mine"})


class Custom(CompanyViewSet):
    pagination_class = InItsOwnWords


class Features(CompanyViewSet):
    """Rows whose fields stand further down."""

    pagination_class = None

    def list(self, request, *args, **kwargs):
        rows = super().list(request, *args, **kwargs).data
        return Response({"type": "collection", "features": [{"type": "feature", "properties": row} for row in rows]})


class Nameless(CompanyViewSet):
    """Answers without any list."""

    pagination_class = None

    def list(self, request, *args, **kwargs):
        return Response({"nothing": "here"})


class Lines(viewsets.GenericViewSet):
    """Lists what the test says."""

    pagination_class = None
    serializer_class = serializers.Serializer
    queryset = Company.objects.none()

    @extend_schema(responses=serializers.Serializer(many=True))
    def list(self, request):
        return Response(answer["value"])


class Anything(APIView):
    @extend_schema(responses=dict, parameters=[OpenApiParameter("why", str)])
    def get(self, request):
        return Response(answer["value"])


class PlainText(APIView):
    @extend_schema(responses=str)
    def get(self, request):
        return HttpResponse(answer["value"], content_type="text/plain; charset=utf-8")


class Waits(Anything):
    """As in adrf: the view is a coroutine."""

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return transaction.non_atomic_requests(view)  # Django runs no such view otherwise


class Names(serializers.Serializer):
    names = serializers.ListField(child=serializers.CharField(), required=False)


class Runs(viewsets.GenericViewSet):
    """Does something each time that it is called, and answers at length."""

    queryset = Company.objects.all()
    serializer_class = Names

    @action(detail=False, methods=["post"])
    def run(self, request):
        Log.objects.create(line="ran")
        return Response({"ran": Log.objects.count(), "lines": [f"line {number}" for number in range(1000)]})


class Own(Unpaged):
    """Has a filter of its own that is called as the token is."""

    @extend_schema(parameters=[OpenApiParameter("continuation_token", str), OpenApiParameter("why", str)])
    def list(self, request, *args, **kwargs):
        if "continuation_token" in request.query_params:
            self.queryset = Company.objects.filter(name=request.query_params["continuation_token"])
        return super().list(request, *args, **kwargs)


class Keyless(ContactViewSet):
    """Answers a create without the row's key."""

    def create(self, request, *args, **kwargs):
        made = super().create(request, *args, **kwargs).data
        return Response({"email": made["email"]}, status=201)


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", Unpaged, "companies")
    router.register("numbered", ByNumber, "numbered")
    router.register("offsets", ByOffset, "offsets")
    router.register("cursors", ByCursor, "cursors")
    router.register("custom", Custom, "custom")
    router.register("features", Features, "features")
    router.register("nameless", Nameless, "nameless")
    router.register("keyless", Keyless, "keyless")
    router.register("runs", Runs, "runs")
    router.register("own", Own, "own")
    router.register("lines", Lines, "lines")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("anything/", Anything.as_view(), name="anything"),
        path("text/", PlainText.as_view(), name="text"),
        path("waits/", Waits.as_view(), name="waits"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    """Serves with some settings, and no hand-written tools but the test's own."""
    monkeypatch.setattr(decorators, "declared", {})

    def served(**chosen):
        settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"MAX_RESULT": MOST, "EXCLUDE": UNUSED, **chosen})
        return acting_as(ann).call

    return served


@pytest.fixture
def call(serve):
    return serve()


def companies(count: int) -> None:
    Company.objects.bulk_create(
        Company(id=number + 1, name=f"company {number:04}", employees=number, website="https://example.org/")
        for number in range(count)
    )


def pages_of(call, tool: str, first, most: int = MOST) -> list[dict]:
    """Every page of a result, each no longer than it may be."""
    pages = [first.value]
    while token := pages[-1][key_of(pages[-1])].get("continuation_token"):
        reply = call(tool, {"continuation_token": token})
        assert not reply.is_error, reply
        pages.append(reply.value)
        assert len(reply.text.encode()) <= most
    assert len(first.text.encode()) <= most
    return pages


def key_of(page: dict) -> str:
    return list(page)[-1]


def joined(pages: list[dict]) -> str:
    """What pages are together, as it would have been written."""
    told = [page.pop(key_of(page)) for page in pages]
    assert [each["from"] for each in told] == [1, *(each["to"] + 1 for each in told[:-1])]
    assert {each["count"] for each in told} == {told[-1]["to"]}
    assert len({each["size"] for each in told}) == 1
    if list(pages[0]) == ["text"]:
        return "".join(page["text"] for page in pages)
    longest = re.fullmatch(r"[\d,]+ more in (.*)\. To go on, .*", told[0]["note"], re.DOTALL)[1]
    whole = {**pages[0], longest: [row for page in pages for row in page[longest]]}
    assert all({**page, longest: 0} == {**whole, longest: 0} for page in pages)
    return written(whole)


def written(value) -> str:
    """As `json` writes it: any number with all its digits."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- whole, or in pages ---


def test_a_result_that_fits_is_what_rest_would_have_sent(call, rest):
    companies(5)
    assert call("companies__list").text == '{"results":' + rest.get("/api/companies/").content.decode() + "}"


def test_a_larger_one_comes_in_pages_that_are_the_whole_together(call, rest):
    companies(200)
    first = call("companies__list")
    told = first.value["continuation"]
    assert told == {
        "from": 1,
        "to": len(first.value["results"]),
        "count": 200,
        "size": len(rest.get("/api/companies/").content) + len('{"results":}'),
        "continuation_token": told["continuation_token"],
        "note": f"{200 - told['to']} more in results. "
        "To go on, make the same call with continuation_token instead of its fields.",
    }
    pages = pages_of(call, "companies__list", first)
    assert {**pages[-1]["continuation"], "from": 0} == {
        "from": 0,
        "to": 200,
        "count": 200,
        "size": told["size"],
        "note": "The last page.",
    }
    assert joined(pages) == call("companies__list", mode="full").text


def test_the_size_that_fits_is_a_setting(serve):
    companies(200)
    assert "continuation" not in serve(MAX_RESULT=40_000)("companies__list").value
    assert "continuation" in serve(MAX_RESULT=5_000)("companies__list").value


@pytest.mark.parametrize(
    ("tool", "rows"),
    [("numbered", "results"), ("offsets", "results"), ("cursors", "results"), ("custom", "items")],
)
def test_the_pages_of_a_view_are_cut_as_any_answer(call, tool, rows):
    companies(70)
    whole = call(f"{tool}__list", mode="full")
    assert len(whole.value[rows]) == 50
    pages = pages_of(call, f"{tool}__list", call(f"{tool}__list"))
    assert len(pages) > 1
    assert joined(pages) == whole.text


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("numbered", "The view has more: its next page is that of the same arguments with page=2, page_size=20."),
        ("offsets", "The view has more: its next page is that of the same arguments with limit=20, offset=20."),
        ("cursors", "The view has more: its next page is that of the same arguments with cursor=cD0yMA==."),
        ("custom", "The view may have more: send page for its other pages."),
    ],
)
def test_the_last_rows_of_an_answer_are_not_the_last_of_the_view(call, tool, words, monkeypatch):
    monkeypatch.setattr(Cursors, "page_size", 20)
    companies(70)
    own = {"numbered": {"page_size": 20}, "offsets": {"limit": 20}}.get(tool, {})
    page = call(f"{tool}__list", mode="page", **own)
    told = page.value[key_of(page.value)]
    while "continuation_token" in told:
        page = call(f"{tool}__list", continuation_token=told["continuation_token"])
        told = page.value[key_of(page.value)]
    assert told["note"] == f"All rows of this answer. {words}"
    assert words in call(f"{tool}__list", mode="summary", **own).value["continuation"]["note"]
    if "same arguments" not in words:
        return
    # What the note says leads on, to the end.
    shown, sizes = [], []
    while True:
        whole = call(f"{tool}__list", mode="page", **own).value
        sizes.append(len(whole["results"]))
        shown += [row["employees"] for row in whole["results"]]
        note = whole["continuation"]["note"]
        if "same arguments" not in note:
            break
        own = dict(each.split("=", 1) for each in note.partition("same arguments with ")[2].rstrip(".").split(", "))
    assert (shown, note) == (list(range(70)), "The last page.")
    assert sizes == [20, 20, 20, 10]


def test_a_key_of_the_answer_is_not_taken_from_it(call):
    companies(70)
    page = call("custom__list").value
    assert page["continuation"] == "mine"
    assert page["continuation_2"]["count"] == 50


def test_the_arguments_of_the_first_call_hold_for_all_pages(call):
    companies(300)
    first = call("companies__list", search="02", ordering="-employees")
    pages = pages_of(call, "companies__list", first)
    shown = [row["employees"] for page in pages for row in page["results"]]
    assert shown == [number for number in range(299, -1, -1) if "02" in f"{number:04}"]


def test_filters_in_one_object_hold_as_well(call):
    companies(300)
    pages = pages_of(call, "companies__list", call("companies__list", filters={"search": "02"}))
    assert sum(len(page["results"]) for page in pages) == 112


def test_a_row_that_is_too_long_comes_in_pieces_of_text(call):
    companies(3)
    Company.objects.create(name="long", website="https://" + 'é"\\' * 3_000)
    whole = call("companies__list", mode="full")
    first = call("companies__list")
    assert list(first.value) == ["text", "continuation"]
    assert "read it when you have all pieces" in first.value["continuation"]["note"]
    assert joined(pages_of(call, "companies__list", first)) == whole.text


def test_an_answer_without_a_list_comes_in_pieces_of_text(call):
    answer["value"] = {str(number): "x" * 20 for number in range(500)}
    whole = call("anything__get", mode="full").text
    assert json.loads(joined(pages_of(call, "anything__get", call("anything__get")))) == json.loads(whole)


def test_plain_text_comes_in_pieces(call):
    answer["value"] = "Zeile für Zeile\n" * 1_000
    whole = call("text__get", mode="full")
    assert whole.value["text"] == answer["value"]
    assert joined(pages_of(call, "text__get", call("text__get"))) == whole.text


def test_a_view_that_is_a_coroutine_is_paged(call):
    answer["value"] = [{"number": number} for number in range(1_000)]
    pages = pages_of(call, "waits__get", call("waits__get"))
    assert joined(pages) == call("waits__get", mode="full").text


def test_pages_are_brought_over_asgi(call, ann):
    answer["value"] = [{"number": number} for number in range(1_000)]

    async def visit(arguments):
        who = {"Authorization": "Basic YW5uOnB3"}
        params = {"name": "waits__get", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = await AsyncClient().post("/mcp/", json.dumps(message), content_type="application/json", headers=who)
        return reply.json()["result"]["structuredContent"]

    first = asyncio.run(visit({}))
    second = asyncio.run(visit({"continuation_token": first["continuation"]["continuation_token"]}))
    assert second["results"][0]["number"] == len(first["results"])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
long_values = st.builds(lambda value, times: [value] * times, values, st.integers(1, 400))
answers = st.dictionaries(st.text(max_size=8), values | long_values, min_size=1, max_size=5) | long_values


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=answers)
def test_whatever_a_view_answers_its_pages_are_the_whole(call, value):
    answer["value"] = value
    whole = call("anything__get", mode="full")
    first = call("anything__get")
    if len(whole.text.encode()) <= MOST:
        assert first.text == whole.text
    else:
        assert json.loads(joined(pages_of(call, "anything__get", first))) == json.loads(whole.text)


@settings(max_examples=100, deadline=None)
@given(value=answers, room=st.integers(1, 500), spaced=st.booleans())
def test_what_is_cut_apart_is_the_text_as_it_was(value, room, spaced):
    text = json.dumps(value, ensure_ascii=False, indent=1 if spaced else None)
    text = text.encode(errors="replace").decode()
    found = read(text)
    for unit in ("text", "rows") if found.rows else ("text",):
        start, parts = 0, []
        while start < found.count(unit):
            end = found.end(unit, start, room)
            page = orjson.loads(found.page(unit, start, end, "told", b"1"))
            parts += page["text"] if unit == "text" else page[found.name]
            start = end
        whole = orjson.loads(text)
        rows = whole if isinstance(whole, list) else whole.get(found.name)
        assert (parts == rows) if unit == "rows" else ("".join(parts) == text)


def test_keys_twice_and_long_numbers_are_cut_as_they_are():
    text = '{"a":1,"a":2,"rows":[123456789012345678901234567890,1e400,{"b":1,"b":2}],"z":0.10}'
    found = read(text)
    assert [text[start:end] for start, end in found.rows] == [
        "123456789012345678901234567890",
        "1e400",
        '{"b":1,"b":2}',
    ]
    assert found.page("rows", 1, 2, "told", b"1") == b'{"a":1,"a":2,"rows":[1e400],"z":0.10,"told":1}'


@pytest.mark.parametrize("text", ["", "{", "[1,", '{"a"', "no JSON", '{"a":[1,2'])
def test_what_is_no_json_is_cut_as_text(text):
    assert read(text).rows == ()
    assert read(text).unit(None) == "text"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": 1} ', b'{"a": 1,"continuation":0}'),
        ('{"continuation": []}', b'{"continuation": [],"continuation_2":0}'),
        ("[1, 2]", b'{"results":[1, 2],"continuation":0}'),
        ("{}", None),
        ("no JSON", None),
    ],
)
def test_a_note_stands_beside_all_of_it(text, whole):
    assert read(text).noted(b"0") == whole
    assert plain(text).noted(b"0") is None


def test_a_piece_has_at_least_one_character():
    assert plain("éé").end("text", 0, 1) == 1


# --- results that change ---


def test_a_result_that_changed_between_pages_says_so(call):
    companies(200)
    token = call("companies__list").value["continuation"]["continuation_token"]
    Company.objects.get(name="company 0000").delete()
    page = call("companies__list", continuation_token=token).value
    assert page["continuation"]["note"].startswith("The result has changed since the page before")
    assert page["continuation"]["count"] == 199
    token = page["continuation"]["continuation_token"]
    again = call("companies__list", continuation_token=token).value
    assert "changed" not in again["continuation"]["note"]


def test_a_result_that_has_become_shorter_ends(call):
    companies(200)
    token = call("companies__list").value["continuation"]["continuation_token"]
    Company.objects.filter(employees__gte=10).delete()
    page = call("companies__list", continuation_token=token).value
    assert page["results"] == []
    assert page["continuation"]["note"].startswith("The result has changed")
    assert page["continuation"]["note"].endswith("The last page.")
    assert list(page["continuation"]) == ["count", "size", "note"]
    assert page["continuation"]["count"] == 10


def test_a_result_that_can_no_longer_be_cut_by_rows_begins_anew(call):
    companies(100)
    first = call("companies__list").value["continuation"]
    Company.objects.create(name="zzz", website="https://" + "x" * 10_000)
    second = call("companies__list", continuation_token=first["continuation_token"]).value["continuation"]
    third = call("companies__list", continuation_token=second["continuation_token"]).value["continuation"]
    assert (second["from"], third["from"], third["to"]) == (first["to"] + 1, second["to"] + 1, 100)
    page = call("companies__list", continuation_token=third["continuation_token"])
    assert page.value["continuation"]["from"] == 1
    assert "this is its beginning" in page.value["continuation"]["note"]
    assert joined(pages_of(call, "companies__list", page)) == call("companies__list", mode="full").text


def test_text_that_could_be_cut_by_rows_by_now_goes_on_as_text(call):
    companies(200)
    Company.objects.create(name="zzz", website="https://" + "x" * 10_000)
    first = call("companies__list")
    Company.objects.get(name="zzz").delete()
    page = call("companies__list", continuation_token=first.value["continuation"]["continuation_token"]).value
    assert list(page) == ["text", "continuation"]
    assert page["continuation"]["from"] == first.value["continuation"]["to"] + 1


# --- settings ---


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"MAX_RESULT": 3_999}, "must be a number from 4,000, not 3999"),
        ({"MAX_RESULT": "much"}, "must be a number from 4,000, not 'much'"),
        ({"MAX_PAGE_SIZE": 0}, "must be a positive number, not 0"),
        ({"TOKEN_AGE": True}, "must be a positive number, not True"),
        ({"CACHE": "nowhere"}, "must be one of CACHES: default, not 'nowhere'"),
        ({"CACHE": ["default"]}, "must be one of CACHES: default, not ['default']"),
    ],
)
def test_settings_that_cannot_be_are_mistakes(settings_of, chosen, words):
    settings_of(TOOLBOOTH=chosen)
    assert list(mistakes()) == [(next(iter(chosen)), words)]


# --- what can be asked for ---


def test_a_summary_says_what_there_is(call):
    companies(200)
    told = call("companies__list", mode="summary").value
    token = told["continuation"].pop("continuation_token")
    assert told == {
        "rows": "results",
        "count": 200,
        "size": len(call("companies__list", mode="full").text),
        "fields": ["id", "name", "website", "employees"],
        "sample": {
            "id": 1,
            "name": "company 0000",
            "website": "https://example.org/",
            "employees": 0,
        },
        "continuation": {
            "note": "Only a summary. To see it, make the same call with continuation_token instead of its fields."
        },
    }
    pages = pages_of(call, "companies__list", call("companies__list", continuation_token=token))
    assert joined(pages) == call("companies__list", mode="full").text


def test_a_summary_shows_what_stands_beside_the_rows_and_cuts_what_is_long(call):
    companies(70)
    Company.objects.filter(name="company 0000").update(website="https://" + "x" * 1_000)
    told = call("numbered__list", mode="summary").value
    assert told["beside"]["count"] == 70
    assert told["count"] == 50
    assert len(told["sample"]["website"]) == 100


def test_a_summary_of_many_fields_is_short(call):
    answer["value"] = {f"field {number}": {"x": ["y" * 500]} for number in range(1_000)}
    told = call("anything__get", mode="summary")
    assert (len(told.value["fields"]), told.value["more_fields"]) == (100, 900)
    assert len(told.text) < 20_000


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], {"rows": "results", "count": 0, "size": 14, "sample": None}),
        (["a", "b"], {"rows": "results", "count": 2, "size": 21, "sample": "a"}),
        ({"a": 1}, {"size": 7, "fields": ["a"], "sample": {"a": 1}}),
        ("words", {"size": 17, "fields": ["value"], "sample": {"value": "words"}}),
    ],
    ids=["no-rows", "no-fields", "one-object", "text"],
)
def test_a_summary_of_little(call, value, told):
    answer["value"] = value
    summary = call("anything__get", mode="summary").value
    del summary["continuation"]
    assert summary == told


def test_a_page_is_told_of_even_where_all_of_it_fits(call):
    companies(3)
    page = call("companies__list", mode="page").value
    assert len(page["results"]) == 3
    told = page["continuation"]
    assert (told["from"], told["to"], told["count"], told["note"]) == (1, 3, 3, "The last page.")


def test_full_beside_a_token_is_all_that_is_left(call):
    companies(300)
    first = call("companies__list").value
    rest = call("companies__list", continuation_token=first["continuation"]["continuation_token"], mode="full").value
    assert rest["continuation"]["from"] == first["continuation"]["to"] + 1
    assert rest["continuation"]["to"] == 300
    assert len(first["results"]) + len(rest["results"]) == 300


def test_another_mode_is_refused(call):
    for arguments in ({"mode": "all"}, {"mode": "all", "continuation_token": "x"}):
        told = call("companies__list", arguments)
        assert "must be one of summary, page, full" in told.text


def test_rows_of_a_view_without_pages_can_be_asked_for_by_page(call):
    companies(25)
    page = call("companies__list", page=3, page_size=10).value
    assert [row["employees"] for row in page["results"]] == [20, 21, 22, 23, 24]
    assert page["continuation"]["note"] == "The last page."
    first = call("companies__list", page_size=2).value
    assert [row["employees"] for row in first["results"]] == [0, 1]
    token = first["continuation"]["continuation_token"]
    second = call("companies__list", continuation_token=token, page_size=3).value
    assert [row["employees"] for row in second["results"]] == [2, 3, 4]
    fifth = call("companies__list", continuation_token=token, page=5, page_size=3).value
    assert [row["employees"] for row in fifth["results"]] == [12, 13, 14]


def test_a_page_has_a_hundred_rows_where_nobody_says_how_many(serve):
    companies(250)
    call = serve(MAX_RESULT=40_000)
    assert "$.page: counts for nothing" in call("companies__list", page=1, mode="summary").text
    assert "$.page_size: counts for nothing" in call("companies__list", page_size=1, mode="summary").text
    assert [len(call("companies__list", page=number).value["results"]) for number in (1, 2, 3)] == [100, 100, 50]
    assert len(serve(MAX_RESULT=40_000, MAX_PAGE_SIZE=20)("companies__list", page=1).value["results"]) == 20


def test_a_page_with_more_rows_than_fit_says_so(call):
    companies(200)
    told = call("companies__list", page=1, page_size=150).value["continuation"]
    assert told["to"] < 150
    assert told["note"].startswith(f"150 rows are longer than 4,000 bytes: these are the first {told['to']}. ")
    whole = call("companies__list", page=1, page_size=150, mode="full").value
    assert len(whole["results"]) == 150


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=40), size=st.integers(1, 1_000), more=st.booleans())
def test_a_page_is_never_longer_than_it_may_be(call, text, size, more):
    answer["value"] = [{"text": text, "number": number} for number in range(300)]
    first = call("anything__get", mode="page")
    assert len(first.text.encode()) <= MOST
    first = call("lines__list", page_size=size)
    assert len(first.text.encode()) <= MOST
    token = first.value["continuation"].get("continuation_token")
    if more and token:
        assert len(call("lines__list", continuation_token=token, page_size=size).text.encode()) <= MOST


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"page": 4, "page_size": 10}, "$.page: there are 25 rows: pages 1 to 3 of 10"),
        ({"page_size": 1001}, "$.page_size: must be 1 to 1000"),
        ({"page": 0}, "$.page: must be 1 or more"),
    ],
)
def test_a_page_that_cannot_be_is_refused(call, arguments, words):
    companies(25)
    assert f"- {words}" in call("companies__list", arguments).text


def test_the_first_page_of_nothing_is_empty(call):
    assert call("companies__list", page=1).value["results"] == []
    assert "there are 0 rows" in call("companies__list", page=2).text


def test_a_row_that_is_too_large_stands_in_the_way_of_its_own_page_alone(call):
    companies(5)
    Company.objects.filter(employees=2).update(website="https://" + "x" * 10_000)

    def asked(**arguments):
        return [row["employees"] for row in call("companies__list", page_size=2, **arguments).value["results"]]

    assert [asked(page=1), asked(page=3)] == [[0, 1], [4]]
    told = call("companies__list", page=2, page_size=2)
    assert told.text.endswith(
        "- $.page: row 3 is too large for a page; send filter_keys without its large fields, "
        'or mode "full", or no page and no page_size, or ask for other rows'
    )
    assert asked(page=2, filter_keys=["employees"]) == [2, 3]
    assert asked(page=2, mode="full") == [2, 3]
    token = call("companies__list", page=1, page_size=1).value["continuation"]["continuation_token"]
    assert "$.page_size: row 3 is too large" in call("companies__list", continuation_token=token, page_size=2).text
    assert asked(continuation_token=token, page=3) == [4]
    page = call("companies__list", continuation_token=token).value
    assert [row["employees"] for row in page["results"]] == [1]
    text = call("companies__list").value["continuation"]["continuation_token"]
    assert asked(continuation_token=text, page=3) == [4]
    told = call("companies__list", continuation_token=text, page_size=2)
    assert "$.page_size: the token goes on with pieces of text; send it alone" in told.text


def test_an_answer_without_rows_has_no_pages(call):
    assert "$.page: the answer has no rows" in call("nameless__list", page=1).text


def test_after_the_rows_before_one_that_is_too_large_all_begins_anew(call):
    companies(5)
    Company.objects.create(name="long", website="https://" + "x" * 10_000)
    page = call("companies__list", page=1, page_size=5).value
    assert len(page["results"]) == 5
    anew = call("companies__list", continuation_token=page["continuation"]["continuation_token"])
    assert "changed" not in anew.value["continuation"]["note"]
    assert joined(pages_of(call, "companies__list", anew)) == call("companies__list", mode="full").text


def test_beside_a_token_the_pages_of_a_view_are_refused(call):
    companies(70)
    token = call("numbered__list").value["continuation"]["continuation_token"]
    told = call("numbered__list", continuation_token=token, page=2, page_size=5)
    assert {problem.path for problem in told.problems} == {"$.page", "$.page_size"}
    assert "cannot stand beside continuation_token" in told.text
    assert told.corrected == {"continuation_token": token}
    assert not call("numbered__list", told.corrected).is_error


def test_rows_are_trimmed_to_the_fields_that_are_asked_for(call):
    companies(300)
    first = call("companies__list", filter_keys=["name"])
    assert first.value["results"][0] == {"name": "company 0000"}
    pages = pages_of(call, "companies__list", first)
    assert {tuple(row) for page in pages for row in page["results"]} == {("name",)}
    assert joined(pages) == call("companies__list", filter_keys=["name"], mode="full").text


def test_another_choice_of_fields_may_stand_beside_a_token(call):
    companies(300)
    token = call("companies__list").value["continuation"]["continuation_token"]
    page = call("companies__list", continuation_token=token, filter_keys=["employees", "name"]).value
    assert list(page["results"][0]) == ["name", "employees"]
    assert "changed" not in page["continuation"]["note"]
    token = page["continuation"]["continuation_token"]
    assert list(call("companies__list", continuation_token=token).value["results"][0]) == ["name", "employees"]
    told = call("companies__list", continuation_token=token, filter_keys=["emloyees"])
    assert 'did you mean "employees"?' in told.text
    assert told.corrected == {"continuation_token": token, "filter_keys": ["employees"]}


def test_other_fields_of_what_came_as_text_begin_anew(call):
    companies(3)
    Company.objects.create(name="long", website="https://" + "x" * 9_000)
    token = call("companies__list").value["continuation"]["continuation_token"]
    page = call("companies__list", continuation_token=token, filter_keys=["name"])
    assert [row["name"] for row in page.value["results"]] == [*(f"company {n:04}" for n in range(3)), "long"]
    assert page.value["continuation"]["note"] == "It cannot be paged as it was: this is its beginning. The last page."


def test_one_row_is_trimmed_too(call):
    companies(1)
    row = Company.objects.get()
    assert call("companies__retrieve", id=row.pk, filter_keys=["name"]).value == {"name": "company 0000"}
    assert call("custom__list", filter_keys=["name"]).value == {
        "total": 1,
        "tags": ["a", "b"],
        "items": [{"name": "company 0000"}],
        "continuation": "mine",
    }


def test_fields_that_stand_elsewhere_are_not_lost_in_silence(call):
    companies(1)
    told = call("features__list", filter_keys=["name"])
    assert "$.filter_keys: the answer has none of these where its fields stand; it has type, properties" in told.text
    assert "$.filter_keys: the answer has no rows" in call("nameless__list", filter_keys=["name"]).text


# --- results that cannot be asked for again ---


def test_what_is_no_query_is_run_once_and_kept(call):
    first = call("runs__run")
    pages = pages_of(call, "runs__run", first)
    assert len(pages) > 1
    whole = {"ran": 1, "lines": [f"line {number}" for number in range(1000)]}
    assert json.loads(joined(pages)) == whole
    assert Log.objects.count() == 1


def test_a_summary_of_what_is_no_query_can_be_gone_on_from(call):
    told = call("runs__run", mode="summary").value
    assert (told["rows"], told["count"], told["beside"]) == ("lines", 1000, {"ran": 1})
    token = told["continuation"]["continuation_token"]
    assert call("runs__run", continuation_token=token).value["lines"][0] == "line 0"
    assert len(call("runs__run", continuation_token=token, mode="full").value["lines"]) == 1000
    assert Log.objects.count() == 1


@pytest.mark.parametrize("backend", ["django.core.cache.backends.dummy.DummyCache", "broken_cache.Broken"])
def test_where_the_cache_keeps_nothing_the_result_is_whole(serve, settings_of, caplog, backend):
    default = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    settings_of(CACHES={"default": default, "kept": {"BACKEND": backend}})
    call = serve(CACHE="kept")
    assert len(call("runs__run").value["lines"]) == 1000
    for mode in ("summary", "page"):
        whole = call("runs__run", mode=mode).value
        assert len(whole["lines"]) == 1000
        assert whole["continuation"] == {
            "note": "All of it, not as asked: nothing is kept here that a page could be gone on from."
        }
    assert list(call("runs__run", mode="full").value) == ["ran", "lines"]
    made = call("contacts__create", objects=[{"email": f"{number}@x.io"} for number in range(150)]).value
    assert len(made["ids"]) == made["created"] == 150
    assert list(made) == ["created", "ids"]
    companies(200)
    assert "continuation" in call("companies__list").value
    assert ("nobody answers" in caplog.text) == (backend == "broken_cache.Broken")


LONG = "".join(sha256(str(number).encode()).hexdigest() for number in range(100))
"""More than a token could hold."""


def test_a_query_with_very_long_arguments_is_run_again_all_the_same(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": "more"})
    first = call("own__list", why=LONG, filter_keys=["id", "name", "website"]).value
    token = first["continuation"]["more"]
    assert len(token) < 500
    Company.objects.filter(name="company 0199").update(name="zzz")
    second = call("own__list", more=token).value
    assert second["results"][0].keys() == {"id", "name", "website"}
    assert second["continuation"]["from"] == first["continuation"]["to"] + 1
    assert second["continuation"]["note"].startswith("The result has changed since the page before")
    rest = call("own__list", more=second["continuation"]["more"], mode="full", filter_keys=["name"]).value
    assert rest["results"][-1] == {"name": "zzz"}


def test_the_pages_of_a_query_with_very_long_arguments_are_the_whole(call):
    answer["value"] = list(range(3_000))
    pages = pages_of(call, "anything__get", call("anything__get", why=LONG))
    assert len(pages) > 2
    assert json.loads(joined(pages)) == {"results": list(range(3_000))}


def test_long_arguments_that_are_no_longer_kept_are_to_be_sent_again(call):
    answer["value"] = list(range(3_000))
    token = call("anything__get", why=LONG).value["continuation"]["continuation_token"]
    cache.clear()
    assert call("anything__get", continuation_token=token).text.endswith(
        "- $.continuation_token: goes on with arguments that are no longer kept; "
        "call anything__get again with the arguments of the first call"
    )


# --- many rows ---


def test_the_receipt_of_many_rows_stays_short(serve):
    call = serve(MAX_RESULT=5_000)
    rows = [{"email": f"{number}@x.io"} for number in range(1000)]
    made = call("contacts__create", objects=rows)
    assert made.value["created"] == 1000
    assert len(made.value["ids"]) == 100
    assert len(made.text) < 4_500
    assert made.value["continuation"]["note"].startswith("900 more in ids.")
    pages = pages_of(call, "contacts__create", made, most=5_000)
    shown = [key for page in pages for key in page["ids"]]
    assert shown == [str(Contact.objects.get(email=row["email"]).pk) for row in rows]
    assert Contact.objects.count() == 1000


def test_the_receipt_of_sixty_rows_is_their_keys(serve):
    made = serve(MAX_RESULT=40_000)("contacts__create", objects=[{"email": f"{n}@x.io"} for n in range(60)])
    assert list(made.value) == ["created", "ids"]
    assert len(made.text) - len(json.dumps(made.value["ids"], separators=(",", ":"))) <= 120


def test_rows_without_keys_are_told_in_pages(call):
    made = call("keyless__create", objects=[{"email": f"{number}@x.io"} for number in range(300)])
    pages = pages_of(call, "keyless__create", made)
    assert [row["email"] for page in pages for row in page["results"]] == [f"{n}@x.io" for n in range(300)]


def test_all_rows_are_shown_to_who_asks_for_them(call):
    made = call("contacts__create", objects=[{"email": f"{number}@x.io"} for number in range(150)], verify=True)
    assert len(made.value["results"]) == 150


def test_a_tool_for_many_rows_goes_on_as_well(serve):
    call = serve(BULK_TOOLS=True, MAX_RESULT=5_000)
    made = call("contacts__bulk_create", objects=[{"email": f"{number}@x.io"} for number in range(150)])
    token = made.value["continuation"]["continuation_token"]
    assert len(call("contacts__bulk_create", continuation_token=token).value["ids"]) == 50
    assert "was given by contacts__bulk_create" in call("contacts__create", continuation_token=token).text


# --- other names, other ways ---


def test_the_token_has_the_name_that_the_project_gives_it(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": "more", "mode": "how"})
    first = call("companies__list").value["continuation"]
    assert "the same call with more instead of its fields" in first["note"]
    assert call("companies__list", more=first["more"], how="full").value["continuation"]["to"] == 200
    assert "$.more: is no token" in call("companies__list", more="x").text


def test_where_tokens_are_switched_off_results_are_whole(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": None})
    assert len(call("companies__list").value["results"]) == 200
    assert len(call("runs__run", mode="page").value["lines"]) == 1000
    page = call("companies__list", mode="page").value["continuation"]
    assert (page["count"], page["note"]) == (200, f"{200 - page['to']} more in results.")
    assert call("companies__list", mode="summary").value["count"] == 200
    made = call("contacts__create", objects=[{"email": f"{number}@x.io"} for number in range(150)]).value
    assert len(made["ids"]) == 150


def test_an_argument_of_the_host_is_not_taken_for_a_token(call):
    companies(200)
    assert call("own__list", continuation_token="company 0007").value["results"][0]["employees"] == 7
    assert len(call("own__list").value["results"]) == 200


def test_a_token_is_sent_through_a_dispatcher(serve):
    companies(200)
    call = serve(DISPATCH="resource")
    first = call("companies", action="list").value["continuation"]
    page = call("companies", action="list", continuation_token=first["continuation_token"]).value
    assert page["continuation"]["from"] == first["to"] + 1
    page = call("companies", action="list", params={"continuation_token": first["continuation_token"]}).value
    assert page["continuation"]["from"] == first["to"] + 1


def test_a_token_in_arguments_that_came_as_text(call):
    companies(200)
    first = call("companies__list").value["continuation"]
    page = call("companies__list", json.dumps({"continuation_token": first["continuation_token"]})).value
    assert page["continuation"]["from"] == first["to"] + 1


def test_no_token_is_an_ordinary_call(call):
    companies(3)
    assert len(call("companies__list", continuation_token=None).value["results"]) == 3


# --- hand-written tools ---


def test_what_a_query_returns_is_asked_for_again(serve):
    @mcp_tool(annotations={"readOnlyHint": True})
    def numbers(upto: int, step: float = 1.0):
        Log.objects.create(line="ran")
        return {"upto": upto, "numbers": [number * step for number in range(upto)]}

    call = serve()
    assert call("numbers", upto=2).value == {"upto": 2, "numbers": [0.0, 1.0]}
    pages = pages_of(call, "numbers", call("numbers", upto="3000", step=0.5))
    assert joined(pages) == call("numbers", upto=3000, step=0.5, mode="full").text
    assert Log.objects.count() == len(pages) + 2


def test_what_any_other_function_returns_is_kept(serve):
    @mcp_tool
    def numbers(upto: int):
        Log.objects.create(line="ran")
        yield from range(upto)

    call = serve()
    first = call("numbers", upto=3000)
    assert list(first.value) == ["results", "continuation"]
    pages = pages_of(call, "numbers", first)
    assert [number for page in pages for number in page["results"]] == list(range(3000))
    assert Log.objects.count() == 1
    assert call("numbers", upto=3000, mode="summary").value["count"] == 3000


def test_text_that_a_function_returns_comes_in_pieces(serve):
    @mcp_tool
    def poem() -> str:
        return "Rosen, Tulpen, Nelken. Grüße!\n" * 400

    call = serve()
    first = call("poem")
    assert first.value["continuation"]["note"].endswith(
        "To go on, make the same call with continuation_token instead of its fields."
    )
    assert joined(pages_of(call, "poem", first)) == poem()
    assert call("poem", mode="full").text == poem()
    assert call("poem", mode="summary").value["sample"].startswith("Rosen")
    assert "- $.mode: must be one of summary, page, full" in call("poem", mode="all").text


class Report(BaseModel):
    title: str
    rows: list[int]


class Closed(BaseModel, extra="forbid"):
    rows: list[int]


def test_a_page_is_what_a_tool_declares_or_the_result_is_whole(serve):
    @mcp_tool
    def report() -> Report:
        return Report(title="all", rows=list(range(3000)))

    @mcp_tool
    def odd_report(words: int) -> Report:
        return Report(title="x" * words, rows=[1])

    @mcp_tool
    def closed() -> Closed:
        return Closed(rows=list(range(3000)))

    @mcp_tool
    def table() -> dict[str, str]:
        return {str(number): "x" for number in range(3000)}

    call = serve()
    assert joined(pages_of(call, "report", call("report"))) == report().model_dump_json()
    assert call("odd_report", words=9000).value == odd_report(9000).model_dump()
    assert call("closed").value == closed().model_dump()
    assert call("table").value == table()
    assert "there is no field" in call("closed", mode="full").text.replace("argument", "field")


def test_content_of_a_tools_own_making_is_left_alone(serve):
    @mcp_tool
    def pieces():
        return [Text(text="x" * 9000), "y"]

    @mcp_tool
    def nothing():
        return None

    @mcp_tool
    async def later():
        yield "x" * 9000

    call = serve()
    assert call("pieces").text == "x" * 9000 + "\ny"
    assert call("nothing").text == "null"
    assert call("later").text == json.dumps(["x" * 9000])


def test_an_argument_of_the_tools_own_stays_its_own(serve):
    @mcp_tool
    def paint(mode: str, continuation_token: str = "none"):
        return {"mode": mode, "token": continuation_token, "rows": list(range(3000))}

    call = serve()
    made = call("paint", mode="summary", continuation_token="own").value
    assert (made["mode"], made["token"], len(made["rows"])) == ("summary", "own", 3000)


def test_what_cannot_be_sent_is_told_as_before(serve):
    @mcp_tool
    def broken():
        return {"what": object()}

    assert serve()("broken").is_error


# --- the docs ---


def test_the_docs_show_what_comes(serve):
    page = (Path(__file__).parents[2] / "docs" / "django.md").read_text(encoding="utf-8")
    shown = json.loads(re.search(r"## Results that fit\n.*?```json\n(.*?)```", page, re.DOTALL)[1])
    companies(1000)
    told = serve(MAX_RESULT=40_000)("companies__list").value["continuation"]
    assert shown == {**told, "continuation_token": "…"}
    assert f"| `MAX_RESULT` | {Configuration().max_result:,} |" in page
    assert f"| `MAX_PAGE_SIZE` | {Configuration().max_page_size} |" in page
    assert f"| `TOKEN_AGE` | {Configuration().token_age} |" in page
