"""The shape corpus: bytes in, outcome out. `wire/everywhere.json` holds fragments that stand at every depth of every
source; the other files hold one contract's cases each. What is never true of any of them: a value lost in silence.

A case of `everywhere.json` gives the object `fragment` (or its raw `text`) and its outcome as if it stood at `$`.
`received` is what the tool gets, if that is not what was sent; `at` and `not_at` limit the depths; `absolute` paths
are the same at every depth; `each` writes the case once for every name.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    PlainValidator,
    SecretStr,
    WrapValidator,
    model_validator,
)
from typing_extensions import NotRequired, TypedDict

from toolbooth import (
    Contract,
    JsonText,
    Unpack,
    Verbatim,
    compile_function,
    compile_json_schema,
    compile_model,
    handle_bytes,
)

WIRE = Path(__file__).parent / "wire"


# --- one call -------------------------------------------------------------------------------------------------


def outcome(contract: Contract, body: bytes) -> dict[str, Any]:
    """The whole outcome of one call, in the words of the corpus."""
    calls: list[Any] = []

    def tool(*args: Any, **keywords: Any) -> None:
        calls.append(dump(args[0] if args else keywords))

    result = handle_bytes(contract, body, tool)
    meta = result.get("_meta", {}).get("toolbooth", {})
    if result["isError"]:
        assert calls == [], "refused, and called all the same"
        problems = sorted([each["code"], each["path"]] for each in meta["problems"])
        return {"outcome": "refused", "problems": problems, "corrected": meta.get("corrected")}
    assert len(calls) == 1
    repairs = [[each["code"], each["path"]] for each in meta.get("repairs", [])]
    made = {"outcome": "repaired" if repairs else "passed", "received": calls[0], "repairs": repairs}
    return made


def dump(value: Any) -> Any:
    """What a tool received, as JSON; a value that JSON does not have, under its type's name."""
    if isinstance(value, BaseModel):
        given = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
        return dump({**given, **(value.model_extra or {})})
    if is_dataclass(value):
        return {each.name: dump(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: dump(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if type(value) in (list, str, int, float, bool, type(None)):
        return list(map(dump, value)) if isinstance(value, list) else value
    if isinstance(value, tuple | set | frozenset):
        return {type(value).__name__: list(map(dump, sorted(value) if isinstance(value, set | frozenset) else value))}
    if isinstance(value, SecretStr):
        return {"SecretStr": value.get_secret_value()}
    return {type(value).__name__: value.isoformat() if isinstance(value, date | time) else str(value)}


def exactly(found: Any) -> str:
    """JSON text tells 1 from 1.0 and from true; Python's == does not."""
    return json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)


def paths(problems: list[list[str]], prefix: str) -> list[list[str]]:
    return [[code, prefix + path[1:]] for code, path in problems]


# --- no silent loss -------------------------------------------------------------------------------------------


def replayed(sent: Any, repairs: list[list[str]]) -> Any:
    """What was meant, if the recorded repairs are the whole story: each is done again, from its record alone."""
    root = {"$": sent}
    for code, path in repairs:
        holder, key = root, "$"
        for step in re.findall(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[(\"(?:[^\"\\]|\\.)*\")\]", path):
            holder = holder[key]
            key = step[0] or (int(step[1]) if step[1] else json.loads(step[2]))
        if code in ("json-text", "scalar-text"):
            while isinstance(holder[key], str):
                holder[key] = json.loads(holder[key])
        else:
            del holder[key]
    return root["$"]


def leaves(value: Any) -> Iterator[Any]:
    """Every value that is not a container; an empty container counts as one."""
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if not below:
        yield value
    else:
        for each in below:
            yield from leaves(each)


def lost(sent: Any, received: Any) -> list[Any]:
    """The values sent that the tool did not get, each counted once."""
    left = list(leaves(received))
    missing: list[Any] = []
    for each in leaves(sent):
        found = next((index for index, one in enumerate(left) if same(each, one)), None)
        if found is None:
            missing.append(each)
        else:
            del left[found]
    return missing


def same(sent: Any, received: Any) -> bool:
    """The same JSON value, or the text of the same Python one (a date, a Decimal)."""
    if isinstance(sent, bool) or isinstance(received, bool):
        return sent is received
    if isinstance(sent, Decimal | int) and isinstance(received, int | float):
        return sent == received or float(sent) == received
    if isinstance(sent, Decimal | int):
        return str(sent) == received or (is_number(received) and sent == Decimal(received))
    return sent == received


def is_number(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(E[-+]?[0-9]+)?", text) is not None


def assert_nothing_is_lost(body: bytes, found: dict[str, Any]) -> None:
    if found["outcome"] == "refused":
        return  # and the tool was not called: see `outcome`
    sent = json.loads(body or b"{}", parse_float=Decimal) or {}
    assert lost(replayed(sent, found["repairs"]), found["received"]) == []


# --- every clause, at every depth, from every source ------------------------------------------------------------

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
    """A function with the model's fields as parameters, as an author would write them."""
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
    def tool(request: Annotated[model, Unpack()]) -> None: ...  # pyright: ignore

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
    """Where a source cannot tell "not sent" from the default, the tool sees the default."""
    if source == "dataclass" and isinstance(item.get("place"), dict):
        item = {**item, "place": {"zip": "", **item["place"]}}
    return {**DEFAULTS, **item} if source == "dataclass" or (source, depth) == ("signature", "top") else item


def received(source: str, depth: str, item: dict[str, Any]) -> Any:
    """What the tool gets when `item` stands at this depth."""
    first, whole = ({"name": "first"}, item)
    first, whole = (with_defaults(source, depth, each) for each in (first, whole))
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
    """The cases of `everywhere.json`, those with `each` once for every name."""
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
        corrected = None if fixed is None else json.loads(template % json.dumps(fixed))
        return {**case_only(case), "problems": sorted(paths(case["problems"], prefix)), "corrected": corrected}
    got = received(source, depth, case.get("received", case.get("fragment")))
    return {**case_only(case), "received": got, "repairs": paths(case.get("repairs", []), prefix)}


def case_only(case: dict[str, Any]) -> dict[str, Any]:
    return {"outcome": case["outcome"]}


def plain_dates(found: Any) -> Any:
    """A JSON Schema's date is text; so that all sources compare, the others' is written the same here."""
    if isinstance(found, dict):
        return found["date"] if list(found) == ["date"] else {key: plain_dates(each) for key, each in found.items()}
    return [plain_dates(each) for each in found] if isinstance(found, list) else found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", list(everywhere()), ids=lambda case: case["id"])
def test_a_fragment_has_the_same_outcome_at_every_depth_of_every_source(case: dict[str, Any], source: str):
    depths = [each for each in case.get("at", DEPTHS) if each not in case.get("not_at", ())]
    fragment = case["text"] if "text" in case else json.dumps(case["fragment"])
    found: dict[str, Any] = {}
    for depth in depths:
        body = (DEPTHS[depth][0] % fragment).encode()
        found[depth] = plain_dates(outcome(SOURCES[source][depth], body))
        assert_nothing_is_lost(body, found[depth])
    assert exactly(found) == exactly({depth: expected(case, source, depth) for depth in depths})
