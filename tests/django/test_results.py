"""Results that fit: in pages that joined are the whole, byte for byte, without losing any part."""

import asyncio
import json
import re
from pathlib import Path

import orjson
import pytest
from django.test import AsyncClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results_api import MOST, Cursors, answer, companies, joined, key_of, pages_of, serving
from sales.models import Company
from toolbooth.django.conf import mistakes
from toolbooth.server.results.pages import plain, read


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


# --- whole, or in pages ---


def test_result_that_fits_equals_the_rest_response(call, rest):
    companies(5)
    assert (
        call("companies__list").text
        == '{"results":' + rest.get("/api/companies/").content.decode() + "}"
    )


def test_pages_of_a_large_list_add_up_to_the_whole(call, rest):
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
        "To continue, call the same tool with only continuation_token.",
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


def test_max_result_setting_limits_the_size(serve):
    companies(200)
    assert "continuation" not in serve(MAX_RESULT=40_000)("companies__list").value
    assert "continuation" in serve(MAX_RESULT=5_000)("companies__list").value


@pytest.mark.parametrize(
    ("tool", "rows"),
    [("numbered", "results"), ("offsets", "results"), ("cursors", "results"), ("custom", "items")],
)
def test_the_pages_of_a_view_are_cut_like_any_answer(call, tool, rows):
    companies(70)
    whole = call(f"{tool}__list", mode="full")
    assert len(whole.value[rows]) == 50
    pages = pages_of(call, f"{tool}__list", call(f"{tool}__list"))
    assert len(pages) > 1
    # The whole page has the arguments for the next one beside it.
    text, _, beside = whole.text.rpartition(',"continuation')
    assert joined(pages) == text + "}"
    assert "next_page" in beside


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (
            "numbered",
            "There is more: for the next page, send the same arguments with page=2, page_size=20.",
        ),
        (
            "offsets",
            "There is more: for the next page, send the same arguments with limit=20, offset=20.",
        ),
        (
            "cursors",
            "There is more: for the next page, send the same arguments with cursor=cD0yMA==.",
        ),
        ("custom", "There may be more: send page for other pages."),
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
    # Following the notes returns all rows.
    shown, sizes = [], []
    while True:
        whole = call(f"{tool}__list", mode="page", **own).value
        sizes.append(len(whole["results"]))
        shown += [row["employees"] for row in whole["results"]]
        note = whole["continuation"]["note"]
        if "same arguments" not in note:
            break
        own = dict(
            each.split("=", 1)
            for each in note.partition("same arguments with ")[2].rstrip(".").split(", ")
        )
    assert (shown, note) == (list(range(70)), "The last page.")
    assert sizes == [20, 20, 20, 10]


def test_a_key_of_the_answer_is_not_replaced_by_the_note(call):
    companies(70)
    page = call("custom__list").value
    assert page["continuation"] == "mine"
    assert page["continuation_2"]["count"] == 50


def test_the_arguments_of_the_first_call_apply_to_all_pages(call):
    companies(300)
    first = call("companies__list", search="02", ordering="-employees")
    pages = pages_of(call, "companies__list", first)
    shown = [row["employees"] for page in pages for row in page["results"]]
    assert shown == [number for number in range(299, -1, -1) if "02" in f"{number:04}"]


def test_filters_object_applies_to_all_pages(call):
    companies(300)
    pages = pages_of(call, "companies__list", call("companies__list", filters={"search": "02"}))
    assert sum(len(page["results"]) for page in pages) == 112


def test_a_row_that_is_too_long_is_sent_in_pieces_of_text(call):
    companies(3)
    Company.objects.create(name="long", website="https://" + 'é"\\' * 3_000)
    whole = call("companies__list", mode="full")
    first = call("companies__list")
    assert list(first.value) == ["text", "continuation"]
    assert "parse it when you have all pieces" in first.value["continuation"]["note"]
    assert joined(pages_of(call, "companies__list", first)) == whole.text


def test_an_answer_without_a_list_is_sent_in_pieces_of_text(call):
    answer["value"] = {str(number): "x" * 20 for number in range(500)}
    whole = call("anything__get", mode="full").text
    assert json.loads(joined(pages_of(call, "anything__get", call("anything__get")))) == json.loads(
        whole
    )


def test_plain_text_is_sent_in_pieces(call):
    answer["value"] = "Zeile für Zeile\n" * 1_000
    whole = call("text__get", mode="full")
    assert whole.value["text"] == answer["value"]
    assert joined(pages_of(call, "text__get", call("text__get"))) == whole.text


def test_a_view_that_is_a_coroutine_is_paged(call):
    answer["value"] = [{"number": number} for number in range(1_000)]
    pages = pages_of(call, "waits__get", call("waits__get"))
    assert joined(pages) == call("waits__get", mode="full").text


def test_pages_are_sent_over_asgi(call, ann):
    answer["value"] = [{"number": number} for number in range(1_000)]

    async def visit(arguments):
        who = {"Authorization": "Basic YW5uOnB3"}
        params = {"name": "waits__get", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = await AsyncClient().post(
            "/mcp/", json.dumps(message), content_type="application/json", headers=who
        )
        return reply.json()["result"]["structuredContent"]

    first = asyncio.run(visit({}))
    second = asyncio.run(visit({"continuation_token": first["continuation"]["continuation_token"]}))
    assert second["results"][0]["number"] == len(first["results"])


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
long_values = st.builds(lambda value, times: [value] * times, values, st.integers(1, 400))
answers = (
    st.dictionaries(st.text(max_size=8), values | long_values, min_size=1, max_size=5) | long_values
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=answers)
def test_pages_of_any_response_add_up_to_the_whole(call, value):
    answer["value"] = value
    whole = call("anything__get", mode="full")
    first = call("anything__get")
    if len(whole.text.encode()) <= MOST:
        assert first.text == whole.text
    else:
        assert json.loads(joined(pages_of(call, "anything__get", first))) == json.loads(whole.text)


@settings(max_examples=100, deadline=None)
@given(value=answers, room=st.integers(1, 500), spaced=st.booleans())
def test_pages_cut_from_any_text_join_to_the_same_text(value, room, spaced):
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


def test_duplicate_keys_and_long_numbers_are_cut_unchanged():
    text = '{"a":1,"a":2,"rows":[123456789012345678901234567890,1e400,{"b":1,"b":2}],"z":0.10}'
    found = read(text)
    assert [text[start:end] for start, end in found.rows] == [
        "123456789012345678901234567890",
        "1e400",
        '{"b":1,"b":2}',
    ]
    assert (
        found.page("rows", 1, 2, "told", b"1") == b'{"a":1,"a":2,"rows":[1e400],"z":0.10,"told":1}'
    )


@pytest.mark.parametrize("text", ["", "{", "[1,", '{"a"', "no JSON", '{"a":[1,2'])
def test_invalid_json_is_cut_as_text(text):
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
def test_continuation_note_is_added_beside_the_rows(text, whole):
    assert read(text).noted(b"0") == whole
    assert plain(text).noted(b"0") is None


def test_a_piece_has_at_least_one_character():
    assert plain("éé").end("text", 0, 1) == 1


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
def test_invalid_result_settings_are_reported(settings_of, chosen, words):
    settings_of(TOOLBOOTH=chosen)
    assert list(mistakes()) == [(next(iter(chosen)), words)]


# --- the docs ---


def test_docs_show_the_actual_continuation(serve):
    page = (Path(__file__).parents[2] / "docs" / "guides" / "django.md").read_text(encoding="utf-8")
    shown = json.loads(re.search(r"## Results that fit\n.*?```json\n(.*?)```", page, re.DOTALL)[1])
    companies(1000)
    told = serve(MAX_RESULT=40_000)("companies__list").value["continuation"]
    assert shown == {**told, "continuation_token": "…"}
