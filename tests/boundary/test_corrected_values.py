"""The certain meaning of a wrong value, for one declared type after the other."""

import json
from datetime import date, datetime, time
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import jiter
import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr, TypeAdapter

from toolbooth import JsonText, compile_function, compile_json_schema, handle_bytes
from toolbooth.boundary.cures.places import part_at
from toolbooth.boundary.trial import problems_with
from toolbooth.errors import LeaveOut, Rewrite, ToolInputError

ONE, TWO = "6b7e67eb-52a4-4c0c-9d8e-1f2f3a4b5c6d", "b1b58efa-7a3c-4c57-9d3f-6f0f5c1a2b3c"


class Colour(Enum):
    RED = "red"
    BLUE = "dark-blue"


class Line(BaseModel):
    sku: str
    quantity: int = 1


class Source(BaseModel):
    type: Literal["web", "news"]


class Customer(BaseModel):
    customer_id: int


class Search(BaseModel):
    query: str


TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "perhaps": int | None,
    "positive": Annotated[int, Field(ge=1)],
    "float": float,
    "str": str,
    "colour": Colour,
    "digit": Literal["1", "2"],
    "yes": Literal["true", "false"],
    "date": date,
    "datetime": datetime,
    "time": time,
    "uuid": UUID,
    "texts": list[str],
    "ints": list[int],
    "floats": list[float],
    "uuids": list[UUID],
    "colours": list[Colour],
    "lines": list[Line],
    "map": dict[str, str],
    "maps": list[dict[str, str]],
    "line": Line,
    "sources": list[Source],
    "customer": Customer,
    "search": Search,
    "pair": tuple[int, str],
    "union": int | list[int],
    "anything": list[Any],
    "forms": Line | Annotated[dict[str, int], Field(max_length=1)],
}


def correction(kind: Any, value: Any) -> Any:
    """Return the correction of a call to a tool with one parameter of this type."""
    declared = TYPES[kind] if isinstance(kind, str) else kind

    def tool(it: declared) -> None: ...

    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    result = handle_bytes(compile_function(tool), b'{"it": %b}' % body)
    assert result["isError"]
    corrected = result["_meta"]["toolbooth"].get("corrected")
    return None if corrected is None else corrected["it"]


@pytest.mark.parametrize(
    ("kind", "value", "meant"),
    [
        ("bool", " Yes ", True),
        ("bool", "n", False),
        ("bool", "1", True),
        ("bool", 1.0, True),
        ("bool", ["off"], False),
        ("int", ["45"], 45),
        ("date", "2026/1/2", "2026-01-02"),
        ("date", " 2026-1-2", "2026-01-02"),
        ("bool", 0, False),
        ("int", "-12,345", -12345),
        ("int", [7], 7),
        ("str", -0.50, "-0.5"),
        ("str", b"-0.50", "-0.50"),
        ("str", b"1e5", "1e5"),
        ("colour", "Dark Blue", "dark-blue"),
        ("colour", "'red'", "red"),
        ("digit", 1, "1"),
        ("yes", True, "true"),
        ("date", 20240229, "2024-02-29"),
        ("datetime", 1798711200123, "2026-12-31T10:00:00.123Z"),
        ("datetime", "1798711200", "2026-12-31T10:00:00Z"),
        ("texts", "a b", ["a b"]),
        ("texts", {"values": ["a"]}, ["a"]),
        ("ints", "7", [7]),
        ("ints", "1;2", [1, 2]),
        ("ints", "1,\n2", [1, 2]),
        ("ints", "[1;2]", [1, 2]),
        ("floats", "1.5; 2", [1.5, 2]),
        ("uuids", f"'{ONE}', '{TWO}'", [ONE, TWO]),
        ("uuids", f"({ONE},)", [ONE]),
        ("colours", "RED", ["red"]),
        ("colours", "Red; Dark blue", ["red", "dark-blue"]),
        ("colours", "[red, dark-blue]", ["red", "dark-blue"]),
        ("lines", {"sku": "a", "Quantity": 2}, [{"sku": "a", "quantity": 2}]),
        ("ints", 7, [7]),
        ("ints", "[1, 2,]", [1, 2]),
        ("floats", "1.5\n2", [1.5, 2]),
        ("floats", "(-1.5, 2)", [-1.5, 2]),
        ("uuids", f"{ONE},{TWO}", [ONE, TWO]),
        ("colours", "red,\ndark-blue", ["red", "dark-blue"]),
        ("lines", {"sku": "a"}, [{"sku": "a"}]),
        ("lines", {"sku": "a", "quantity": "2"}, [{"sku": "a", "quantity": 2}]),
        ("lines", {"sku": 5, "quantity": "1,000"}, [{"sku": "5", "quantity": 1000}]),
        ("lines", {"item": {"sku": "a"}}, [{"sku": "a"}]),
        ("lines", '[{"sku": "a"}]</parameter>\n</invoke>', [{"sku": "a"}]),
        ("maps", {"a": "b"}, [{"a": "b"}]),
        ("maps", {"a": 1.5}, [{"a": "1.5"}]),
        ("anything", {"a": 1.5}, [{"a": 1.5}]),
        ("ints", [{"item": 14}, 15], [14, 15]),
        ("int", {"item": 14}, 14),
        ("sources", ["web", "news"], [{"type": "web"}, {"type": "news"}]),
        ("customer", "251", {"customer_id": 251}),
        ("customer", 251, {"customer_id": 251}),
        ("search", "mills", {"query": "mills"}),
        ("lines", '{"sku": "a"}\n\n{"sku": "b"}', [{"sku": "a"}, {"sku": "b"}]),
        ("lines", "[{'sku': 'a', 'quantity': 2}]", [{"sku": "a", "quantity": 2}]),
        ("map", [["a", "b"]], {"a": "b"}),
        (
            "map",
            [{"name": "a", "value": "b"}, {"name": "c", "value": "d"}],
            {"a": "b", "c": "d"},
        ),
        ("anything", 5, [5]),
        ("map", "a: b\n\nc: d: e", {"a": "b", "c": "d: e"}),
        ("map", {"a": 1}, {"a": "1"}),
        ("line", [{"sku": "a"}], {"sku": "a"}),
        ("line", '```json\n{"sku": "a"}\n```', {"sku": "a"}),
        ("line", "\ufeff{'sku': 'a'}", {"sku": "a"}),
    ],
)
def test_a_value_with_one_reading_is_corrected(kind: str, value: Any, meant: Any):
    assert correction(kind, value) == meant


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bool", "maybe"),
        ("bool", 2),
        ("int", "45 people"),
        ("int", [["45"]]),
        ("int", ["many"]),
        ("bool", 0.5),
        ("bool", [{"value": True}]),
        ("date", "2026/13/2"),
        ("date", "2/1/2026"),
        ("floats", "0,5"),
        ("floats", "1,5\n2,5"),
        ("floats", "1,5;2,5"),
        ("ints", "1,2\n3,4"),
        ("map", "{A: b}"),
        ("map", "[A: b]"),
        ("lines", {"size": [{"sku": "a"}]}),
        ("int", [1, 2]),
        ("int", "12,34"),
        ("positive", "-1,000"),
        ("float", "1,000"),
        ("float", True),
        ("str", True),
        ("str", [5]),
        ("colour", "green"),
        ("colour", 1),
        ("digit", 3),
        ("date", 20240230),
        ("date", 1798711200),
        ("datetime", 17987112),
        ("datetime", 20261231),
        ("datetime", True),
        ("time", 1200),
        ("uuid", 5),
        ("texts", "a, b"),
        ("texts", "a\nb"),
        ("texts", "OMIT"),
        ("texts", "<tag>"),
        ("texts", ""),
        ("texts", {"a": "b"}),
        ("texts", {"item": "a"}),
        ("texts", {}),
        ("ints", "1,000"),
        ("ints", "1, two"),
        ("ints", "1.5, 2"),
        ("ints", {"1": 1}),
        ("ints", ","),
        ("ints", "{1, 2}"),
        ("ints", "[1, 2"),
        ("uuids", f"{ONE}, x"),
        ("colours", "red, green"),
        ("lines", '{"sku": "a"}\nnot JSON'),
        ("lines", "[{'sku': 'a', 'sku': 'b'}]"),
        ("lines", "[{1: 'a'}]"),
        ("lines", "[{**x}]"),
        ("lines", "[f()]"),
        ("lines", "[{'sku': '\\ud800'}]"),
        ("lines", {"quantity": 3}),
        ("lines", {"sku": "a", "colour": "red"}),
        ("lines", {}),
        ("lines", {"item": {"colour": "red"}}),
        ("lines", '[{"sku": "a"}] and more</parameter>'),
        ("int", {"item": "many"}),
        ("int", {"value": 14}),
        ("int", {"item": 14, "unit": "kg"}),
        ("perhaps", {"count": 14}),
        ("str", {"item": "a"}),
        ("sources", ["images"]),
        ("sources", [["web"]]),
        ("sources", [None]),
        ("customer", "many"),
        ("customer", 1.5),
        ("search", "OMIT"),
        ("search", "{query: mills}"),
        ("map", "no lines"),
        ("map", "a: b\nc"),
        ("map", "a: b\na: c"),
        ("map", ""),
        ("map", []),
        ("map", [["a"]]),
        ("map", [{"key": "a", "value": "b"}]),
        ("map", [{"key": "a"}, {"key": "b"}]),
        ("map", 5),
        ("line", "sku: a"),
        ("line", []),
        ("pair", 1),
        ("union", [[1]]),
        ("union", "x"),
        ("forms", 5),
    ],
)
def test_a_value_with_no_reading_or_with_two_is_not_corrected(kind: str, value: Any):
    assert correction(kind, value) is None


def test_reading_of_a_long_python_literal_is_bounded():
    assert correction("ints", f"({'1, ' * 10_000}1)") is None


def test_the_value_of_a_secret_is_not_corrected():
    def login(pin: Annotated[SecretStr, Field(max_length=3)]) -> None: ...

    result = handle_bytes(compile_function(login), b'{"pin": 12345}')
    assert "12345" not in json.dumps(result)


def test_text_of_json_is_corrected_as_text():
    def send(
        headers: Annotated[dict[str, str], JsonText(example={"a": "b"})], count: int = 1
    ) -> None: ...

    contract = compile_function(send)
    result = handle_bytes(contract, b'{"headers": {"a": "b"}, "Count": 2}')
    corrected = result["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"headers": '{"a": "b"}', "count": 2}
    assert handle_bytes(contract, json.dumps(corrected).encode())["isError"] is False
    wrong = handle_bytes(contract, b'{"headers": "X: 5"}')
    assert "corrected" not in wrong["_meta"]["toolbooth"]


def test_the_authors_code_does_not_run_on_a_correction():
    seen: list[str] = []

    def note(value: str) -> str:
        seen.append(value)
        return value

    def tool(name: Annotated[str, AfterValidator(note)], count: int = 0) -> None: ...

    contract = compile_function(tool)
    result = handle_bytes(contract, b'{"data": {"name": "Ann", "count": [1]}}')
    assert result["_meta"]["toolbooth"]["corrected"] == {"name": "Ann", "count": 1}
    assert seen == []


def test_bounds_patterns_and_formats_of_corrections_are_checked():
    def tool(
        name: Annotated[str, Field(pattern="^A"), AfterValidator(str.strip)],
        count: Annotated[int, Field(le=9)] = 0,
        day: date | None = None,
    ) -> None: ...

    contract = compile_function(tool)

    def told(arguments: Any) -> Any:
        result = handle_bytes(contract, json.dumps({"data": arguments}).encode())
        return result["_meta"]["toolbooth"].get("corrected")

    assert told({"name": "Ann", "count": 3, "day": "2026-01-02"}) is not None
    assert told({"name": "Bob"}) is None
    assert told({"name": "Ann", "count": 10}) is None
    assert told({"name": "Ann", "day": "tomorrow"}) is None
    assert told({"count": 3}) is None


LABELS = {
    "type": "object",
    "properties": {
        "state": {
            "oneOf": [{"const": "o", "title": "Open"}, {"const": "ip", "title": "In progress"}]
        },
        "other": {"$ref": "#/$defs/none"},
        "again": {"$ref": "#/$defs/again"},
    },
    "$defs": {
        "none": {"type": ["integer", "null"], "default": None},
        "again": {"$ref": "#/$defs/again"},
    },
}


def test_titles_of_choices_and_defaults_are_found_behind_a_reference():
    contract = compile_json_schema(LABELS, function=dict)
    result = handle_bytes(contract, b'{"state": "in_progress", "other": "N/A"}')
    assert result["_meta"]["toolbooth"]["corrected"] == {"state": "ip"}
    assert 'Left out: $.other ("N/A" means no value).' in result["content"][0]["text"]


def test_schema_that_only_refers_to_itself_has_no_constraints():
    assert part_at(LABELS, ("again",)) == {}


def test_numbers_as_they_were_written_are_checked_too():
    def tool(n: Annotated[float, Field(le=9), AfterValidator(abs)]) -> None: ...

    contract = compile_function(tool)
    read = partial(jiter.from_json, float_mode="lossless-float")
    assert problems_with(contract, read(b'{"n": 1.50}')) == []
    assert [each.where for each in problems_with(contract, read(b'{"n": 10.5}'))] == ["$.n"]


def test_edits_of_values_move_with_the_call():
    edits = [Rewrite(("a",), 1), LeaveOut(("b",), "None")]
    moved = ToolInputError((), edits=edits).under(("params",)).edits
    assert [each.source for each in moved] == [("params", "a"), ("params", "b")]


def test_a_key_that_joins_the_names_of_nested_objects_is_corrected():
    class Place(BaseModel):
        lat: float

    class Address(BaseModel):
        place: Place
        city: str = ""

    def tool(address: Address, title: str = "") -> None: ...

    def told(arguments: Any) -> Any:
        result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())
        return result["_meta"]["toolbooth"]

    assert told({"address_place_lat": 1.5})["corrected"] == {"address": {"place": {"lat": 1.5}}}
    assert "corrected" not in told({"address_x_lat": 1.5, "address": {"place": {"lat": 1}}})
    found = told({"address.city": "Ghent", "homepage": "x.org"})
    assert [each["path"] for each in found["problems"]] == [
        '$["address.city"]',
        "$.homepage",
        "$.address",
    ]


def test_a_field_that_a_move_fills_is_not_missing():
    class Inner(BaseModel):
        street: str

    def tool(inner: Inner, title: str = "") -> None: ...

    body = json.dumps({"inner": {"title": "x"}, "street": "a", "homepage": "y"}).encode()
    told = handle_bytes(compile_function(tool), body)["_meta"]["toolbooth"]
    assert "missing" not in [each["code"] for each in told["problems"]]


def test_type_adapter_accepts_the_corrected_value():
    assert TypeAdapter(datetime).validate_python(correction("datetime", 1798711200123))


class Part(BaseModel):
    pages: int = 1


class Box(BaseModel):
    parts: list[Part] = []
    pair: tuple[int, str] = (1, "")
    either: Part | int = 1
    named: dict[str, int] = {}


def refusal(arguments: dict[str, Any]) -> dict[str, Any]:
    def tool(box: Box, kept: bool = True): ...

    result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())
    return result["_meta"]["toolbooth"]


@pytest.mark.parametrize(
    ("sent", "corrected"),
    [
        pytest.param(
            {"box": {"parts": [{}, {"pages": "1,000"}]}, "kept": "no"},
            {"box": {"parts": [{}, {"pages": 1000}]}, "kept": False},
            id="two places",
        ),
        pytest.param({"box": {"pair": ["1,000", ""]}}, {"box": {"pair": [1000, ""]}}, id="tuple"),
        pytest.param({"box": {"named": {"a": "1,000"}}}, {"box": {"named": {"a": 1000}}}, id="map"),
        pytest.param({"box": {"either": {"pages": "1,000"}}}, None, id="one form of two"),
        pytest.param({"box": {}, "kept": [True]}, {"box": {}, "kept": True}, id="list"),
        pytest.param({"box": {"parts": [{"pages": True}]}, "kept": "no"}, None, id="one unclear"),
    ],
)
def test_wrong_values_are_replaced_at_every_depth(sent, corrected):
    assert refusal(sent).get("corrected") == corrected


def test_unambiguous_edit_is_sent_beside_an_ambiguous_value():
    def tool(pages: Annotated[int, Field(le=500)] = 1, count: int = 1, kept: bool = True): ...

    def edits(arguments: dict[str, Any]) -> Any:
        result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())
        return result["_meta"]["toolbooth"].get("edits", [])

    assert edits({"kept": "no", "count": True}) == ["send $.kept as false"]
    assert edits({"pages": "1,000", "kept": "no", "count": True}) == ["send $.kept as false"]
    assert edits({"count": True}) == []


def meaning(tool: Any, arguments: Any) -> Any:
    """Return the corrected call, or else the first problem."""
    result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())["_meta"]
    told = result["toolbooth"]
    return told.get("corrected") or told["problems"][0]["message"]


def order(lines: list[Line] = []) -> None: ...  # noqa: B006


@pytest.mark.parametrize("key", ["lines", "line", "Lines"])
def test_a_list_inside_an_object_with_its_own_name_is_unwrapped(key: str):
    assert meaning(order, {"lines": {key: [{"sku": "a"}]}}) == {"lines": [{"sku": "a"}]}


def test_a_placeholder_that_may_be_a_choice_is_not_left_out():
    def tool(name: str, level: Literal["none", "all"] | None = None) -> None: ...

    assert meaning(tool, {"name": "a", "level": "None"}).endswith("leave it out if unknown")


@pytest.mark.parametrize("word", ["null", "undefined", "nil", "None", "N/A", ""])
def test_a_placeholder_for_an_optional_nullable_field_is_left_out(word: str):
    def tool(name: str, due: date | None = None) -> None: ...

    assert meaning(tool, {"name": "a", "due": word}) == {"name": "a"}
    assert meaning(tool, {"name": "a", "Due": word}) == {"name": "a"}


@pytest.mark.parametrize("key", ["address_street", "address-street", "addressStreet"])
def test_key_that_joins_an_object_and_its_field_is_corrected(key: str):
    class Address(BaseModel):
        street: str
        zip_code: str = ""

    def tool(address: Address, note: str = "") -> None: ...

    assert meaning(tool, {key: "a"}) == {"address": {"street": "a"}}
    both = {key: "a", "addressZipCode": "9000"}
    assert meaning(tool, both) == {"address": {"street": "a", "zip_code": "9000"}}
    assert meaning(tool, {"note": "x", "addressstreets": "a"}).startswith("there is no field")


def test_a_key_that_may_belong_to_several_rows_is_not_moved():
    def tool(lines: list[Line], title: str = "") -> None: ...

    rows = [{"sku": "a", "title": "x"}, {"sku": "b", "title": "y"}, {"sku": "c", "title": "z"}]
    result = handle_bytes(compile_function(tool), json.dumps({"lines": rows}).encode())
    told = result["_meta"]["toolbooth"]
    assert "corrected" not in told
    assert "edits" not in told


def test_the_name_of_the_other_tool_is_not_put_among_its_arguments():
    def call_tool(tool: str, arguments: dict[str, Any] = {}) -> None: ...  # noqa: B006

    told = meaning(call_tool, {"tool_name": "x", "arguments": {"a": 1}})
    assert told == 'there is no field "tool_name"; did you mean "tool", which is missing?'


def test_no_field_is_suggested_that_was_sent():
    def transfer(from_account: str, to_account: str) -> None: ...

    told = meaning(transfer, {"account": "a", "to_account": "b"})
    assert told == 'there is no field "account"; did you mean "from_account"?'


def test_a_misplaced_placeholder_is_left_out():
    class Place(BaseModel):
        city: str

    def ship(to: Place, floor: int | None = None) -> str:
        return to.city

    result = handle_bytes(compile_function(ship), b'{"to": {"city": "Rome", "floor": "N/A"}}')
    told = result["_meta"]["toolbooth"]
    assert told["corrected"] == {"to": {"city": "Rome"}}
    assert told["edits"] == ['leave out $.to.floor, because "N/A" means no value']


# --- what a corrected call assumes --------------------------------------------------------------


class Slot(BaseModel):
    starts_at: datetime
    note: str = ""


def book(slots: list[Slot] = [], starts_at: datetime | None = None, zone: str = "") -> str:  # noqa: B006
    raise AssertionError("called")


@pytest.mark.parametrize(
    ("sent", "first"),
    [
        (
            {"starts_at": 1798711200},
            "- $.starts_at: must be a date and time as ISO 8601 text, got an integer 1798711200; "
            "1798711200 is read as seconds since 1970 in UTC",
        ),
        (
            {"slots": [{"starts_at": "1798711200000"}]},
            "- $.slots[0].starts_at: must be a date and time as ISO 8601 text, got the number "
            '"1798711200000"; 1798711200000 is read as milliseconds since 1970 in UTC',
        ),
        (
            {"startsAt": 1798711200, "zone": 1798711200},
            '- $.startsAt: there is no field "startsAt"; did you mean "starts_at"? '
            "1798711200 is read as seconds since 1970 in UTC",
        ),
    ],
    ids=["seconds", "milliseconds in a row", "under another name"],
)
def test_a_number_that_is_corrected_to_a_time_is_said_to_be_in_utc(sent: Any, first: str):
    result = handle_bytes(compile_function(book), json.dumps(sent).encode())
    found = result["content"][0]["text"].splitlines()
    assert first in found
    assert found[-1].startswith("Send instead: ")
    assert found[-1].count("2026-12-31T10:00:00Z") == 1
    assert sum("UTC" in line for line in found) == 1
