"""Calls in which very much is wrong: everything is counted, and the work ends somewhere."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from toolbooth import compile_function, compile_json_schema, handle_bytes
from toolbooth.boundary.advise import invalid_values
from toolbooth.contract import InvalidValues, Objection


class Row(BaseModel):
    sku: str
    number: int = 1


def add(rows: list[Row] = [], amounts: list[float] = [], counts: dict[str, int] = {}): ...  # noqa: B006


ADD = compile_function(add)


def told(body: bytes) -> dict[str, Any]:
    result = handle_bytes(ADD, body)
    assert result["isError"]
    return {"text": result["content"][0]["text"], **result["_meta"]["toolbooth"]}


@pytest.mark.parametrize("value", ["true", "1e400", '"x"'])
def test_problems_past_the_limit_are_counted(value: str):
    found = told(f'{{"amounts": [{", ".join([value] * 55)}]}}'.encode())
    assert found["text"].startswith("Refused: 55 problems in the arguments of 'add'.")
    assert len(found["problems"]) == 40


@pytest.mark.parametrize(("count", "is_corrected"), [(300, True), (1_100, False)])
def test_so_many_values_are_read_and_no_more(count: int, is_corrected: bool):
    rows = [{"sku": "a", "number": "1,000"}] * count
    found = told(json.dumps({"rows": rows}).encode())
    assert ("corrected" in found) == is_corrected


@pytest.mark.parametrize(("count", "is_corrected"), [(20, True), (400, False)])
def test_so_many_names_are_tried_and_no_more(count: int, is_corrected: bool):
    rows = [{"SKU": "a"}, {"Sku": "a"}] * count
    found = told(json.dumps({"rows": rows}, separators=(",", ":")).encode())
    assert ("corrected" in found) == is_corrected


def test_what_is_kept_of_a_tool_has_an_end():
    for start in range(0, 1_200, 40):
        places = range(start, start + 40)
        rows = [{"sku": "a", "number": True if at in places else 1} for at in range(start + 40)]
        assert "number: must be an integer, got true" in told(json.dumps({"rows": rows}).encode())[
            "text"
        ].replace(f"$.rows[{start}].", "")
        counts = {f"key{at}": "x" for at in places}
        assert len(told(json.dumps({"counts": counts}).encode())["problems"]) == 40
    assert len(ADD.cached_places) == len(ADD.cached_advice) == 500


def test_null_is_no_example():
    def tool(number: Annotated[int | None, Field(examples=[None, 7])] = None): ...

    result = handle_bytes(compile_function(tool), b'{"number": true}')
    assert "e.g. 7" in result["content"][0]["text"]


def test_the_objections_of_a_host_to_something_that_is_no_object_are_told():
    error = InvalidValues(lambda: [Objection(model_path=("sku",), kind="missing", message="")])
    refusal = invalid_values(ADD, error, None, is_json=False)
    assert [(each.code, each.where) for each in refusal.problems] == [("missing", "$.sku")]
    assert refusal.form is None


def test_true_among_the_alternatives_of_a_schema_is_no_example():
    schema = {"type": "object", "properties": {"a": {"oneOf": [True, {"type": "integer"}]}}}
    contract = compile_json_schema({**schema, "required": ["b"]}, name="tool", function=dict)
    assert handle_bytes(contract, b'{"a": 1}')["isError"]
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": True}}
    contract = compile_json_schema({**schema, "required": ["a"]}, name="tool", function=dict)
    assert handle_bytes(contract, b"{}")["isError"]


def test_a_misspelt_name_in_more_and_more_wrappers_is_corrected_up_to_some_depth():
    def tool(sku: str): ...

    contract = compile_function(tool)
    corrected: list[bool] = []
    sent: Any = {"SKU": "a"}
    for _ in range(130):
        result = handle_bytes(contract, json.dumps(sent, separators=(",", ":")).encode())
        corrected.append("corrected" in result["_meta"]["toolbooth"])
        sent = {"data": sent}
    assert corrected == sorted(corrected, reverse=True)
    assert corrected[40]
    assert not corrected[-1]


def test_a_long_list_of_choices_ends_with_a_count():
    names = tuple(f"choice-{number}" for number in range(40))

    def tool(which: Literal[names]): ...  # pyright: ignore[reportInvalidTypeForm]

    result = handle_bytes(compile_function(tool), b'{"which": "none of them"}')
    assert " others; got " in result["content"][0]["text"]
