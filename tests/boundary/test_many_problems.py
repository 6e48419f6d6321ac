"""Calls with very many problems: all are counted, and the work is limited."""

import gc
import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from toolbooth import Limits, compile_function, compile_json_schema, handle_bytes
from toolbooth.boundary.advise import invalid_values
from toolbooth.contract import DEFAULT_LIMITS, InvalidValues, Objection


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
def test_reading_of_values_for_a_correction_is_bounded(count: int, is_corrected: bool):
    rows = [{"sku": "a", "number": "1,000"}] * count
    found = told(json.dumps({"rows": rows}).encode())
    assert ("corrected" in found) == is_corrected


@pytest.mark.parametrize(("count", "is_corrected"), [(20, True), (400, False)])
def test_matching_of_names_for_a_correction_is_bounded(count: int, is_corrected: bool):
    rows = [{"SKU": "a"}, {"Sku": "a"}] * count
    found = told(json.dumps({"rows": rows}, separators=(",", ":")).encode())
    assert ("corrected" in found) == is_corrected


def test_caches_of_a_contract_are_bounded():
    for start in range(0, 1_200, 40):
        places = range(start, start + 40)
        rows = [{"sku": "a", "number": True if at in places else 1} for at in range(start + 40)]
        assert "number: must be an integer, got true" in told(json.dumps({"rows": rows}).encode())[
            "text"
        ].replace(f"$.rows[{start}].", "")
        counts = {f"key{at}": "x" for at in places}
        assert len(told(json.dumps({"counts": counts}).encode())["problems"]) == 40
    assert len(ADD.cached_places) == len(ADD.cached_advice) == 500


def test_null_is_never_used_as_an_example():
    def tool(number: Annotated[int | None, Field(examples=[None, 7])] = None): ...

    result = handle_bytes(compile_function(tool), b'{"number": true}')
    assert "e.g. 7" in result["content"][0]["text"]


def test_host_objections_to_a_non_object_are_reported():
    error = InvalidValues(lambda: [Objection(model_path=("sku",), kind="missing", message="")])
    refusal = invalid_values(ADD, error, None, is_json=False)
    assert [(each.code, each.where) for each in refusal.problems] == [("missing", "$.sku")]
    assert refusal.form is None


def test_true_in_the_alternatives_of_a_schema_is_never_used_as_an_example():
    schema = {"type": "object", "properties": {"a": {"oneOf": [True, {"type": "integer"}]}}}
    contract = compile_json_schema({**schema, "required": ["b"]}, name="tool", function=dict)
    assert handle_bytes(contract, b'{"a": 1}')["isError"]
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": True}}
    contract = compile_json_schema({**schema, "required": ["a"]}, name="tool", function=dict)
    assert handle_bytes(contract, b"{}")["isError"]


def test_misspelt_name_is_corrected_only_up_to_a_depth_of_wrappers():
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


# --- calls whose examination is cut short
# -----------------------------------------------------------


@pytest.mark.parametrize("item", ['"x"', "[]", "{}", "null"])
def test_past_ten_thousand_problems_the_rest_of_the_call_is_not_examined(item: str):
    found = told(f'{{"amounts": [{", ".join([item] * 10_200)}]}}'.encode())
    assert found["text"].startswith("Refused: more than 10000 problems in the arguments of 'add'.")
    assert found["text"].endswith("- and many more")
    assert len(found["problems"]) == 40
    assert "corrected" not in found


def test_ten_thousand_problems_are_counted():
    found = told(f'{{"amounts": [{", ".join(["true"] * 10_000)}]}}'.encode())
    assert found["text"].startswith("Refused: 10000 problems in the arguments of 'add'.")


def test_examination_stops_after_ten_thousand_undeclared_keys():
    found = told(json.dumps({f"k{number}": 1 for number in range(10_200)}).encode())
    assert found["text"].startswith("Refused: more than 10000 problems in the arguments of 'add'.")


def test_a_text_of_more_digits_than_python_reads_is_refused():
    found = told(json.dumps({"amounts": "9" * 5_000}).encode())
    assert [each["path"] for each in found["problems"]] == ["$.amounts"]
    assert "corrected" not in found


def test_a_long_key_with_many_underscores_is_refused():
    key = "rows" + "_a" * 300
    found = told(json.dumps({key: 1}).encode())
    assert [each["code"] for each in found["problems"]] == ["unknown-key"]


# --- the collector -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.parametrize("item", ['{"sku": "a"}', '{"ksu": "a"}', "{"])
def test_the_garbage_collector_is_restored_after_a_large_call(is_on: bool, item: str):
    body = f'{{"rows": [{", ".join([item] * 9_000)}]}}'.encode()
    before = gc.isenabled()
    (gc.enable if is_on else gc.disable)()
    try:
        handle_bytes(ADD, body)
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if before else gc.disable)()


# --- many values ---------------------------------------------------------------------------------


def test_a_call_with_more_values_than_the_limit_is_refused():
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    contract = compile_function(total)
    most = DEFAULT_LIMITS.max_values
    # The object and the list are values too.
    result = handle_bytes(contract, json.dumps({"numbers": [1] * (most - 2)}).encode())
    assert result["content"][0]["text"] == str(most - 2)
    for sent in ([1] * (most - 1), json.dumps([1] * most), json.dumps([[]] * most)):
        result = handle_bytes(contract, json.dumps({"numbers": sent}).encode())
        [problem] = result["_meta"]["toolbooth"]["problems"]
        assert problem["code"] == "too-complex"
        assert "has more than 100,000 values; send them in several calls" in problem["message"]


def test_brackets_inside_a_text_do_not_count_as_values():
    def length(text: str) -> int:
        return len(text)

    text = json.dumps([[]] * 200_000)
    result = handle_bytes(compile_function(length), json.dumps({"text": text}).encode())
    assert result["content"][0]["text"] == str(len(text))


def test_the_limit_of_values_is_a_setting():
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    body = json.dumps({"numbers": [1] * 40_000}).encode()
    few = compile_function(total, limits=Limits(max_values=20_000))
    many = compile_function(total, limits=Limits(max_values=50_000))
    assert handle_bytes(few, body)["isError"]
    assert not handle_bytes(many, body)["isError"]


class Line(BaseModel):
    number: int = 0
    tags: list[int] = []


@given(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=12), st.integers(1, 40))
def test_values_in_json_text_count_for_the_whole_call(kinds, most):
    def put(rows: list[Line]) -> int:
        return len(rows)

    sent = [{}, "{}", '{"number": "5"}', '{"tags": "[1, 2]"}']
    # A text counts with all values that are parsed from it, at every level.
    costs = [0, 2, 3 + 1, 3 + 4]
    contract = compile_function(put, limits=Limits(max_values=most))
    body = json.dumps({"rows": [sent[kind] for kind in kinds]}).encode()
    values = 2 + len(kinds)
    result = handle_bytes(contract, body)
    fits = values <= most and sum(costs[kind] for kind in kinds) <= most
    assert result["isError"] is not fits
    if fits:
        assert result["content"][0]["text"] == str(len(kinds))
    else:
        [problem] = result["_meta"]["toolbooth"]["problems"]
        assert problem["code"] == "too-complex"


def test_a_correction_does_not_repeat_texts_that_are_too_many():
    def put(rows: list[Line]) -> int:
        return len(rows)

    contract = compile_function(put, limits=Limits(max_values=30))
    rows = ["{}"] * 16
    assert handle_bytes(contract, json.dumps({"rows": rows}).encode())["isError"]
    result = handle_bytes(contract, json.dumps({"data": {"rows": rows}}).encode())
    corrected = result["_meta"]["toolbooth"].get("corrected")
    assert (
        corrected is None or not handle_bytes(contract, json.dumps(corrected).encode())["isError"]
    )


class Leaf(BaseModel):
    x: int


class Branch(BaseModel):
    below: "Leaf | Branch | None" = None


def test_many_wrong_forms_of_a_union_are_all_counted_but_only_forty_listed():
    def plant(forest: list[Leaf | Branch]) -> None: ...

    body = json.dumps({"forest": [{"x": "bad"}] * 100}).encode()
    result = handle_bytes(compile_function(plant), body)
    text = result["content"][0]["text"]
    assert text.startswith("Refused: 100 problems in the arguments of 'plant'. Nothing was done.")
    listed = result["_meta"]["toolbooth"]["problems"]
    assert {problem["code"] for problem in listed} == {"wrong-type"}
    assert len(listed) == 40


def test_a_list_whose_items_make_too_many_forms_to_try_is_refused():
    def plant(forest: list[Leaf | Branch | int]) -> None: ...

    body = json.dumps({"forest": [1] + [{}] * 60_000}).encode()
    [problem] = handle_bytes(compile_function(plant), body)["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("too-complex", "$.forest")


def test_swallowed_arguments_are_reported_in_a_call_with_too_many_problems():
    def note(text: str, title: str = "", numbers: list[int] = []) -> None: ...  # noqa: B006

    text = 'a</text>\n<parameter name="title">b</parameter>'
    body = json.dumps({"text": text, "numbers": ["x"] * 20_000}).encode()
    result = handle_bytes(compile_function(note), body)
    assert result["content"][0]["text"].startswith("Refused: more than 10000 problems")
    assert "swallowed-argument" in {
        problem["code"] for problem in result["_meta"]["toolbooth"]["problems"]
    }
