"""Required fields that were sent at another place, or under a misspelt name in an open object."""

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict

from toolbooth import compile_function, compile_json_schema, handle_bytes


def fetch(url: str, params: dict[str, Any] | None = None, retries: int = 0) -> None: ...


def call_tool(name: str, arguments: dict[str, Any] | None = None) -> None: ...


class Parent(BaseModel):
    model_config = ConfigDict(extra="allow")

    database_id: str
    size: int = 0


def move(parent: Parent, others: list[Parent] | None = None) -> None: ...


def told(tool: Any, arguments: Any) -> dict[str, Any]:
    contract = tool if not callable(tool) else compile_function(tool)
    result = handle_bytes(contract, json.dumps(arguments).encode())
    assert result["isError"]
    return result["_meta"]["toolbooth"]


# --- the whole call in one of its fields ---------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "sent", "meant"),
    [
        (fetch, {"params": {"url": "x"}}, {"url": "x"}),
        (fetch, {"params": {"url": "x", "params": {"q": 1}}}, {"url": "x", "params": {"q": 1}}),
        (fetch, {"params": {"url": "x"}, "retries": 2}, {"retries": 2, "url": "x"}),
        (fetch, {"params": {"url": "x", "retries": "2"}}, {"url": "x", "retries": 2}),
        (
            call_tool,
            {"arguments": {"name": "order", "arguments": {"customer": "Ann"}}},
            {"name": "order", "arguments": {"customer": "Ann"}},
        ),
    ],
)
def test_a_whole_call_inside_one_field_is_unwrapped(tool: Any, sent: Any, meant: Any):
    found = told(tool, sent)
    assert found["corrected"] == meant
    assert [each["code"] for each in found["problems"]] == ["missing"]


@pytest.mark.parametrize(
    "sent",
    [
        {"params": {"url": "x", "q": 1}},  # perhaps both belong there
        {"params": {"q": 1}},
        {"params": {"url": "x", "retries": 1}, "retries": 2},
        {"params": {"url": 5.5, "retries": "many"}},
        {"retries": 1},
    ],
)
def test_other_contents_of_an_open_field_are_not_moved(sent: Any):
    assert "corrected" not in told(fetch, sent)


def test_a_union_of_calls_is_not_unwrapped():
    forms = [
        {"properties": {"url": {"type": "string"}, "params": {}}, "required": ["url"]},
        {"properties": {"path": {"type": "string"}}, "required": ["path"]},
    ]
    closed = [{"type": "object", "additionalProperties": False, **form} for form in forms]
    contract = compile_json_schema({"type": "object", "anyOf": closed}, function=dict, name="tool")
    assert "corrected" not in told(contract, {"params": {"url": "x"}})


# --- a misspelt name in an open object -----------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"parent": {"databse_id": "a"}}, {"parent": {"database_id": "a"}}),
        ({"parent": {"x": 1, "DatabaseId": "a"}}, {"parent": {"x": 1, "database_id": "a"}}),
        (
            {"parent": {"database_id": "a"}, "others": [{"database_id": "b"}, {"databse_id": "c"}]},
            {
                "parent": {"database_id": "a"},
                "others": [{"database_id": "b"}, {"database_id": "c"}],
            },
        ),
        ({"parent": {"databse_id": 5, "size": 1}}, {"parent": {"database_id": "5", "size": 1}}),
    ],
)
def test_a_required_field_under_a_misspelt_name_is_renamed(sent: Any, meant: Any):
    assert told(move, sent)["corrected"] == meant


@pytest.mark.parametrize(
    "sent",
    [
        {"parent": {"page_id": "a"}},
        {"parent": {"databse_id": "a", "databaseId": "b"}},  # two of them
        {"parent": {"database_ids": "a"}},  # further content, or many
        {"parent": {"databse_id": "a"}, "others": [{"page_id": "b"}]},
        {"parent": {"databse_id": {}}},
        {},
    ],
)
def test_a_required_field_without_a_certain_match_is_reported_missing(sent: Any):
    assert "corrected" not in told(move, sent)


def test_a_key_that_a_pattern_declares_is_not_misspelt():
    schema = {
        "type": "object",
        "properties": {"database": {"type": "string"}},
        "patternProperties": {"^dat": {"type": "string"}},
        "required": ["database"],
    }
    contract = compile_json_schema(schema, function=dict, name="tool")
    assert "corrected" not in told(contract, {"databse": "a"})


def test_text_for_an_author_validator_is_not_corrected():
    def tool(it: Annotated[Parent, BeforeValidator(lambda _: {"databse_id": "a"})]) -> None: ...

    assert "corrected" not in told(tool, {"it": "x"})


# --- arguments of another tool --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"arguments": {"customer": "Ann"}, "line": {"sku": "A"}}, {"line": {"sku": "A"}}),
        ({"arguments": {"customer": "Ann"}, "urgent": True}, {"urgent": True}),
        ({"customer": "Ann", "line": {"sku": "A"}}, {"line": {"sku": "A"}}),
        ({"arguments": None, "customer": "Ann"}, {}),
    ],
)
def test_arguments_beside_arguments_are_moved_there(sent: Any, meant: Any):
    found = told(call_tool, {"name": "order", **sent})
    assert found["corrected"] == {"name": "order", "arguments": {"customer": "Ann", **meant}}
    assert {each["code"] for each in found["problems"]} == {"unknown-key"}


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "order", "line": {"sku": "A"}},  # an argument, or all of them
        {"name": "order", "args": {"customer": "Ann"}},
        {"name": "order", "input": {"customer": "Ann"}, "urgent": True},
        {"name": "order", "arguments": {"customer": "Ann"}, "Customer": "Eve", "customer": "Eve"},
        {"name": "order", "arguments": 5, "customer": "Ann"},
        {"customer": "Ann"},
    ],
)
def test_key_that_may_hold_all_arguments_is_not_moved(sent: Any):
    assert "corrected" not in told(call_tool, sent)


def test_undeclared_keys_are_not_moved_into_other_open_fields():
    def page(name: str, properties: dict[str, Any] | None = None) -> None: ...

    def run(script: str, arguments: dict[str, Any] | None = None) -> None: ...

    def paged(name: str, arguments: dict[str, Any] | None, args: dict[str, Any]) -> None: ...

    def listed(name: str, arguments: list[str] | None = None) -> None: ...

    assert "corrected" not in told(page, {"name": "a", "colour": "red"})
    assert "corrected" not in told(run, {"script": "a", "colour": "red"})
    assert "corrected" not in told(
        paged, {"name": "a", "arguments": {}, "args": {}, "colour": "red"}
    )
    assert "corrected" not in told(listed, {"name": "a", "colour": "red"})


# --- a call in a key ------------------------------------------------------------------------------


def test_a_call_written_as_a_key_is_unwrapped():
    assert told(fetch, {'{"url": "x"}': None})["corrected"] == {"url": "x"}
    assert "corrected" not in told(fetch, {'{"url": "x"}': 1})
    assert "corrected" not in told(fetch, {'{"uri": "x"}': None})


# --- a misspelt object ----------------------------------------------------------------------------


def test_object_under_a_name_similar_to_an_object_is_not_unwrapped():
    def task(name: str = "", warnings: Any = None) -> None: ...

    assert told(task, {"warnigns": {"name": "a"}})["corrected"] == {"warnings": {"name": "a"}}
    assert "corrected" not in told(task, {"warmings": {"name": "a"}})
    assert told(task, {"data": {"name": "a"}})["corrected"] == {"name": "a"}


@pytest.mark.parametrize("sent", ["laf", "alg", "lga", "ag", "lagg"])
def test_a_slip_in_the_short_name_of_an_object_is_not_taken_for_a_wrapper(sent: str):
    key = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    properties = {"id": {"type": "string"}, "name": {"type": "string"}, "lag": key}
    contract = compile_json_schema({"type": "object", "properties": properties})
    result = handle_bytes(contract, json.dumps({sent: {"id": "7"}}).encode())
    assert result["isError"]
    assert "corrected" not in result["_meta"]["toolbooth"]
    assert 'did you mean "lag"?' in result["content"][0]["text"]
