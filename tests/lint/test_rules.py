"""Each rule on its own: the schemas it reports, and those it accepts."""

from typing import Any

import pytest

from toolbooth.lint.catalogue import RULES
from toolbooth.lint.check import lint

STRING = {"type": "string", "description": "d"}
OBJECT = {"type": "object", "properties": {"name": STRING}}
OPTIONS = [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]


def tool(schema: Any = None, **entry: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}} if schema is None else schema
    return {"name": "t", "description": "Does it.", "inputSchema": schema, **entry}


def with_parameter(schema: Any, name: str = "p", **root: Any) -> dict[str, Any]:
    return tool({"type": "object", "properties": {name: schema}, **root})


def found(rule: str, *tools: dict[str, Any], server: str = "") -> list[tuple[str, str]]:
    report = lint(list(tools), server=server, rules={rule: RULES[rule]})
    return [(finding.severity, finding.path) for finding in report.findings]


ROOT, P = ("error", "$"), ("error", "$.p")

CASES: dict[str, list[tuple[dict[str, Any], list[tuple[str, str]]]]] = {
    "root-untyped": [
        (tool({}), [ROOT]),
        (tool([]), [ROOT]),
        ({"name": "t"}, [ROOT]),
        (tool({"type": ["object", "null"]}), [ROOT]),
        (tool({"type": "object"}), []),
        (tool({"type": "string"}), []),
    ],
    "root-not-object": [
        (tool({"type": "string"}), [ROOT]),
        (tool({"type": ["string", "null"]}), [ROOT]),
        (tool({"type": ["object", "null"]}), []),
        (tool({}), []),
    ],
    "root-combinator": [
        (tool({"type": "object", "oneOf": OPTIONS}), [ROOT]),
        (tool({"type": "object", "enum": [{}]}), [ROOT]),
        (tool({"type": "object", "if": {}, "then": {}}), [("warning", "$"), ("warning", "$")]),
        (with_parameter({"oneOf": OPTIONS}), []),
    ],
    "no-properties": [
        (tool({"type": "object"}), [ROOT]),
        (tool({"type": "object", "properties": None}), [ROOT]),
        (tool(), []),
    ],
    "old-dialect": [
        (tool({"$schema": "http://json-schema.org/draft-07/schema#"}), [("note", "$")]),
        (tool({"$schema": "https://json-schema.org/draft/2020-12/schema"}), []),
    ],
    "untyped": [
        (with_parameter({"description": "d"}), [P]),
        (with_parameter({"type": "array", "items": {}}), [("error", "$.p[]")]),
        (with_parameter({"type": "object", "additionalProperties": {}}), [("error", "$.p.*")]),
        (with_parameter({"anyOf": [{}, STRING]}), [("error", "$.p (anyOf 1)")]),
        (with_parameter({"type": "string", "not": {"maxLength": 3}}), []),
        (with_parameter({"enum": ["a"]}), []),
        (tool({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), []),
    ],
    "untyped-enum": [
        (with_parameter({"enum": ["a"]}), [P]),
        (with_parameter({"const": "a"}), [P]),
        (with_parameter({"type": "string", "enum": ["a"]}), []),
    ],
    "boolean-schema": [
        (with_parameter(True), [P]),
        (with_parameter({"type": "array", "items": True}), [("error", "$.p[]")]),
        (with_parameter({"type": "object", "additionalProperties": True}), []),
    ],
    "type-list": [
        (with_parameter({"type": ["string", "null"]}), [P]),
        (tool({"type": ["object"]}), []),
        (with_parameter(STRING), []),
    ],
    "null-option": [
        (with_parameter({"anyOf": [STRING, {"type": "null"}]}), [("warning", "$.p")]),
        (with_parameter({"oneOf": [STRING, {"type": "null"}]}), [("warning", "$.p")]),
        (with_parameter({"anyOf": [STRING, {"type": "integer"}]}), []),
    ],
    "union": [
        (with_parameter({"anyOf": [STRING, {"type": "integer"}]}), [("warning", "$.p")]),
        (with_parameter({"anyOf": [{"type": "integer"}, OBJECT]}), [("note", "$.p")]),
        (
            with_parameter({"type": "array", "items": {"anyOf": [STRING, OBJECT]}}),
            [("note", "$.p[]")],
        ),
        (with_parameter({"anyOf": [STRING, {"type": "null"}]}), []),
        (with_parameter({"anyOf": OPTIONS}), []),
    ],
    "combinator": [
        (with_parameter({"oneOf": OPTIONS}), [("note", "$.p")]),
        (with_parameter({"allOf": OPTIONS}), [P]),
        (with_parameter({"type": "string", "not": {"const": "a"}}), [P]),
        (with_parameter({"anyOf": OPTIONS}), []),
        (tool({"type": "object", "oneOf": OPTIONS}), []),
    ],
    "mixed-object": [
        (
            with_parameter({"type": "object", "properties": {"a": STRING}, "anyOf": OPTIONS}),
            [("warning", "$.p")],
        ),
        (tool({"type": "object", "properties": {"a": STRING}, "anyOf": OPTIONS}), []),
    ],
    "reference": [
        (with_parameter({"$ref": "#/$defs/a"}, **{"$defs": {"a": STRING}}), [ROOT, P]),
        (with_parameter(STRING, definitions={}), [ROOT]),
        (with_parameter({"$ref": "#/$defs/a"}, name="$ref"), [("error", '$["$ref"]')]),
        (with_parameter(STRING, name="$ref"), []),
    ],
    "recursion": [
        (with_parameter({"$ref": "#"}), [("note", "$.p")]),
        (
            with_parameter(
                {"$ref": "#/$defs/a"},
                **{
                    "$defs": {
                        "a": {"items": {"$ref": "#/$defs/b"}},
                        "b": {"items": {"$ref": "#/$defs/a"}},
                    }
                },
            ),
            [("note", "$.p"), ("note", "$ ($defs a)[]"), ("note", "$ ($defs b)[]")],
        ),
        (
            with_parameter(
                {"$ref": "#/$defs/a"}, **{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": STRING}}
            ),
            [],
        ),
    ],
    "external-reference": [
        (with_parameter({"$ref": "https://example.org/s"}), [P]),
        (with_parameter({"$ref": "#/$defs/a"}), []),
    ],
    "dangling-reference": [
        (with_parameter({"$ref": "#/$defs/a"}), [P]),
        (with_parameter({"$ref": "#/components/a%20b"}, components={"a b": STRING}), []),
        (with_parameter({"$ref": "#/allOf/0"}, allOf=[STRING]), []),
        (with_parameter({"$ref": "https://example.org/s"}), []),
    ],
    "array-without-items": [
        (with_parameter({"type": "array"}), [P]),
        (with_parameter({"type": ["array", "null"]}), [P]),
        (with_parameter({"type": "array", "prefixItems": [STRING]}), []),
    ],
    "tuple-items": [
        (with_parameter({"type": "array", "items": [STRING]}), [P]),
        (with_parameter({"type": "array", "prefixItems": [STRING]}), [("warning", "$.p")]),
        (with_parameter({"type": "array", "items": STRING}), []),
    ],
    "boolean-additional-properties": [
        (tool({"type": "object", "additionalProperties": False}), [ROOT]),
        (with_parameter({"type": "object", "additionalProperties": True}), [P]),
        (with_parameter({"type": "object", "additionalProperties": STRING}), []),
    ],
    "open-map": [
        (with_parameter({"type": "object", "additionalProperties": STRING}), [P]),
        (with_parameter({"type": "object", "additionalProperties": True}), []),
    ],
    "empty-object": [
        (with_parameter({"type": "object"}), [P]),
        (
            with_parameter({"type": "array", "items": {"type": "object", "properties": {}}}),
            [("error", "$.p[]")],
        ),
        (with_parameter({"type": "object", "properties": {"a": STRING}}), []),
        (with_parameter({"type": "object", "additionalProperties": STRING}), []),
        (tool(), []),
    ],
    "undeclared-required": [
        (with_parameter(STRING, required=["q"]), [ROOT]),
        (with_parameter({"type": "object", "required": ["a"]}), [P]),
        (with_parameter(STRING, required=["p"]), []),
        (with_parameter(STRING, anyOf=OPTIONS), []),
    ],
    "misplaced-keyword": [
        (with_parameter({"type": "string", "properties": {}}), [P]),
        (with_parameter({"type": "object", "items": STRING}), [P]),
        (with_parameter({"properties": {}}), []),
    ],
    "const": [(with_parameter({"const": 1}), [P]), (with_parameter({"enum": [1]}), [])],
    "complex-enum": [
        (with_parameter({"type": "array", "enum": ["a"]}), [P]),
        (with_parameter({"enum": [["a"]]}), [P]),
        (with_parameter({"enum": ["a"]}), []),
    ],
    "number-enum": [
        (with_parameter({"type": "integer", "enum": [1, 2]}), [P]),
        (with_parameter({"type": "boolean", "enum": [True]}), [P]),
        (with_parameter({"type": "string", "enum": ["1"]}), []),
    ],
    "null-default": [
        (with_parameter({"type": "string", "default": None}), [("warning", "$.p")]),
        (with_parameter({"type": "string", "default": ""}), []),
    ],
    "string-format": [
        (with_parameter({"type": "string", "format": "uuid"}), [P]),
        (with_parameter({"type": "string", "format": "date-time"}), []),
        (with_parameter({"type": "integer", "format": "int64"}), []),
    ],
    "exclusive-bound": [
        (with_parameter({"type": "number", "exclusiveMinimum": 0}), [P]),
        (with_parameter({"type": "number", "exclusiveMinimum": True}), []),
    ],
    "boolean-bound": [
        (with_parameter({"type": "number", "exclusiveMinimum": True}), [P]),
        (with_parameter({"type": "number", "exclusiveMinimum": 0}), []),
    ],
    "uncommon-keyword": [
        (with_parameter({"type": "object", "patternProperties": {}}), [P]),
        (with_parameter({"type": "object", "propertyNames": STRING}), [("warning", "$.p")]),
        (with_parameter({"type": "array", "contains": STRING}), [("note", "$.p")]),
        (with_parameter({"type": "array", "items": STRING}), []),
    ],
    "unstated-constraint": [
        (with_parameter({"type": "integer", "maximum": 50}), [("note", "$.p")]),
        (with_parameter({"type": "integer", "maximum": 50, "description": "up to 50"}), []),
        (with_parameter({"type": "array", "uniqueItems": True}), [("note", "$.p")]),
        (
            with_parameter({"type": "array", "uniqueItems": True, "description": "distinct names"}),
            [],
        ),
        (with_parameter({"type": "array", "uniqueItems": False}), []),
        (with_parameter({"type": "string", "format": "date-time"}), [("note", "$.p")]),
        (with_parameter({"type": "string", "format": "date"}), []),
    ],
    "tool-name": [
        (tool(name="a.b"), [ROOT]),
        (tool(name="a b"), [ROOT]),
        (tool(name="a" * 61), [ROOT]),
        (tool(name="1a"), [ROOT]),
        (tool(name="get_order-2"), []),
    ],
    "parameter-name": [
        (with_parameter(STRING, name="launch-id"), [("error", '$["launch-id"]')]),
        (with_parameter(STRING, name="$top"), [("error", '$["$top"]')]),
        (with_parameter({"type": "object", "properties": {"$top": STRING}}), []),
    ],
    "reserved-parameter": [
        (with_parameter(STRING, name="config"), [("warning", "$.config")]),
        (with_parameter(STRING, name="properties"), [("error", "$.properties")]),
        (with_parameter(STRING), []),
    ],
    "leaked-parameter": [
        (with_parameter(STRING, name="self"), [("warning", "$.self")]),
        (with_parameter(STRING, name="itself"), []),
    ],
    "no-tool-description": [(tool(description=" "), [ROOT]), (tool(), [])],
    "no-parameter-description": [
        (with_parameter({"type": "string"}), [("note", "$.p")]),
        (with_parameter(STRING), []),
    ],
    "long-tool-description": [
        (tool(description="d" * 1025), [ROOT]),
        (tool(description="d" * 1024), []),
    ],
    "long-parameter-description": [
        (with_parameter({"type": "string", "description": "d" * 1025}), [("warning", "$.p")]),
        (with_parameter({"type": "string", "description": "d" * 1024}), []),
    ],
    "opaque-parameter": [
        (
            with_parameter({"type": "object", "description": "Additional metadata"}),
            [("warning", "$.p")],
        ),
        (with_parameter({"type": "array", "items": {"type": "object"}}), [("warning", "$.p")]),
        (with_parameter({"type": "array"}), [("warning", "$.p")]),
        (
            with_parameter(
                {"type": "object", "description": 'Metadata, e.g. {"priority": "high"}'}
            ),
            [],
        ),
        (with_parameter({"type": "object", "examples": [{"priority": "high"}]}), []),
        (with_parameter({"type": "object", "properties": {"a": STRING}}), []),
        (
            with_parameter({"type": "array", "items": STRING, "description": "Tags"}),
            [("warning", "$.p")],
        ),
        (with_parameter({"type": "object", "additionalProperties": STRING}), [("warning", "$.p")]),
        (with_parameter({"type": "object", "description": "Metadata {}"}), [("warning", "$.p")]),
        (with_parameter({"type": "object", "description": "e.g. [1]"}), [("warning", "$.p")]),
        (with_parameter({"type": ["object", "null"]}), [("warning", "$.p")]),
        (with_parameter({"anyOf": [STRING, {"type": "array"}]}), [("warning", "$.p")]),
        (
            with_parameter({"type": "string", "contentMediaType": "application/json"}),
            [("warning", "$.p")],
        ),
        (
            with_parameter({"type": "array", "items": {"properties": {"tags": {"type": "array"}}}}),
            [("warning", "$.p[].tags")],
        ),
        (with_parameter({"type": "array", "items": STRING, "description": 'Tags: ["a", "b"]'}), []),
        (with_parameter({"type": "array", "items": STRING, "default": ["a"]}), []),
        (with_parameter({"type": "array", "items": {"type": "string", "enum": ["a"]}}), []),
        (with_parameter({"type": "array", "items": {"type": "string", "format": "uuid"}}), []),
        (with_parameter({"type": "object", "allOf": [{"properties": {"a": STRING}}]}), []),
        (with_parameter({"type": "object", "oneOf": [{"required": ["a"]}]}), []),
        (with_parameter({"description": "Anything"}), []),
        (with_parameter({"$ref": "#/$defs/nowhere"}), []),
        (with_parameter({"enum": ["a", 1]}), []),
        (with_parameter({"type": "array", "minItems": "x", "description": "e.g. [1]"}), []),
        (
            with_parameter({"type": "object", "minItems": "x", "description": "e.g. [1]"}),
            [("warning", "$.p")],
        ),
        (
            with_parameter(
                {"type": "string", "contentMediaType": "application/json", "examples": ["{a: 1}"]}
            ),
            [("warning", "$.p")],
        ),
        (with_parameter(STRING), []),
    ],
    "no-example": [
        (with_parameter({"type": "string", "description": "Headers as JSON"}), [("note", "$.p")]),
        (with_parameter({"type": "string", "description": "JSON {}"}), [("note", "$.p")]),
        (with_parameter({"type": "string", "description": 'JSON, e.g. {"a": 1}'}), []),
        (with_parameter({"type": "string", "description": "JSON", "examples": ["{}"]}), []),
        (with_parameter({"type": "array", "items": STRING, "description": "Tags"}), []),
        (with_parameter(STRING), []),
    ],
    "json-for-simple-value": [
        (
            with_parameter(
                {"type": "string", "description": 'JSON, e.g. {"value": "example.com"}'},
                name="host",
            ),
            [("warning", "$.host")],
        ),
        (
            with_parameter(
                {"type": "string", "description": "JSON: {'host': 'example.com'}"}, name="host"
            ),
            [("warning", "$.host")],
        ),
        (
            with_parameter(
                {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": {"type": "integer"},
                }
            ),
            [("warning", "$.p")],
        ),
        (with_parameter({"type": "object", "properties": {"value": STRING}}), [("warning", "$.p")]),
        (with_parameter({"type": "object", "properties": {"value": STRING, "unit": STRING}}), []),
        (with_parameter({"type": "string", "description": 'JSON, e.g. {"User-Agent": "Bot"}'}), []),
        (with_parameter(STRING, name="host"), []),
    ],
    "wrapper-parameter": [
        (
            with_parameter({"type": "object", "properties": {"a": STRING}}, name="anything"),
            [("warning", "$.anything")],
        ),
        (
            tool(
                {
                    "type": "object",
                    "properties": {"data": {"$ref": "#/$defs/D"}, "dry": STRING},
                    "$defs": {"D": {"properties": {"a": STRING}}},
                }
            ),
            [("warning", "$.data")],
        ),
        (
            tool(
                {
                    "type": "object",
                    "properties": {
                        "address": {"type": "object", "properties": {"a": STRING}},
                        "dry": STRING,
                    },
                }
            ),
            [],
        ),
        (with_parameter({"type": "object"}, name="data"), []),
        (with_parameter(STRING, name="data"), []),
    ],
    "large-tool": [(tool(description="d" * 4100), [("note", "$")]), (tool(), [])],
    "deep-schema": [
        (with_parameter({"type": "array", "items": STRING}), []),
    ],
    "many-properties": [
        (
            tool({"type": "object", "properties": {f"p{index}": STRING for index in range(5001)}}),
            [ROOT],
        ),
        (with_parameter(STRING), []),
    ],
    "many-values": [
        (
            with_parameter({"type": "string", "enum": [f"v{index}" for index in range(1001)]}),
            [ROOT],
        ),
        (with_parameter({"type": "string", "enum": ["a"]}), []),
    ],
    "invalid-schema": [
        (with_parameter({"type": "int"}), [P]),
        (with_parameter({"type": "string", "minLength": "3"}), [P]),
        (with_parameter(5), [P]),
        (tool({"type": "object", "properties": {"required": ["p"]}}), [("error", "$.required")]),
        (tool({"type": "object", "required": None}), [ROOT]),
        (with_parameter({"type": "array", "items": [STRING]}), []),
        (with_parameter({"type": "integer", "exclusiveMinimum": True}), []),
    ],
    "output-not-object": [
        (tool(outputSchema={"type": "array"}), [("error", "outputSchema")]),
        (tool(outputSchema={"oneOf": OPTIONS}), [("error", "outputSchema")]),
        (tool(outputSchema={"type": "object"}), []),
        (tool(), []),
    ],
    "output-dialect": [
        (
            tool(outputSchema={"$schema": "http://json-schema.org/draft-07/schema#"} | OBJECT),
            [("error", "outputSchema")],
        ),
        (
            tool(outputSchema={"$schema": "https://json-schema.org/draft/2020-12/schema"} | OBJECT),
            [],
        ),
        (tool(outputSchema=OBJECT), []),
    ],
    "header-parameter": [
        (with_parameter({"type": "array", "x-mcp-header": "A"}), [P]),
        (with_parameter({"type": "string", "x-mcp-header": "a b"}), [P]),
        (
            with_parameter({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
            [("error", "$.p[]")],
        ),
        (
            tool(
                {
                    "properties": {
                        "a": {"type": "string", "x-mcp-header": "A"},
                        "b": {"type": "string", "x-mcp-header": "a"},
                    }
                }
            ),
            [("error", "$.b")],
        ),
        (
            with_parameter(
                {"type": "object", "properties": {"a": {"type": "boolean", "x-mcp-header": "A"}}}
            ),
            [],
        ),
    ],
}
"""By rule: a tool, and the places of the rule's findings in it."""

OF_SERVER = {"duplicate-tool", "many-tools", "large-listing"}


@pytest.mark.parametrize(
    ("rule", "entry", "expected"),
    [
        pytest.param(rule, entry, expected, id=f"{rule}-{index}")
        for rule, cases in CASES.items()
        for index, (entry, expected) in enumerate(cases)
    ],
)
def test_rule_finds_exactly_its_cases(rule, entry, expected):
    assert found(rule, entry) == expected


def test_every_rule_has_a_case_with_and_one_without_a_finding():
    tried = {rule: {bool(expected) for _, expected in cases} for rule, cases in CASES.items()}
    assert tried.keys() | OF_SERVER == RULES.keys()
    assert {rule for rule, outcomes in tried.items() if len(outcomes) < 2} == {"deep-schema"}


def test_depth_is_counted_in_objects_and_arrays():
    schema = STRING
    for _ in range(5):
        schema = {"type": "array", "items": {"type": "object", "properties": {"a": schema}}}
    path = "$.p" + "[].a" * 5
    assert found("deep-schema", with_parameter(schema)) == [("error", path)]
    assert found("deep-schema", with_parameter(schema["items"])) == []


def test_duplicate_tools_are_recognised_by_name():
    assert found("duplicate-tool", tool(), tool()) == [ROOT]
    assert found("duplicate-tool", tool(), tool(name="u")) == []


@pytest.mark.parametrize(
    ("count", "hurt"),
    [
        (50, set()),
        (51, {"others"}),
        (81, {"others", "cursor"}),
        (129, {"others", "cursor", "vscode", "openai", "openai-strict"}),
    ],
)
def test_tools_are_counted_for_each_client(count, hurt):
    report = lint(
        [tool(name=f"t{index}") for index in range(count)],
        rules={"many-tools": RULES["many-tools"]},
    )
    assert {client for finding in report.findings for client in finding.effects} == hurt


def test_tokens_are_bytes_divided_by_four():
    entry = tool(description="ü" * 1000)
    report = lint([entry])
    assert (
        report.listing.tools[0].size
        == len('{"name":"t","description":"","inputSchema":{"type":"object","properties":{}}}')
        + 2000
    )
    assert report.listing.tokens == report.listing.tools[0].size // 4
    assert found("large-listing", *[entry] * 50) == [("warning", "$")]


def test_the_server_name_counts_for_clients_that_prefix_tool_names_with_it():
    entry = tool(name="a" * 50)
    assert found("tool-name", entry, server="shop") == []
    assert found("tool-name", entry, server="a_very_long_name_of_a_shop") == [ROOT]
