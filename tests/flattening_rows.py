"""The 40 rows of `evidence/flattening.md` §1.4 as data: a tool, the calls made to it, and what comes of each.

`test_flattening.py` sends them to the engine, `test_decorator.py` to plain hosts. Every tool returns the text of what
it got. A call marked `by_host` brings a key that no flat signature can name: a plain host decides it before our code
is reached (`test_decorator.py` lists what each host does).
"""

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, Literal, NotRequired, Optional, TypeVar

import annotated_types
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

from toolbooth import Unpack

Tool = Callable[..., Any]
Json_ = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """Arguments as sent, and the whole MCP tool result."""

    sent: str
    result: Json_
    by_host: bool = False

    @property
    def text(self) -> str:
        return self.result["content"][0]["text"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One case: `make` builds the tool afresh, so that nothing counts over from another test."""

    number: int
    case: str
    make: Callable[[], Tool]
    calls: tuple[Call, ...]

    @property
    def id(self) -> str:
        return f"{self.number:02}-{self.case.replace(' ', '_')}"


ROWS: list[Row] = []


def row(number: int, case: str, *calls: Call) -> Callable[[Callable[[], Tool]], Callable[[], Tool]]:
    def add(make: Callable[[], Tool]) -> Callable[[], Tool]:
        ROWS.append(Row(number=number, case=case, make=make, calls=calls))
        return make

    return add


def gets(sent: str, text: str, *repairs: str) -> Call:
    """The tool is called; each repair is written `code path`."""
    result: Json_ = {"content": [{"type": "text", "text": text}], "isError": False}
    if repairs:
        made = [dict(zip(("code", "path"), repair.split(" "), strict=True)) for repair in repairs]
        result["_meta"] = {"toolbooth": {"repairs": made}}
    return Call(sent=sent, result=result)


def refused(
    sent: str,
    *problems: tuple[str, str, str],
    declared: Iterable[str] = (),
    within: str = "",
    edits: Iterable[str] = (),
    instead: Json_ | None = None,
) -> Call:
    """The tool is not called; each problem is its code, its path and what the agent reads."""
    head = f"Refused: {len(problems)} problem{'s' * (len(problems) > 1)} in the arguments of 'tool'. Nothing was done."
    lines = [head, *(f"- {path}: {message}" for _, path, message in problems)]
    where = f" of {within}" if within else ""
    lines += [f"Declared fields{where}: {', '.join(map(json.dumps, declared))}."] if declared else []
    lines += [f"Send instead: {json.dumps(instead, separators=(',', ':'))}"] if instead is not None else []
    lines += ["To correct it: " + "; ".join(edits) + "."] if edits and instead is None else []
    data: Json_ = {
        "code": -32602,
        "problems": [dict(zip(("code", "path", "message"), problem, strict=True)) for problem in problems],
    }
    data |= {"edits": list(edits)} if edits else {}
    data |= {"corrected": instead} if instead is not None else {}
    content = [{"type": "text", "text": "\n".join(lines)}]
    return Call(sent=sent, result={"content": content, "isError": True, "_meta": {"toolbooth": data}})


def by_host(call: Call) -> Call:
    """The same call, decided by a plain host before the function is reached."""
    return replace(call, by_host=True)


def missing(name: str) -> tuple[str, str, str]:
    return ("missing", f"$.{name}", "is required, but was not sent")


def shown(value: Any) -> str:
    """What a model holds, by Python type, and which of it was sent."""
    return f"{value!r} sent={sorted(value.model_fields_set)}"


# --- 1 to 3: what already worked -----------------------------------------------------------------------------


class Order(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]+$", title="Stock unit", examples=["ABC"])]
    count: Annotated[int, Field(ge=1, le=9, description="How many")] = 1
    size: Annotated[Literal["s", "m"], Field(deprecated=False, json_schema_extra={"x-unit": "eu"})] = "m"


@row(
    1,
    "constraints and metadata",
    gets('{"sku": "ABC"}', "Order(sku='ABC', count=1, size='m') sent=['sku']"),
    gets(
        '{"sku": "ABC", "count": 9, "size": "s"}', "Order(sku='ABC', count=9, size='s') sent=['count', 'size', 'sku']"
    ),
    gets('{"sku": "ABC", "count": 2.0}', "Order(sku='ABC', count=2, size='m') sent=['count', 'sku']"),
    refused(
        '{"sku": "abc", "count": 10, "size": "xl"}',
        ("invalid", "$.sku", "String should match pattern '^[A-Z]+$'; got \"abc\""),
        ("invalid", "$.count", "must be less than or equal to 9; got 10"),
        ("invalid", "$.size", "must be 's' or 'm'; got \"xl\""),
    ),
)
def constraints() -> Tool:
    def tool(order: Annotated[Order, Unpack()]) -> str:
        return shown(order)

    return tool


@row(
    2, "beside plain parameters", gets('{"note": "n", "sku": "A", "times": 2}', "n 2 Order(sku='A', count=1, size='m')")
)
def beside_plain() -> Tool:
    def tool(note: str, order: Annotated[Order, Unpack()], *, times: int = 1) -> str:
        return f"{note} {times} {order!r}"

    return tool


@row(3, "keyword-only", gets('{"sku": "A"}', "Order(sku='A', count=1, size='m')"))
def keyword_only() -> Tool:
    def tool(*, order: Annotated[Order, Unpack()]) -> str:
        return repr(order)

    return tool


class Express(Order):
    by: date


@row(
    3,
    "inheritance",
    gets('{"sku": "A", "by": "2026-01-02"}', "Express(sku='A', count=1, size='m', by=datetime.date(2026, 1, 2))"),
)
def inheritance() -> Tool:
    def tool(order: Annotated[Express, Unpack()]) -> str:
        return repr(order)

    return tool


class Tree(BaseModel):
    value: int
    children: "list[Tree]" = []


@row(
    3,
    "recursive model",
    gets(
        '{"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}',
        "Tree(value=1, children=[Tree(value=2, children=[Tree(value=3, children=[])])])",
    ),
    gets(
        '{"value": 1, "children": "[{\\"value\\": \\"2\\"}]"}',
        "Tree(value=1, children=[Tree(value=2, children=[])])",
        "json-text $.children",
        "scalar-text $.children[0].value",
    ),
)
def recursive() -> Tool:
    def tool(tree: Annotated[Tree, Unpack()]) -> str:
        return repr(tree)

    return tool


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


@row(
    3,
    "discriminated union",
    gets('{"pet": {"kind": "cat", "lives": 9}}', "Owner(pet=Cat(kind='cat', lives=9))"),
    gets(
        '{"pet": "{\\"kind\\": \\"dog\\", \\"tricks\\": [\\"sit\\"]}"}',
        "Owner(pet=Dog(kind='dog', tricks=['sit']))",
        "json-text $.pet",
    ),
    refused('{"pet": {"kind": "dog"}}', ("missing", "$.pet.tricks", "is required, but was not sent")),
)
def discriminated() -> Tool:
    def tool(owner: Annotated[Owner, Unpack()]) -> str:
        return repr(owner)

    return tool


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    first: T


@row(
    3,
    "generic model",
    gets('{"items": [1, 2], "first": 1}', "Page[int](items=[1, 2], first=1)"),
    refused('{"items": ["x"], "first": 1}', ("wrong-type", "$.items[0]", 'must be an integer, got text "x"')),
)
def generic() -> Tool:
    def tool(page: Annotated[Page[int], Unpack()]) -> str:
        return repr(page)

    return tool


@row(3, "static method", gets('{"sku": "A"}', "Order(sku='A', count=1, size='m')"))
def static_method() -> Tool:
    class Shop:
        @staticmethod
        def tool(order: Annotated[Order, Unpack()]) -> str:
            return repr(order)

    return Shop.tool


@row(3, "partial", gets('{"sku": "A"}', "Order(sku='A', count=1, size='m') 7"))
def partial() -> Tool:
    def tool(order: Annotated[Order, Unpack()], *, times: int) -> str:
        return f"{order!r} {times}"

    made = functools.partial(tool, times=7)
    # As a decorator library would; FastMCP and the SDK both want a name.
    made.__name__ = "tool"  # type: ignore[attr-defined]
    return made


# --- 4 to 8: aliases ------------------------------------------------------------------------------------------


class Aliased(BaseModel):
    item_id: Annotated[int, Field(alias="itemId")]


@row(
    4,
    "alias, required",
    gets('{"itemId": 5}', "Aliased(item_id=5) sent=['item_id']"),
    gets('{"itemId": "5"}', "Aliased(item_id=5) sent=['item_id']", "scalar-text $.itemId"),
    refused("{}", missing("itemId"), declared=["itemId"]),
    by_host(
        refused(
            '{"item_id": 5}',
            ("unknown-key", "$.item_id", 'there is no field "item_id"; did you mean "itemId"?'),
            declared=["itemId"],
            edits=['rename $.item_id to "itemId"'],
            instead={"itemId": 5},
        )
    ),
)
def alias_required() -> Tool:
    def tool(item: Annotated[Aliased, Unpack()]) -> str:
        return shown(item)

    return tool


class Classed(BaseModel):
    class_: Annotated[int, Field(alias="class")] = 1


@row(
    5,
    "alias, optional, a Python keyword",
    gets('{"class": 4}', "Classed(class_=4) sent=['class_']"),
    gets("{}", "Classed(class_=1) sent=[]"),
)
def alias_optional() -> Tool:
    def tool(item: Annotated[Classed, Unpack()]) -> str:
        return shown(item)

    return tool


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    item_id: Annotated[int, Field(alias="itemId")]


_CONFLICT = "name the same field; send one of them"


@row(
    6,
    "alias and populate_by_name",
    gets('{"itemId": 5}', "ByName(item_id=5) sent=['item_id']"),
    gets('{"item_id": 5}', "ByName(item_id=5) sent=['item_id']"),
    by_host(
        refused('{"itemId": 5, "item_id": 6}', ("conflicting-keys", "$.item_id", f'"item_id" and "itemId" {_CONFLICT}'))
    ),
)
def populate_by_name() -> Tool:
    def tool(item: Annotated[ByName, Unpack()]) -> str:
        return shown(item)

    return tool


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    item_id: int
    unit_price: Decimal = Decimal("1.50")


@row(
    7,
    "alias_generator",
    gets('{"itemId": 5}', "Camel(item_id=5, unit_price=Decimal('1.50')) sent=['item_id']"),
    gets(
        '{"itemId": 5, "unitPrice": "0.10"}',
        "Camel(item_id=5, unit_price=Decimal('0.10')) sent=['item_id', 'unit_price']",
    ),
    refused('{"unitPrice": 2}', missing("itemId"), declared=["itemId", "unitPrice"]),
)
def alias_generator() -> Tool:
    def tool(item: Annotated[Camel, Unpack()]) -> str:
        return shown(item)

    return tool


class Chosen(BaseModel):
    item_id: Annotated[int, Field(validation_alias=AliasChoices("itemId", "id"))]
    first: Annotated[str, Field(validation_alias=AliasPath("names", 0))] = "-"


@row(
    8,
    "AliasChoices and AliasPath",
    gets('{"itemId": 5}', "Chosen(item_id=5, first='-') sent=['item_id']"),
    gets('{"id": 5, "names": ["Ann"]}', "Chosen(item_id=5, first='Ann') sent=['first', 'item_id']"),
    by_host(refused('{"itemId": 5, "id": 6}', ("conflicting-keys", "$.id", f'"id" and "itemId" {_CONFLICT}'))),
    refused(
        '{"itemId": 5, "names": ["Ann", "Bob"]}',
        ("unknown-key", "$.names[1]", "only the first 1 items are read"),
    ),
)
def alias_choices() -> Tool:
    def tool(item: Annotated[Chosen, Unpack()]) -> str:
        return shown(item)

    return tool


class Validated(BaseModel):
    item_id: Annotated[int, Field(validation_alias="itemId", serialization_alias="out")]


@row(8, "validation_alias", gets('{"itemId": 5}', "Validated(item_id=5) sent=['item_id']"))
def validation_alias() -> Tool:
    def tool(item: Annotated[Validated, Unpack()]) -> str:
        return shown(item)

    return tool


# --- 9 to 12: defaults and what was sent ----------------------------------------------------------------------


@row(
    9,
    "default_factory",
    gets("{}", "count=1 sent=[]"),
    gets("{}", "count=2 sent=[]"),
    gets('{"count": 7}', "count=7 sent=['count']"),
)
def default_factory() -> Tool:
    made: list[int] = []

    def next_count() -> int:
        made.append(len(made) + 1)
        return made[-1]

    class Counted(BaseModel):
        count: int = Field(default_factory=next_count)

    def tool(item: Annotated[Counted, Unpack()]) -> str:
        return f"count={item.count} sent={sorted(item.model_fields_set)}"

    return tool


class Derived(BaseModel):
    base: str
    slug: str = Field(default_factory=lambda data: data["base"].lower() + "!")


@row(
    10,
    "default_factory with validated data",
    gets('{"base": "ABC"}', "Derived(base='ABC', slug='abc!') sent=['base']"),
    refused("{}", missing("base"), declared=["base", "slug"]),
)
def default_factory_with_data() -> Tool:
    def tool(item: Annotated[Derived, Unpack()]) -> str:
        return shown(item)

    return tool


class Patch(BaseModel):
    title: str | None = None
    pages: int | None = 3
    price: int = 1


@row(
    11,
    "null is not absent",
    gets("{}", "Patch(title=None, pages=3, price=1) sent=[]"),
    gets('{"title": null, "pages": null}', "Patch(title=None, pages=None, price=1) sent=['pages', 'title']"),
    gets('{"title": "null"}', "Patch(title='null', pages=3, price=1) sent=['title']"),
    gets('{"title": "{\\"a\\": 1}"}', "Patch(title='{\"a\": 1}', pages=3, price=1) sent=['title']"),
    gets('{"pages": "null"}', "Patch(title=None, pages=None, price=1) sent=['pages']", "json-text $.pages"),
    gets('{"price": null}', "Patch(title=None, pages=3, price=1) sent=[]", "null-optional $.price"),
    gets('{"price": ""}', "Patch(title=None, pages=3, price=1) sent=[]", "empty-optional $.price"),
)
def patch() -> Tool:
    def tool(item: Annotated[Patch, Unpack()]) -> str:
        return shown(item)

    return tool


class Untrue(BaseModel):
    count: int = None  # type: ignore[assignment]


@row(
    12,
    "a default that does not match its type",
    gets("{}", "Untrue(count=None) sent=[]"),
    gets('{"count": 2}', "Untrue(count=2) sent=['count']"),
)
def untrue_default() -> Tool:
    def tool(item: Annotated[Untrue, Unpack()]) -> str:
        return shown(item)

    return tool


# --- 13 to 16: names and nesting ------------------------------------------------------------------------------


class Keyed(BaseModel):
    id: int


class Tagged(BaseModel):
    id: str
    tag: str = "t"


@row(
    13,
    "a shared field, told apart by prefix",
    gets('{"id": 1, "to_id": "x"}', "Keyed(id=1) Tagged(id='x', tag='t')"),
    gets('{"id": 1, "to_id": "x", "to_tag": "y"}', "Keyed(id=1) Tagged(id='x', tag='y')"),
    refused('{"id": 1}', missing("to_id"), declared=["id", "to_id", "to_tag"]),
)
def told_apart() -> Tool:
    def tool(source: Annotated[Keyed, Unpack()], target: Annotated[Tagged, Unpack(prefix="to_")]) -> str:
        return f"{source!r} {target!r}"

    return tool


class Street(BaseModel):
    line: str
    code: Annotated[str, Field(alias="postCode")] = "-"


class Address(BaseModel):
    city: str
    street: Annotated[Street, Unpack(prefix="street_")]


class Parcel(BaseModel):
    weight: int
    address: Annotated[Address, Unpack(prefix="address_")]


@row(
    13,
    "prefixes inside prefixes",
    gets(
        '{"ship_weight": 1, "ship_address_city": "Ede", "ship_address_street_line": "Dam 1"}',
        "Parcel(weight=1, address=Address(city='Ede', street=Street(line='Dam 1', code='-')))",
    ),
    gets(
        '{"ship_weight": 1, "ship_address_city": "Ede", "ship_address_street_line": "a",'
        ' "ship_address_street_postCode": "b"}',
        "Parcel(weight=1, address=Address(city='Ede', street=Street(line='a', code='b')))",
    ),
    refused(
        '{"ship_weight": "x", "ship_address_city": "Ede"}',
        ("wrong-type", "$.ship_weight", 'must be an integer, got text "x"'),
        missing("ship_address_street_line"),
    ),
)
def prefixes() -> Tool:
    def tool(parcel: Annotated[Parcel, Unpack(prefix="ship_")]) -> str:
        return repr(parcel)

    return tool


class Asked(BaseModel):
    request: str
    depth: int = 0


@row(
    14,
    "a field named like the parameter",
    gets('{"request": "x"}', "Asked(request='x', depth=0) sent=['request']"),
    gets('{"request": "{}", "depth": 2}', "Asked(request='{}', depth=2) sent=['depth', 'request']"),
)
def named_alike() -> Tool:
    def tool(request: Annotated[Asked, Unpack()]) -> str:
        return shown(request)

    return tool


class Person(BaseModel):
    name: str
    street: Street
    others: list[Street] = []


@row(
    15,
    "nested model as an object",
    gets(
        '{"name": "Ann", "street": {"line": "a", "postCode": "b"}, "others": [{"line": "c"}]}',
        "Person(name='Ann', street=Street(line='a', code='b'), others=[Street(line='c', code='-')])",
    ),
    refused(
        '{"name": "Ann", "street": {"lines": "a"}}',
        ("unknown-key", "$.street.lines", 'there is no field "lines"; did you mean "line"?'),
        declared=["line", "postCode"],
        within="$.street",
        edits=['rename $.street.lines to "line"'],
        instead={"name": "Ann", "street": {"line": "a"}},
    ),
)
@row(
    16,
    "nested model as JSON text",
    gets(
        '{"name": "Ann", "street": "{\\"line\\": \\"a\\"}"}',
        "Person(name='Ann', street=Street(line='a', code='-'), others=[])",
        "json-text $.street",
    ),
    gets(
        '{"name": "{}", "street": {"line": "[1]"}, "others": ["{\\"line\\": \\"c\\"}"]}',
        "Person(name='{}', street=Street(line='[1]', code='-'), others=[Street(line='c', code='-')])",
        "json-text $.others[0]",
    ),
)
def nested() -> Tool:
    def tool(person: Annotated[Person, Unpack()]) -> str:
        return repr(person)

    return tool


# --- 17 to 20: validators run once ----------------------------------------------------------------------------


@row(
    17,
    "validators run once",
    gets('{"a": 1, "b": 2}', "['before', 'after', 'model']"),
    gets('{"a": 1, "b": "2"}', "['before', 'after', 'model']", "scalar-text $.b"),
    gets('{"a": 1, "b": null}', "['before', 'after', 'model']", "null-optional $.b"),
)
def validators_once() -> Tool:
    runs: list[str] = []

    def note(word: str) -> Callable[[Any], Any]:
        def noted(value: Any) -> Any:
            runs.append(word)
            return value

        return noted

    class Noted(BaseModel):
        a: Annotated[int, BeforeValidator(note("before")), AfterValidator(note("after"))]
        b: int = 0

        @model_validator(mode="after")
        def check(self) -> "Noted":
            runs.append("model")
            return self

    def tool(item: Annotated[Noted, Unpack()]) -> str:
        said = repr(runs)
        runs.clear()
        return said

    return tool


class Money(BaseModel):
    cents: Annotated[int, AfterValidator(lambda euros: euros * 100)]


@row(
    18,
    "an AfterValidator that is not idempotent",
    gets('{"cents": 1}', "Money(cents=100)"),
    gets('{"cents": "1"}', "Money(cents=100)", "scalar-text $.cents"),
)
def after_not_idempotent() -> Tool:
    def tool(money: Annotated[Money, Unpack()]) -> str:
        return repr(money)

    return tool


def _split(text: Any) -> list[str]:
    if not isinstance(text, str):
        raise ValueError("give the names as text, with commas")
    return text.split(",")


class Listed(BaseModel):
    names: Annotated[list[str], BeforeValidator(_split)]


@row(
    19,
    "a BeforeValidator that takes only text",
    gets('{"names": "a,b"}', "Listed(names=['a', 'b'])"),
    gets('{"names": "[1,2]"}', "Listed(names=['[1', '2]'])"),
    refused('{"names": ["a"]}', ("invalid", "$.names", "give the names as text, with commas")),
)
def before_not_idempotent() -> Tool:
    def tool(listed: Annotated[Listed, Unpack()]) -> str:
        return repr(listed)

    return tool


class Jsoned(BaseModel):
    filter: Json[dict[str, int]]
    loose: Json[Any] = "null"  # type: ignore[assignment]


@row(
    20,
    "Json[T]",
    gets('{"filter": "{\\"a\\": 1}"}', "Jsoned(filter={'a': 1}, loose='null')"),
    gets('{"filter": "{\\"a\\": 1}", "loose": "[null]"}', "Jsoned(filter={'a': 1}, loose=[None])"),
    refused('{"filter": {"a": 1}}', ("wrong-type", "$.filter", "must be text, got an object")),
)
def json_field() -> Tool:
    def tool(item: Annotated[Jsoned, Unpack()]) -> str:
        return repr(item)

    return tool


# --- 21 to 26: configuration and model validators -------------------------------------------------------------


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int
    on: date = date(2026, 1, 1)
    flag: bool = False
    tags: list[str] = []


@row(
    21,
    "strict",
    gets('{"n": 5, "on": "2026-02-03"}', "Strict(n=5, on=datetime.date(2026, 2, 3), flag=False, tags=[])"),
    gets(
        '{"n": 5, "tags": "[\\"a\\"]"}',
        "Strict(n=5, on=datetime.date(2026, 1, 1), flag=False, tags=['a'])",
        "json-text $.tags",
    ),
    refused(
        '{"n": "5", "flag": "true"}',
        ("wrong-type", "$.n", 'must be an integer, got text "5"'),
        ("wrong-type", "$.flag", 'must be true or false, got text "true"'),
    ),
)
def strict() -> Tool:
    def tool(item: Annotated[Strict, Unpack()]) -> str:
        return repr(item)

    return tool


class Tidy(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_to_lower=True, str_max_length=5)
    name: str


@row(
    22,
    "text settings of the model",
    gets('{"name": "  ANN  "}', "Tidy(name='ann')"),
    refused('{"name": "Annabel"}', ("invalid", "$.name", 'String should have at most 5 characters; got "Annabel"')),
)
def text_settings() -> Tool:
    def tool(item: Annotated[Tidy, Unpack()]) -> str:
        return repr(item)

    return tool


class Range(BaseModel):
    lo: int = 0
    hi: int = 0

    @model_validator(mode="after")
    def in_order(self) -> "Range":
        if self.lo > self.hi:
            raise ValueError("lo must not be above hi")
        return self


@row(
    23,
    "model validator, after",
    gets('{"lo": 1, "hi": 2}', "Range(lo=1, hi=2)"),
    refused('{"lo": 3, "hi": 2}', ("invalid", "$", "lo must not be above hi")),
)
def model_after() -> Tool:
    def tool(item: Annotated[Range, Unpack()]) -> str:
        return repr(item)

    return tool


class Popped(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def rename(cls, values: Any) -> Any:
        if "fullname" in values:
            values["name"] = values.pop("fullname")
        if values.get("name") == "nobody":
            raise ValueError("nobody is not a name")
        return values


@row(
    24,
    "model validator, before, renames with pop",
    gets('{"name": "Ann"}', "Popped(name='Ann') sent=['name']"),
    by_host(gets('{"fullname": "Ann"}', "Popped(name='Ann') sent=['name']")),
    refused('{"name": "nobody"}', ("invalid", "$", "nobody is not a name")),
    by_host(refused('{"name": "Ann", "nickname": "A"}', ("unknown-key", "$.nickname", 'there is no field "nickname"'))),
)
def model_before_pop() -> Tool:
    def tool(item: Annotated[Popped, Unpack()]) -> str:
        return shown(item)

    return tool


class Read(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def rename(cls, values: Any) -> Any:
        return {**values, "name": values["fullname"]} if "fullname" in values else values


@row(
    24,
    "model validator, before, reads without pop",
    gets('{"name": "Ann"}', "Read(name='Ann') sent=['name']"),
    by_host(gets('{"fullname": "Ann"}', "Read(name='Ann') sent=['name']")),
)
def model_before_read() -> Tool:
    def tool(item: Annotated[Read, Unpack()]) -> str:
        return shown(item)

    return tool


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


@row(
    25,
    "extra allow",
    gets('{"name": "Ann"}', "Open(name='Ann') sent=['name']"),
    by_host(gets('{"name": "Ann", "age": 3}', "Open(name='Ann', age=3) sent=['age', 'name']")),
    by_host(gets('{"name": "Ann", "at": {"x": 3}}', "Open(name='Ann', at={'x': 3}) sent=['at', 'name']")),
    by_host(
        refused(
            '{"data": {"name": "Ann"}}',
            (
                "nested-wrapper",
                "$.data",
                '"data" is not a declared field and holds a nested object: most likely a wrapper as in REST APIs. '
                'Flat: send "name" at the top level, not inside "data"',
            ),
            declared=["name"],
            edits=["move $.data.* to $"],
            instead={"name": "Ann"},
        )
    ),
)
def extra_allow() -> Tool:
    def tool(item: Annotated[Open, Unpack()]) -> str:
        return shown(item)

    return tool


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Ignoring(BaseModel):
    name: str


@row(
    26,
    "extra forbid",
    gets('{"name": "Ann"}', "Closed(name='Ann')"),
    by_host(
        refused('{"name": "Ann", "age": 3}', ("unknown-key", "$.age", 'there is no field "age"'), declared=["name"])
    ),
)
def extra_forbid() -> Tool:
    def tool(item: Annotated[Closed, Unpack()]) -> str:
        return repr(item)

    return tool


@row(
    26,
    "extra ignore is closed",
    gets('{"name": "Ann"}', "Ignoring(name='Ann')"),
    by_host(
        refused('{"name": "Ann", "age": 3}', ("unknown-key", "$.age", 'there is no field "age"'), declared=["name"])
    ),
)
def extra_ignore() -> Tool:
    def tool(item: Annotated[Ignoring, Unpack()]) -> str:
        return repr(item)

    return tool


# --- 27 to 29: optional models and default instances ----------------------------------------------------------


@row(
    27,
    "Annotated[M | None, Unpack()]",
    gets("{}", "None"),
    gets('{"id": "x"}', "Tagged(id='x', tag='t')"),
    refused('{"tag": "y"}', missing("id"), declared=["id", "tag"]),
)
def optional_inside() -> Tool:
    def tool(item: Annotated[Tagged | None, Unpack()]) -> str:
        return repr(item)

    return tool


@row(27, "Annotated[M | None, Unpack()] = None", gets("{}", "None"), gets('{"id": "x"}', "Tagged(id='x', tag='t')"))
def optional_with_default() -> Tool:
    def tool(item: Annotated[Tagged | None, Unpack()] = None) -> str:
        return repr(item)

    return tool


@row(
    28,
    "Optional[Annotated[M, Unpack()]]",
    gets("{}", "None"),
    gets('{"id": "x"}', "Tagged(id='x', tag='t')"),
    refused('{"tag": "y"}', missing("id"), declared=["id", "tag"]),
)
def optional_outside() -> Tool:
    def tool(item: Optional[Annotated[Tagged, Unpack()]] = None) -> str:
        return repr(item)

    return tool


AliasOfTagged = TypeAliasType("AliasOfTagged", Annotated[Tagged, Unpack()])
Bare = TypeAliasType("Bare", Tagged)


@row(28, "type alias that holds the marker", gets('{"id": "x"}', "Tagged(id='x', tag='t')"))
def alias_with_marker() -> Tool:
    def tool(item: AliasOfTagged) -> str:
        return repr(item)

    return tool


@row(28, "marker around a type alias", gets('{"id": "x"}', "Tagged(id='x', tag='t')"))
def marker_around_alias() -> Tool:
    def tool(item: Annotated[Bare, Unpack()]) -> str:
        return repr(item)

    return tool


@row(28, "Unpack without parentheses", gets('{"id": "x"}', "Tagged(id='x', tag='t')"))
def bare_marker() -> Tool:
    def tool(item: Annotated[Tagged, Unpack]) -> str:
        return repr(item)

    return tool


@row(
    29,
    "a default instance",
    gets("{}", "Range(lo=3, hi=9) sent=['hi', 'lo']"),
    gets('{"hi": 12}', "Range(lo=3, hi=12) sent=['hi']"),
    gets('{"lo": 4}', "Range(lo=4, hi=9) sent=['lo']"),
    refused('{"hi": 1}', ("invalid", "$", "lo must not be above hi")),
)
def default_instance() -> Tool:
    def tool(item: Annotated[Range, Unpack()] = Range(lo=3, hi=9)) -> str:  # noqa: B008
        return shown(item)

    return tool


@row(
    29,
    "a default instance with a required field",
    gets("{}", "Tagged(id='d', tag='e')"),
    gets('{"tag": "y"}', "Tagged(id='d', tag='y')"),
)
def default_instance_required() -> Tool:
    def tool(item: Annotated[Tagged, Unpack()] = Tagged(id="d", tag="e")) -> str:  # noqa: B008
        return repr(item)

    return tool


# --- 30 to 32: other kinds of models --------------------------------------------------------------------------


@dataclass
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    norm: int = field(init=False, default=7)


@row(
    30,
    "dataclass",
    gets('{"x": 1}', "Point(x=1, y=2, tags=[], norm=7)"),
    gets('{"x": "1", "tags": ["a"]}', "Point(x=1, y=2, tags=['a'], norm=7)", "scalar-text $.x"),
    refused("{}", missing("x"), declared=["x", "y", "tags"]),
)
@row(
    32,
    "a field with init=False is not sent",
    by_host(
        refused(
            '{"x": 1, "norm": 3}',
            ("unknown-key", "$.norm", 'there is no field "norm"'),
            declared=["x", "y", "tags"],
        )
    ),
)
def dataclass_model() -> Tool:
    def tool(point: Annotated[Point, Unpack()]) -> str:
        return repr(point)

    return tool


@pydantic_dataclass
class Spot:
    x: Annotated[int, Field(alias="X", ge=0)]
    y: int = 2


@row(
    30,
    "pydantic dataclass",
    gets('{"X": 1}', "Spot(x=1, y=2)"),
    refused('{"X": -1}', ("invalid", "$.X", "must be greater than or equal to 0; got -1")),
)
def pydantic_dataclass_model() -> Tool:
    def tool(spot: Annotated[Spot, Unpack()]) -> str:
        return repr(spot)

    return tool


class Typed(TypedDict):
    x: int
    y: NotRequired[int]


@row(
    30,
    "TypedDict",
    gets('{"x": 1}', "{'x': 1}"),
    gets('{"x": 1, "y": 2}', "{'x': 1, 'y': 2}"),
    refused('{"y": 1}', missing("x"), declared=["x", "y"]),
)
def typed_dict() -> Tool:
    def tool(item: Annotated[Typed, Unpack()]) -> str:
        return repr(item)

    return tool


class Constant(BaseModel):
    kind: ClassVar[str] = "c"
    x: int
    _hidden: int = 1


@row(32, "class variables and private attributes are not sent", gets('{"x": 1}', "Constant(x=1)"))
def class_variables() -> Tool:
    def tool(item: Annotated[Constant, Unpack()]) -> str:
        return repr(item)

    return tool


# --- 35 to 40: functions of every kind, and what the agent reads ----------------------------------------------


class Later(BaseModel):
    inner: "list[DefinedLater]"


@row(
    35,
    "a model whose reference is defined after the tool",
    gets('{"inner": [{"x": 1}]}', "Later(inner=[DefinedLater(x=1)])"),
    gets(
        '{"inner": "[{\\"x\\": \\"1\\"}]"}',
        "Later(inner=[DefinedLater(x=1)])",
        "json-text $.inner",
        "scalar-text $.inner[0].x",
    ),
)
def reference_defined_later() -> Tool:
    def tool(item: Annotated[Later, Unpack()]) -> str:
        return repr(item)

    return tool


class DefinedLater(BaseModel):
    x: int


@row(36, "an all-optional model", gets("{}", "Range(lo=0, hi=0)"), gets('{"hi": 3}', "Range(lo=0, hi=3)"))
def all_optional() -> Tool:
    def tool(item: Annotated[Range, Unpack()]) -> str:
        return repr(item)

    return tool


@row(37, "positional-only", gets('{"id": "x", "n": 2}', "Tagged(id='x', tag='t') 2"))
def positional_only() -> Tool:
    def tool(item: Annotated[Tagged, Unpack()], /, n: int = 1) -> str:
        return f"{item!r} {n}"

    return tool


class Dashed(BaseModel):
    content_type: Annotated[str, Field(alias="contentType")]
    model_name: str = "m"
    private: Annotated[int, Field(alias="_x")] = 0
    json_: Annotated[int, Field(alias="json")] = 0


@row(
    37,
    "names that no parameter may have",
    gets('{"contentType": "a"}', "Dashed(content_type='a', model_name='m', private=0, json_=0)"),
    gets(
        '{"contentType": "a", "model_name": "b", "_x": 1, "json": 2}',
        "Dashed(content_type='a', model_name='b', private=1, json_=2)",
    ),
)
def odd_names() -> Tool:
    def tool(item: Annotated[Dashed, Unpack()]) -> str:
        return repr(item)

    return tool


class Shop:
    """A bound method and a callable object."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = "tool"

    def tool(self, order: Annotated[Order, Unpack()]) -> str:
        return f"{self.name} {order!r}"

    def __call__(self, order: Annotated[Order, Unpack()]) -> str:
        return f"called {self.name} {order!r}"


@row(3, "bound method", gets('{"sku": "A"}', "here Order(sku='A', count=1, size='m')"))
def bound_method() -> Tool:
    return Shop("here").tool


@row(38, "callable object", gets('{"sku": "A"}', "called here Order(sku='A', count=1, size='m')"))
def callable_object() -> Tool:
    return Shop("here")


class AsyncShop:
    def __init__(self) -> None:
        self.__name__ = "tool"

    async def __call__(self, order: Annotated[Order, Unpack()]) -> str:
        return repr(order)


@row(38, "callable object, async", gets('{"sku": "A"}', "Order(sku='A', count=1, size='m')"))
def async_callable_object() -> Tool:
    return AsyncShop()


@row(
    38,
    "async function",
    gets('{"sku": "A"}', "Order(sku='A', count=1, size='m')"),
    refused('{"sku": "a"}', ("invalid", "$.sku", "String should match pattern '^[A-Z]+$'; got \"a\"")),
)
def async_function() -> Tool:
    async def tool(order: Annotated[Order, Unpack()]) -> str:
        return repr(order)

    return tool


class Buyer(BaseModel):
    email: Annotated[str, Field(pattern="@")]
    age: Annotated[int, annotated_types.Ge(18)]


@row(
    40,
    "all problems at once, in the words of the wire",
    refused(
        '{"note": 5, "sku": "abc", "count": "x", "to_email": "ann", "to_age": 3}',
        ("wrong-type", "$.note", "must be text, got an integer 5"),
        ("wrong-type", "$.count", 'must be an integer, got text "x"'),
        ("invalid", "$.sku", "String should match pattern '^[A-Z]+$'; got \"abc\""),
        ("invalid", "$.to_email", "String should match pattern '@'; got \"ann\""),
        ("invalid", "$.to_age", "must be greater than or equal to 18; got 3"),
    ),
    refused(
        "{}",
        missing("note"),
        missing("sku"),
        missing("to_email"),
        missing("to_age"),
        declared=["note", "sku", "count", "size", "to_email", "to_age"],
    ),
)
def all_at_once() -> Tool:
    def tool(note: str, order: Annotated[Order, Unpack()], buyer: Annotated[Buyer, Unpack(prefix="to_")]) -> str:
        return f"{note} {order!r} {buyer!r}"

    return tool
