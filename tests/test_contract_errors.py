"""The author's mistakes: one `ContractError` at registration lists them all, each with owner, cause
and remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypedDict

from toolbooth import (
    Context,
    ContractError,
    Unpack,
    compile_function,
    handle_bytes,
    unpack_pydantic_params,
)

if TYPE_CHECKING:
    from somewhere import Absent


class Item(BaseModel):
    id: int
    name: str = "n"


class Person(BaseModel):
    id: str


class Outer(BaseModel):
    id: int
    item: Annotated[Item, Unpack()]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 0


class AlsoOpen(BaseModel):
    model_config = ConfigDict(extra="allow")
    b: int = 0


class Numbers(RootModel[list[int]]):
    pass


class Wrapped(RootModel[Item]):
    pass


class Pair(NamedTuple):
    a: int
    b: int


class OddlyNamed(BaseModel):
    dashed: Annotated[int, Field(alias="a-b")]
    long: Annotated[int, Field(alias="x" * 65)]
    leading: Annotated[int, Field(alias="1st")]
    empty: Annotated[int, Field(alias="")]


def shared_field(item: Annotated[Item, Unpack()], person: Annotated[Person, Unpack()]): ...
def field_and_parameter(item: Annotated[Item, Unpack()], name: str): ...
def parameter_and_field(name: str, item: Annotated[Item, Unpack()]): ...
def prefix_and_parameter(item: Annotated[Item, Unpack(prefix="to_")], to_id: int): ...
def inside_a_model(outer: Annotated[Outer, Unpack()]): ...
def inside_a_nested_model(outers: list[Outer]): ...
def model_twice(first: Annotated[Item, Unpack()], second: Annotated[Item, Unpack()]): ...
def two_open(first: Annotated[Open, Unpack()], second: Annotated[AlsoOpen, Unpack()]): ...


def apart(key: str, first: str, second: str) -> str:
    return (
        f"{key!r} is declared by {first} and by {second}; tell them apart with Unpack(prefix=...)"
    )


@pytest.mark.parametrize(
    ("function", "mistakes"),
    [
        (shared_field, [apart("id", "'item'", "parameter 'person'")]),
        (field_and_parameter, [apart("name", "'item'", "parameter 'name'")]),
        (parameter_and_field, [apart("name", "'name' itself", "parameter 'item'")]),
        (prefix_and_parameter, [apart("to_id", "'item'", "parameter 'to_id'")]),
        (inside_a_model, [apart("id", "'id' itself", "field 'item'")]),
        (inside_a_nested_model, [apart("id", "'id' itself", "field 'item'")]),
        (model_twice, [apart(key, "'first'", "parameter 'second'") for key in ("id", "name")]),
        (two_open, ["parameter 'second' and 'first' both take undeclared keys; unpack only one"]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, Callable) else "",
)
@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_two_owners_of_one_name_are_both_named_with_the_remedy(register, function, mistakes):
    with pytest.raises(ContractError) as raised:
        register(function)
    assert (raised.value.owner, list(raised.value.mistakes)) == (function.__name__, mistakes)


def on_a_root_model(it: Annotated[Numbers, Unpack()]): ...
def on_a_root_model_of_a_model(it: Annotated[Wrapped, Unpack()]): ...
def on_a_scalar(it: Annotated[int, Unpack()]): ...
def on_a_scalar_with_a_default(it: Annotated[int, Unpack()] = 5): ...
def on_a_dict(it: Annotated[dict[str, int], Unpack()]): ...
def on_a_union(it: Annotated[Item | Person, Unpack()]): ...
def on_a_named_tuple(it: Annotated[Pair, Unpack()]): ...


NO_FIELDS = "parameter 'it' is marked Unpack() but is not a model with fields; remove the marker"


@pytest.mark.parametrize(
    "function",
    [
        on_a_root_model,
        on_a_root_model_of_a_model,
        on_a_scalar,
        on_a_scalar_with_a_default,
        on_a_dict,
        on_a_union,
        on_a_named_tuple,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_unpack_on_a_type_without_fields_is_a_mistake(register, function):
    with pytest.raises(ContractError) as raised:
        register(function)
    assert raised.value.mistakes == (NO_FIELDS,)


def in_a_list(items: list[Annotated[Item, Unpack()]]): ...
def in_a_dict(items: dict[str, Annotated[Item, Unpack()]]): ...
def in_a_union(item: Annotated[Item, Unpack()] | int): ...


@pytest.mark.parametrize(
    "function", [in_a_list, in_a_dict, in_a_union], ids=lambda function: function.__name__
)
@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_unpack_marker_in_an_unsupported_place_is_a_mistake(register, function):
    with pytest.raises(ContractError) as raised:
        register(function)
    [mistake] = raised.value.mistakes
    assert mistake.endswith(
        "Unpack() is only honoured on a parameter or field itself; move or remove it"
    )


class Endless(BaseModel):
    x: int
    child: Annotated[Endless | None, Unpack(prefix="c_")] = None


@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_a_model_that_unpacks_itself_is_a_mistake(register):
    def alone(it: Annotated[Endless, Unpack()]): ...
    def beside(it: Annotated[Endless, Unpack(prefix="a_")], other: int): ...

    for tool in (alone, beside):
        with pytest.raises(ContractError) as raised:
            register(tool)
        assert raised.value.mistakes == (
            "field 'child' unpacks a model inside itself, without an end; remove the marker",
        )


def with_args(item: Annotated[Item, Unpack()], *rest: int): ...
def with_kwargs(item: Annotated[Item, Unpack()], **more: int): ...


@pytest.mark.parametrize(("function", "written"), [(with_args, "*rest"), (with_kwargs, "**more")])
@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_variadic_parameters_are_a_mistake(register, function, written):
    with pytest.raises(ContractError) as raised:
        register(function)
    assert raised.value.mistakes == (
        f"parameter {written!r} accepts undeclared names; declare each parameter, "
        'or take a model with extra="allow"',
    )


@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_names_refused_by_some_client_are_reported_all_at_once(register):
    def tool(
        it: Annotated[OddlyNamed, Unpack()], config: int, callbacks: int = 0, run_manager: int = 0
    ): ...

    with pytest.raises(ContractError) as raised:
        register(tool)
    refused = "is not a name every client takes (letters, digits, _; 64 at most); give it an alias"
    reserved = "is reserved: LangChain swallows it on the way; rename it or give it an alias"
    assert raised.value.mistakes == (
        *(f"{name!r} {refused}" for name in ("a-b", "x" * 65, "1st", "")),
        *(f"{name!r} {reserved}" for name in ("config", "callbacks", "run_manager")),
    )


def test_a_prefix_that_makes_bad_names_is_a_mistake():
    def tool(it: Annotated[Person, Unpack(prefix="to-")]): ...

    with pytest.raises(ContractError, match="'to-id' is not a name every client takes"):
        compile_function(tool)


@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
def test_a_name_under_type_checking_is_a_mistake_on_a_wire_parameter(register):
    def tool(it: Annotated[Item, Unpack()], other: Absent, more: list[Absent] | None = None): ...

    with pytest.raises(ContractError) as raised:
        register(tool)
    remedy = (
        "in its annotation cannot be resolved; import it at run time, not only under TYPE_CHECKING"
    )
    assert raised.value.mistakes == (
        f"parameter 'other': the name 'Absent' {remedy}",
        f"parameter 'more': the name 'Absent' {remedy}",
    )


def test_a_name_under_type_checking_is_skipped_on_the_return():
    def tool(it: Annotated[Person, Unpack()]) -> Absent:
        return repr(it)

    expected = {"content": [{"type": "text", "text": "Person(id='x')"}], "isError": False}
    assert handle_bytes(compile_function(tool), b'{"id": "x"}') == expected
    assert unpack_pydantic_params(tool)(id="x") == "Person(id='x')"


def test_a_name_under_type_checking_is_skipped_on_an_injected_parameter():
    def tool(it: Annotated[Person, Unpack()], session: Absent):
        return f"{it!r} {session}"

    contract = compile_function(tool, injected=lambda param, _: param.name == "session")
    expected = {"content": [{"type": "text", "text": "Person(id='x') s"}], "isError": False}
    assert handle_bytes(contract, b'{"id": "x"}', injected={"session": "s"}) == expected


def test_a_context_known_only_under_type_checking_is_still_injected():
    namespace: dict[str, Any] = {}
    exec("def tool(n: int, ctx: 'Context'): return f'{n} {ctx.client}'", namespace)
    expected = {"content": [{"type": "text", "text": "1 me"}], "isError": False}
    assert (
        handle_bytes(compile_function(namespace["tool"]), b'{"n": 1}', context=Context(client="me"))
        == expected
    )


def test_mistakes_of_every_kind_are_reported_at_once():
    def tool(
        item: Annotated[Item, Unpack()], name: str, config: int, other: Absent, *rest: int
    ): ...

    with pytest.raises(ContractError) as raised:
        compile_function(tool)
    words = ("*rest", "'Absent'", "'name'", "'config'")
    told = [next((word for word in words if word in each), each) for each in raised.value.mistakes]
    assert told == ["'Absent'", "*rest", "'name'", "'config'"]


class Node(BaseModel):
    below: list[Node] = []


class AsTypedDict(TypedDict):
    id: int


NO_INSTANCE = "parameter 'it': its default is not an instance of the model; give it one, or None"


@pytest.mark.parametrize("register", [compile_function, unpack_pydantic_params])
@pytest.mark.parametrize(
    ("kind", "default"),
    [
        (Item, 5),
        (Item, {"id": 1, "name": "n"}),
        (Item, Person(id="x")),
        (Item, Item),
        (Item, len),
        (Item | None, {}),
        (Node, Item),
        (AsTypedDict, [1]),
    ],
    ids=repr,
)
def test_a_default_that_is_not_an_instance_of_the_model_is_a_mistake(register, kind, default):
    def tool(it: Annotated[kind, Unpack()] = default): ...

    with pytest.raises(ContractError) as raised:
        register(tool)
    assert raised.value.mistakes == (NO_INSTANCE,)


@pytest.mark.parametrize(
    ("kind", "default"), [(Node, Node()), (AsTypedDict, {"id": 1}), (Item, None)], ids=repr
)
def test_a_default_that_is_an_instance_or_none_is_passed_on(kind, default):
    @unpack_pydantic_params
    def tool(it: Annotated[kind, Unpack()] = default):
        return it

    assert tool() == default


def test_a_type_that_json_cannot_carry_is_named_with_its_parameter():
    class Engine: ...

    def tool(item: Annotated[Item, Unpack()], engine: Engine): ...

    with pytest.raises(ContractError, match="'engine'"):
        compile_function(tool)


class Unfinished(BaseModel):
    part: NeverDefined  # noqa: F821


def test_a_model_that_names_an_undefined_class_is_a_mistake():
    def tool(it: Annotated[Unfinished, Unpack()]): ...

    with pytest.raises(ContractError, match="NeverDefined"):
        compile_function(tool)


def test_a_name_instead_of_a_function_is_answered_with_where_the_name_belongs():
    with pytest.raises(TypeError) as error:
        compile_function("order")
    assert str(error.value) == "'order' is not a function; to name a tool, write name='order'"
