"""No fix adds a finding, each removes all findings of its rule, and no schema makes the lint fail."""

from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from toolbooth.lint.apply import Harm, apply_fixes, harms
from toolbooth.lint.catalogue import RULES
from toolbooth.lint.check import Report, lint
from toolbooth.lint.schemas import inlined

FIXABLE = [rule for rule in RULES.values() if rule.fix]
NAMES = st.sampled_from(["a", "b", "value", "properties", "a/b", "ü", "$ref"])
TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "date", "uri"])
REFS = st.sampled_from(
    [
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/definitions/a",
        "#/$defs/none",
        "https://example.org/s",
        "#a",
    ]
)
BOUNDS = st.integers(0, 9)


def schemas(depth: int) -> st.SearchStrategy[Any]:
    """JSON Schemas of every vocabulary, valid except for the patterns that the rules look for."""
    inner = st.deferred(lambda: schemas(depth - 1)) if depth else st.just({"type": "string"})
    named = st.dictionaries(NAMES, inner, max_size=3)
    several = st.lists(inner, min_size=1, max_size=3)
    keywords = {
        "type": st.sampled_from(TYPES)
        | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        "description": st.sampled_from(["", "Text", "at most 3"]),
        "title": st.just("T"),
        "default": SCALARS | st.lists(SCALARS, max_size=2),
        "const": SCALARS,
        "enum": st.lists(SCALARS | st.lists(SCALARS, max_size=1), min_size=1, max_size=3),
        "format": st.sampled_from(["date", "date-time", "uuid", "int64"]),
        "pattern": st.just("^a$"),
        "minimum": BOUNDS,
        "exclusiveMinimum": BOUNDS | st.booleans() | st.just(0.5),
        "exclusiveMaximum": BOUNDS | st.booleans(),
        "multipleOf": st.integers(1, 5),
        "maxLength": BOUNDS,
        "minItems": BOUNDS,
        "uniqueItems": st.booleans(),
        "maxProperties": BOUNDS,
        "properties": named,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
        "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=1),
        "dependencies": st.dictionaries(NAMES, inner | st.lists(NAMES, max_size=2), max_size=1),
        "items": inner | several,
        "prefixItems": several,
        "contains": inner,
        "anyOf": several,
        "oneOf": several,
        "allOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "$ref": REFS,
        "$defs": named,
        "definitions": named,
        "$anchor": st.just("a"),
        "contentSchema": inner,
        "contentMediaType": st.just("application/json"),
        "x-mcp-header": st.sampled_from(["A", "b c"]),
    }
    picked = st.lists(st.sampled_from(sorted(keywords)), max_size=5, unique=True)
    made = picked.flatmap(lambda keys: st.fixed_dictionaries({key: keywords[key] for key in keys}))
    return made | st.booleans() if depth < 2 else made


JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "uuid"}, {"type": "string", "description": "UUID"}),
        (
            {"type": "string", "format": "uri", "description": "Where"},
            {"type": "string", "description": "Where (URL)"},
        ),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "one of 1, 2"}),
        (
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "number", "description": "more than 0"},
        ),
        (
            {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many, 1 or more"},
            {
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "description": "How many, 1 or more (at most 50)",
            },
        ),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": True},
            {
                "type": "array",
                "items": {"type": "string", "maxLength": 3, "description": "at most 3 characters"},
                "uniqueItems": True,
                "description": "no item twice",
            },
        ),
        (
            {"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}], "default": None},
            {"type": "string", "enum": ["a"]},
        ),
        ({"const": 2}, {"type": "integer", "description": "one of 2"}),
    ],
)
def test_fix_keeps_the_meaning_of_the_schema(schema: dict[str, Any], expected: dict[str, Any]):
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"p": schema}}}
    assert apply_fixes(lint([tool])) == [
        {"name": "t", "inputSchema": {"type": "object", "properties": {"p": expected}}}
    ]


def test_tool_without_findings_is_not_changed_by_fixes():
    tool = {
        "name": "t",
        "title": "T",
        "inputSchema": {"title": "kept", "type": "object", "properties": {}},
    }
    assert apply_fixes(lint([tool])) == [tool]


DIALECTS = st.fixed_dictionaries(
    {}, optional={"$schema": st.just("http://json-schema.org/draft-07/schema#")}
)


def is_size(rule: str) -> bool:
    """Whether a rule is about size or number."""
    return rule in ("large-tool", "deep-schema", "many-properties", "many-values")


def found(report: Report, schema: Any) -> set[Harm]:
    """Return the clients that the tool affects, by place. A definition counts at each place that
    refers to it.
    """
    written_out = lint([{"name": "t", "inputSchema": inlined(schema)}], only=report.clients)
    others = [each for each in written_out.findings if not is_size(each.rule)]
    return harms(report.findings) | harms(others)


@settings(deadline=None, max_examples=300)
@given(schemas(2), DIALECTS, st.sampled_from([(), ("cursor",), ("gemini", "vscode"), ("openai",)]))
def test_the_fixes_add_no_finding(
    schema: dict[str, Any], dialect: dict[str, Any], only: tuple[str, ...]
):
    published = {**dialect, **schema}
    report = lint([{"name": "t", "inputSchema": published}], only=only)
    after = lint(apply_fixes(report), only=only)
    note(str(after.listing.tools[0].schema))
    assert harms(after.findings) - found(report, published) == set()


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "array"}, id="no-items"),
        pytest.param({}, id="untyped"),
        pytest.param(True, id="boolean-schema"),
        pytest.param(
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, id="tuple"
        ),
        pytest.param({"$ref": "#/$defs/tree"}, id="recursion"),
    ],
)
def test_a_parameter_is_unchanged_if_every_fix_adds_a_finding(schema: Any):
    tree = {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}}}
    properties = {"p": schema, "q": {"type": ["string", "null"], "description": "Q"}}
    before = {"type": "object", "properties": properties, "$defs": {"tree": tree}}
    [fixed] = apply_fixes(lint([{"name": "t", "description": "D", "inputSchema": before}]))
    assert fixed["inputSchema"]["properties"]["p"] == schema
    assert fixed["inputSchema"]["properties"]["q"] == {"type": "string", "description": "Q"}
    assert ("$defs" in fixed["inputSchema"]) == ("$ref" in str(schema))


def test_an_untyped_value_is_fixed_for_the_clients_that_need_a_type():
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"p": {}}}}
    [fixed] = apply_fixes(lint([tool], only=["claude-code"]))
    kinds = [each["type"] for each in fixed["inputSchema"]["properties"]["p"]["anyOf"]]
    assert kinds == ["string", "number", "boolean", "object", "array"]


def with_one_definition(uses: int) -> dict[str, Any]:
    """Return a tool whose parameters all refer to one long definition."""
    item = {"type": "string", "description": "word " * 300}
    properties = {f"p{index}": {"$ref": "#/$defs/item"} for index in range(uses)}
    schema = {"type": "object", "properties": properties, "$defs": {"item": item}}
    return {"name": "t", "description": "D", "inputSchema": schema}


def test_a_definition_is_not_inlined_if_the_tool_would_become_too_large():
    tool = with_one_definition(uses=20)
    assert {each.rule for each in lint([tool], only=["claude-code"]).findings} == {"reference"}
    assert apply_fixes(lint([tool], only=["claude-code"])) == [tool]


def test_tools_are_unchanged_if_the_listing_would_become_too_large():
    rules = {name: RULES[name] for name in ("reference", "large-listing")}
    tools = [{**with_one_definition(uses=20), "name": f"t{index}"} for index in range(4)]
    report = lint(tools, only=["claude-code"], rules=rules)
    assert {each.rule for each in report.findings} == {"reference"}
    assert apply_fixes(report, rules) == tools


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.id)
@settings(deadline=None, max_examples=25)
@given(schemas(2))
def test_each_rule_finds_nothing_after_its_own_fix(rule, schema: dict[str, Any]):
    alone = {rule.id: rule}
    report = lint([{"name": "t", "inputSchema": schema}], rules=alone)
    assert lint(apply_fixes(report, alone), rules=alone).findings == ()


@settings(deadline=None, max_examples=200)
@given(JSON | schemas(1), JSON, JSON)
def test_no_listing_makes_the_lint_fail(schema: Any, description: Any, output: Any):
    entry = {"name": "t", "description": description, "inputSchema": schema, "outputSchema": output}
    assert lint([entry, {"name": "t"}]).findings
