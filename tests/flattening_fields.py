"""Rows 1 to 16: what already worked, aliases, defaults, names and nesting."""

import functools
from datetime import date
from decimal import Decimal
from typing import Annotated, Generic, Literal, TypeVar

from flattening_calls import Row, Tool, by_host, gets, missing, refused, rows_into, shown
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
)
from pydantic.alias_generators import to_camel

from toolbooth import Unpack

FIELDS: list[Row] = []
row = rows_into(FIELDS)


class Order(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]+$", title="Stock unit", examples=["ABC"])]
    count: Annotated[int, Field(ge=1, le=9, description="How many")] = 1
    size: Annotated[
        Literal["s", "m"], Field(deprecated=False, json_schema_extra={"x-unit": "eu"})
    ] = "m"


@row(
    1,
    "constraints and metadata",
    gets('{"sku": "ABC"}', "Order(sku='ABC', count=1, size='m') sent=['sku']"),
    gets(
        '{"sku": "ABC", "count": 9, "size": "s"}',
        "Order(sku='ABC', count=9, size='s') sent=['count', 'size', 'sku']",
    ),
    gets(
        '{"sku": "ABC", "count": 2.0}', "Order(sku='ABC', count=2, size='m') sent=['count', 'sku']"
    ),
    refused(
        '{"sku": "abc", "count": 10, "size": "xl"}',
        ("invalid", "$.sku", 'must match the pattern ^[A-Z]+$; got "abc"; e.g. "ABC"'),
        ("invalid", "$.count", "must be at most 9; got 10; e.g. 1; leave it out if unknown"),
        ("invalid", "$.size", 'must be "s" or "m"; got "xl"; leave it out if unknown'),
    ),
)
def constraints() -> Tool:
    def tool(order: Annotated[Order, Unpack()]) -> str:
        return shown(order)

    return tool


@row(
    2,
    "beside plain parameters",
    gets('{"note": "n", "sku": "A", "times": 2}', "n 2 Order(sku='A', count=1, size='m')"),
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
    gets(
        '{"sku": "A", "by": "2026-01-02"}',
        "Express(sku='A', count=1, size='m', by=datetime.date(2026, 1, 2))",
    ),
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
    refused(
        '{"pet": {"kind": "dog"}}', ("missing", "$.pet.tricks", "is required, but was not sent")
    ),
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
    refused(
        '{"items": ["x"], "first": 1}',
        ("wrong-type", "$.items[0]", 'must be an integer, got text "x"; e.g. 2'),
    ),
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
    # As a decorator library would do it. FastMCP and the SDK both need a name.
    made.__name__ = "tool"  # type: ignore[attr-defined]
    return made


class Aliased(BaseModel):
    item_id: Annotated[int, Field(alias="itemId")]


@row(
    4,
    "alias, required",
    gets('{"itemId": 5}', "Aliased(item_id=5) sent=['item_id']"),
    gets('{"itemId": "5"}', "Aliased(item_id=5) sent=['item_id']", "scalar-text $.itemId"),
    refused(
        "{}",
        missing("itemId"),
        declared={"itemId": "integer, required"},
        form={"itemId": "<integer>"},
    ),
    by_host(
        refused(
            '{"item_id": 5}',
            ("unknown-key", "$.item_id", 'there is no field "item_id"; did you mean "itemId"?'),
            declared={"itemId": "integer, required"},
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
        refused(
            '{"itemId": 5, "item_id": 6}',
            ("conflicting-keys", "$.item_id", f'"item_id" and "itemId" {_CONFLICT}'),
        )
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
    refused(
        '{"unitPrice": 2}',
        missing("itemId"),
        declared={"itemId": "integer, required", "unitPrice": "text or number"},
    ),
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
    by_host(
        refused(
            '{"itemId": 5, "id": 6}', ("conflicting-keys", "$.id", f'"id" and "itemId" {_CONFLICT}')
        )
    ),
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
    refused(
        "{}",
        missing("base"),
        declared={"base": "text, required", "slug": "text"},
        form={"base": "<text>"},
    ),
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
    gets(
        '{"title": null, "pages": null}',
        "Patch(title=None, pages=None, price=1) sent=['pages', 'title']",
    ),
    gets('{"title": "null"}', "Patch(title='null', pages=3, price=1) sent=['title']"),
    gets('{"title": "{\\"a\\": 1}"}', "Patch(title='{\"a\": 1}', pages=3, price=1) sent=['title']"),
    gets(
        '{"pages": "null"}',
        "Patch(title=None, pages=None, price=1) sent=['pages']",
        "json-text $.pages",
    ),
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
    refused(
        '{"id": 1}',
        missing("to_id"),
        declared={"id": "integer, required", "to_id": "text, required", "to_tag": "text"},
    ),
)
def told_apart() -> Tool:
    def tool(
        source: Annotated[Keyed, Unpack()], target: Annotated[Tagged, Unpack(prefix="to_")]
    ) -> str:
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
        ("wrong-type", "$.ship_weight", 'must be an integer, got text "x"; e.g. 2'),
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
        '{"name": "Ann", "street": {"lin": "a"}}',
        ("unknown-key", "$.street.lin", 'there is no field "lin"; did you mean "line"?'),
        ("missing", "$.street.line", "is required, but was not sent"),
        declared={"line": "text, required", "postCode": "text"},
        within="$.street",
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
