"""Unions of models that contain the union again: the forms are counted before they are tried, and
none is tried twice.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from toolbooth import JsonText, compile_function, compile_json_schema, handle_bytes


class Left(BaseModel):
    x: Annotated[int, Field(le=9)] = 0
    child: Left | Right | None = None
    other: Left | Right | None = None


class Right(BaseModel):
    y: int = 0
    child: Left | Right | None = None


class Plus(BaseModel):
    kind: Literal["plus"]
    term: Term | int = 0


class Minus(BaseModel):
    kind: Literal["minus"]
    term: Term | int = 0


Term = Annotated[Plus | Minus, Field(discriminator="kind")]
Plus.model_rebuild()
Minus.model_rebuild()


def plant(tree: Left | Right, label: str = "") -> Any:
    return {"tree": tree.model_dump(exclude_unset=True)}


def plant_text(tree: Annotated[Left | Right, JsonText()]) -> Any:
    return {"tree": tree.model_dump(exclude_unset=True)}


def plant_texts(
    tree: Annotated[Left | Right, JsonText()], second: Annotated[Left | Right, JsonText()]
) -> Any:
    return {"trees": [each.model_dump(exclude_unset=True) for each in (tree, second)]}


def plant_forest(forest: list[Left | Right]) -> int:
    return len(forest)


def calculate(term: Term) -> Any:
    return {"term": term.model_dump(exclude_unset=True)}


def nested(depth: int, leaf: Any, **beside: Any) -> Any:
    key = "term" if beside else "child"
    for _ in range(depth):
        leaf = {**beside, key: leaf}
    return leaf


def answer(function: Any, arguments: Any) -> Any:
    return handle_bytes(compile_function(function), json.dumps(arguments).encode())


def test_a_valid_tree_of_14_levels_is_accepted_unchanged():
    tree = nested(14, {"x": 5})
    assert answer(plant, {"tree": tree}) == {
        "content": [{"type": "text", "text": json.dumps({"tree": tree}, separators=(",", ":"))}],
        "structuredContent": {"tree": tree},
        "isError": False,
    }


TOO_COMPLEX = (
    "is nested so deep that more than 100,000 combinations of forms would have to be tried; "
    "send it less deep"
)


@pytest.mark.parametrize(
    ("function", "sent"),
    [
        pytest.param(plant, {"tree": nested(150, {"x": 5})}, id="object"),
        pytest.param(plant, {"tree": json.dumps(nested(150, {"x": 5}))}, id="JSON text"),
        pytest.param(plant_text, {"tree": json.dumps(nested(150, {"x": 5}))}, id="declared text"),
        pytest.param(plant, json.dumps({"tree": nested(150, {"x": 5})}), id="all in a text"),
    ],
)
def test_too_many_union_combinations_are_refused_before_validation(function, sent):
    assert answer(function, sent)["_meta"]["toolbooth"] == {
        "code": -32602,
        "problems": [{"code": "too-complex", "path": "$.tree", "message": TOO_COMPLEX}],
    }


def test_a_published_schema_with_recursive_unions_is_guarded_too():
    schema = dict(compile_function(plant).schema)
    contract = compile_json_schema(schema, name="plant", function=dict)
    deep = json.dumps({"tree": nested(150, {"x": 5})}).encode()
    [problem] = handle_bytes(contract, deep)["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("too-complex", "$.tree")
    right = json.dumps({"tree": nested(6, {"x": 5})}).encode()
    assert not handle_bytes(contract, right)["isError"]


def test_tagged_unions_have_no_limit_of_combinations():
    term = nested(60, 1, kind="plus")
    assert answer(calculate, {"term": term})["structuredContent"] == {"term": term}


@pytest.mark.parametrize("depth", [3, 12])
def test_a_wrong_leaf_is_found_and_named_at_any_depth(depth):
    result = answer(plant, {"tree": nested(depth, {"x": "bad"})})
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("wrong-type", f"$.tree{'.child' * depth}.x")


def test_a_leaf_out_of_bounds_is_named_among_thousands_of_objections():
    result = answer(plant, {"tree": nested(10, {"x": 10})})
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("invalid", f"$.tree{'.child' * 10}.x")
    assert "corrected" not in result["_meta"]["toolbooth"]


def test_a_number_as_text_is_repaired_at_any_depth():
    result = answer(plant, {"tree": nested(10, {"x": "5"})})
    assert result["structuredContent"] == {"tree": nested(10, {"x": 5})}
    path = f"$.tree{'.child' * 10}.x"
    assert result["_meta"]["toolbooth"]["repairs"] == [{"code": "scalar-text", "path": path}]


def plant_garden(
    trees: list[Left | Right] = [],  # noqa: B006
    ash: Left | Right | None = None,
    oak: Left | Right | None = None,
    elm: Left | Right | None = None,
    fir: Left | Right | None = None,
) -> Any:
    single = [each for each in (ash, oak, elm, fir) if each is not None]
    return {"trees": len(trees), "single": len(single)}


DEEP = nested(14, {"x": 5})
DEEPER = nested(15, {"x": 5})
IN_ALL = (
    "is nested so deep that, with the other fields, more than 100,000 combinations of forms would "
    "have to be tried; send it less deep"
)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"trees": [DEEP], "oak": DEEP, "elm": DEEP}, id="three fields"),
        pytest.param({"trees": [DEEP] * 3}, id="three items"),
        pytest.param({"oak": DEEPER, "elm": DEEP}, id="two, one deeper"),
    ],
)
def test_right_trees_pass_together_up_to_three_of_14_levels(sent):
    assert answer(plant_garden, sent)["structuredContent"] == {
        "trees": len(sent.get("trees", [])),
        "single": len(sent.keys() - {"trees"}),
    }


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        pytest.param({"oak": DEEPER, "trees": [DEEPER]}, {"$.oak": IN_ALL}, id="two fields"),
        pytest.param(
            {"ash": DEEP, "oak": DEEP, "elm": DEEPER, "fir": DEEP},
            {"$.elm": IN_ALL},
            id="the deepest of four",
        ),
        pytest.param(
            dict.fromkeys(("ash", "oak", "elm", "fir"), DEEPER),
            {"$.ash": IN_ALL, "$.oak": IN_ALL, "$.elm": IN_ALL},
            id="all but one",
        ),
        pytest.param(
            {"oak": DEEP, "elm": nested(90, {"x": 5}), "trees": [DEEPER, DEEPER]},
            {"$.elm": TOO_COMPLEX, "$.trees": TOO_COMPLEX},
            id="some by themselves",
        ),
    ],
)
def test_the_tries_of_all_fields_count_together(sent, refused):
    result = answer(plant_garden, sent)
    assert result["isError"]
    problems = result["_meta"]["toolbooth"]["problems"]
    assert [each["code"] for each in problems] == ["too-complex"] * len(refused)
    assert {each["path"]: each["message"] for each in problems} == refused


@pytest.mark.parametrize("depth", [14, 60])
@pytest.mark.parametrize(
    ("sent", "path", "edits"),
    [
        pytest.param(
            lambda tree: {"data": {"tree": tree}}, "$.data", ["move $.data.* to $"], id="wrapper"
        ),
        pytest.param(
            lambda tree: {"Tree": tree}, "$.Tree", ['rename $.Tree to "tree"'], id="other case"
        ),
    ],
)
def test_a_correction_that_takes_too_long_to_check_is_only_given_as_edits(
    depth: int, sent: Any, path: str, edits: list[str]
):
    details = answer(plant, sent(nested(depth, {"x": 5})))["_meta"]["toolbooth"]
    assert [each["path"] for each in details["problems"]] == [path]
    assert "corrected" not in details
    assert details["edits"] == edits
    # A short one is checked, and given as a whole.
    short = nested(3, {"x": 5})
    assert answer(plant, sent(short))["_meta"]["toolbooth"]["corrected"] == {"tree": short}


def test_an_undeclared_key_beside_a_deep_tree_is_refused():
    result = answer(plant, {"tree": nested(10, {"x": 5}), "labl": "a"})
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("unknown-key", "$.labl")


LEAVES = st.sampled_from([{}, {"x": 1}, {"y": 1}, {"x": "bad"}, {"x": 10}, {"z": 1}, 5, None])
TREES = st.recursive(
    LEAVES,
    lambda below: st.fixed_dictionaries(
        {}, optional={"x": st.integers(0, 12), "child": below, "other": below}
    ),
    max_leaves=12,
)


@given(TREES)
def test_accepted_values_equal_the_ones_of_pydantic(tree):
    """The trees have every declared key; undeclared ones are refused here and dropped by Pydantic."""
    result = answer(plant, {"tree": tree})
    if not result["isError"]:
        alone = TypeAdapter(Left | Right).validate_python(tree, strict=False)
        assert result["structuredContent"] == {"tree": alone.model_dump(exclude_unset=True)}
    elif '"z"' not in json.dumps(tree):
        with pytest.raises(ValidationError):
            TypeAdapter(Left | Right).validate_python(tree, extra="forbid")


@pytest.mark.parametrize(("label", "is_refused"), [("a" * 70_000, False), (5, True)])
def test_a_large_call_with_such_unions_is_examined_before_it_is_validated(
    label: Any, is_refused: bool
):
    tree = nested(3, {"x": 5})
    body = json.dumps({"tree": tree, "label": label}).encode() + b" " * 70_000
    result = handle_bytes(compile_function(plant), body)
    assert result["isError"] == is_refused
    if not is_refused:
        assert result["structuredContent"] == {"tree": tree}


def test_the_same_json_text_in_two_places_is_examined_once():
    tree = nested(6, {"x": 5})
    text = json.dumps(tree)
    result = answer(plant_texts, {"tree": text, "second": text})
    assert result["structuredContent"] == {"trees": [tree, tree]}


@pytest.mark.parametrize("item", [{}, "{}"], ids=["objects", "JSON text"])
@pytest.mark.parametrize(("count", "codes"), [(50_000, []), (50_001, ["too-complex"])])
def test_an_empty_tree_counts_once_for_each_of_its_forms(item, count, codes):
    details = answer(plant_forest, {"forest": [item] * count}).get("_meta", {}).get("toolbooth", {})
    assert [each["code"] for each in details.get("problems", [])] == codes


class Up(BaseModel):
    step: int = 0
    further: Up | Down | None = None


class Down(BaseModel):
    step: int = 0
    further: Up | Down | None = None


def climb(path: Up | Down) -> str:
    return type(path).__name__


def test_of_forms_with_the_same_fields_the_first_is_reported():
    assert answer(climb, {"path": {"further": {"step": 1}}})["content"][0]["text"] == "Up"
    result = answer(climb, {"path": {"further": {"step": "bad"}}})
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("wrong-type", "$.path.further.step")
