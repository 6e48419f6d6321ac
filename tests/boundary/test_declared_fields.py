"""The declared fields in a refusal: all of them as data, as many as fit in the text."""

import json
import re
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model, field_validator

from toolbooth import JsonText, Limits, compile_function, compile_json_schema, handle_bytes
from toolbooth.server.controls import BOOLEAN, accepting


class Place(BaseModel):
    city: str


class Everything(BaseModel):
    note: str | None = None
    name: str
    count: int
    price: float
    whole: int | float
    on: bool
    day: date
    place: Place
    tags: list[str]
    grid: list[list[int]]
    places: list[Place] | None
    mixed: list[int | str]
    pair: tuple[int, str]
    free: Any
    kind: Literal["card", "cash"]
    maybe: Literal["card", 1] | None
    letter: Literal["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    checked: int | None
    setting: Annotated[dict[str, Any], JsonText()]

    @field_validator("checked", mode="before")
    @classmethod
    def check(cls, given: Any) -> Any:
        return given


def declared(contract: Any, arguments: Any) -> dict[str, dict[str, str]]:
    result = handle_bytes(contract, json.dumps(arguments).encode())
    assert result["isError"] is True
    return result["_meta"]["toolbooth"].get("declared", {})


@pytest.mark.filterwarnings("ignore::toolbooth.ContractWarning")
def test_every_field_has_its_type_in_words_and_required_ones_come_first():
    def tool(it: Everything) -> str:
        raise AssertionError("called")

    found = declared(compile_function(tool), {"it": {"zz": 1}})
    assert list(found["$.it"].items()) == [
        ("name", "text, required"),
        ("count", "integer, required"),
        ("price", "number, required"),
        ("whole", "number, required"),
        ("on", "true or false, required"),
        ("day", "ISO 8601 date, required"),
        ("place", "object, required"),
        ("tags", "array of text, required"),
        ("grid", "array of arrays, required"),
        ("places", "array of objects or null, required"),
        ("mixed", "array, required"),
        ("pair", "array, required"),
        ("free", "anything, required"),
        ("kind", '"card" or "cash", required'),
        ("maybe", '"card" or 1 or null, required'),
        ("letter", '"a" or "b" or "c" or "d" or "e" or "f" or "g" or "h" or 2 others, required'),
        ("checked", "integer or null, required"),
        ("setting", "JSON text of object, required"),
        ("note", "text or null"),
    ]


def test_field_that_accepts_nothing_is_declared_as_nothing():
    schema = {"type": "object", "properties": {"never": False, "a": {}}}
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    assert declared(contract, {"zz": 1}) == {"$": {"never": "nothing", "a": "anything"}}


def test_union_lists_all_fields_and_requires_the_common_required_ones():
    card = {"type": "object", "properties": {"id": {}, "card": {}}, "required": ["id", "card"]}
    cash = {"type": "object", "properties": {"id": {}, "cash": {}}, "required": ["id", "cash"]}
    schema = {"type": "object", "anyOf": [card, cash]}
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    found = declared(contract, {})
    assert found == {"$": {"id": "anything, required", "card": "anything", "cash": "anything"}}


def test_items_with_the_same_fields_are_declared_once():
    class Line(BaseModel):
        sku: str

    def order(lines: list[Line], place: Place) -> str:
        raise AssertionError("called")

    arguments = {"lines": [{"sku": "a"}, {"skv": "b"}, {"skv": "c"}], "place": {"citi": "d"}}
    result = handle_bytes(compile_function(order), json.dumps(arguments).encode())
    assert result["_meta"]["toolbooth"]["declared"] == {
        "$.lines[1]": {"sku": "text, required"},
        "$.place": {"city": "text, required"},
    }
    assert result["content"][0]["text"].splitlines()[-2:] == [
        'Declared fields of $.lines[1]: "sku" (text, required).',
        'Declared fields of $.place: "city" (text, required).',
    ]


def test_the_servers_own_arguments_are_on_a_line_of_their_own():
    def tool(email: str) -> str:
        raise AssertionError("called")

    contract = accepting(
        compile_function(tool),
        {"help": BOOLEAN, "verify": BOOLEAN},
        {"help": "help", "verify": "verify"},
    )
    result = handle_bytes(contract, b'{"data": {"email": "a"}}')
    assert result["_meta"]["toolbooth"]["declared"] == {"$": {"email": "text, required"}}
    assert result["content"][0]["text"].splitlines()[2:] == [
        'Declared fields: "email" (text, required).',
        'The server also takes: "help", "verify".',
        'Send instead: {"email":"a"}',
    ]


def test_a_tool_with_only_the_servers_arguments_has_no_fields():
    def tool() -> str:
        raise AssertionError("called")

    contract = accepting(compile_function(tool), {"help": BOOLEAN}, {"help": "help"})
    result = handle_bytes(contract, b'{"data": {"a": 1}}')
    assert result["_meta"]["toolbooth"]["declared"] == {"$": {}}
    assert result["content"][0]["text"].splitlines()[2:] == [
        "No fields are declared.",
        'The server also takes: "help".',
    ]


def test_a_name_that_fits_is_listed_after_one_that_does_not():
    long = "n" * 2_000
    model: Any = create_model("Long", **{long: (int, 0), "short": (int, 0)})

    def tool(it: model) -> str:
        raise AssertionError("called")

    result = handle_bytes(compile_function(tool), b'{"it": {"zz": 1}}')
    assert result["content"][0]["text"].endswith('Declared fields of $.it: "short" and 1 more.')
    assert list(result["_meta"]["toolbooth"]["declared"]["$.it"]) == [long, "short"]


def test_names_are_only_counted_if_none_fits():
    model: Any = create_model("Long", **{letter * 2_000: (int, 0) for letter in "mn"})

    def tool(it: model) -> str:
        raise AssertionError("called")

    result = handle_bytes(compile_function(tool), b'{"it": {"zz": 1}}')
    end = "Declared fields of $.it: 2 names that are too long to list."
    assert result["content"][0]["text"].endswith(end)


def test_with_a_small_limit_the_declared_fields_are_only_in_the_data():
    def tool(email: str, first_name: str = "") -> str:
        raise AssertionError("called")

    contract = compile_function(tool, limits=Limits(max_text=130))
    result = handle_bytes(contract, json.dumps({f"zz{n}": 1 for n in range(9)}).encode())
    text = result["content"][0]["text"]
    assert len(text) <= 130
    assert "Declared" not in text
    assert list(result["_meta"]["toolbooth"]["declared"]["$"]) == ["email", "first_name"]


def test_the_corrected_call_is_shown_whole_beside_many_fields():
    fields = {f"first_name_{n}": (str, "") for n in range(300)}
    model: Any = create_model("Wide", **fields)

    def tool(it: model) -> str:
        raise AssertionError("called")

    right = {"it": {"first_name_1": "x" * 800}}
    result = handle_bytes(
        compile_function(tool), json.dumps({"it": {"data": right["it"]}}).encode()
    )
    lines = result["content"][0]["text"].splitlines()
    assert json.loads(lines[-1].removeprefix("Send instead: ")) == right
    assert re.fullmatch(r'Declared fields of \$\.it: ".*" and \d+ more\.', lines[-2])


# --- random tools -------------------------------------------------------------------------------

MORE = re.compile(r" and (\d+) more\.$")
names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
tools = st.builds(
    lambda count, name, long: [f"{name}{n}" + "y" * (long * (n % 7 == 0)) for n in range(count)],
    st.integers(1, 300),
    names,
    st.sampled_from([0, 3, 70, 400, 2_000]),
)
calls = st.sampled_from(
    [
        lambda fields: {"data": {fields[0]: 1}},
        lambda fields: {"data": dict.fromkeys(fields, 1)},
        lambda fields: {f"zq{n}": 1 for n in range(60)},
        lambda fields: {fields[-1]: 1, "zq": {"zz": {"zz": 1}}},
        lambda fields: {fields[0]: 1, "data": {fields[0]: 2}, "zq": "é" * 3_000},
        lambda fields: {"inner": {"data": dict.fromkeys(fields, 1)}, "zq": 1},
        lambda fields: {"inner": {"zq": 1}, "zq": 1},
    ]
)


@given(fields=tools, call=calls, most=st.sampled_from([120, 300, 800, 1_500, 1_500, 6_000]))
@settings(max_examples=250, deadline=None)
def test_the_text_keeps_its_limit_and_the_data_is_complete(fields, call, most):
    inner = {"type": "object", "properties": {name: {"type": "integer"} for name in fields}}
    schema = {**inner, "properties": {**inner["properties"], "inner": inner}}
    contract = compile_json_schema(
        schema, lambda arguments: "called", name="tool", limits=Limits(max_text=most)
    )
    result = handle_bytes(contract, json.dumps(call(fields)).encode())
    text = result["content"][0]["text"]
    data = result["_meta"]["toolbooth"]
    assert len(text) <= most
    for path, found in data["declared"].items():
        expected = [*fields, "inner"] if path == "$" else fields
        assert set(found) == set(expected)
    for line in text.split("\n"):
        check_line(line, data, fields, most)


def check_line(line: str, data: dict[str, Any], fields: list[str], most: int) -> None:
    """Check for whole names and a correct count, or a whole call."""
    if line.startswith("Send instead: "):
        assert json.loads(line.removeprefix("Send instead: ")) == data["corrected"]
    if not line.startswith("Declared fields") or line.endswith("too long to list."):
        return
    path = "$.inner" if " of $.inner: " in line else "$"
    listed = line.partition(": ")[2]
    left = MORE.search(listed)
    names = MORE.sub("", listed).removesuffix(".").replace('" (integer)', '"')
    names = names.replace('" (object)', '"')
    shown = json.loads(f"[{names}]")
    assert set(shown) <= data["declared"][path].keys()
    assert len(shown) + int(left[1] if left else 0) == len(data["declared"][path])


@given(count=st.integers(1, 300), length=st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_list_of_declared_fields_fills_the_allowed_length(count, length):
    properties = {f"{n}".rjust(length, "n"): {"type": "integer"} for n in range(count)}
    schema = {"type": "object", "properties": properties}
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    text = handle_bytes(contract, b'{"zq": "a"}')["content"][0]["text"]
    if MORE.search(text):
        assert len(text) > 1_500 - (length + 4) - 20
        assert '" (integer)' not in text
    else:
        assert all(f'"{name}"' in text for name in properties)


def test_the_fields_of_a_tool_with_thirty_are_all_in_the_text():
    properties = {f"first_name_{n}": {"type": "string"} for n in range(30)}
    schema = {"type": "object", "properties": properties, "required": ["first_name_29"]}
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    text = handle_bytes(contract, b'{"data": {"first_name_29": "a"}}')["content"][0]["text"]
    rest = ", ".join(f'"first_name_{n}" (text)' for n in range(29))
    assert text.splitlines()[2] == f'Declared fields: "first_name_29" (text, required), {rest}.'


class Row(BaseModel):
    email: str = Field(min_length=1)


def test_the_data_stays_smaller_than_the_schema_for_any_number_of_wrong_rows():
    def tool(rows: list[Row]) -> str:
        raise AssertionError("called")

    body = json.dumps({"rows": [{"data": {"email": "a"}}] * 500}).encode()
    found = handle_bytes(compile_function(tool), body)["_meta"]["toolbooth"]["declared"]
    assert found == {"$.rows[0]": {"email": "text, required"}}
