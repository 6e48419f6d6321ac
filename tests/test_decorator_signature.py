"""`@unpack_pydantic_params`: the signature that `help()`, `inspect.signature` and
`typing.get_type_hints` show, which is the same for every way to write a field.
"""

import asyncio
import inspect
import pydoc
import sys
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from types import ModuleType
from typing import Annotated, Any, Generic, Literal, NotRequired, Optional, TypeVar, get_type_hints

import fastmcp
import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import Context as SdkContext
from plain_hosts import call, plain_fastmcp, plain_sdk
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, PositiveInt, SecretStr
from typing_extensions import TypedDict

from toolbooth import Context, JsonText, Unpack, protect, unpack_pydantic_params


def signature_of(hint: Any, *default: Any) -> str:
    """Return the flat signature of a function with one unpacked parameter."""

    def tool(it): ...

    tool.__annotations__ = {"it": hint}
    tool.__defaults__ = default
    return str(inspect.signature(unpack_pydantic_params(tool)))


def help_of(thing: Any) -> str:
    return pydoc.render_doc(thing, renderer=pydoc.plaintext)


class Search(BaseModel):
    search_query: str = Field(..., description="What to look for", max_length=20)
    limit: int = Field(10, description="At most so many", ge=1, le=50)


@unpack_pydantic_params
def search_products(request: Annotated[Search, Unpack()], loud: bool = False) -> dict[str, Any]:
    """Search the catalogue."""
    return {"request": request, "loud": loud}


SHOWN = "(*, search_query: str, limit: int = 10, loud: bool = False) -> dict[str, typing.Any]"


def test_help_shows_the_types_and_defaults_of_the_fields():
    assert help_of(search_products).splitlines()[2:] == [
        f"search_products{SHOWN}",
        "    Search the catalogue.",
    ]


def test_the_signature_shows_and_equals_the_types_and_defaults_of_the_fields():
    signature = inspect.signature(search_products)
    assert str(signature) == SHOWN
    shown = [(each.name, each.annotation, each.default) for each in signature.parameters.values()]
    assert shown == [
        ("search_query", str, inspect.Parameter.empty),
        ("limit", int, 10),
        ("loud", bool, False),
    ]
    limit = signature.parameters["limit"]
    assert (limit.annotation, limit.default) not in [(str, 10), (int, 11)]


def test_annotations_and_type_hints_are_those_of_the_fields():
    expected = {"search_query": str, "limit": int, "loud": bool, "return": dict[str, Any]}
    assert search_products.__annotations__ == expected
    assert get_type_hints(search_products) == expected
    assert get_type_hints(search_products)["limit"] is int


def test_types_are_str_for_frameworks_only_in_the_signature():
    # The official SDK reads the signature, and parses text wherever the type is not `str`.
    params = inspect.signature(search_products).parameters
    assert {each.annotation.__origin__ for each in params.values()} == {str}


def test_a_type_in_the_signature_differs_from_the_type_itself_as_a_cache_key():
    annotation = inspect.signature(search_products).parameters["limit"].annotation
    assert Optional[annotation] is not Optional[int]
    assert Optional[int].__args__[0] is int
    assert {annotation: "shown", int: "own"} == {int: "own", annotation: "shown"}
    default = inspect.signature(search_products).parameters["limit"].default
    assert {default: "shown", 10: "own"}[10] == "own"


# --- fields ---------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"


class Inner(BaseModel):
    street: str
    country: str = "NL"


class Kinds(BaseModel):
    required: Annotated[int, Field(...)]
    nullable: str | None
    literal: Literal["a", "b"] = "a"
    day: date = date(2026, 1, 2)
    several: list[Annotated[int, Field(ge=0)]] = [1]
    positive: PositiveInt = 3
    text: Annotated[dict[str, int] | None, JsonText(example={"a": 1})] = None
    anything: Any = None


def test_every_type_is_shown_without_its_constraints():
    assert signature_of(Annotated[Kinds, Unpack()]) == (
        "(*, required: int, nullable: str | None, literal: Literal['a', 'b'] = 'a', "
        "day: datetime.date = datetime.date(2026, 1, 2), several: list[int] = [1], "
        "positive: int = 3, text: dict[str, int] | None = None, anything: Any = None)"
    )


class Made(BaseModel):
    tags: list[str] = Field(default_factory=list)
    headers: dict[str, str] = Field(default_factory=dict)
    made: date = Field(default_factory=date.today)
    twice: int = Field(default_factory=lambda data: 2)


def test_a_default_factory_is_shown_as_its_value_or_as_a_factory():
    assert signature_of(Annotated[Made, Unpack()]) == (
        "(*, tags: list[str] = [], headers: dict[str, str] = {}, "
        "made: datetime.date = <factory>, twice: int = <factory>)"
    )


class Login(BaseModel):
    user: str
    token: SecretStr = SecretStr("hunter2")
    raw: SecretStr = "hunter2"
    marked: str = Field("hunter2", json_schema_extra={"format": "password"})
    none: SecretStr | None = None


def test_a_secret_is_not_shown():
    shown = signature_of(Annotated[Login, Unpack()])
    assert "hunter2" not in shown
    assert shown == (
        "(*, user: str, token: pydantic.types.SecretStr = SecretStr('**********'), "
        "raw: pydantic.types.SecretStr = '**********', marked: str = '**********', "
        "none: pydantic.types.SecretStr | None = None)"
    )


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    item_id: int = Field(alias="itemId")
    order: str = Field("id", validation_alias=AliasChoices("order", "sort"))
    deep: int = Field(0, validation_alias=AliasPath("path", "deep"))
    class_: str = Field("c", alias="class")
    copied: bool = Field(False, alias="copy")


def test_a_field_is_shown_under_its_alias_or_under_a_name_that_python_takes():
    assert signature_of(Annotated[Named, Unpack()]) == (
        "(*, itemId: int, order: str = 'id', deep: int = 0, class_value: str = 'c', "
        "copy_value: bool = False, path: Any = <not sent>)"
    )


class Customer(BaseModel):
    name: str
    home: Annotated[Inner, Unpack(prefix="home_")]
    work: Optional[Annotated[Inner, Unpack(prefix="work_")]] = Inner(street="Kade 2")


def test_prefixes_and_inner_models_are_shown():
    assert signature_of(Annotated[Customer, Unpack(prefix="c_")]) == (
        "(*, c_name: str, c_home_street: str, c_home_country: str = 'NL', "
        "c_work_street: str = 'Kade 2', c_work_country: str = 'NL')"
    )


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (Optional[Annotated[Inner, Unpack()]], (None,)),
        (Annotated[Inner | None, Unpack()], ()),
        (Annotated[Inner, Unpack], (None,)),
    ],
    ids=["Optional", "in Annotated", "default"],
)
def test_the_required_fields_of_an_optional_model_are_shown_as_not_sent(hint: Any, default: Any):
    assert signature_of(hint, *default) == "(*, street: str = <not sent>, country: str = 'NL')"


def test_the_default_of_the_whole_model_is_shown_in_its_fields():
    default = Inner(street="Dam 1", country="BE")
    shown = signature_of(Annotated[Inner, Unpack()], default)
    assert shown == "(*, street: str = 'Dam 1', country: str = 'BE')"


class AsTypedDict(TypedDict):
    street: str
    number: NotRequired[Annotated[int, Field(ge=1)]]


@dataclass
class AsDataclass:
    street: str
    number: Annotated[int, Field(ge=1)] = 1
    tags: list[str] = field(default_factory=list)
    described: int = Field(5, ge=1)
    hidden: int = field(default=0, init=False)


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    content: T


@pytest.mark.parametrize(
    ("kind", "default", "shown"),
    [
        (AsTypedDict, (), "(*, street: str, number: int = <not sent>)"),
        (
            AsTypedDict,
            ({"street": "Dam"},),
            "(*, street: str = 'Dam', number: int = <not sent>)",
        ),
        (
            AsDataclass,
            (),
            "(*, street: str, number: int = 1, tags: list[str] = [], described: int = 5)",
        ),
        (Box[int], (), "(*, content: int)"),
    ],
    ids=["TypedDict", "TypedDict with a default", "dataclass", "generic"],
)
def test_every_kind_of_model_shows_its_fields(kind: Any, default: Any, shown: str):
    assert signature_of(Annotated[kind, Unpack()], *default) == shown


def test_a_key_that_is_not_a_field_is_shown_without_a_type():
    class Wide(BaseModel):
        name: str

        def __init__(self, *, other: int = 0, **data: Any) -> None:
            super().__init__(**data)

    @unpack_pydantic_params
    def tool(it: Annotated[Wide, Unpack()], inner: Inner | None = None): ...

    shown = str(inspect.signature(tool))
    assert shown.startswith("(*, name: str")


# --- classes that do not exist yet ----------------------------------------------------------------


LATER = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Annotated
from pydantic import BaseModel
from typing_extensions import TypedDict
from toolbooth import Unpack, unpack_pydantic_params

class Order(BaseModel):
    lines: list[Line]
    limit: int = 10

@unpack_pydantic_params
def tool(order: Annotated[Order, Unpack()], note: str = "-") -> str:
    return f"{order!r} {note}"

@dataclass
class Basket:
    lines: list[Line]
    limit: int = 10

@unpack_pydantic_params
def of_dataclass(basket: Annotated[Basket, Unpack()]) -> str:
    return repr(basket)

class Parcel(TypedDict):
    line: Line

@unpack_pydantic_params
def of_typed_dict(parcel: Annotated[Parcel, Unpack()]) -> str:
    return repr(parcel)

class Form(BaseModel):
    first: Parameter

@unpack_pydantic_params
def of_form(form: Annotated[Form, Unpack()]) -> str:
    return repr(form)

class Line(BaseModel):
    sku: str

class Parameter(BaseModel):
    name: str
"""


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("later")
    monkeypatch.setitem(sys.modules, "later", module)
    exec(compile(LATER, "later.py", "exec", dont_inherit=True), vars(module))
    return module


def test_a_class_that_is_defined_later_is_shown_by_its_name(later: ModuleType):
    shown = str(inspect.signature(later.tool))
    assert shown == "(*, lines: list[Line], limit: int = 10, note: str = '-') -> str"
    assert get_type_hints(later.tool)["limit"] is int
    assert "lines" in get_type_hints(later.tool)
    assert later.tool(lines=[{"sku": "a"}]) == "Order(lines=[Line(sku='a')], limit=10) -"


def test_a_forward_reference_is_not_resolved_to_one_of_our_own_names(later: ModuleType):
    # `Parameter` is also a name in the module that builds the signature.
    assert str(inspect.signature(later.of_form)) == "(*, first: Parameter) -> str"
    assert later.of_form(first={"name": "a"}) == "Form(first=Parameter(name='a'))"


def test_forward_references_in_dataclasses_and_typed_dicts_are_shown_by_name(later: ModuleType):
    shown = str(inspect.signature(later.of_dataclass))
    assert shown == "(*, lines: list[Line], limit: int = 10) -> str"
    assert str(inspect.signature(later.of_typed_dict)) == "(*, line: Line) -> str"
    line = {"sku": "a"}
    assert later.of_dataclass(lines=[line]) == "Basket(lines=[Line(sku='a')], limit=10)"
    assert later.of_typed_dict(line=line) == "{'line': Line(sku='a')}"


# --- parameters of hosts
# ------------------------------------------------------------------------------


class Engine:
    """A parameter that a host fills."""


@unpack_pydantic_params
def with_hosts(
    first: Engine, request: Annotated[Search, Unpack()], second: Engine, own: Context, loud: int = 1
) -> Any:
    return first, request, second, loud


def test_host_parameters_before_a_flattened_one_keep_their_position():
    engine = f"{__name__}.Engine"
    assert str(inspect.signature(with_hosts)) == (
        f"(first: {engine}, *, second: {engine}, search_query: str, limit: int = 10, "
        "loud: int = 1) -> Any"
    )
    one, two = Engine(), Engine()
    expected = (one, Search(search_query="w"), two, 1)
    assert with_hosts(one, second=two, search_query="w") == expected
    assert with_hosts(one, Search(search_query="w"), two) == expected


class Shop:
    @unpack_pydantic_params
    def find(self, request: Annotated[Search, Unpack()]) -> str:
        """Find it."""
        return request.search_query

    @unpack_pydantic_params
    @classmethod
    def of_class(cls, request: Annotated[Search, Unpack()]) -> str: ...

    @unpack_pydantic_params
    @staticmethod
    async def static(request: Annotated[Search, Unpack()]) -> str: ...


def test_methods_are_shown_flat_in_the_help_of_their_class():
    shown = help_of(Shop)
    assert "find(self, *, search_query: str, limit: int = 10) -> str" in shown
    assert "of_class(*, search_query: str, limit: int = 10) -> str" in shown
    assert "static(*, search_query: str, limit: int = 10) -> str" in shown


# --- hosts, after they have read it ---------------------------------------------------------------


def registered_with_fastmcp(tool: Any) -> Any:
    return call(plain_fastmcp(tool), {"search_query": "w"})


def registered_with_the_sdk(tool: Any) -> Any:
    return call(plain_sdk(tool), {"search_query": "w"})


def registered_with_a_protected_server(tool: Any) -> Any:
    server = protect(FastMCP("protected"))
    server.tool(tool, name="tool")

    async def run() -> Any:
        async with fastmcp.Client(server) as client:
            result = await client.call_tool("tool", {"search_query": "w"})
            return [(result.content[0].text, result.is_error)]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("register", "context"),
    [
        (registered_with_fastmcp, fastmcp.Context),
        (registered_with_the_sdk, SdkContext),
        (registered_with_a_protected_server, fastmcp.Context),
    ],
    ids=["fastmcp", "mcp", "protected"],
)
def test_a_host_does_not_change_the_signature_it_reads(register: Any, context: Any):
    @unpack_pydantic_params
    def tool(request: Annotated[Search, Unpack()], ctx: context) -> str:
        return f"{request!r} {sorted(request.model_fields_set)} {type(ctx).__name__}"

    expected = "Search(search_query='w', limit=10) ['search_query'] Context"
    assert register(tool) == [(expected, False)]
    shown = str(inspect.signature(tool))
    assert "search_query: str, limit: int = 10" in shown
    assert repr(tool.__annotations__["limit"]) == "int"
