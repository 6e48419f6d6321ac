"""A whole number is the same number in every JSON spelling: an integer gets exactly that number, or
the call is refused.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, Json, WrapValidator, model_validator

from toolbooth import (
    Contract,
    ToolRegistry,
    Unpack,
    compile_function,
    compile_json_schema,
    handle_arguments,
    handle_arguments_async,
    handle_bytes,
    handle_bytes_async,
    unpack_pydantic_params,
)
from toolbooth.server.respond import respond_sync

RECEIVED: list[Any] = []


class Counted(BaseModel):
    n: int
    rate: float = 0.0


class Outer(BaseModel):
    inner: Counted


class Named(BaseModel):
    name: str


class Copied(BaseModel):
    n: int
    rate: float = 0.0
    free: Any = None

    @model_validator(mode="before")
    @classmethod
    def old_name(cls, value: Any) -> Any:
        made = dict(value)
        if "old" in value:
            made["n"] = value["old"]
        return made


@dataclass
class Row:
    ns: list[int]


def as_sent(value: Any) -> Any:
    return value


def wrapped(value: Any, handler: Any) -> Any:
    return handler(value)


def tool_of(hint: Any) -> Contract:
    def tool(it: hint) -> str:
        RECEIVED.append(it)
        return "done"

    return compile_function(tool)


def schema_of(node: dict[str, Any]) -> Contract:
    def tool(arguments: Any) -> str:
        RECEIVED.append(arguments["it"])
        return "done"

    return compile_json_schema({"type": "object", "properties": {"it": node}}, tool, name="tool")


Read = Callable[[Any], Any]
PLACES: dict[str, tuple[Contract, str, Read]] = {
    "int": (tool_of(int), "%s", lambda it: it),
    "int | None": (tool_of(int | None), "%s", lambda it: it),
    "int | str": (tool_of(int | str), "%s", lambda it: it),
    "int | bool": (tool_of(int | bool), "%s", lambda it: it),
    "list[int]": (tool_of(list[int]), "[1, %s]", lambda it: it[1]),
    "tuple[int, str]": (tool_of(tuple[int, str]), '[%s, "a"]', lambda it: it[0]),
    "dict[str, int]": (tool_of(dict[str, int]), '{"a": %s}', lambda it: it["a"]),
    "model": (tool_of(Counted), '{"n": %s}', lambda it: it.n),
    "nested model": (tool_of(Outer), '{"inner": {"n": %s}}', lambda it: it.inner.n),
    "list of models": (tool_of(list[Counted]), '[{"n": %s}]', lambda it: it[0].n),
    "dataclass": (tool_of(Row), '{"ns": [%s]}', lambda it: it.ns[0]),
    "union of models": (tool_of(Named | Counted), '{"n": %s}', lambda it: it.n),
    "model | int": (tool_of(Named | int), "%s", lambda it: it),
    "unpacked": (tool_of(Annotated[Counted, Unpack()]), "%s", lambda it: it.n),
    "before int": (tool_of(Annotated[int, BeforeValidator(as_sent)]), "%s", lambda it: it),
    "wrap int": (tool_of(Annotated[int, WrapValidator(wrapped)]), "%s", lambda it: it),
    "before int | None": (
        tool_of(Annotated[int, BeforeValidator(as_sent)] | None),
        "%s",
        lambda it: it,
    ),
    "before list[int]": (
        tool_of(Annotated[list[int], BeforeValidator(as_sent)]),
        "[%s]",
        lambda it: it[0],
    ),
    "before model": (tool_of(Copied), '{"n": %s}', lambda it: it.n),
    "before model, an old name": (tool_of(Copied), '{"old": %s}', lambda it: it.n),
    "before in a list": (tool_of(list[Copied]), '[{"n": %s}]', lambda it: it[0].n),
    "unpacked before model": (tool_of(Annotated[Copied, Unpack()]), "%s", lambda it: it.n),
    "JSON text": (tool_of(Json[int]), '"%s"', lambda it: it),
    "JSON text of a list": (tool_of(Json[list[int]]), '"[%s]"', lambda it: it[0]),
    "JSON text of an object": (tool_of(Json[dict[str, int]]), r'"{\"a\": %s}"', lambda it: it["a"]),
    "text": (tool_of(int), '"%s"', lambda it: it),
    "a list as text": (tool_of(list[int]), '"[%s]"', lambda it: it[0]),
    "schema": (schema_of({"type": "integer"}), "%s", lambda it: it),
    "schema, or text": (schema_of({"type": ["integer", "string"]}), "%s", lambda it: it),
    "schema, items": (
        schema_of({"type": "array", "items": {"type": "integer"}}),
        "[%s]",
        lambda it: it[0],
    ),
    "schema, any key": (
        schema_of({"type": "object", "additionalProperties": {"type": "integer"}}),
        '{"a": %s}',
        lambda it: it["a"],
    ),
}


def body_of(place: str, number: str) -> bytes:
    key = "n" if "unpacked" in place else "it"
    return f'{{"{key}": {PLACES[place][1] % number}}}'.encode()


def received(result: dict[str, Any], place: str) -> Any:
    """Return the integer that the tool got, or the codes of the refusal."""
    if result["isError"]:
        return {each["code"] for each in result["_meta"]["toolbooth"]["problems"]}
    return PLACES[place][2](RECEIVED.pop())


def shifted(number: int, places: int, sign: str) -> str:
    """A whole number with a point and an exponent: 1234 -> 12.34e2."""
    digits = str(abs(number)).rjust(places + 1, "0")
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    pointed = f"{whole}.{fraction}" if fraction else whole
    return f"{'-' if number < 0 else ''}{pointed}{sign}{places}"


NUMBERS = st.one_of(
    st.integers(-(2**53) - 9, 2**53 + 9),
    st.integers(-(10**40), 10**40),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 10**15 - 1, 2**63, 2**64 + 1, 10**22, 10**23]),
    st.integers(0, 10**18).map(lambda each: each * 10**9),
)
ZEROS = st.integers(0, 30)


@st.composite
def spellings(draw: Any) -> tuple[int, str]:
    number = draw(NUMBERS)
    how = draw(st.sampled_from(["plain", "point", "shifted", "zeros taken back"]))
    if how == "point":
        return number, f"{number}.0{'0' * draw(ZEROS)}"
    if how == "shifted":
        sign = draw(st.sampled_from(["e", "E", "e+", "E+"]))
        return number, shifted(number, draw(ZEROS), sign)
    if how == "zeros taken back":
        zeros = draw(ZEROS) if number else 0  # 00 is not JSON
        return number, f"{number}{'0' * zeros}e-{zeros}"
    return number, str(number)


@pytest.mark.parametrize("place", PLACES)
@given(spelling=spellings())
def test_any_spelling_of_a_whole_number_is_that_number(place: str, spelling: tuple[int, str]):
    number, text = spelling
    assert Decimal(text) == number
    got = received(handle_bytes(PLACES[place][0], body_of(place, text)), place)
    # Pydantic reads a float below 2**53 as an integer only behind an author's own code, and there
    # only if it is whole: so nothing but the number itself may arrive.
    assert (got, type(got)) == (number, int)


@pytest.mark.parametrize("place", PLACES)
@given(number=NUMBERS, zeros=st.integers(0, 40), digit=st.sampled_from("123456789"))
def test_a_number_that_is_not_whole_never_becomes_an_integer(
    place: str, number: int, zeros: int, digit: str
):
    for text in (f"{number}.{'0' * zeros}{digit}", f"{number}.{'9' * (zeros + 1)}"):
        got = received(handle_bytes(PLACES[place][0], body_of(place, text)), place)
        assert isinstance(got, set), (text, got)


@pytest.mark.parametrize("place", PLACES)
def test_digits_are_neither_lost_nor_added(place: str):
    contract = PLACES[place][0]
    for text, number in (
        ("5.0", 5),
        ("123456789012345678.0", 123456789012345678),
        ("1.2345678901234567890e19", 12345678901234567890),
    ):
        assert received(handle_bytes(contract, body_of(place, text)), place) == number
    for text in (
        "1.00000000000000000001",
        "12345678901234567.5",
        "1e400",
        "0e-99999999999999999999",
    ):
        got = received(handle_bytes(contract, body_of(place, text)), place)
        assert got == 0 if text[0] == "0" and got == 0 else isinstance(got, set)


@given(spelling=spellings())
def test_a_float_or_an_integer_keeps_the_digits(spelling: tuple[int, str]):
    number, text = spelling
    contract = tool_of(int | float)
    result = handle_bytes(contract, f'{{"it": {text}}}'.encode())
    assert not result["isError"]
    got = RECEIVED.pop()
    assert got == number or (type(got) is float and Decimal(repr(got)) == number)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("5.0", 5.0, id="a-float"),
        pytest.param("1e23", 1e23, id="a-float-that-is-written-so"),
        pytest.param("123456789012345678.0", 123456789012345678, id="too-many-digits"),
        pytest.param("123456789012345678.5", 1.2345678901234568e17, id="not-whole"),
        pytest.param("0e99999999999999999999", 0.0, id="nothing"),
        pytest.param("12345678901234567", 12345678901234567, id="an-integer"),
    ],
)
def test_a_union_of_float_and_integer_chooses_the_type_that_keeps_the_digits(
    text: str, expected: Any
):
    handle_bytes(tool_of(int | float), f'{{"it": {text}}}'.encode())
    got = RECEIVED.pop()
    assert (got, type(got)) == (expected, type(expected))


@pytest.mark.parametrize(
    "hint", [int, float, Decimal, int | float, Annotated[int, BeforeValidator(as_sent)]]
)
@pytest.mark.parametrize(
    "text", ["1e99999999999999999999", "1e-99999999999999999999", "1e400", "0." + "0" * 400 + "1"]
)
def test_a_number_with_too_many_digits_is_refused(hint: Any, text: str):
    result = handle_bytes(tool_of(hint), f'{{"it": {text}}}'.encode())
    if result["isError"]:
        problem = result["_meta"]["toolbooth"]["problems"][0]
        assert problem["code"] in ("lossy-number", "wrong-type", "invalid")
    else:
        assert (hint, RECEIVED.pop()) == (Decimal, Decimal(text))


EXACT = b'{"it": 123456789012345678.0}'
LARGE = b'{"it": 1.2345678901234567890e19}'


def test_every_transport_keeps_every_digit():
    registry = ToolRegistry("numbers")

    @registry.tool
    def tool(it: int) -> str:
        return str(it)

    for body, expected in ((EXACT, "123456789012345678"), (LARGE, "12345678901234567890")):
        results = [
            handle_bytes(compile_function(tool), body),
            asyncio.run(handle_bytes_async(compile_function(tool), body)),
            registry.call_bytes("tool", body),
        ]
        message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","arguments":%b}}'
        reply = respond_sync(registry, message % body)
        results.append(json.loads(reply.body)["result"])
        assert [each["content"][0]["text"] for each in results] == [expected] * 4


@pytest.mark.parametrize("place", [each for each in PLACES if "text" not in each.lower()])
@pytest.mark.parametrize(
    "number", [2.0**53, -(2.0**53), 1.2345678901234568e17, 1e23, 9007199254740994.0]
)
def test_a_large_float_that_a_host_hands_over_is_refused_for_an_integer(place: str, number: float):
    # The same call with a large float where a float is declared passes.
    arguments = json.loads(body_of(place, "0").replace(b"0", json.dumps(number).encode()))
    result = handle_arguments(PLACES[place][0], arguments)
    assert received(result, place) == {"lossy-number"}
    assert "without a point and without an exponent" in result["content"][0]["text"]


@pytest.mark.parametrize("place", [each for each in PLACES if "text" not in each.lower()])
def test_a_small_whole_float_that_a_host_hands_over_is_an_integer(place: str):
    number = 2.0**53 - 1
    arguments = json.loads(body_of(place, "0").replace(b"0", json.dumps(number).encode()))
    got = received(handle_arguments(PLACES[place][0], arguments), place)
    assert (got, type(got)) == (2**53 - 1, int)


def test_every_way_in_for_python_values_refuses_a_large_float():
    registry = ToolRegistry("numbers")

    @registry.tool
    def tool(it: int) -> str:
        return str(it)

    arguments = {"it": 1e17}
    results = [
        handle_arguments(compile_function(tool), arguments),
        asyncio.run(handle_arguments_async(compile_function(tool), arguments)),
        registry.call("tool", arguments),
        asyncio.run(registry.call_async("tool", arguments)),
    ]
    codes = [each["_meta"]["toolbooth"]["problems"][0]["code"] for each in results]
    assert codes == ["lossy-number"] * 4

    @unpack_pydantic_params
    def flat(it: Annotated[Counted, Unpack()]) -> str:
        return str(it.n)

    with pytest.raises(ValueError, match="without a point and without an exponent"):
        flat(n=1e17)
    assert flat(n=10**17) == str(10**17)


def test_large_floats_pass_where_a_float_is_declared():
    contract = tool_of(Copied)
    sent = {"it": {"n": 1, "rate": 1e300, "free": {"a": [1e300]}}}
    for result in (
        handle_arguments(contract, sent),
        handle_bytes(contract, b'{"it": {"n": 1, "rate": 1e300, "free": {"a": [1e300]}}}'),
    ):
        assert not result["isError"]
        assert repr(RECEIVED.pop()) == repr(Copied(n=1, rate=1e300, free={"a": [1e300]}))


def test_numbers_inside_content_are_not_rewritten():
    handle_bytes(tool_of(Any), b'{"it": [1e23, 5.0, 123456789012345678.0]}')
    assert repr(RECEIVED.pop()) == "[1e+23, 5.0, 1.2345678901234568e+17]"


_NUMBER = r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?"


@given(digits=st.from_regex(_NUMBER, fullmatch=True))
def test_an_integer_in_a_list_keeps_its_value_however_it_is_written(digits: str):
    received: list[int] = []

    def keep(numbers: list[int]) -> None:
        received.extend(numbers)

    result = handle_bytes(compile_function(keep), f'{{"numbers": [{digits}]}}'.encode())
    exact = Decimal(digits)
    assert received == ([] if result["isError"] else [exact])
    assert all(type(number) is int for number in received)
