"""The contracts of `wire/everywhere.json`: one item at every depth of every source, and the value
that the tool receives for it.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel
from typing_extensions import TypedDict
from wire_outcomes import WIRE, paths

from toolbooth import Contract, Unpack, compile_function, compile_json_schema, compile_model

DEFAULTS = {
    "count": 0,
    "unit_price": 0.5,
    "flag": False,
    "tags": [],
    "sizes": {},
    "place": None,
    "note": None,
    "colour": "red",
    "day": None,
    "either": "",
}


class Place(BaseModel):
    city: str
    zip: str = ""


class Item(BaseModel):
    name: str
    count: int = 0
    unit_price: float = 0.5
    flag: bool = False
    tags: list[str] = []
    sizes: dict[str, int] = {}
    place: Place | None = None
    note: str | None = None
    colour: Literal["red", "blue"] = "red"
    day: date | None = None
    either: str | dict[str, int] = ""


class Other(BaseModel):
    code: int
    reason: str = ""


class Crate(BaseModel):
    items: list[Item]


class InModel(BaseModel):
    item: Item


class InList(BaseModel):
    items: list[Item]


class InDict(BaseModel):
    by_key: dict[str, Item]


class InUnion(BaseModel):
    choice: Item | Other


class TwoDown(BaseModel):
    crate: Crate


@dataclass
class PlaceClass:
    city: str
    zip: str = ""


@dataclass
class ItemClass:
    name: str
    count: int = 0
    unit_price: float = 0.5
    flag: bool = False
    tags: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    place: PlaceClass | None = None
    note: str | None = None
    colour: Literal["red", "blue"] = "red"
    day: date | None = None
    either: str | dict[str, int] = ""


@dataclass
class OtherClass:
    code: int
    reason: str = ""


@dataclass
class CrateClass:
    items: list[ItemClass]


@dataclass
class InModelClass:
    item: ItemClass


@dataclass
class InListClass:
    items: list[ItemClass]


@dataclass
class InDictClass:
    by_key: dict[str, ItemClass]


@dataclass
class InUnionClass:
    choice: ItemClass | OtherClass


@dataclass
class TwoDownClass:
    crate: CrateClass


class PlaceDict(TypedDict):
    city: str
    zip: NotRequired[str]


class ItemDict(TypedDict):
    name: str
    count: NotRequired[int]
    unit_price: NotRequired[float]
    flag: NotRequired[bool]
    tags: NotRequired[list[str]]
    sizes: NotRequired[dict[str, int]]
    place: NotRequired[PlaceDict | None]
    note: NotRequired[str | None]
    colour: NotRequired[Literal["red", "blue"]]
    day: NotRequired[date | None]
    either: NotRequired[str | dict[str, int]]


class OtherDict(TypedDict):
    code: int
    reason: NotRequired[str]


class CrateDict(TypedDict):
    items: list[ItemDict]


class InModelDict(TypedDict):
    item: ItemDict


class InListDict(TypedDict):
    items: list[ItemDict]


class InDictDict(TypedDict):
    by_key: dict[str, ItemDict]


class InUnionDict(TypedDict):
    choice: ItemDict | OtherDict


class TwoDownDict(TypedDict):
    crate: CrateDict


MODELS = [Item, InModel, InList, InDict, InUnion, TwoDown]
CLASSES = [ItemClass, InModelClass, InListClass, InDictClass, InUnionClass, TwoDownClass]
DICTS = [ItemDict, InModelDict, InListDict, InDictDict, InUnionDict, TwoDownDict]

INTEGERS = {"type": "object", "additionalProperties": {"type": "integer"}}
PLACE_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
    "required": ["city"],
}
ITEM_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "unit_price": {"type": "number"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": INTEGERS,
        "place": {"anyOf": [PLACE_SCHEMA, {"type": "null"}]},
        "note": {"type": ["string", "null"]},
        "colour": {"enum": ["red", "blue"]},
        "day": {"type": ["string", "null"], "format": "date"},
        "either": {"anyOf": [{"type": "string"}, INTEGERS]},
    },
    "required": ["name"],
}
OTHER_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["code"],
}
ITEMS_SCHEMA = {"type": "array", "items": ITEM_SCHEMA}


def holding(key: str, schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {key: schema}, "required": [key]}


SCHEMAS = [
    ITEM_SCHEMA,
    holding("item", ITEM_SCHEMA),
    holding("items", ITEMS_SCHEMA),
    holding("by_key", {"type": "object", "additionalProperties": ITEM_SCHEMA}),
    holding("choice", {"oneOf": [ITEM_SCHEMA, OTHER_SCHEMA]}),
    holding("crate", holding("items", ITEMS_SCHEMA)),
]


def signature_of(model: type[BaseModel]) -> Callable[..., Any]:
    """Return a function with the model's fields as parameters, as an author would write them."""
    names = {f"T_{name}": each.annotation for name, each in model.model_fields.items()}
    defaults = {f"D_{name}": each.default for name, each in model.model_fields.items()}
    params = (
        f"{name}: T_{name}" + ("" if each.is_required() else f" = D_{name}")
        for name, each in model.model_fields.items()
    )
    scope: dict[str, Any] = {**names, **defaults}
    exec(f"def tool({', '.join(params)}): ...", scope)
    return scope["tool"]


def unpacking(model: type[BaseModel]) -> Callable[..., Any]:
    def tool(request: Annotated[model, Unpack()]) -> None: ...

    return tool


DEPTHS = {
    "top": ("%s", "$"),
    "model": ('{"item": %s}', "$.item"),
    "list": ('{"items": [{"name": "first"}, %s]}', "$.items[1]"),
    "dict": ('{"by_key": {"first": {"name": "first"}, "a b": %s}}', '$.by_key["a b"]'),
    "union": ('{"choice": %s}', "$.choice"),
    "two-down": ('{"crate": {"items": [%s]}}', "$.crate.items[0]"),
}


def contracts_of(source: str) -> dict[str, Contract]:
    made: list[Contract] = {
        "signature": lambda: [compile_function(signature_of(each)) for each in MODELS],
        "unpack": lambda: [compile_function(unpacking(each)) for each in MODELS],
        "model": lambda: [compile_model(each) for each in MODELS],
        "dataclass": lambda: [compile_model(each) for each in CLASSES],
        "typed-dict": lambda: [compile_model(each) for each in DICTS],
        "json-schema": lambda: [compile_json_schema(each) for each in SCHEMAS],
    }[source]()
    return dict(zip(DEPTHS, made, strict=True))


SOURCES = {
    source: contracts_of(source)
    for source in ("signature", "unpack", "model", "dataclass", "typed-dict", "json-schema")
}


def with_defaults(source: str, depth: str, item: dict[str, Any]) -> dict[str, Any]:
    """If a source cannot distinguish "not sent" from the default, the tool receives the default."""
    if source == "dataclass" and isinstance(item.get("place"), dict):
        item = {**item, "place": {"zip": "", **item["place"]}}
    return (
        {**DEFAULTS, **item}
        if source == "dataclass" or (source, depth) == ("signature", "top")
        else item
    )


def received(source: str, depth: str, item: dict[str, Any]) -> Any:
    """Return the value that the tool receives when `item` is at this depth."""
    first, whole = (with_defaults(source, depth, each) for each in ({"name": "first"}, item))
    got = {
        "top": whole,
        "model": {"item": whole},
        "list": {"items": [first, whole]},
        "dict": {"by_key": {"first": first, "a b": whole}},
        "union": {"choice": whole},
        "two-down": {"crate": {"items": [whole]}},
    }[depth]
    return {"request": got} if source == "unpack" else got


def everywhere() -> Iterator[dict[str, Any]]:
    """Yield the cases of `everywhere.json`, those with `each` once for every name."""
    for case in json.loads((WIRE / "everywhere.json").read_bytes()):
        text = json.dumps(case)
        for each in case.get("each", [""]):
            step = f".{each}" if re.fullmatch(r"[A-Za-z_]\w*", each) else f"[{json.dumps(each)}]"
            inside = json.dumps(step)[1:-1]
            yield json.loads(text.replace("<each>", each).replace("<.each>", inside))


def expected(case: dict[str, Any], source: str, depth: str) -> dict[str, Any]:
    template, prefix = DEPTHS[depth]
    prefix = "$" if case.get("absolute") else prefix
    if case["outcome"] == "refused":
        fixed = case["corrected"]
        if case.get("corrected_if_null_is_the_default") and source in ("typed-dict", "json-schema"):
            fixed = None
        corrected = None if fixed is None else json.loads(template % json.dumps(fixed))
        problems = sorted(paths(case["problems"], prefix))
        return {"outcome": "refused", "problems": problems, "corrected": corrected}
    got = received(source, depth, case.get("received", case.get("fragment")))
    return {
        "outcome": case["outcome"],
        "received": got,
        "repairs": paths(case.get("repairs", []), prefix),
    }


def plain_dates(found: Any) -> Any:
    """A JSON Schema's date is text. The others' dates are written as text here so that all sources
    compare.
    """
    if isinstance(found, dict):
        return (
            found["date"]
            if list(found) == ["date"]
            else {key: plain_dates(each) for key, each in found.items()}
        )
    return [plain_dates(each) for each in found] if isinstance(found, list) else found
