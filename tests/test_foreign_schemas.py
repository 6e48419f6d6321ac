"""Random foreign schemas: a valid call is never changed, and an invalid one never accepted as sent.

A JSON Schema validator decides which calls are valid. It does not know the law, so the law may
refuse a valid call: objects are closed by default.
"""

import json
from typing import Any

import jsonschema_rs
from foreign_tool import ForeignTool
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

from toolbooth import ContractError
from toolbooth.jsonvalue import same_json
from toolbooth.publish import ANY_ITEMS, input_schema

NAMES = ["a", "b", "kind", "x1", "x2"]
PATTERNS = ["^x", "1$", "a|b"]
Strategy = st.SearchStrategy[Any]

names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)
leaves: Strategy = st.sampled_from(
    [
        True,
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object"},
        {"type": "array"},
        {"type": ["string", "object"]},
        {"type": ["integer", "null"]},
        {"const": {"a": 1}},
        {"enum": ["a", 5]},
        {"$ref": "#/$defs/node"},
    ]
)
scalars = st.sampled_from(
    [1, 5, 5.0, 2.5, True, None, "", "a", "5", "true", "null", "hello", '{"a": 1}', "[1]"]
)
values: Strategy = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3), st.lists(inner, max_size=2)
    ),
    max_leaves=6,
)
calls = st.dictionaries(st.sampled_from(NAMES), values, max_size=4)


def objects(inner: Strategy) -> Strategy:
    """Every keyword that declares keys, with explicit types, because Toolbooth infers a missing
    type.
    """
    tables = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3)
    patterns = st.dictionaries(st.sampled_from(PATTERNS), inner, min_size=1, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    others = st.one_of(st.booleans(), inner)
    kinds = st.sampled_from(["object", ["object", "string"], ["object", "array"]])
    return st.fixed_dictionaries(
        {"type": kinds},
        optional={
            "properties": tables,
            "required": names,
            "patternProperties": patterns,
            "additionalProperties": others,
            "unevaluatedProperties": others,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": tables,
            "dependentRequired": st.dictionaries(st.sampled_from(NAMES), names, max_size=1),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
        },
    )


@st.composite
def tools(draw: st.DrawFn) -> tuple[dict[str, Any], ForeignTool]:
    inner = st.recursive(leaves, objects, max_leaves=4)
    node = {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": draw(leaves)}}
    schema = {**draw(objects(inner)), "type": "object", "$defs": {"node": node}}
    try:
        return schema, ForeignTool(schema)
    except ContractError:  # no object is valid
        reject()


LAW = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=120,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


@LAW
@given(tools(), st.lists(calls, min_size=1, max_size=8))
def test_a_valid_call_is_not_changed_and_an_invalid_one_not_accepted(
    made: tuple[dict[str, Any], ForeignTool], sent: list[Any]
):
    schema, tool = made
    judge = jsonschema_rs.validator_for(schema)
    for arguments in sent:
        found = tool.outcome(json.dumps(arguments).encode())
        note(f"{json.dumps(schema)}\n{arguments}\n{found}")
        is_valid = judge.is_valid(arguments)
        if isinstance(found, list):
            # A valid call is refused only for a key: objects are closed by default.
            about_keys = [code in ("unknown-key", "nested-wrapper") for code, _, _ in found]
            assert not is_valid or any(about_keys)
        elif found[1]:
            assert not is_valid
            assert judge.is_valid(found[0])
        else:
            assert is_valid
            assert same_json(found[0], arguments)


def without_the_limit(schema: Any) -> Any:
    """Replace `ANY_ITEMS` with its meaning: portable has to end there before exact does."""
    if isinstance(schema, list):
        return [without_the_limit(item) for item in schema]
    if not isinstance(schema, dict) or schema == ANY_ITEMS:
        return True if schema == ANY_ITEMS else schema
    return {key: without_the_limit(each) for key, each in schema.items()}


def has_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return value is None or (isinstance(value, dict | list) and any(map(has_null, inner)))


@LAW
@given(tools(), st.lists(calls.filter(lambda call: not has_null(call)), min_size=1, max_size=8))
def test_arguments_accepted_without_repair_fit_the_published_schema(
    made: tuple[dict[str, Any], ForeignTool], sent: list[Any]
):
    schema, tool = made
    published = input_schema(tool.contract)
    listed = jsonschema_rs.validator_for(without_the_limit(published))
    for arguments in sent:
        found = tool.outcome(json.dumps(arguments).encode())
        note(f"{json.dumps(schema)}\n{json.dumps(published)}\n{arguments}\n{found}")
        if isinstance(found, tuple) and not found[1]:
            listed.validate(arguments)
