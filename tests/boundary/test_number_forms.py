"""A call means the same however its JSON is written: compact, or with spaces.

Compact JSON is read in a faster way, which must not lose digits, keys or the refusal of either.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, Field

from toolbooth import ToolRegistry, Unpack, compile_function, handle_bytes
from toolbooth.contract import Contract
from toolbooth.server.respond import respond_sync

Json = dict[str, Any]


class Row(BaseModel):
    whole: int = 0
    fraction: float = 0.0


def takes_plain(whole: int = 0, fraction: float = 0.0, rows: list[Row] | None = None) -> str:
    return repr((whole, fraction, rows))


def takes_either(whole: int | float = 0, fraction: float | str = 0.0, rows: Any = None) -> str:
    return repr((whole, fraction, rows))


def takes_exact(
    whole: Annotated[int, Field(ge=-(10**30))] = 0,
    fraction: Decimal = Decimal(0),
    rows: list[dict[str, Any]] | None = None,
) -> str:
    return repr((whole, fraction, rows))


def takes_converted(
    whole: Annotated[int, BeforeValidator(lambda value: value)] = 0,
    fraction: Annotated[Any, BeforeValidator(lambda value: value)] = 0,
    rows: Annotated[list[Row], Field(max_length=5)] | None = None,
) -> str:
    return repr((whole, fraction, rows))


class Totals(BaseModel):
    whole: int = 0
    fraction: float = 0.0
    rows: list[Row] = []


def takes_unpacked(totals: Annotated[Totals, Unpack()]) -> str:
    return repr(totals)


FUNCTIONS = (takes_plain, takes_either, takes_exact, takes_converted, takes_unpacked)
CONTRACTS = [compile_function(function, description="Keep it") for function in FUNCTIONS]

digits = st.from_regex(r"-?(0|[1-9][0-9]{0,20})", fullmatch=True)
fractions = st.from_regex(r"(\.[0-9]{1,20})?", fullmatch=True)
exponents = st.from_regex(r"([eE][+-]?[0-9]{1,3})?", fullmatch=True)
python_numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers().map(str)
numbers = st.tuples(digits, fractions, exponents).map("".join) | python_numbers
keys = st.sampled_from(("whole", "fraction", "hole"))


def compact(pairs: list[tuple[str, str]], rows: list[tuple[str, str]]) -> str:
    """JSON without spaces. A list of pairs may contain a key twice."""
    row = ",".join(f'"{key}":{value}' for key, value in rows)
    parts = [*(f'"{key}":{value}' for key, value in pairs), f'"rows":[{{{row}}}]']
    return "{" + ",".join(parts) + "}"


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda each: each.name)
@given(
    pairs=st.lists(st.tuples(keys, numbers), max_size=3), rows=st.lists(st.tuples(keys, numbers))
)
@example(pairs=[("whole", "1.2345678901234567e17")], rows=[])
@example(pairs=[("whole", "1e17")], rows=[("whole", "9007199254740994.0")])
@example(pairs=[("whole", "-0"), ("fraction", "-0.0")], rows=[])
@example(pairs=[("whole", "18446744073709551616")], rows=[("fraction", "1e-7")])
@example(pairs=[("whole", "1"), ("whole", "1")], rows=[])
def test_compact_json_means_the_same_as_json_with_spaces(
    contract: Contract, pairs: list[tuple[str, str]], rows: list[tuple[str, str]]
) -> None:
    text = compact(pairs, rows)
    assert handle_bytes(contract, text.encode()) == handle_bytes(contract, f" {text}".encode())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize(
    "value", ["1.2345678901234567e17", "9007199254740994.0", "1e16", "1e22", "5.0", "0.1", "12"]
)
def test_a_number_in_a_message_arrives_with_every_digit(function: Any, value: str) -> None:
    registry = ToolRegistry("numbers")
    registry.tool(function, description="Keep it")
    text = f'{{"whole":{value},"fraction":{value},"rows":[]}}'
    message = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        f'{{"name":"{function.__name__}","arguments":{text}}}}}'
    )
    reply = respond_sync(registry, message.encode())
    expected = handle_bytes(compile_function(function, description="Keep it"), f" {text}".encode())
    assert json.loads(reply.body)["result"]["content"] == expected["content"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param('{"action":"Keep","whole":VALUE}', id="misspelt-action"),
        pytest.param('{"action":"keep","whole":VALUE,"params":"{\\"fraction\\":0.5}"}', id="text"),
        pytest.param(
            '{"action":"keep","whole":VALUE,"params":"{\\"fraction\\":VALUE}"}', id="both"
        ),
        pytest.param('{"data":{"action":"keep","whole":VALUE}}', id="wrapper"),
    ],
)
@pytest.mark.parametrize("value", ["9007199254740994.0", "1e16", "1e23", "1.5e300"])
def test_a_dispatcher_gets_the_same_number_with_and_without_spaces(arguments: str, value: str):
    registry = ToolRegistry("numbers")
    registry.tool(takes_plain, name="keep", description="Keep it")
    registry.dispatcher("numbers", {"keep": "keep"})
    message = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        f'{{"name":"numbers","arguments":{arguments.replace("VALUE", value)}}}}}'
    ).encode()
    reply = json.loads(respond_sync(registry, message).body)
    assert reply == json.loads(respond_sync(registry, b" " + message).body)
    spaced = message.replace(b'"jsonrpc":', b'"jsonrpc": ')
    assert reply == json.loads(respond_sync(registry, spaced).body)
