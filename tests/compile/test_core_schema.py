"""The author's validation, prepared for the wire: no key is dropped, and the author's code decides."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, Json, OnErrorOmit, model_validator

from toolbooth import Unpack, compile_function, handle_bytes


def outcome(function: Any, body: bytes) -> Any:
    """Return the value that the tool received, or the problems."""
    received: list[Any] = []
    result = handle_bytes(
        compile_function(function), body, lambda **values: received.append(values)
    )
    if not result["isError"]:
        return received[0]
    assert received == []
    return [
        (each["code"], each["path"], each["message"])
        for each in result["_meta"]["toolbooth"]["problems"]
    ]


# --- Json[T]: text that the author declares ---


def test_declared_json_text_is_validated_as_strictly_as_other_values():
    def tool(rates: Json[list[float]]): ...

    assert outcome(tool, b'{"rates": "[1.5, 2, 0.0]"}') == {"rates": [1.5, 2.0, 0.0]}
    assert outcome(tool, rb'{"rates": "[\"1.5\"]"}') == [
        ("invalid", "$.rates[0]", "must be a number")
    ]


def test_boolean_or_text_is_refused_as_integer_in_declared_json_text():
    def tool(sizes: Json[list[Annotated[int, Field(ge=3)]]]) -> str:
        return str(sizes)

    contract = compile_function(tool)
    result = handle_bytes(contract, rb'{"sizes": "[4, true, \"5\", 2.0, 5.0]"}')
    problems = result["_meta"]["toolbooth"]["problems"]
    assert [(each["path"], each["message"]) for each in problems] == [
        ("$.sizes[1]", "must be an integer"),
        ("$.sizes[2]", "must be an integer"),
        ("$.sizes[3]", "must be at least 3"),
    ]
    result = handle_bytes(contract, rb'{"sizes": "[4, 5.0, 12345678901234567890.0]"}')
    assert result["content"][0]["text"] == "[4, 5, 12345678901234567890]"


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400"])
def test_unrepresentable_number_in_declared_json_text_is_refused(number):
    def tool(rates: Json[dict[str, list[float]]]): ...

    assert outcome(tool, rb'{"rates": "{\"a\": [1, %b]}"}' % number.encode()) == [
        ("lossy-number", "$.rates", "holds a number too large or too small to hold")
    ]


# --- typed keys ---


def test_only_values_that_the_authors_type_omits_are_left_out():
    def tool(prices: dict[int, OnErrorOmit[Annotated[int, Field(gt=0)]]]): ...

    assert outcome(tool, b'{"prices": {"1": -5, "2": 5}}') == {"prices": {2: 5}}
    assert outcome(tool, b'{"prices": {"1": 5, "01": 6}}') == [
        ("conflicting-keys", '$.prices["01"]', "1 and 01 mean the same")
    ]


# --- defaults that are instances ---


class Part(BaseModel):
    name: str
    parent: "Part | None" = None


def test_unpacked_recursive_model_takes_defaults_from_its_instance():
    wheel = Part(name="wheel", parent=Part(name="car"))

    def tool(part: Annotated[Part, Unpack()] = wheel): ...

    assert outcome(tool, b"{}") == {"part": Part(name="wheel", parent=Part(name="car"))}
    assert outcome(tool, b'{"name": "door"}') == {
        "part": Part(name="door", parent=Part(name="car"))
    }
    assert outcome(tool, b'{"parent": {"name": "bus"}}') == {
        "part": Part(name="wheel", parent=Part(name="bus"))
    }


# --- the author's validators ---


class Renamed(BaseModel):
    size: int

    @model_validator(mode="before")
    @classmethod
    def accept_the_old_name(cls, given: Any) -> Any:
        given = given.copy()
        if "length" in given:
            given["size"] = given.pop("length")
        return given


class Noted(BaseModel):
    size: int

    @model_validator(mode="wrap")
    @classmethod
    def read_the_note(cls, given: Any, handler: Any) -> Any:
        if isinstance(given, dict) and given.get("note") == "double":
            return handler({**given, "size": given["size"] * 2})
        return handler(given)


@pytest.mark.parametrize(
    ("model", "body", "expected"),
    [
        pytest.param(
            Renamed, b'{"it": {"size": 1}}', {"it": Renamed(size=1)}, id="before-declared"
        ),
        pytest.param(
            Renamed, b'{"it": {"length": 1}}', {"it": Renamed(size=1)}, id="before-read-from-a-copy"
        ),
        pytest.param(
            Renamed,
            b'{"it": {"length": 1, "colour": "red"}}',
            [("unknown-key", "$.it.colour", 'there is no field "colour"')],
            id="before-copied-along-but-never-read",
        ),
        pytest.param(Noted, b'{"it": {"size": 1}}', {"it": Noted(size=1)}, id="wrap-declared"),
        pytest.param(
            Noted, b'{"it": {"size": 1, "note": "double"}}', {"it": Noted(size=2)}, id="wrap-read"
        ),
        pytest.param(
            Noted,
            b'{"it": {"size": 1, "colour": "red"}}',
            [("unknown-key", "$.it.colour", 'there is no field "colour"')],
            id="wrap-never-read",
        ),
        pytest.param(
            Noted,
            b'{"it": 5}',
            [("invalid", "$.it", 'must be an object; got 5; e.g. {"size": 2}')],
            id="wrap-no-object",
        ),
    ],
)
def test_key_read_by_a_validator_passes_and_an_unread_key_is_refused(model, body, expected):
    def tool(it: model): ...

    assert outcome(tool, body) == expected
