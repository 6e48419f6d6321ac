"""`@unpack_pydantic_params`: every kind of model and of function, and values that are not JSON, in
calls from Python.
"""

import asyncio
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NewType, TypeVar

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from typing_extensions import TypeAliasType, TypedDict

from toolbooth import Context, ToolInputError, Unpack, unpack_pydantic_params


class Place(BaseModel):
    city: str
    country: str = "NL"


class Other(BaseModel):
    search_query: str = "x"


class Session:
    """A parameter that a host fills."""


BERN = Place(city="Bern")

# --- kinds of models and of functions -------------------------------------------------------------


class AsTypedDict(TypedDict):
    city: str


@dataclass
class AsDataclass:
    city: str


T = TypeVar("T", bound=Place)


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        (AsTypedDict, {"city": "Bern"}),
        (AsDataclass, AsDataclass("Bern")),
        (NewType("Town", Place), BERN),
        (TypeAliasType("Alias", Place), BERN),
        (TypeAliasType("Nested", Annotated[Place, "a note"]), BERN),
        (T, BERN),
    ],
    ids=["TypedDict", "dataclass", "NewType", "alias", "alias of Annotated", "TypeVar"],
)
def test_every_kind_of_model_is_validated(kind, made):
    @unpack_pydantic_params
    def tool(it: Annotated[kind, Unpack()]) -> Any:
        return it

    assert tool(city="Bern") == tool({"city": "Bern"}) == tool(it={"city": "Bern"}) == made
    assert tool(made) == made
    for wrong in ({"city": 5}, {"town": "Bern"}, {"city": "Bern", "more": 1}):
        with pytest.raises(ToolInputError):
            tool(wrong)
    with pytest.raises(TypeError):
        tool(Other())


def test_a_validator_of_the_parameter_runs_for_a_dict_and_not_for_an_instance():
    def shout(place: Place) -> Place:
        return place.model_copy(update={"city": place.city.upper()})

    @unpack_pydantic_params
    def tool(place: Annotated[Place, AfterValidator(shout), Unpack()]) -> str:
        return place.city

    assert tool(city="Bern") == tool({"city": "Bern"}) == "BERN"
    assert tool(BERN) == "Bern"


def in_an_async_function():
    @unpack_pydantic_params
    async def tool(place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
        return [place, n]

    return lambda *args, **kwargs: asyncio.run(tool(*args, **kwargs))


def in_a_generator():
    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()], n: int = 0):
        yield place
        yield n

    return lambda *args, **kwargs: list(tool(*args, **kwargs))


def in_an_async_generator():
    @unpack_pydantic_params
    async def tool(place: Annotated[Place, Unpack()], n: int = 0):
        yield place
        yield n

    async def collect(made):
        return [each async for each in made]

    return lambda *args, **kwargs: asyncio.run(collect(tool(*args, **kwargs)))


def in_a_method():
    class Shop:
        @unpack_pydantic_params
        def tool(self, place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
            return [place, n]

    return Shop().tool


def in_a_class_method():
    class Shop:
        @unpack_pydantic_params
        @classmethod
        def tool(cls, place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
            return [place, n]

    return Shop.tool


def in_a_static_method():
    class Shop:
        @unpack_pydantic_params
        @staticmethod
        def tool(place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
            return [place, n]

    return Shop.tool


def in_a_partial():
    def tool(session: Session, place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
        return [place, n]

    return unpack_pydantic_params(partial(tool, Session()))


def in_a_callable_object():
    class Tool:
        def __call__(self, place: Annotated[Place, Unpack()], n: int = 0) -> list[Any]:
            return [place, n]

    return unpack_pydantic_params(Tool())


def in_a_positional_parameter():
    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()], /, n: int = 0) -> list[Any]:
        return [place, n]

    return tool


FUNCTIONS = [
    in_an_async_function,
    in_a_generator,
    in_an_async_generator,
    in_a_method,
    in_a_class_method,
    in_a_static_method,
    in_a_partial,
    in_a_callable_object,
    in_a_positional_parameter,
]


@pytest.mark.parametrize("make", FUNCTIONS, ids=lambda make: make.__name__)
def test_every_kind_of_function_gets_validated_models(make):
    tool = make()
    for found in (tool(city="Bern", n=1), tool(BERN, n=1), tool({"city": "Bern"}, n="1")):
        assert found == [BERN, 1]
    for wrong in (None, 5, Other()):
        with pytest.raises(TypeError, match="takes Place as 'place'"):
            tool(wrong)
    for wrong in ({"city": 5}, {"data": {"city": "Bern"}}):
        with pytest.raises(ToolInputError):
            tool(wrong)
    with pytest.raises(ToolInputError):
        tool(BERN, n="x")


def test_a_generator_function_refuses_at_the_call_and_not_at_the_first_item():
    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()]):
        yield place

    with pytest.raises(ToolInputError):
        tool(city=5)


FUTURE = """
from __future__ import annotations
from typing import Annotated
from pydantic import BaseModel
from toolbooth import Context, Unpack, unpack_pydantic_params

class Place(BaseModel):
    city: str

@unpack_pydantic_params
def tool(context: Context, place: Annotated[Place, Unpack()]):
    return place, context
"""


def test_string_annotations_are_resolved():
    module: dict[str, Any] = {"__name__": "future"}
    exec(compile(FUTURE, "future.py", "exec", dont_inherit=True), module)
    tool, place = module["tool"], module["Place"](city="Bern")
    own = Context()
    assert tool(city="Bern") == (place, Context())
    assert tool(own, place)[1] is own
    assert tool(place=place) == tool(place={"city": "Bern"}) == (place, Context())


# --- Python values --------------------------------------------------------------------------------


class Person(BaseModel):
    name: str
    token: SecretStr = SecretStr("-")
    born: date | None = None
    home: Place | Other | None = None
    photo: Path | None = None
    height: Decimal = Decimal(0)
    by_number: dict[int, str] = {}


@unpack_pydantic_params
def register(person: Annotated[Person, Unpack()], since: date | None = None) -> Person:
    return person


PYTHON_VALUES = {
    "a secret": {"token": SecretStr("abc")},
    "a date": {"born": date(2026, 1, 2)},
    "a model in a union": {"home": BERN},
    "a path": {"photo": Path("a.png")},
    "a decimal": {"height": Decimal("1.80")},
    "keys that are numbers": {"by_number": {1: "one"}},
}


@pytest.mark.parametrize("values", PYTHON_VALUES.values(), ids=PYTHON_VALUES)
def test_values_that_are_not_json_are_validated_by_the_model_itself(values):
    given = {"name": "Ann", **values}
    expected = Person.model_validate(given)
    assert register(**given) == register(given) == register(person=given) == expected
    with pytest.raises(ToolInputError):
        register(**values)
    with pytest.raises(ToolInputError):
        register({**given, "more": 1})


def test_undeclared_keys_are_refused_beside_python_values_at_any_depth():
    with pytest.raises(ToolInputError) as raised:
        register(name="Ann", born=date(2026, 1, 2), home={"city": "Bern", "zip": 1})
    assert raised.value.problems


def test_a_dict_in_a_union_is_validated_against_the_branch_it_matches():
    given = {"name": "Ann", "home": {"city": "Bern"}}
    assert register(given) == register(**given) == Person(name="Ann", home=BERN)


def test_a_number_as_a_key_is_not_turned_into_text():
    class Counts(BaseModel):
        by_name: dict[str, int]

    @unpack_pydantic_params
    def tool(it: Annotated[Counts, Unpack()]) -> Counts:
        return it

    with pytest.raises(ToolInputError):
        tool(by_name={1: 2})


def test_numbers_that_json_does_not_have_are_refused():
    class Measured(BaseModel):
        value: float | None

    @unpack_pydantic_params
    def tool(it: Annotated[Measured, Unpack()]) -> float | None:
        return it.value

    assert tool(value=None) is tool({"value": None}) is None
    for number in (float("nan"), float("inf")):
        with pytest.raises(ToolInputError):
            tool(value=number)
        with pytest.raises(ToolInputError):
            tool({"value": number})


def test_a_value_that_contains_itself_is_refused():
    class Free(BaseModel):
        value: Annotated[list[Any], Field(description="e.g. [1]")]

    @unpack_pydantic_params
    def tool(it: Annotated[Free, Unpack()]) -> None: ...

    endless: list[Any] = []
    endless += [endless, endless]
    for call in (lambda: tool(value=endless), lambda: tool({"value": endless})):
        with pytest.raises((ToolInputError, ValueError)):
            call()
