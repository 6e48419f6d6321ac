"""A refusal names the place of a validator's exception, at every depth."""

from collections.abc import Iterator
from typing import Annotated, Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel

from toolbooth import compile_function, handle_arguments


def explodes(value: str) -> str:
    if value == "boom":
        raise ZeroDivisionError
    return value


class Node(BaseModel):
    label: Annotated[str, AfterValidator(explodes)]
    items: "list[Node]" = []
    by_name: "dict[str, Node]" = {}


class Choice(BaseModel):
    label: Annotated[str, AfterValidator(explodes)]
    items: "list[Choice | int]" = []
    by_name: "dict[str, Choice | int]" = {}


def take_node(value: Node) -> str:
    return "ran"


def take_choice(value: Choice) -> str:
    return "ran"


NODE, CHOICE = compile_function(take_node), compile_function(take_choice)


def nodes(others: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    labels = st.sampled_from(["", "a", "boom"])
    names = st.text("xyz", min_size=1, max_size=2)
    return st.recursive(
        st.fixed_dictionaries({"label": labels}),
        lambda inner: st.fixed_dictionaries(
            {"label": labels},
            optional={
                "items": st.lists(inner | others, max_size=3),
                "by_name": st.dictionaries(names, inner | others, max_size=3),
            },
        ),
        max_leaves=8,
    )


def booms(node: Any, path: str) -> Iterator[str]:
    """Yield the places of the labels on which the validator fails, in the order of the fields."""
    if not isinstance(node, dict):
        return
    if node["label"] == "boom":
        yield f"{path}.label"
    for index, each in enumerate(node.get("items", ())):
        yield from booms(each, f"{path}.items[{index}]")
    for key, each in node.get("by_name", {}).items():
        yield from booms(each, f"{path}.by_name.{key}")


def refused_paths(contract: Any, node: Any) -> list[str]:
    result = handle_arguments(contract, {"value": node})
    meta = result.get("_meta", {}).get("toolbooth", {})
    return [each["path"] for each in meta.get("problems", ())]


@given(nodes(st.nothing()))
def test_the_place_of_every_failure_is_named(node):
    assert refused_paths(NODE, node) == list(booms(node, "$.value"))


@given(nodes(st.integers()))
def test_in_unions_the_first_failure_is_named(node):
    """In a union, Pydantic stops at the exception."""
    assert refused_paths(CHOICE, node) == list(booms(node, "$.value"))[:1]
