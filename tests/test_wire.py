"""The shape corpus: bytes in, outcome out. `wire/everywhere.json` holds fragments that stand at every depth of every
source; the other files hold one contract's cases each. What is never true of any of them: a value lost in silence.

A case of `everywhere.json` gives the object `fragment` (or its raw `text`) and its outcome as if it stood at `$`.
`received` is what the tool gets, if that is not what was sent; `at` and `not_at` limit the depths; `absolute` paths
are the same at every depth; `each` writes the case once for every name.
"""

import base64
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Literal, NotRequired, Union
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
from typing_extensions import TypedDict

from toolbooth import (
    Contract,
    JsonText,
    Limits,
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
    return {"outcome": "repaired" if repairs else "passed", "received": calls[0], "repairs": repairs}


def dump(value: Any) -> Any:
    """What a tool received, as JSON; a value that JSON does not have, under its type's name."""
    if isinstance(value, BaseModel):
        given = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
        return dump({**given, **(value.model_extra or {})})
    if is_dataclass(value):
        return {each.name: dump(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): dump(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if type(value) in (list, str, int, float, bool, type(None)):
        return list(map(dump, value)) if isinstance(value, list) else value
    if isinstance(value, tuple | set | frozenset | deque):
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
                holder[key] = json.loads(holder[key], parse_float=Decimal)
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
    """Where a source cannot tell "not sent" from the default, the tool sees the default."""
    if source == "dataclass" and isinstance(item.get("place"), dict):
        item = {**item, "place": {"zip": "", **item["place"]}}
    return {**DEFAULTS, **item} if source == "dataclass" or (source, depth) == ("signature", "top") else item


def received(source: str, depth: str, item: dict[str, Any]) -> Any:
    """What the tool gets when `item` stands at this depth."""
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
        problems = sorted(paths(case["problems"], prefix))
        return {"outcome": "refused", "problems": problems, "corrected": corrected}
    got = received(source, depth, case.get("received", case.get("fragment")))
    return {"outcome": case["outcome"], "received": got, "repairs": paths(case.get("repairs", []), prefix)}


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


# --- one contract's cases each ----------------------------------------------------------------------------------


class Colour(Enum):
    red = "red"
    blue = "blue"


class Level(IntEnum):
    low = 1
    high = 2


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    count: int
    ratio: float = 0.0
    flag: bool = False
    day: date | None = None
    tags: list[str] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    count: int = 0


class OpenIntegers(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]

    name: str


class Ignoring(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    age: int = 0


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    age: int = 0


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_id: int = Field(alias="userId")
    email: str = Field(default="", validation_alias=AliasChoices("email", "mail", "e_mail"))


class ByAliasOnly(BaseModel):
    user_id: int = Field(alias="userId")


class ByPath(BaseModel):
    first: str = Field(validation_alias=AliasPath("names", 0))
    city: str = Field(default="", validation_alias=AliasPath("address", "city"))


class ByLast(BaseModel):
    last: int = Field(validation_alias=AliasPath("numbers", -1))


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Lengthy(BaseModel):
    name: Annotated[str, AfterValidator(lambda text: text)]
    days: Annotated[list[str], BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value)]
    count: Annotated[int, WrapValidator(lambda value, handler: handler(value))] = 0
    anything: Annotated[Any, PlainValidator(lambda value: value)] = None


class Rewritten(BaseModel):
    name: str
    age: int = 0

    @model_validator(mode="before")
    @classmethod
    def unwrap(cls, value: Any) -> Any:
        """An author who takes a wrapper on purpose."""
        return value["data"] if isinstance(value, dict) and list(value) == ["data"] else value


class Credentials(BaseModel):
    user: str
    password: SecretStr


class Node(BaseModel):
    label: str
    children: list["Node"] = []


class Address(BaseModel):
    street: str
    city: str = ""


class Customer(BaseModel):
    name: str
    address: Annotated[Address, Unpack(prefix="address_")]


def contact(email: str, first_name: str, last_name: str = ""): ...


def takes_data(data: dict[str, int], note: str = ""): ...


def takes_data_model(data: Ignoring): ...


def clock(day: date, at: datetime | None = None, hour: time | None = None, span: timedelta | None = None): ...


def exact(price: Decimal, ratio: float = 0.0, count: int = 0): ...


def ids(id: UUID, other: UUID | None = None): ...


def enums(colour: Colour, level: Level = Level.low, either: Literal["a", 1] = "a"): ...


def anything(value: Any, other: Any = None): ...


def unions(number: int | float = 0, mixed: Union[int, list[int]] = 0, pet: Cat | Dog | None = None): ...


def numbered(names: dict[int, str], prices: dict[UUID, int] = {}): ...  # noqa: B006


def many(items: Iterable[Ignoring]): ...


def parsed_item(payload: Json[Other], ratio: Json[float] = 0.0): ...


def by_key_or_listed(items: dict[str, Ignoring] | list[Ignoring] | None = None): ...


def queued(numbers: deque[int] = deque()): ...  # noqa: B006


def one_or_numbers(value: Dog | list[int]): ...


def tagged(pet: Annotated[Cat | Dog, Field(discriminator="kind")]): ...


def day_or_count(value: int | date): ...


def pair(point: tuple[int, int], rest: tuple[str, ...] = (), unique: set[int] = set()): ...  # noqa: B006


def bulk(records: list[Ignoring]): ...


def no_arguments(): ...


def verbatim(
    count: Annotated[int, Verbatim()] = 0,
    name: Annotated[str, Verbatim()] = "",
    tags: Annotated[list[str] | None, Verbatim()] = None,
): ...


def headers(url: str, headers: Annotated[dict[str, str] | None, JsonText(example={"User-Agent": "MyBot"})] = None): ...


def parsed(payload: Annotated[Json[dict[str, int]], Field(description='e.g. {"a": 1}')]): ...


def call_id(tool_call_id: str, meta: str = ""): ...


def declares_client_key(toolCallId: str = ""): ...


def lines(line_1: str = "", line_2: str = "", city: str = ""): ...


def order(customer: Annotated[Customer, Unpack()], quantity: int = 1): ...


def shipping(to: Annotated[Address, Unpack(prefix="to_")], back: Annotated[Address | None, Unpack(prefix="back_")]): ...


def tree(root: Node): ...


def takes_open(item: Open): ...


def authored(item: Rewritten, note: str = ""): ...


def nullable_required(count: int | None, tags: list[str] | None): ...


def dates_optional(since: date | None = None, id: UUID | None = None, colour: Colour = Colour.red): ...


FOREIGN_KEY = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "author": {
            "oneOf": [
                {"type": "string"},
                {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            ]
        },
    },
    "required": ["title"],
}
OPEN_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "additionalProperties": True,
}
OPEN_INTEGERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "additionalProperties": {"type": "integer"},
}
COMBINED = {
    "type": "object",
    "allOf": [{"properties": {"name": {"type": "string"}}}, {"properties": {"age": {"type": "integer"}}}],
    "required": ["name"],
}
REFERRED = {
    "type": "object",
    "properties": {"item": {"$ref": "#/$defs/item"}},
    "$defs": {"item": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/item"}}}},
}

FUNCTIONS = [
    contact, takes_data, takes_data_model, clock, exact, ids, enums, anything, unions, one_or_numbers, tagged,
    numbered, many, parsed_item, by_key_or_listed, queued, day_or_count, pair, bulk,
    no_arguments, verbatim, headers, parsed, call_id, declares_client_key, lines, order, shipping, tree, takes_open,
    authored, nullable_required, dates_optional,
]  # fmt: skip
CONTRACTS: dict[str, Contract] = {
    **{each.__name__: compile_function(each) for each in FUNCTIONS},
    **{
        each.__name__: compile_model(each)
        for each in (
            *(
                Strict,
                Open,
                OpenIntegers,
                Ignoring,
                Forbidding,
                Aliased,
                ByAliasOnly,
                ByPath,
                ByLast,
                Lengthy,
                Rewritten,
            ),
            Credentials,
        )
    },
    "foreign_key": compile_json_schema(FOREIGN_KEY),
    "open_schema": compile_json_schema(OPEN_SCHEMA),
    "open_integers": compile_json_schema(OPEN_INTEGERS),
    "combined": compile_json_schema(COMBINED),
    "referred": compile_json_schema(REFERRED),
    "nullable_schema": compile_json_schema(holding("n", {"anyOf": [{"type": "integer"}, {"type": "null"}]})),
    "bare_schema": compile_json_schema({"type": "object"}),
}


def body_of(case: dict[str, Any]) -> bytes:
    if "base64" in case:
        return base64.b64decode(case["base64"])
    return case["text"].encode() if "text" in case else json.dumps(case["arguments"]).encode()


def single_cases() -> list[dict[str, Any]]:
    return [
        {"file": path.stem, **case}
        for path in sorted(WIRE.glob("*.json"))
        if path.stem != "everywhere"
        for case in json.loads(path.read_bytes())
    ]


@pytest.mark.parametrize("case", single_cases(), ids=lambda case: f"{case['file']}/{case['contract']}/{case['id']}")
def test_a_call_has_exactly_this_outcome(case: dict[str, Any]):
    body = body_of(case)
    found = outcome(CONTRACTS[case["contract"]], body)
    if case["outcome"] == "refused":
        wanted = {"problems": sorted(case["problems"]), "corrected": case["corrected"]}
    else:
        wanted = {"received": case.get("received", case.get("arguments")), "repairs": case.get("repairs", [])}
    assert exactly(found) == exactly({"outcome": case["outcome"], **wanted})
    if not case.get("rewritten_by_author"):
        assert_nothing_is_lost(body, found)


def test_every_case_names_its_evidence_once():
    cases = [*json.loads((WIRE / "everywhere.json").read_bytes()), *single_cases()]
    assert [case["id"] for case in cases if not case.get("evidence")] == []
    named = [(case.get("file"), case.get("contract"), case["id"]) for case in cases]
    assert len(named) == len(set(named))


# --- hostile input ------------------------------------------------------------------------------------------------


class Chain(BaseModel):
    value: int = 0
    items: "list[Chain] | dict[str, int] | None" = None
    below: "Chain | None" = None


def chained(chain: Chain): ...


def below(depth: int, inner: str) -> str:
    return '{"below": ' * depth + inner + "}" * depth


def in_chain(text: str) -> bytes:
    return b'{"chain": ' + text.encode() + b"}"


def text_in_text(times: int) -> str:
    """JSON text, 60 levels down, of JSON text, 60 levels down …"""
    made = '{"value": "5"}'
    for _ in range(times):
        made = below(60, json.dumps(made))
    return made


HOSTILE: dict[str, tuple[str, list[list[str]]]] = {
    "100,000 arrays deep": ("[" * 100_000, [["too-deep", "$"]]),
    "100,000 objects deep": (below(100_000, "1"), [["too-deep", "$"]]),
    "100,000 deep in a value": ('{"chain": {"value": ' + "[" * 100_000, [["too-deep", "$"]]),
    "100,000 deep in JSON text": (json.dumps({"chain": "[" * 100_000}), [["too-deep", "$.chain"]]),
    "a string of 10 MB": (json.dumps({"chain": "x" * 10_000_000}), [["too-large", "$"]]),
    "an integer of 5,000 digits": ('{"chain": {"value": ' + "9" * 5000 + "}}", [["lossy-number", "$"]]),
    "an integer of 5,000 digits as text": (
        '{"chain": {"value": "' + "9" * 5000 + '"}}',
        [["lossy-number", "$.chain.value"]],
    ),
    "an integer of 5,000 digits by exponent": ('{"chain": {"value": 1e5000}}', [["lossy-number", "$.chain.value"]]),
    "an exponent of ten digits": ('{"chain": {"value": 1e9999999999}}', [["lossy-number", "$.chain.value"]]),
    "wrappers 190 deep": (
        '{"w": ' * 190 + '{"zzz": 1}' + "}" * 190,
        [["missing", "$.chain"], ["nested-wrapper", "$.w"]],
    ),
}


@pytest.mark.parametrize(("text", "problems"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_input_gets_a_clear_refusal(text: str, problems: list[list[str]]):
    found = outcome(compile_function(chained), text.encode())
    assert found == {"outcome": "refused", "problems": problems, "corrected": None}


def test_looking_for_a_correction_costs_no_more_per_level_than_the_level_before():
    body = in_chain('{"belo": ' * 90 + '{"zzz": 1}' + "}" * 90)
    contract, started = compile_function(chained), process_time()
    found = outcome(contract, body)
    assert found == {"outcome": "refused", "problems": [["nested-wrapper", "$.chain.belo"]], "corrected": None}
    assert process_time() - started < 1


@pytest.mark.parametrize("times", [1, 3, 5, 8])
def test_json_text_inside_json_text_never_exhausts_the_stack(times: int):
    found = outcome(compile_function(chained), in_chain(text_in_text(times)))
    assert found["outcome"] in ("repaired", "refused")


@pytest.mark.parametrize("leaf", ['{"value": "5"}', '{"zzz": 1}', '{"items": [{"value": 1.0}]}', '{"VALUE": 5}'])
def test_what_the_reader_lets_through_is_never_too_deep_for_what_follows(leaf: str):
    found = outcome(compile_function(chained), in_chain(below(194, leaf)))
    assert found["outcome"] in ("passed", "repaired", "refused")


def test_very_many_keys_are_refused_with_a_count():
    contract = compile_function(contact)
    body = json.dumps({f"k{index}": 1 for index in range(200_000)}).encode()
    result = handle_bytes(contract, body, lambda **_: None)
    assert result["isError"]
    assert result["content"][0]["text"].startswith("Refused: 200002 problems")
    assert len(json.dumps(result)) < 10_000


@pytest.mark.parametrize(
    ("limits", "text", "code"),
    [
        (Limits(max_bytes=20), '{"name": "Ann Ann Ann"}', "too-large"),
        (Limits(max_depth=3), '{"name": [[[1]]]}', "too-deep"),
        (Limits(max_digits=5), '{"age": 123456}', "lossy-number"),
    ],
    ids=["bytes", "depth", "digits"],
)
def test_limits_are_settings(limits: Limits, text: str, code: str):
    found = outcome(compile_model(Ignoring, limits=limits), text.encode())
    assert found == {"outcome": "refused", "problems": [[code, "$"]], "corrected": None}


def test_digits_up_to_the_limit_pass():
    body = b'{"name": "Ann", "age": %s}' % (b"9" * 4300)
    calls: list[Any] = []
    handle_bytes(compile_model(Ignoring), body, calls.append)
    assert calls == [Ignoring(name="Ann", age=10**4300 - 1)]


# --- secrets -----------------------------------------------------------------------------------------------------


class Login(BaseModel):
    user: str
    password: SecretStr = Field(min_length=12)


class CheckedLogin(BaseModel):
    user: str
    password: Annotated[SecretStr, BeforeValidator(lambda value: value), Field(min_length=12)]


class RewrittenLogin(BaseModel):
    user: str
    password: SecretStr = Field(min_length=12)

    @model_validator(mode="before")
    @classmethod
    def as_sent(cls, value: Any) -> Any:
        return value


class Marked(BaseModel):
    password: str = Field(min_length=12, json_schema_extra={"format": "password"})


def login(login: Login, n: int = 0): ...


def checked_login(login: CheckedLogin, n: int = 0): ...


def rewritten_login(login: RewrittenLogin, n: int = 0): ...


def unpacked_login(login: Annotated[Login, Unpack()], n: int = 0): ...


def secrets_by_key(tokens: dict[str, SecretStr], n: int = 0): ...


def secret_list(tokens: list[SecretStr], n: int = 0): ...


def marked_parameter(
    password: Annotated[str, Field(min_length=12, json_schema_extra={"format": "password"})], n: int = 0
): ...


def marked_model(login: Marked, n: int = 0): ...


PASSWORD = {"type": "string", "format": "password", "minLength": 12}
LOGIN_SCHEMA = holding("login", {"type": "object", "properties": {"user": {"type": "string"}, "password": PASSWORD}})
TOKENS_SCHEMA = {
    "type": "object",
    "properties": {"tokens": {"type": "object", "additionalProperties": PASSWORD}, "n": {"type": "integer"}},
}
SECRET_CALLS: dict[str, tuple[Callable[[], Contract], list[str]]] = {
    **{
        tool.__name__: (
            lambda tool=tool: compile_function(tool),
            [
                '{"login": {"user": "a", "password": "s3cr3t"}}',
                '{"login": {"user": "a", "password": "s3cr3t and more"}, "N": 1}',
                '{"login": {"user": 5, "password": "s3cr3t and more"}}',
                '{"login": {"user": "a", "pasword": "s3cr3t and more"}}',
                '{"login": {"user": "a", "password": ["s3cr3t"]}}',
                '{"login": {"user": "a", "password": {"value": "s3cr3t"}}}',
                '{"data": {"login": {"user": "a", "password": "s3cr3t and more"}}}',
                '{"login": "{\\"user\\": \\"a\\", \\"password\\": \\"s3cr3t and more\\""}',
                '{"login": "[\\"s3cr3t\\"]"}',
                '{"login": "s3cr3t"}',
                '{"login.password": "s3cr3t and more", "login.user": "a"}',
                '{"user": "a", "password": "s3cr3t and more"}',
            ],
        )
        for tool in (login, checked_login, rewritten_login, marked_model)
    },
    "unpacked_login": (
        lambda: compile_function(unpacked_login),
        ['{"user": "a", "password": "s3cr3t"}', '{"data": {"user": "a", "password": "s3cr3t and more"}}'],
    ),
    "secrets_by_key": (
        lambda: compile_function(secrets_by_key),
        ['{"tokens": {"a": "s3cr3t"}, "N": 1}', '{"tokens": "s3cr3t"}', '{"data": {"tokens": {"a": "s3cr3t"}}}'],
    ),
    "secret_list": (
        lambda: compile_function(secret_list),
        ['{"tokens": ["s3cr3t"], "N": 1}', '{"tokens": "s3cr3t"}', '{"tokens": "[\\"s3cr3t\\"", "n": 1}'],
    ),
    "marked_parameter": (
        lambda: compile_function(marked_parameter),
        ['{"password": "s3cr3t"}', '{"password": ["s3cr3t"]}', '{"password": "s3cr3t and more", "N": 1}'],
    ),
    "login_schema": (
        lambda: compile_json_schema(LOGIN_SCHEMA),
        ['{"login": {"password": "s3cr3t"}}', '{"login": "s3cr3t"}', '{"login": {"Password": "s3cr3t and more"}}'],
    ),
    "tokens_schema": (
        lambda: compile_json_schema(TOKENS_SCHEMA),
        ['{"tokens": {"a": "s3cr3t"}}', '{"tokens": {"a": "s3cr3t and more"}, "N": 1}'],
    ),
}


@pytest.mark.parametrize("name", SECRET_CALLS)
def test_a_secret_is_nowhere_in_a_refusal(name: str):
    compiled, texts = SECRET_CALLS[name]
    results = {text: json.dumps(handle_bytes(compiled(), text.encode(), lambda *_, **__: None)) for text in texts}
    assert all('"isError": true' in result for result in results.values())
    assert {text: result for text, result in results.items() if "s3cr3t" in result} == {}
