"""The hostile corpus: bodies that made, or could make, one call cost far more than its bytes.

Each has the contract to which it is sent. Most are refused; those that must pass are marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, create_model

from toolbooth import Contract, compile_function

LARGE = 256_000
"""Bytes of the larger bodies."""


class Left(BaseModel):
    x: Annotated[int, Field(le=9)] = 0
    child: Left | Right | None = None
    other: Left | Right | None = None


class Right(BaseModel):
    y: int = 0
    child: Left | Right | None = None
    other: Left | Right | None = None


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


class Even(BaseModel):
    x: Annotated[int, AfterValidator(_even)] = 0
    child: Even | Odd | None = None


class Odd(BaseModel):
    y: int = 0
    child: Even | Odd | None = None


class Plus(BaseModel):
    kind: Literal["plus"]
    terms: list[Plus | Minus | int] = []


class Minus(BaseModel):
    kind: Literal["minus"]
    terms: list[Plus | Minus | int] = []


class Row(BaseModel):
    name: str
    number: int = 1
    due: date | None = None
    tags: list[str] = []


def plant(tree: Left | Right, forest: list[Left | Right] = []) -> str:  # noqa: B006
    return "planted"


def plant_six(
    ash: Left | Right | None = None,
    elm: Left | Right | None = None,
    fir: Left | Right | None = None,
    oak: Left | Right | None = None,
    pine: Left | Right | None = None,
    yew: Left | Right | None = None,
) -> str:
    return "planted"


def plant_even(tree: Even | Odd) -> str:
    return "planted"


def calculate(sum: Plus | Minus) -> str:
    return "calculated"


def add_rows(rows: list[Row], numbers: list[int] = [], counts: dict[str, int] = {}) -> str:  # noqa: B006
    return "added"


def write(title: str, text: str = "", options: Any = None) -> str:
    return "written"


@cache
def wide(count: int) -> Contract:
    """A tool with many fields."""
    fields: dict[str, Any] = {f"field_number_{number}": (int, 0) for number in range(count)}
    model = create_model("Wide", **fields)

    def fill(record: Any) -> str:
        return "filled"

    fill.__annotations__["record"] = model
    return compile_function(fill)


@dataclass(frozen=True, slots=True)
class Hostile:
    """One body, the tool it is sent to, and whether it is a right call."""

    name: str
    contract: Contract
    body: bytes
    passes: bool = False
    alone: TypeAdapter[Any] | None = None
    """Pydantic alone, if the author's validation itself takes longer than the bytes may cost."""


def corpus() -> Iterator[Hostile]:
    """Every body."""
    yield from _trees()
    yield from _rows()
    yield from _keys()
    yield from _texts()


def _sent(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _nested(depth: int, leaf: Any, key: str = "child") -> Any:
    for _ in range(depth):
        leaf = {key: leaf}
    return leaf


def _full_tree(depth: int, leaf: Any) -> Any:
    if not depth:
        return leaf
    below = _full_tree(depth - 1, leaf)
    return {"child": below, "other": below}


def _trees() -> Iterator[Hostile]:
    tool, alone = compile_function(plant), TypeAdapter(plant)
    for depth in (8, 14, 60):
        body = _sent({"tree": _nested(depth, {"x": "bad"})})
        yield Hostile(f"union of models, {depth} deep, a wrong leaf", tool, body)
    for depth in (8, 12, 14, 15):
        body = _sent({"tree": _nested(depth, {"x": 10})})
        yield Hostile(f"union of models, {depth} deep, a leaf out of bounds", tool, body)
    for depth in (12, 14, 15):
        body = _sent({"tree": _nested(depth, {"x": 5})})
        yield Hostile(f"union of models, {depth} deep, right", tool, body, True, alone)
    body = _sent({"tree": _nested(12, {"x": "5"})})
    yield Hostile("union of models, 12 deep, a number as text", tool, body, True, alone)
    three = _nested(14, {"x": 5})
    body = _sent({"tree": three, "forest": [three, three]})
    yield Hostile("three right trees, 14 deep", tool, body, True, alone)
    author, alone = compile_function(plant_even), TypeAdapter(plant_even)
    body = _sent({"tree": _nested(14, {"x": 5})})
    yield Hostile("the author's code refuses a leaf, 14 deep", author, body, alone=alone)
    for depth in (14, 60):
        body = _sent({"data": {"tree": _nested(depth, {"x": 10})}})
        yield Hostile(f"a wrapped tree, {depth} deep", tool, body)
    yield Hostile("union of models, 190 deep", tool, _sent({"tree": _nested(190, {"x": 5})}))
    deep = _nested(15, {"x": 10})
    both = _sent({"tree": deep, "forest": [deep]})
    yield Hostile("a tree and a forest, both 15 deep", tool, both)
    names = ("ash", "elm", "fir", "oak", "pine", "yew")
    six = _sent(dict.fromkeys(names, deep))
    yield Hostile("six trees in six fields, 15 deep", compile_function(plant_six), six)
    yield Hostile("full tree of unions", tool, _sent({"tree": _full_tree(7, {"x": "bad"})}))
    forest = [_nested(6, {"x": "bad"}) for _ in range(300)]
    yield Hostile("300 trees", tool, _sent({"tree": {}, "forest": forest}))
    misspelt = _sent({"tree": _nested(60, {"z": 1}, "chidl")})
    yield Hostile("every level misspelt", tool, misspelt)
    leaf: Any = {"kind": "plus", "terms": ["bad"]}
    for _ in range(14):
        leaf = {"kind": "plus", "terms": [leaf]}
    yield Hostile("tags without a discriminator", compile_function(calculate), _sent({"sum": leaf}))


def _rows() -> Iterator[Hostile]:
    tool = compile_function(add_rows)

    def rows(name: str, one: Any) -> Hostile:
        count = LARGE // (len(_sent(one)) + 1)
        return Hostile(name, tool, _sent({"rows": [one] * count}))

    yield rows("every row wrapped", {"data": {"name": "a"}})
    yield rows("every row wrapped twice", {"data": {"row": {"name": "a"}}})
    yield rows("every row misspelt", {"nmae": "a"})
    yield rows("every row with a wrong number", {"name": "a", "number": "x"})
    yield rows("every row with a wrong date", {"name": "a", "due": "20261399"})
    yield replace(rows("every row empty", {}), alone=TypeAdapter(add_rows))
    yield rows("every row a text", "a")
    as_text = rows("every row as JSON text", '{"name":"a"}')
    yield replace(as_text, passes=True)
    yield rows("every row not JSON", "{'name': 'a'}")
    names = [{f"name{number}": "a"} for number in range(LARGE // 20)]
    yield Hostile("every row misspelt differently", tool, _sent({"rows": names}))
    row = {"name": "a"}
    yield Hostile("numbers as text", tool, _sent({"rows": [row], "numbers": ["1"] * 60_000}), True)
    yield Hostile("no numbers", tool, _sent({"rows": [row], "numbers": ["a"] * 60_000}))
    yield Hostile("numbers with commas", tool, _sent({"rows": [row], "numbers": "1," * 100_000}))
    yield Hostile("a Python list", tool, _sent({"rows": [row], "numbers": f"({'1, ' * 80_000})"}))
    counts = {f"key{number}": "x" for number in range(LARGE // 14)}
    yield Hostile("no counts", tool, _sent({"rows": [row], "counts": counts}))


def _keys() -> Iterator[Hostile]:
    tool = wide(60)

    def keys(name: str, pattern: str, value: Any = 1, most: int = LARGE) -> Hostile:
        count = most // (len(_sent({pattern.format(9_999): value})) + 1)
        return Hostile(name, tool, _sent({pattern.format(each): value for each in range(count)}))

    yield keys("strange keys", "strange_{}")
    yield keys("strange keys with objects", "strange_{}", {"field_number_1": 1})
    yield keys("dotted keys", "record.field_number_{}")
    yield keys("keys with brackets", "record[{}]")
    yield keys("joined keys", "record_field_number_{}")
    record = {f"fieldnumber{each}": 1 for each in range(LARGE // 20)}
    yield Hostile("keys in another case", tool, _sent({"record": record}))
    misspelt = {f"feild_number_{each}": 1 for each in range(200)}
    yield Hostile("200 typos among 10,000 fields", wide(10_000), _sent({"record": misspelt}))
    yield Hostile("one long key", tool, _sent({"record" * (LARGE // 6): 1}))
    yield Hostile("wrappers in wrappers", tool, _sent(_nested(190, {"record": {}}, "data")))


def _texts() -> Iterator[Hostile]:
    tool = compile_function(write)
    tags = "</title><parameter name=text>" * (LARGE // 30)
    yield Hostile("tags", tool, _sent({"title": tags}))
    yield Hostile("half tags", tool, _sent({"title": "<" * LARGE}), passes=True)
    text: Any = {"title": "a"}
    while len(text) < LARGE // 2:
        text = json.dumps(text)
    yield Hostile("text in text in text", tool, _sent(text), passes=True)
    yield Hostile("deep lists", tool, b'{"title":"a","options":%s}' % (b"[" * LARGE))
    yield Hostile("a long number", tool, b'{"title":"a","options":%s}' % (b"9" * LARGE))
    numbers = ",".join(["1e400"] * (LARGE // 6)).encode()
    yield Hostile("numbers too large", tool, b'{"title":"a","options":[%s]}' % numbers)
    same = ",".join(['"a":1'] * (LARGE // 6)).encode()
    yield Hostile("the same key again and again", tool, b'{"title":"a","options":{%s}}' % same)
    yield Hostile("not JSON at the end", tool, b'{"title":"%s"' % (b"a" * LARGE))
