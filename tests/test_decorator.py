"""`@unpack_pydantic_params`: parameters that the host fills, where names are looked up, and direct
calls.
"""

import asyncio
import inspect
import json
import sys
from datetime import date
from types import ModuleType
from typing import Annotated

import fastmcp
import pytest
from fastmcp.dependencies import CurrentContext, Depends
from mcp.server.mcpserver import Context as SdkContext
from mcp.server.mcpserver.resolve import Resolve
from plain_hosts import HOSTS, call, called, plain_fastmcp, plain_sdk, published
from pydantic import BaseModel, Field

from toolbooth import (
    Context,
    ContractError,
    ToolInputError,
    Unpack,
    unpack_pydantic_params,
)

# --- real transports --------------------------------------------------------------------------------------------


class Place(BaseModel):
    city: str


class Priced(BaseModel):
    price: Annotated[int, Field(gt=0)]
    since: date


# --- parameters that the host fills
# ---------------------------------------------------------------------------------


class Item(BaseModel):
    id: int
    name: str = "n"


def answer():
    return 42


def test_fastmcp_still_fills_its_context_and_dependencies():
    @unpack_pydantic_params
    async def tool(
        first: fastmcp.Context,
        item: Annotated[Item, Unpack()],
        note: str = "-",
        number: int = Depends(answer),
        last: fastmcp.Context | None = None,
        current: fastmcp.Context = CurrentContext(),  # noqa: B008
    ) -> str:
        contexts = {type(each).__name__ for each in (first, last, current)}
        return f"{item!r} {note} {number} {contexts}"

    assert set(asyncio.run(published(plain_fastmcp(tool)))["properties"]) == {"id", "name", "note"}
    assert call(plain_fastmcp(tool), {"id": 1}) == [
        ("Item(id=1, name='n') - 42 {'Context'}", False)
    ]


def test_the_sdk_still_fills_its_context_and_resolved_parameters():
    @unpack_pydantic_params
    def tool(
        item: Annotated[Item, Unpack()],
        context: SdkContext,
        number: Annotated[int, Resolve(answer)] = 0,
    ) -> str:
        return f"{item!r} {number} {type(context).__name__}"

    assert set(asyncio.run(published(plain_sdk(tool)))["properties"]) == {"id", "name"}
    assert call(plain_sdk(tool), {"id": 1}) == [("Item(id=1, name='n') 42 Context", False)]


@HOSTS
def test_toolbooths_own_context_is_filled_by_the_decorator_and_not_published(host):
    @unpack_pydantic_params
    def tool(context: Context, item: Annotated[Item, Unpack()]) -> str:
        return f"{item!r} {context.client}"

    assert set(asyncio.run(published(host(tool)))["properties"]) == {"id", "name"}
    assert call(host(tool), {"id": 1}) == [("Item(id=1, name='n') None", False)]


def test_a_field_named_like_a_parameter_of_the_host_is_a_contract_error():
    class Named(BaseModel):
        ctx: str

    def tool(it: Annotated[Named, Unpack()], ctx: fastmcp.Context): ...

    with pytest.raises(ContractError, match=r"'ctx' .*Unpack\(prefix=\.\.\.\)"):
        unpack_pydantic_params(tool)


@HOSTS
def test_a_host_does_not_change_the_values_of_plain_parameters(host):
    @unpack_pydantic_params
    def tool(
        item: Annotated[Item, Unpack()], note: str | None = None, at: date | None = None
    ) -> str:
        return f"{item!r} {note!r} {at!r}"

    calls = [
        {"id": 1, "note": '{"a": 1}'},
        {"id": 1, "note": "null", "at": "2026-01-02"},
        {"id": "1", "note": None},
    ]
    assert call(host(tool), *calls) == [
        ("Item(id=1, name='n') '{\"a\": 1}' None", False),
        ("Item(id=1, name='n') 'null' datetime.date(2026, 1, 2)", False),
        ("Item(id=1, name='n') None None", False),
    ]


def test_a_refusal_is_shown_even_where_the_host_masks_errors():
    @unpack_pydantic_params
    def tool(item: Annotated[Item, Unpack()]) -> str:
        return repr(item)

    text = "Refused: 1 problem in the arguments of 'tool'. Nothing was done.\n- $.id: must be an integer, got text \"x\"; e.g. 2"
    assert call(plain_fastmcp(tool, mask_error_details=True), {"id": "x"}) == [(text, True)]


def test_fastmcps_strict_mode_changes_nothing():
    @unpack_pydantic_params
    def tool(item: Annotated[Item, Unpack()]) -> str:
        return repr(item)

    assert call(plain_fastmcp(tool, strict_input_validation=True), {"id": "1"}) == [
        ("Item(id=1, name='n')", False)
    ]


def test_an_async_generator_is_read_to_its_end_by_fastmcp():
    @unpack_pydantic_params
    async def tool(item: Annotated[Item, Unpack()]):
        yield item.id
        yield item.name

    [result] = asyncio.run(called(plain_fastmcp(tool), [{"id": 1}]))
    assert json.loads(result.content[0].text) == [1, "n"]


def test_a_parameter_without_a_schema_is_left_to_the_host():
    class Engine: ...

    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()], engine: Engine):
        return place.city, engine

    engine = Engine()
    assert list(inspect.signature(tool).parameters) == ["engine", "city"]
    assert tool(engine=engine, city="Bern") == ("Bern", engine)


def test_mistake_in_a_parameter_type_is_reported_as_contract_error():
    def tool(
        place: Annotated[Place, Unpack()],
        other: Annotated[Place | Priced, Field(discriminator="kind")],
    ): ...

    with pytest.raises(ContractError, match=r"tool: parameter 'other': .*'kind'"):
        unpack_pydantic_params(tool)


# --- where names are looked up ----------------------------------------------------------------------------------


STACKED = """
from __future__ import annotations
from typing import TYPE_CHECKING, Annotated
from pydantic import BaseModel
from toolbooth import Unpack, unpack_pydantic_params
if TYPE_CHECKING:
    from nowhere import Gone

class Order(BaseModel):
    lines: list[Line]

@unpack_pydantic_params
def tool(order: Annotated[Order, Unpack()], note: str = "-") -> Gone:
    return f"{order!r} {note}"

class Line(BaseModel):
    sku: str
"""


@HOSTS
def test_a_class_defined_after_the_decorated_function_is_found(host, monkeypatch):
    module = ModuleType("stacked")
    monkeypatch.setitem(sys.modules, "stacked", module)
    exec(compile(STACKED, "stacked.py", "exec", dont_inherit=True), vars(module))
    results = call(
        host(module.tool),
        {"lines": [{"sku": "a"}]},
        {"lines": '[{"sku": "a"}]'},
        {"lines": [{"sk": "a"}]},
    )
    assert results[:2] == [("Order(lines=[Line(sku='a')]) -", False)] * 2
    assert results[2][1]
    assert 'there is no field "sk"; did you mean "sku"?' in results[2][0]


LOCAL = """
from __future__ import annotations
from typing import Annotated
from pydantic import BaseModel
from toolbooth import Unpack, unpack_pydantic_params

def make():
    class Item(BaseModel):
        id: int

    @unpack_pydantic_params
    def tool(item: Annotated[Item, Unpack()], other: Item | None = None) -> str:
        return f"{item!r} {other!r}"

    return tool
"""


@HOSTS
def test_local_models_under_future_annotations_are_found(host, monkeypatch):
    module = ModuleType("local")
    monkeypatch.setitem(sys.modules, "local", module)
    exec(compile(LOCAL, "local.py", "exec", dont_inherit=True), vars(module))
    assert call(host(module.make()), {"id": 1, "other": {"id": 2}}) == [
        ("Item(id=1) Item(id=2)", False)
    ]


class Shop:
    name = "shop"

    @unpack_pydantic_params
    def method(self, item: Annotated[Item, Unpack()]) -> str:
        return f"{self.name} {item!r}"

    @classmethod
    @unpack_pydantic_params
    def of_class(cls, item: Annotated[Item, Unpack()]) -> str:
        return f"{cls.name} {item!r}"

    @unpack_pydantic_params
    @classmethod
    def of_class_outside(cls, item: Annotated[Item, Unpack()]) -> str:
        return f"{cls.name} {item!r}"

    @unpack_pydantic_params
    @staticmethod
    def static(item: Annotated[Item, Unpack()]) -> str:
        return f"shop {item!r}"


@HOSTS
@pytest.mark.parametrize("name", ["method", "of_class", "of_class_outside", "static"])
def test_methods_decorated_in_their_class_work(host, name):
    assert call(host(getattr(Shop(), name)), {"id": 1}) == [("shop Item(id=1, name='n')", False)]


# --- direct calls -----------------------------------------------------------------------------------------------


@unpack_pydantic_params
def direct(note: str, item: Annotated[Item, Unpack()], *, times: int = 1) -> str:
    return f"{note} {item!r} {times}"


def test_the_signature_is_flat_and_keyword_only():
    signature = inspect.signature(direct)
    assert [(each.name, each.kind.name) for each in signature.parameters.values()] == [
        ("note", "KEYWORD_ONLY"),
        ("id", "KEYWORD_ONLY"),
        ("name", "KEYWORD_ONLY"),
        ("times", "KEYWORD_ONLY"),
    ]
    assert list(direct.__annotations__) == ["note", "id", "name", "times", "return"]
    assert signature.return_annotation is str


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {"note": "a", "id": 1, "name": "n"}),
        (("a",), {"id": 1}),
        (("a", Item(id=1)), {}),
        (("a",), {"item": Item(id=1)}),
        ((), {"note": "a", "item": Item(id=1), "times": 1}),
    ],
    ids=[
        "flat",
        "flat, plain by position",
        "instance by position",
        "instance by name",
        "all by name",
    ],
)
def test_a_direct_call_takes_flat_keywords_or_the_instance(args, kwargs):
    assert direct(*args, **kwargs) == "a Item(id=1, name='n') 1"


def test_an_instance_is_passed_on_as_it_is():
    given = Item.model_construct(id="not validated again")

    @unpack_pydantic_params
    def tool(item: Annotated[Item, Unpack()]) -> Item:
        return item

    assert tool(given) is given
    assert tool(item=given) is given


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (("a", Item(id=1)), {"name": "x"}),
        (("a",), {"item": Item(id=1), "id": 2}),
        ((), {"note": "a", "item": Item(id=1), "name": "x"}),
    ],
    ids=["by position", "by name", "all by name"],
)
def test_a_mixture_of_instance_and_flat_keywords_is_a_type_error(args, kwargs):
    with pytest.raises(
        TypeError, match=r"direct\(\) got \['item'\] and flat fields .*; give one or the other"
    ):
        direct(*args, **kwargs)


def test_an_instance_of_an_all_optional_model_is_never_replaced_by_defaults():
    class Range(BaseModel):
        lo: int = 0
        hi: int = 0

    @unpack_pydantic_params
    def tool(between: Annotated[Range, Unpack()]) -> str:
        return repr(between)

    assert (
        tool(between=Range(lo=1, hi=2))
        == tool(Range(lo=1, hi=2))
        == tool(lo=1, hi=2)
        == "Range(lo=1, hi=2)"
    )


def test_a_field_named_like_the_parameter_can_be_given_either_way():
    class Asked(BaseModel):
        request: str

    @unpack_pydantic_params
    def tool(request: Annotated[Asked, Unpack()]) -> str:
        return repr(request)

    assert (
        tool(request="x")
        == tool(request=Asked(request="x"))
        == tool(Asked(request="x"))
        == "Asked(request='x')"
    )


def test_an_unknown_keyword_in_a_direct_call_is_a_type_error():
    with pytest.raises(TypeError, match="'nome'"):
        direct(note="a", id=1, nome="x")


def test_python_values_pass_in_direct_calls():
    class Dated(BaseModel):
        on: date
        item: Item

    @unpack_pydantic_params
    def tool(it: Annotated[Dated, Unpack()]) -> str:
        return repr(it)

    expected = "Dated(on=datetime.date(2026, 1, 2), item=Item(id=1, name='n'))"
    assert (
        tool(on=date(2026, 1, 2), item=Item(id=1))
        == tool(on="2026-01-02", item={"id": 1})
        == expected
    )


def test_a_refused_direct_call_raises_tool_input_error_with_every_problem():
    with pytest.raises(ToolInputError) as raised:
        direct(note=1, id="x")
    assert [(each.code, each.where) for each in raised.value.problems] == [
        ("wrong-type", "$.note"),
        ("wrong-type", "$.id"),
    ]


def test_python_values_that_the_authors_validation_refuses_raise_the_same_error():
    @unpack_pydantic_params
    def tool(it: Annotated[Priced, Unpack()]): ...

    with pytest.raises(ToolInputError) as raised:
        tool(price=-1, since=date(2026, 1, 1))
    assert str(raised.value) == (
        "Refused: 1 problem in the arguments of 'tool'. Nothing was done.\n- $.price: must be greater than 0; got -1"
    )


def test_a_key_that_is_not_an_identifier_gets_an_unused_parameter_name():
    class Copied(BaseModel):
        number: Annotated[int, Field(alias="copy")]
        copy_value: int = 0

    @unpack_pydantic_params
    def tool(it: Annotated[Copied, Unpack()]):
        return it.number, it.copy_value

    assert list(inspect.signature(tool).parameters) == ["copy_value_", "copy_value"]
    assert tool(copy=1, copy_value=2) == tool(copy_value_=1, copy_value=2) == (1, 2)


def test_aliases_may_be_used_in_direct_calls():
    class Aliased(BaseModel):
        item_id: Annotated[int, Field(alias="itemId")]
        class_: Annotated[str, Field(alias="class")] = "c"

    @unpack_pydantic_params
    def tool(it: Annotated[Aliased, Unpack()]) -> str:
        return repr(it)

    assert tool(itemId=1, **{"class": "d"}) == "Aliased(item_id=1, class_='d')"


def test_none_may_be_given_for_an_optional_model():
    @unpack_pydantic_params
    def tool(item: Annotated[Item | None, Unpack()]) -> str:
        return repr(item)

    assert tool(item=None) == tool(None) == tool() == "None"


def test_a_function_without_a_marker_is_left_alone():
    def tool(item: Item) -> str:
        return repr(item)

    assert unpack_pydantic_params(tool) is tool


def test_function_without_a_marker_is_unchanged_with_an_unfinished_model():
    class Unfinished(BaseModel):
        part: "NeverDefined"  # noqa: F821

    def tool(it: Unfinished): ...

    assert unpack_pydantic_params(tool) is tool


@HOSTS
def test_unpacked_fields_inside_a_plain_parameters_model_are_honoured(host):
    class Outer(BaseModel):
        item: Annotated[Item, Unpack(prefix="item_")]

    @unpack_pydantic_params
    def tool(outer: Outer) -> str:
        return repr(outer)

    assert call(host(tool), {"outer": {"item_id": 1}}) == [
        ("Outer(item=Item(id=1, name='n'))", False)
    ]
