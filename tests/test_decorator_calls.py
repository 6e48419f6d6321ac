"""`@unpack_pydantic_params`: every way to call a decorated function from Python. The function gets a
validated model, or it is not called.
"""

from collections import OrderedDict
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import Annotated, Any, Optional

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from toolbooth import ToolInputError, Unpack, unpack_pydantic_params


class Query(BaseModel):
    search_query: str
    limit: int = 10


class Wider(Query):
    deep: bool = False


class Other(BaseModel):
    search_query: str = "x"


class Session:
    """A parameter that a host fills."""


@unpack_pydantic_params
def save(
    request: Annotated[Query, Unpack()], times: int = 1, session: Session | None = None
) -> tuple[Query, int, Any]:
    return request, times, session


FLAT_CALL = (
    "Call save(search_query=..., limit=..., times=...), "
    "or give the model itself: request=Query(...)"
)

# --- a dict ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda given: save(request=given),
        lambda given: save(given),
        lambda given: save(given, 1),
        lambda given: save(given, times=1),
        lambda given: save(request=OrderedDict(given)),
    ],
    ids=["by name", "by position", "with a position", "with a name", "a kind of dict"],
)
def test_a_dict_is_validated_as_the_model(call):
    expected = Query(search_query="w", limit=3)
    assert call({"search_query": "w", "limit": 3}) == (expected, 1, None)
    with pytest.raises(ToolInputError):
        call({"limit": 3})


def problems_of(**call):
    with pytest.raises(ToolInputError) as raised:
        save(**call)
    return [(each.code, each.where) for each in raised.value.problems]


def test_dict_with_wrong_values_and_unknown_keys_reports_every_problem():
    assert problems_of(request={"search_query": "w", "limit": "many", "zzz": 1}) == [
        ("wrong-type", "$.request.limit"),
        ("unknown-key", "$.request.zzz"),
    ]


@pytest.mark.parametrize("wrapper", ["request", "data", "Query"])
def test_a_dict_with_a_wrapper_in_it_is_refused(wrapper):
    assert problems_of(request={wrapper: {"search_query": "w"}}) == [
        ("nested-wrapper", f"$.request.{wrapper}")
    ]


def test_plain_parameters_are_not_taken_from_a_dict():
    assert problems_of(request={"search_query": "w", "times": 2}) == [
        ("unknown-key", "$.request.times")
    ]


@pytest.mark.parametrize("key", [1, None, True, b"limit", ("limit",)], ids=repr)
def test_a_dict_with_a_key_that_is_not_text_is_refused(key):
    with pytest.raises(ToolInputError):
        save(request={"search_query": "w", key: 1})


def test_an_instance_is_passed_on_as_it_is_and_so_is_one_of_a_subclass():
    for given in (Query(search_query="a"), Wider(search_query="b"), Query.model_construct(limit=0)):
        for found, _, _ in (save(given), save(request=given)):
            assert found is given


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "ww",
        '{"search_query": "w"}',
        b"w",
        [],
        [("search_query", "w")],
        (Query(search_query="w"),),
        Other(),
        Query,
        MappingProxyType({"search_query": "w"}),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_a_type_error_that_shows_the_flat_call(value):
    expected = f"save() takes Query as 'request', not {type(value).__name__}. {FLAT_CALL}"
    for call in (lambda: save(request=value), lambda: save(value), lambda: save(value, times=1)):
        with pytest.raises(TypeError) as raised:
            call()
        assert str(raised.value) == expected


# --- plain parameters, and parameters of the host -------------------------------------------------


GIVEN = {
    "flat": lambda **more: save(search_query="w", **more),
    "dict": lambda **more: save(request={"search_query": "w"}, **more),
    "instance": lambda **more: save(request=Query(search_query="w"), **more),
    "instance by position": lambda **more: save(Query(search_query="w"), **more),
}


@pytest.mark.parametrize("call", GIVEN.values(), ids=GIVEN)
def test_plain_parameters_are_validated_in_every_call(call):
    assert call(times="5")[1] == 5
    for wrong in ("x", [1], None.__class__, {"times": 1}):
        with pytest.raises(ToolInputError) as raised:
            call(times=wrong)
        assert [each.path for each in raised.value.problems] == [("times",)]


@pytest.mark.parametrize("call", GIVEN.values(), ids=GIVEN)
def test_parameters_of_the_host_are_passed_on_in_every_call(call):
    session = Session()
    assert call(session=session) == (Query(search_query="w"), 1, session)


def test_a_value_that_is_given_twice_is_a_type_error():
    query = Query(search_query="w")
    for call, name in (
        (partial(save, query, request=query), "request"),
        (partial(save, query, 2, times=3), "times"),
        (partial(save, query, 2, None, session=None), "session"),
    ):
        with pytest.raises(TypeError) as raised:
            call()
        assert str(raised.value) == f"save() got multiple values for {name!r}. {FLAT_CALL}"


@pytest.mark.parametrize(
    ("args", "kwargs", "why"),
    [
        ((), {"search_query": "w", "nome": 1}, "got an unexpected keyword argument 'nome'"),
        ((), {"data": {"search_query": "w"}}, "got an unexpected keyword argument 'data'"),
        ((1, 2, 3, 4), {}, "too many positional arguments"),
    ],
    ids=["keyword", "wrapper", "positions"],
)
def test_unknown_argument_is_a_type_error_that_shows_the_flat_call(args, kwargs, why):
    with pytest.raises(TypeError) as raised:
        save(*args, **kwargs)
    assert str(raised.value) == f"save() {why}. {FLAT_CALL}"


def test_a_mixture_of_a_model_and_its_fields_is_a_type_error():
    for whole in ({"search_query": "w"}, Query(search_query="w"), None, 5):
        with pytest.raises(TypeError, match=r"got \['request'\] and flat fields \['limit'\]"):
            save(request=whole, limit=3)

    @unpack_pydantic_params
    def alone(request: Annotated[Query, Unpack()]) -> Query:
        return request

    with pytest.raises(TypeError, match=r"got \['request'\] and flat fields \['limit'\]"):
        alone(Query(search_query="w"), limit=3)


# --- several models, prefixes, None ---------------------------------------------------------------


class Place(BaseModel):
    city: str
    country: str = "NL"


class Order(BaseModel):
    item: Annotated[Query, Unpack(prefix="item_")]
    note: str = ""


@unpack_pydantic_params
def ship(
    order: Annotated[Order, Unpack()],
    to: Annotated[Place, Unpack(prefix="to_")],
    back: Optional[Annotated[Place, Unpack(prefix="back_")]] = None,
) -> tuple[Order, Place, Place | None]:
    return order, to, back


ORDER = Order(item=Query(search_query="w"))
BERN = Place(city="Bern")


@pytest.mark.parametrize(
    "call",
    [
        lambda: ship(item_search_query="w", to_city="Bern"),
        lambda: ship(order=ORDER, to_city="Bern"),
        lambda: ship(ORDER, BERN),
        lambda: ship(ORDER, to={"city": "Bern"}),
        lambda: ship(item_search_query="w", to={"city": "Bern"}, back=None),
        lambda: ship({"item": {"search_query": "w"}}, {"city": "Bern"}, None),
    ],
    ids=["flat", "instance and flat", "instances", "both", "flat and dict", "dicts"],
)
def test_each_of_several_models_can_be_given_in_its_own_way(call):
    assert call() == (ORDER, BERN, None)


def test_a_dict_has_the_fields_of_the_model_itself_without_prefixes():
    for wrong in (
        lambda: ship({"item_search_query": "w"}, BERN),
        lambda: ship(ORDER, {"to_city": "Bern"}),
    ):
        with pytest.raises(ToolInputError):
            wrong()


def test_an_empty_dict_is_a_model_and_not_none():
    with pytest.raises(ToolInputError) as raised:
        ship(ORDER, BERN, {})
    assert [each.where for each in raised.value.problems] == ["$.back.city"]


def test_a_missing_field_of_another_model_is_reported():
    with pytest.raises(ToolInputError) as raised:
        ship(ORDER)
    assert [(each.code, each.where) for each in raised.value.problems] == [("missing", "$.to_city")]


def test_none_is_passed_on_only_where_the_model_may_be_none():
    assert ship(ORDER, BERN, back=None) == (ORDER, BERN, None)
    with pytest.raises(TypeError, match="takes Place as 'to', not NoneType"):
        ship(ORDER, to=None)

    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()] = None) -> Any:
        return place

    assert tool(None) is tool(place=None) is tool() is None


def test_a_dict_replaces_the_default_of_the_whole_model():
    swiss = Place(city="Bern", country="CH")

    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()] = swiss) -> Place:
        return place

    assert tool(city="Utrecht") == Place(city="Utrecht", country="CH")
    assert tool({"city": "Utrecht"}) == Place(city="Utrecht", country="NL")


def test_a_dict_is_refused_in_an_open_model_only_for_wrong_values():
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        name: str

    @unpack_pydantic_params
    def tool(it: Annotated[Open, Unpack()], times: int = 1) -> Open:
        return it

    expected = Open(name="a", more=[1])
    assert tool({"name": "a", "more": [1]}) == tool(name="a", more=[1]) == expected
    with pytest.raises(TypeError, match=r"got \['it'\] and flat fields \['more'\]"):
        tool(Open(name="a"), more=1)
    with pytest.raises(ToolInputError):
        tool({"more": 1})


# --- names ----------------------------------------------------------------------------------------


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    page_size: int = Field(50, alias="pageSize")
    order: str = Field("id", validation_alias=AliasChoices("order", "sort"))


@unpack_pydantic_params
def listing(page: Annotated[Aliased, Unpack(), Field(alias="thePage")]) -> Aliased:
    return page


def test_a_dict_takes_the_names_that_the_model_takes():
    for given in ({"pageSize": 5, "sort": "b"}, {"page_size": 5, "order": "b"}):
        expected = Aliased.model_validate(given)
        assert listing(page=given) == listing(given) == listing(**given) == expected
    with pytest.raises(ToolInputError):
        listing(page={"page_size": 5, "pageSize": 6})


def test_a_parameter_with_an_alias_takes_its_python_name_too():
    @unpack_pydantic_params
    def tool(place: Annotated[Place, Unpack()], count: Annotated[int, Field(alias="n")] = 1) -> Any:
        return place.city, count

    assert tool(city="Bern", n=2) == tool(city="Bern", count=2) == tool(BERN, 2) == ("Bern", 2)
    with pytest.raises(TypeError, match="got multiple values for 'n'"):
        tool(city="Bern", n=2, count=3)


def test_two_spellings_of_one_field_are_a_type_error():
    class Copied(BaseModel):
        number: Annotated[int, Field(alias="copy")]

    @unpack_pydantic_params
    def tool(it: Annotated[Copied, Unpack()]) -> int:
        return it.number

    assert tool(copy=1) == tool(copy_value=1) == 1
    with pytest.raises(TypeError, match="got multiple values for 'copy'"):
        tool(copy=1, copy_value=2)


def test_a_field_named_like_its_parameter_is_the_field_unless_a_model_is_given():
    class Asked(BaseModel):
        request: dict[str, int] | None = None

    @unpack_pydantic_params
    def tool(request: Annotated[Asked | None, Unpack()]) -> Any:
        return request

    expected = Asked(request={"a": 1})
    assert tool(request={"a": 1}) == tool(expected) == tool(request=expected) == expected
    assert tool({"request": {"a": 1}}) == expected
    assert tool(request=None) == Asked(request=None)
    with pytest.raises(ToolInputError):
        tool(request="x")


# --- frameworks -----------------------------------------------------------------------------------


def test_a_function_is_decorated_once():
    assert unpack_pydantic_params(save) is save


def test_the_defaults_of_the_signature_mean_that_nothing_was_sent():
    bound = signature(save).bind(search_query="w")
    bound.apply_defaults()
    found, times, session = save(*bound.args, **bound.kwargs)
    assert found.model_fields_set == {"search_query"}
    assert (times, session) == (1, None)


@pytest.mark.parametrize("number", [10**30, -(2**63) - 1])
def test_an_integer_of_any_length_is_taken(number):
    given = {"search_query": "w", "limit": number}
    assert save(**given)[0].limit == save(given)[0].limit == number
