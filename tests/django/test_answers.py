"""Every answer of a view becomes a result that is an object, or an error that the agent can read."""

import json
import logging

import pytest
from rest_framework.response import Response

from odd.models import Log


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (
            "page",
            {"status": 200, "content_type": "text/html; charset=utf-8", "text": "<p>hello</p>"},
        ),
        (
            "file",
            {
                "status": 200,
                "content_type": "application/octet-stream",
                "content_disposition": 'inline; filename="a.bin"',
                "note": "the content is not sent over MCP; fetch it over REST",
            },
        ),
        (
            "redirect",
            {"status": 302, "location": "/elsewhere/", "content_type": "text/html; charset=utf-8"},
        ),
        ("stream", {"status": 200, "content_type": "text/csv", "text": "a,b\n1,2\n"}),
        ("array", {"results": [1, 2], "headers": {"X-Total": "2"}}),
        ("scalar", {"value": "hello"}),
        ("nothing", {"result": "Done. The API answered without content."}),
        (
            "everything",
            {
                "decimal": 1.1,
                "uuid": "00000000-0000-0000-0000-000000000001",
                "moment": "2026-01-02T03:04:05.678901Z",
                "day": "2026-01-02",
                "span": "3600.0",
                "lazy": "hello",
                "safe": "<b>",
                "choice": "won",
                "level": 2,
                "set": [1],
                "bytes": "abc",
                "nan": None,
                "big": 2**70,
                "rows": [["one"]],
                "3": "three",
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_result_is_an_object_for_every_json_type_of_the_view(mcp, action, told):
    Log.objects.create(line="one")
    result = mcp(f"answers__{action}")
    assert result["structuredContent"] == told
    assert json.loads(result["content"][0]["text"]) == told
    assert result["isError"] is False


def test_unserialisable_response_asks_to_check_before_calling_again(mcp, caplog):
    result = mcp("answers__unsendable")
    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        "Tool 'answers__unsendable' failed: it ran, but its result cannot be sent; "
        "check what it did before you call it again"
    )
    assert [each.line for each in Log.objects.all()] == ["kept"]
    assert "the result of tool 'answers__unsendable' cannot be sent" in caplog.text


@pytest.mark.parametrize(
    ("action", "logged"),
    [("unavailable", "the view answered 503"), ("crash", "database is at 10.0.0.1")],
)
def test_a_failure_of_the_server_is_logged_and_masked(mcp, caplog, action, logged):
    with caplog.at_level(logging.ERROR):
        assert mcp(f"answers__{action}") == {
            "content": [{"type": "text", "text": f"Tool 'answers__{action}' failed unexpectedly."}],
            "isError": True,
        }
    assert logged in caplog.text


def test_conflict_refusal_repeats_the_message_of_the_view(mcp):
    problem = {"code": "invalid", "path": "$", "message": "somebody was quicker"}
    assert mcp("answers__conflict") == {
        "content": [
            {
                "type": "text",
                "text": "Tool 'answers__conflict' failed: somebody was quicker."
                " Read the row as it is now before you try again.",
            }
        ],
        "isError": True,
        "structuredContent": {"details": {"status": 409, "problems": [problem]}},
    }


def test_plain_text_refusal_of_a_view_is_passed_on(mcp):
    text = "Refused: 1 problem in the arguments of 'answers__bad'.\n- $: not like this"
    assert mcp("answers__bad")["content"] == [{"type": "text", "text": text}]


def test_problems_have_the_path_of_the_value_as_sent(mcp):
    line = {"product": "", "price": "1.234"}
    sent = {"title": "x" * 121, "company": 99, "lines": [{"product": "p", "price": 1}, line]}
    problems = mcp("deals__create", sent)["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in problems] == [
        ("invalid", "$.title"),
        ("invalid", "$.company"),
        ("invalid", "$.lines[1].product"),
        ("invalid", "$.lines[1].price"),
    ]


def test_missing_field_is_reported_with_the_declared_fields(mcp):
    assert mcp("deals__create", {"title": "Big"})["content"][0]["text"] == (
        "Refused: 1 problem in the arguments of 'deals__create'. Nothing was done.\n"
        "- $.company: is required, but was not sent\n"
        'Declared fields: "title" (text, required), "company" (integer or object, required), "closes_on" (ISO 8601 date or null), "lines" (array of objects).'
    )


def test_missing_row_is_reported_with_the_list_tool(mcp):
    result = mcp("deals__retrieve", {"id": 5})
    assert (
        result["content"][0]["text"]
        == "Tool 'deals__retrieve' failed: No Deal matches the given query."
        " It does not exist, or you may not see it; deals__list lists what you can see."
    )
    assert result["structuredContent"]["details"]["status"] == 404


def test_problem_with_a_filter_names_the_filter(mcp):
    problems = mcp("things__list", {"code": "no-uuid"})["_meta"]["toolbooth"]["problems"]
    assert problems == [{"code": "invalid", "path": "$.code", "message": "Enter a valid UUID."}]


def test_problem_in_a_list_body_has_the_index_in_its_path(mcp):
    problems = mcp("lists__post", {"objects": [{"line": "a"}, {"line": ""}]})["_meta"]["toolbooth"][
        "problems"
    ]
    assert [(each["path"], each["message"]) for each in problems] == [
        ("$.objects[1].line", "This field may not be blank.")
    ]


def test_a_field_called_detail_is_a_field(mcp):
    problems = mcp("protocol__post", {"detail": "x"})["_meta"]["toolbooth"]["problems"]
    assert [each["path"] for each in problems] == ["$.detail"]


def test_missing_path_argument_is_reported_together_with_missing_fields(mcp):
    told = mcp("tags__update", {"slug": "vip"})["content"][0]["text"]
    assert told.splitlines()[1:3] == [
        "- $.slug_in_path: is required, but was not sent",
        "- $.title: is required, but was not sent",
    ]


def test_invalid_choice_is_reported_with_the_valid_choices(mcp, ann):
    told = mcp("things__create", {"title": "t", "kind": "LARGE"})["_meta"]["toolbooth"]["problems"]
    assert {each["path"]: each["message"] for each in told}["$.kind"] == (
        '"LARGE" is not a valid choice; it takes "small", "large"'
    )


TWINS = [
    ({1: "a", "1": "b"}, "1 and '1' are the same key in JSON: \"1\""),
    ({"rows": [{1: "a", "1": "b"}], "big": 2**70}, "1 and '1' are the same key in JSON: \"1\""),
]


@pytest.mark.parametrize(("value", "words"), TWINS, ids=["orjson", "big"])
def test_two_keys_that_are_one_key_in_json_are_not_sent(mcp, monkeypatch, value, words):
    monkeypatch.setattr("odd.views.Response", lambda _: Response(value))
    result = mcp("answers__unsendable")
    assert result == {
        "content": [
            {
                "type": "text",
                "text": "Tool 'answers__unsendable' failed: it ran, but its result "
                f"cannot be sent ({words}); check what it did before you call it again",
            }
        ],
        "isError": True,
    }
    assert [each.line for each in Log.objects.all()] == ["kept"]
