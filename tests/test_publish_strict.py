"""The strict form of a schema: every field required, nothing else allowed, null for "not sent"."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from toolbooth import compile_function, compile_json_schema
from toolbooth.publish.strict import NoStrictForm, strict_schema

TEXT = {"type": "string"}
NULL = {"type": "null"}


class Line(BaseModel):
    sku: Annotated[str, Field(min_length=1, pattern="^A")]
    quantity: Annotated[int, Field(ge=1)] = 1


class Tree(BaseModel):
    children: list["Tree"] = []


def test_every_field_is_required_and_null_leaves_it_out():
    def order(
        lines: list[Line],
        kind: Annotated[Literal["a", "b"], Field(description="The kind.")] = "a",
        note: str | None = None,
        other: Annotated[int | str, Field(examples=[1])] = 1,
    ) -> str:
        return ""

    line = {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "pattern": "^A", "description": "minLength: 1"},
            "quantity": {
                "anyOf": [{"type": "integer", "minimum": 1}, NULL],
                "description": "null for 1",
            },
        },
        "required": ["sku", "quantity"],
        "additionalProperties": False,
    }
    kind = {"type": "string", "enum": ["a", "b"]}
    schema = strict_schema(compile_function(order))
    other = schema["properties"].pop("other")
    assert schema == {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": line},
            "kind": {"anyOf": [kind, NULL], "description": 'The kind. (null for "a")'},
            "note": {"anyOf": [TEXT, NULL]},
        },
        "required": ["lines", "kind", "note", "other"],
        "additionalProperties": False,
    }
    assert other["anyOf"] == [{"anyOf": [{"type": "integer"}, TEXT]}, NULL]
    assert other["description"].endswith("null for 1")


def test_an_optional_field_without_a_default_may_be_left_out():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert strict_schema(compile_json_schema(schema))["properties"]["a"] == {
        "anyOf": [TEXT, NULL],
        "description": "null to leave it out",
    }


@pytest.mark.parametrize(
    ("annotation", "default", "reason"),
    [
        (dict[str, int], {}, "$.value takes any keys"),
        (list[dict[str, int]], [], "$.value[0] takes any keys"),
        (Any, 1, "$.value takes any keys"),
        (str | None, "x", "$.value may be null, and has another default"),
    ],
    ids=["dict", "list of dicts", "any", "nullable with a default"],
)
def test_a_type_without_a_strict_form_names_the_field(annotation: Any, default: Any, reason: str):
    def keep(value=default) -> str:
        return ""

    keep.__annotations__["value"] = annotation
    with pytest.raises(NoStrictForm) as raised:
        strict_schema(compile_function(keep))
    assert str(raised.value) == reason


def test_a_model_that_contains_itself_has_none():
    def keep(tree: Tree) -> str:
        return ""

    with pytest.raises(NoStrictForm):
        strict_schema(compile_function(keep))


def test_an_object_of_any_keys_at_the_root_has_none():
    schema = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}
    with pytest.raises(NoStrictForm, match=r"^\$ takes any keys$"):
        strict_schema(compile_json_schema(schema))
