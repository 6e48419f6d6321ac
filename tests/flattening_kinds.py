"""Rows 27 to 40: optional models, default instances, and models and functions of every kind."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, NotRequired, Optional

import annotated_types
from flattening_calls import Row, Tool, by_host, gets, missing, refused, rows_into, shown
from flattening_fields import Order, Tagged
from flattening_validators import Range
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

from toolbooth import Unpack

KINDS: list[Row] = []
row = rows_into(KINDS)


@row(
    27,
    "Annotated[M | None, Unpack()]",
    gets("{}", "None"),
    gets('{"id": "x"}', "Tagged(id='x', tag='t')"),
    refused('{"tag": "y"}', missing("id"), declared={"id": "text", "tag": "text"}),
)
def optional_inside() -> Tool:
    def tool(item: Annotated[Tagged | None, Unpack()]) -> str:
        return repr(item)

    return tool


@row(
    27,
    "Annotated[M | None, Unpack()] = None",
    gets("{}", "None"),
    gets('{"id": "x"}', "Tagged(id='x', tag='t')"),
)
def optional_with_default() -> Tool:
    def tool(item: Annotated[Tagged | None, Unpack()] = None) -> str:
        return repr(item)

    return tool


@row(
    28,
    "Optional[Annotated[M, Unpack()]]",
    gets("{}", "None"),
    gets('{"id": "x"}', "Tagged(id='x', tag='t')"),
    refused('{"tag": "y"}', missing("id"), declared={"id": "text", "tag": "text"}),
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
    refused(
        "{}",
        missing("x"),
        declared={"x": "integer, required", "y": "integer", "tags": "array of text"},
        form={"x": "<integer>"},
    ),
)
@row(
    32,
    "a field with init=False is not sent",
    by_host(
        refused(
            '{"x": 1, "norm": 3}',
            ("unknown-key", "$.norm", 'there is no field "norm"'),
            declared={"x": "integer, required", "y": "integer", "tags": "array of text"},
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
    refused('{"X": -1}', ("invalid", "$.X", "must be at least 0; got -1; e.g. 2")),
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
    refused('{"y": 1}', missing("x"), declared={"x": "integer, required", "y": "integer"}),
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


@row(
    36,
    "an all-optional model",
    gets("{}", "Range(lo=0, hi=0)"),
    gets('{"hi": 3}', "Range(lo=0, hi=3)"),
)
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
    refused(
        '{"sku": "a"}', ("invalid", "$.sku", 'must match the pattern ^[A-Z]+$; got "a"; e.g. "ABC"')
    ),
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
        (
            "wrong-type",
            "$.count",
            'must be an integer, got text "x"; e.g. 1; leave it out if unknown',
        ),
        ("invalid", "$.sku", 'must match the pattern ^[A-Z]+$; got "abc"; e.g. "ABC"'),
        ("invalid", "$.to_email", 'must match the pattern @; got "ann"; e.g. "@"'),
        ("invalid", "$.to_age", "must be at least 18; got 3; e.g. 18"),
        edits=['send $.note as "5"'],
    ),
    refused(
        "{}",
        missing("note"),
        missing("sku"),
        missing("to_email"),
        missing("to_age"),
        form={"note": "<text>", "sku": "<text>", "to_email": "<text>", "to_age": "<integer>"},
        declared={
            "note": "text, required",
            "sku": "text, required",
            "to_email": "text, required",
            "to_age": "integer, required",
            "count": "integer",
            "size": '"s" or "m"',
        },
    ),
)
def all_at_once() -> Tool:
    def tool(
        note: str, order: Annotated[Order, Unpack()], buyer: Annotated[Buyer, Unpack(prefix="to_")]
    ) -> str:
        return f"{note} {order!r} {buyer!r}"

    return tool
