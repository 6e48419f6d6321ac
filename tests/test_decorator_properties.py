"""`@unpack_pydantic_params`, with random models and calls: the function gets exactly the result of
`Model.model_validate` on the same data, or the call raises.
"""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from toolbooth import ToolInputError, Unpack, unpack_pydantic_params


class Inner(BaseModel):
    x: int
    y: str = "y"


class Flat(BaseModel):
    city: str
    inner: Annotated[Inner, Unpack(prefix="inner_")]


class Kind(NamedTuple):
    """A type of field: valid values, a default, and values that cannot be repaired."""

    hint: Any
    right: list[Any]
    wrong: list[Any]


KINDS = [
    Kind(int, [1, -2, 10**20], ["x", [1], {"a": 1}, 1.5, object()]),
    Kind(str, ["", "text", '{"a": 1}', "null"], [5, [], {"a": "b"}, b"x"]),
    Kind(bool, [True, False], ["x", 2, []]),
    Kind(str | None, [None, "t", "[1]"], [5, {}]),
    Kind(list[int], [[], [1, 2], (3,)], ["x", ["y"], 5, {"a": 1}]),
    Kind(dict[str, int], [{}, {"k": 1}], [{"k": "v"}, {1: 1}, "x"]),
    Kind(date, ["2026-01-02", date(2026, 1, 2)], ["x", {}, []]),
    Kind(Literal["a", "b"], ["a", "b"], ["c", 5]),
    Kind(Inner, [{"x": 1}, {"x": 2, "y": "z"}, Inner(x=3)], [{"x": "q"}, {"z": 1}, 5, Flat]),
    Kind(Inner | date, [{"x": 1}, Inner(x=2), date(2026, 1, 2)], [{"x": []}, [], object()]),
    Kind(Any, [None, 1, "t", [1], {"a": (1,)}], []),
]

# --- random models --------------------------------------------------------------------------------


class Model(NamedTuple):
    kind: Any
    """The class."""
    keys: list[list[str]]
    """Return, for each field, the keys by which it may be given."""
    kinds: list[Kind]
    needed: list[bool]


@st.composite
def models(draw: st.DrawFn) -> Model:
    by_name = draw(st.booleans())
    extra = draw(st.sampled_from(["ignore", "forbid", "allow"]))
    fields: dict[str, Any] = {}
    made = Model(None, [], [], [])
    for index in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(KINDS))
        has_alias, needed = draw(st.booleans()), draw(st.booleans())
        settings: dict[str, Any] = {"alias": f"a{index}"} if has_alias else {}
        if not needed:
            settings["default"] = kind.right[0]
        fields[f"f{index}"] = (kind.hint, Field(**settings))
        names = [f"a{index}", f"f{index}"] if has_alias else [f"f{index}"]
        made.keys.append(names if by_name else names[:1])
        made.kinds.append(kind)
        made.needed.append(needed)
    config = ConfigDict(populate_by_name=by_name, extra=extra)
    return made._replace(kind=create_model("Random", __config__=config, **fields))


@st.composite
def data_for(draw: st.DrawFn, model: Model) -> tuple[dict[str, Any], bool]:
    """Return the data of a call, and whether all of it is valid."""
    data: dict[str, Any] = {}
    right = True
    for keys, kind, needed in zip(model.keys, model.kinds, model.needed, strict=True):
        how = draw(st.sampled_from(["right", "right", "right", "left out", "wrong"]))
        if how == "left out":
            right = right and not needed
            continue
        is_wrong = how == "wrong" and bool(kind.wrong)
        values = kind.wrong if is_wrong else kind.right
        data[draw(st.sampled_from(keys))] = draw(st.sampled_from(values))
        right = right and not is_wrong
    if draw(st.integers(0, 4)) == 0:
        # Not only scalars: an undeclared key that holds an object is a wrapper.
        data[draw(st.sampled_from(["more", "data", "request"]))] = draw(
            st.sampled_from([1, {"f0": 1}, None])
        )
        right = False
    return data, right


# --- random calls ---------------------------------------------------------------------------------

Call = Callable[[Any, str, dict[str, Any], dict[str, Any]], Any]

CALLS: dict[str, Call] = {
    "flat": lambda tool, prefix, data, more: tool(
        **{prefix + key: value for key, value in data.items()}, **more
    ),
    "dict by name": lambda tool, prefix, data, more: tool(request=data, **more),
    "dict by position": lambda tool, prefix, data, more: tool(data, **more),
    "all by position": lambda tool, prefix, data, more: tool(data, *more.values()),
}


def validated(model: Any, data: dict[str, Any]) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError:
        return None


@given(data=st.data(), how=st.sampled_from(sorted(CALLS)), prefix=st.sampled_from(["", "p_"]))
def test_function_gets_the_validated_model_or_the_call_raises(
    data: st.DataObject, how: str, prefix: str
):
    model = data.draw(models())
    given_data, right = data.draw(data_for(model))
    times = data.draw(st.sampled_from([None, 2, "2", "x", [1]]))
    more = {} if times is None else {"times": times}
    calls: list[tuple[Any, Any]] = []

    @unpack_pydantic_params
    def tool(request: Annotated[model.kind, Unpack(prefix=prefix)], times: int = 1) -> None:
        calls.append((request, times))

    try:
        CALLS[how](tool, prefix, given_data, more)
    except (ToolInputError, TypeError):
        assert calls == []
        assert not right or times in ("x", [1])
        return
    expected = validated(model.kind, given_data)
    [(found, plain)] = calls
    assert type(found) is model.kind
    assert found == expected
    assert found.model_fields_set == expected.model_fields_set
    assert plain == (1 if times is None else 2)


@given(data=st.data())
def test_an_instance_is_passed_on_unchanged_and_all_other_arguments_are_validated(
    data: st.DataObject,
):
    model = data.draw(models())
    values, _ = data.draw(data_for(model))
    instance = model.kind.model_construct(**values)
    times = data.draw(st.sampled_from([1, "x"]))

    @unpack_pydantic_params
    def tool(
        request: Annotated[model.kind, Unpack()],
        other: Annotated[Inner, Unpack(prefix="o_")],
        times: int,
    ) -> Any:
        return request, other, times

    for call in (
        lambda: tool(instance, o_x=1, times=times),
        lambda: tool(instance, {"x": 1}, times),
        lambda: tool(request=instance, other=Inner(x=1), times=times),
    ):
        if times == "x":
            with pytest.raises(ToolInputError):
                call()
        else:
            found, other, _ = call()
            assert found is instance
            assert other == Inner(x=1)


NOT_MODELS = st.one_of(
    st.none(),
    st.integers(),
    st.text(),
    st.binary(),
    st.floats(),
    st.lists(st.integers()),
    st.tuples(st.integers()),
    st.sampled_from([Inner(x=1), Flat, object(), date(2026, 1, 2)]),
)


@given(model=models(), value=NOT_MODELS, by_name=st.booleans())
def test_value_that_is_neither_the_model_nor_a_dict_is_a_type_error(
    model: Model, value: Any, by_name: bool
):
    @unpack_pydantic_params
    def tool(request: Annotated[model.kind, Unpack()]) -> None:
        raise AssertionError(request)

    with pytest.raises(TypeError, match=r"^tool\(\) takes Random as 'request', not .* Call tool\("):
        tool(request=value) if by_name else tool(value)


VALUES = st.sampled_from([1, "t", None, {}, {"x": 1}, {"x": "q"}, {"x": 1, "z": 2}, Inner(x=1), []])


@given(
    data=st.dictionaries(st.sampled_from(["city", "inner", "inner_x", "x", "request"]), VALUES),
    optional=st.booleans(),
)
def test_dict_for_a_model_with_unpacked_fields_is_validated_as_the_model(
    data: dict[str, Any], optional: bool
):
    hint = Annotated[Flat | None, Unpack()] if optional else Annotated[Flat, Unpack()]

    @unpack_pydantic_params
    def tool(request: hint) -> Any:
        return request

    try:
        found = tool(data)
    except ToolInputError:
        expected = validated(Flat, data)
        assert expected is None or not is_exact(data)
    else:
        assert is_exact(data)
        assert found == Flat.model_validate(data)


def is_exact(data: dict[str, Any]) -> bool:
    """Return whether the data has no key that the model ignores."""
    inner = data.get("inner")
    keys = inner.keys() if isinstance(inner, dict) else set()
    return data.keys() <= {"city", "inner"} and keys <= {"x", "y"}
