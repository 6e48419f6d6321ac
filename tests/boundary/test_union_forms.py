"""Objects with several forms: how the form is chosen, and the meaning of null in it."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel
from validator_places import outcome

from toolbooth import compile_json_schema, handle_bytes


class Numbered(BaseModel):
    version: Literal[1]
    amount: int


class Flagged(BaseModel):
    version: Literal[True]
    note: str


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param('{"version": 1, "amount": 5}', Numbered(version=1, amount=5), id="one"),
        pytest.param(
            '{"version": 1.0, "amount": 5}', Numbered(version=1, amount=5), id="one-point"
        ),
        pytest.param('{"version": true, "note": "x"}', Flagged(version=True, note="x"), id="true"),
        pytest.param(
            '{"version": true, "amount": 5}', [("unknown-key", "$.it.amount")], id="true-amount"
        ),
        pytest.param(
            '{"version": 1, "note": "x"}',
            [("unknown-key", "$.it.note"), ("missing", "$.it.amount")],
            id="one-note",
        ),
    ],
)
def test_tags_are_compared_as_json_so_true_is_not_1(sent: str, expected: Any):
    assert outcome(Numbered | Flagged, sent) == expected


INTEGER = {"type": "integer"}
NULLABLE = {"type": ["integer", "null"]}


def form(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or []}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("forms", "sent", "expected"),
    [
        pytest.param(
            [form(["a"], a=INTEGER, b=INTEGER), form(["c"], c=INTEGER)],
            b'{"a": 1, "b": null}',
            ({"a": 1}, [("null-optional", "$.it.b")]),
            id="the-only-reading",
        ),
        pytest.param(
            [form(["a"], a=INTEGER, b=INTEGER), form(["a", "b"], a=INTEGER, b=NULLABLE)],
            b'{"a": 1, "b": null}',
            ({"a": 1, "b": None}, []),
            id="another-form-takes-null",
        ),
        pytest.param(
            [form(["a"], a=INTEGER, b=INTEGER), form(["b", "c"], b=NULLABLE, c=INTEGER)],
            b'{"a": 1, "b": null}',
            ({"a": 1}, [("null-optional", "$.it.b")]),
            id="another-form-takes-null-but-not-the-rest",
        ),
        pytest.param(
            [form(a=INTEGER, b=INTEGER), form(["a"], a=INTEGER)],
            b'{"a": 1, "b": null}',
            [("wrong-type", "$.it")],
            id="what-is-left-has-another-form",
        ),
    ],
)
def test_null_is_dropped_only_if_it_has_no_other_reading(keyword, forms, sent, expected):
    received: list[Any] = []
    schema = {"type": "object", "properties": {"it": {keyword: forms}}}
    tool = compile_json_schema(schema, received.append, name="tool")
    result = handle_bytes(tool, b'{"it": %b}' % sent)
    remarks = result.get("_meta", {}).get("toolbooth", {})
    if result["isError"]:
        assert [(each["code"], each["path"]) for each in remarks["problems"]] == expected
    else:
        repairs = [(each["code"], each["path"]) for each in remarks.get("repairs", [])]
        assert (received[0]["it"], repairs) == expected
