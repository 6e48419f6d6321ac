"""A corrected call never replaces a name by its opposite: names are matched by spelling, not by
similarity.
"""

import json
from keyword import iskeyword
from pathlib import Path

import pytest
from pydantic import BaseModel, create_model

from toolbooth import (
    Unpack,
    compile_function,
    compile_json_schema,
    compile_model,
    handle_arguments,
    handle_bytes,
)
from toolbooth.spelling import certain_match

HERE = Path(__file__).parent / "advice"
PAIRS = [
    tuple(line.split())
    for name in ("opposites.txt", "one_slip_apart.txt")
    for line in (HERE / name).read_text(encoding="utf-8").splitlines()
]
DIRECTED = [pair for one, other in PAIRS for pair in [(one, other), (other, one)]]
SAMPLE = [pair for pair in DIRECTED if not any(map(iskeyword, pair))][::16]


@pytest.mark.parametrize("form", ["{}", "{}_id", "my_{}", "{}2", "the_{}_value"])
def test_no_name_is_matched_to_its_opposite_or_to_another_word(form):
    wrong = [
        (sent, declared)
        for sent, declared in DIRECTED
        if certain_match(form.format(sent), [form.format(declared), "total"])
    ]
    assert wrong == []


class Inner(BaseModel):
    street: str = ""


def told(contract, sent):
    """Check that a result is a refusal and return its own part, for values and for bytes."""
    results = [handle_arguments(contract, sent), handle_bytes(contract, json.dumps(sent).encode())]
    assert [each["isError"] for each in results] == [True, True]
    assert results[0] == results[1]
    return results[0]["_meta"]["toolbooth"]


def schema(name):
    return {
        "type": "object",
        "properties": {name: {"type": "string"}, "amount": {"type": "integer"}},
    }


def scalars(name):
    """Yield contracts that take this name as text, from every source."""
    model = create_model("Model", **{name: (str, ""), "amount": (int, 0)})
    namespace = {"Model": model, "Unpack": Unpack, "Annotated": __import__("typing").Annotated}
    exec(
        f"def tool({name}: str = '', amount: int = 0): ...\ndef flat(m: Annotated[Model, Unpack()]): ...",
        namespace,
    )
    yield compile_function(namespace["tool"])
    yield compile_function(namespace["flat"])
    yield compile_model(model, function=lambda **values: values, name="tool")
    yield compile_json_schema(schema(name), function=lambda arguments: arguments, name="tool")


@pytest.mark.parametrize(("declared", "sent"), SAMPLE)
def test_text_is_not_moved_to_the_opposite_name(declared, sent):
    for contract in scalars(declared):
        for arguments in [
            {sent: "MINE-1", "amount": 500},
            {sent: "MINE-1"},
            {"data": {sent: "MINE-1", "amount": 500}},
            {"data": {sent: "MINE-1"}, "amount": 500},
        ]:
            found = told(contract, arguments)
            assert "corrected" not in found
            assert not any(
                "rename" in edit or f".{declared}" in edit for edit in found.get("edits", ())
            )


@pytest.mark.parametrize(("declared", "sent"), SAMPLE)
def test_an_object_is_not_moved_to_the_opposite_name(declared, sent):
    model = create_model("Model", **{declared: (Inner, Inner()), "amount": (int, 0)})
    contract = compile_model(model, function=lambda **values: values, name="tool")
    for arguments in [
        {sent: {"street": "Dam 1"}},
        {sent: json.dumps({"street": "Dam 1"}), "amount": 1},
        {"data": {sent: {"street": "Dam 1"}}},
        {f"{sent}.street": "Dam 1"},
        {f"{sent}[street]": "Dam 1"},
    ]:
        found = told(contract, arguments)
        assert "corrected" not in found
        assert not any(f".{declared}" in edit for edit in found.get("edits", ()))


@pytest.mark.parametrize(("declared", "sent"), SAMPLE)
def test_the_same_slip_in_every_row_is_not_corrected_either(declared, sent):
    row = create_model("Row", **{declared: (str, "")})
    model = create_model("Model", rows=(list[row], ...))
    contract = compile_model(model, function=lambda **values: values, name="tool")
    found = told(contract, {"rows": [{sent: "MINE-1"}, {sent: "MINE-2"}]})
    assert (found.get("corrected"), found.get("edits")) == (None, None)


@pytest.mark.parametrize(("declared", "sent"), SAMPLE)
def test_a_field_is_not_moved_from_one_object_into_its_opposite(declared, sent):
    here = create_model("Here", account=(str, ...))
    there = create_model("There", account=(str, ...), iban=(str, ""))
    model = create_model("Model", **{sent: (here, ...), declared: (there, ...)})
    contract = compile_model(model, function=lambda **values: values, name="tool")
    found = told(contract, {sent: {"account": "a", "iban": "X"}, declared: {"account": "b"}})
    assert (found.get("corrected"), found.get("edits")) == (None, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [("true", "1"), ("false", "0"), ("[true]", "[1]"), ('{"a": false}', '{"a": 0}')],
)
def test_a_boolean_and_a_number_for_one_field_are_reported_as_two_values(one, other):
    contract = compile_json_schema(
        {"type": "object", "properties": {"x": {}}},
        function=lambda arguments: arguments,
        name="tool",
    )
    for first, second in [(one, other), (other, one)]:
        result = handle_bytes(contract, f'{{"params": {{"x": {first}}}, "x": {second}}}'.encode())
        assert "corrected" not in result["_meta"]["toolbooth"]


@pytest.mark.parametrize(
    "value", ["true", "1", "1.0", "null", '"a"', "[1, true]", '{"a": [false]}']
)
def test_the_same_value_twice_for_one_field_counts_as_one_value(value):
    contract = compile_json_schema(
        {"type": "object", "properties": {"x": {}}},
        function=lambda arguments: arguments,
        name="tool",
    )
    result = handle_bytes(contract, f'{{"params": {{"x": {value}}}, "x": {value}}}'.encode())
    assert result["_meta"]["toolbooth"]["corrected"] == {"x": json.loads(value)}
