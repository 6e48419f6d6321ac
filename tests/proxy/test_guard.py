"""The guard of the proxy: which undeclared keys a policy forwards, and what is written anew."""

import json
from typing import Any

import pytest

from toolbooth.errors import ToolInputError
from toolbooth.proxy.guard import Verdict, judge
from toolbooth.proxy.rules import Policy, Rules
from toolbooth.proxy.tool import ProxiedTool, read_tool

EDIT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
            },
        },
        "dryRun": {"type": "boolean", "default": False},
        "limit": {"type": "integer"},
    },
    "required": ["path"],
}


def tool(
    schema: Any = None, *, policy: Policy = "default", read_only: bool = False, **rules: Any
) -> ProxiedTool:
    definition = {
        "name": "edit",
        "inputSchema": EDIT if schema is None else schema,
        "annotations": {"readOnlyHint": read_only},
    }
    found = read_tool(json.dumps(definition), Rules(policy=policy, **rules))
    assert found is not None
    return found


def codes(tool: ProxiedTool, arguments: str) -> list[str]:
    with pytest.raises(ToolInputError) as caught:
        judge(tool, arguments, [])
    return [each.code for each in caught.value.problems]


@pytest.mark.parametrize("policy", ["strict", "default", "lenient"])
def test_a_correct_call_is_forwarded_as_it_was_sent(policy):
    assert judge(tool(policy=policy), '{"path": "a", "limit": 5.0}', []) == Verdict(None)


@pytest.mark.parametrize("policy", ["strict", "default"])
def test_an_undeclared_key_of_a_tool_that_may_write_is_refused(policy):
    assert codes(tool(policy=policy), '{"path": "a", "verbose": true}') == ["unknown-key"]
    assert codes(tool(policy=policy), '{"path": "a", "dry_run": true}') == ["unknown-key"]


def test_an_undeclared_key_of_a_tool_that_only_reads_is_forwarded_and_named():
    verdict = judge(tool(read_only=True), '{"path": "a", "verbose": true}', [])
    assert verdict == Verdict(None, (), (("verbose",),))
    assert verdict.undeclared_names == ["verbose"]


def test_a_certain_slip_is_refused_also_on_a_tool_that_only_reads():
    assert codes(tool(read_only=True), '{"path": "a", "dry_run": true}') == ["unknown-key"]


def test_a_wrapper_is_refused_also_on_a_tool_that_only_reads():
    assert codes(tool(read_only=True), '{"path": "a", "data": {"limit": 3}}') == ["nested-wrapper"]


def test_strict_refuses_undeclared_keys_of_tools_that_only_read():
    found = tool(policy="strict", read_only=True)
    assert codes(found, '{"path": "a", "verbose": true}') == ["unknown-key"]


def test_lenient_forwards_every_undeclared_key_and_names_each_by_its_path():
    sent = '{"path": "a", "dry_run": true, "data": {"limit": 3}, "edits": [{"oldText": "a", "newText": "b", "n": 1}]}'
    verdict = judge(tool(policy="lenient"), sent, [])
    assert verdict.rewritten is None
    assert sorted(verdict.undeclared_names) == ["data", "dry_run", "edits[0].n"]


def test_a_call_with_an_undeclared_key_and_another_problem_is_refused_with_both():
    found = codes(tool(policy="lenient"), '{"verbose": true}')
    assert found == ["unknown-key", "missing"]


def test_a_repaired_call_is_written_anew_with_the_undeclared_keys_in_it():
    sent = '{"path": "a", "limit": "5", "verbose": 1.50}'
    verdict = judge(tool(read_only=True), sent, [])
    assert json.loads(verdict.rewritten or "") == {"path": "a", "limit": 5, "verbose": 1.5}
    assert (verdict.repairs, verdict.undeclared) == (("scalar-text",), (("verbose",),))


def test_an_undeclared_key_inside_json_text_is_refused():
    sent = json.dumps({"path": "a", "edits": '[{"oldText": "a", "newText": "b", "n": 1}]'})
    assert codes(tool(policy="lenient"), sent) == ["unknown-key"]


@pytest.mark.parametrize("policy", ["strict", "default", "lenient"])
def test_a_schema_that_forbids_other_keys_is_obeyed_by_every_policy(policy):
    closed = {**EDIT, "additionalProperties": False}
    found = tool(closed, policy=policy, read_only=True)
    assert codes(found, '{"path": "a", "verbose": true}') == ["unknown-key"]


@pytest.mark.parametrize("policy", ["strict", "default", "lenient"])
def test_a_schema_that_allows_other_keys_is_obeyed_by_every_policy(policy):
    found = tool({**EDIT, "additionalProperties": True}, policy=policy)
    assert judge(found, '{"path": "a", "verbose": true}', []) == Verdict(None)


def test_a_tool_without_parameters_follows_the_policy_too():
    empty = {"type": "object"}
    assert codes(tool(empty), '{"x": 1}') == ["unknown-key"]
    assert judge(tool(empty, read_only=True), '{"x": 1}', []).undeclared_names == ["x"]


def test_one_part_that_forbids_other_keys_is_enough():
    parts = [
        {"properties": {"a": {"type": "string"}}},
        {"properties": {"b": {"type": "string"}}, "additionalProperties": False},
    ]
    found = tool({"type": "object", "allOf": parts}, policy="lenient")
    assert codes(found, '{"b": "x", "c": 1}') == ["unknown-key"]
    found = tool({"type": "object", "allOf": parts[:1]}, policy="lenient")
    assert judge(found, '{"a": "x", "c": 1}', []).undeclared_names == ["c"]


def test_in_a_union_one_form_that_forbids_other_keys_is_enough():
    union = {
        "type": "object",
        "properties": {
            "target": {
                "anyOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}},
                    {
                        "type": "object",
                        "properties": {"b": {"type": "string"}},
                        "additionalProperties": False,
                    },
                ]
            }
        },
    }
    assert codes(tool(union, policy="lenient"), '{"target": {"c": 1}}') == ["unknown-key"]


@pytest.mark.parametrize("sent", [None, "null", "{}"])
def test_a_call_without_arguments_is_judged_as_an_empty_one(sent):
    with pytest.raises(ToolInputError) as caught:
        judge(tool(), sent, [])
    assert [each.code for each in caught.value.problems] == ["missing"]


def test_duplicate_keys_are_refused_by_every_policy():
    assert codes(tool(policy="lenient"), '{"path": "a", "path": "b"}') == ["duplicate-key"]


# --- items after the declared ones --------------------------------------------------------------

PAIR = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}


def pairs(**more: Any) -> Any:
    rows = {"type": "array", "items": {**PAIR, **more}}
    return {"type": "object", "properties": {"rows": rows, "name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("policy", "read_only", "is_forwarded"),
    [
        ("strict", True, False),
        ("default", False, False),
        ("default", True, True),
        ("lenient", False, True),
    ],
)
def test_an_item_after_the_declared_ones_follows_the_policy(
    policy: Policy, read_only: bool, is_forwarded: bool
):
    found = tool(pairs(), policy=policy, read_only=read_only)
    sent = '{"rows": [["a", 1], ["b", 2, "lost"]]}'
    if is_forwarded:
        verdict = judge(found, sent, [])
        assert (verdict.rewritten, verdict.undeclared_names) == (None, ["rows[1][2]"])
    else:
        assert codes(found, sent) == ["unknown-key"]


@pytest.mark.parametrize("more", [{"items": {}}, {"items": True}, {"unevaluatedItems": True}])
def test_a_schema_that_allows_more_items_is_obeyed(more: Any):
    assert judge(tool(pairs(**more)), '{"rows": [["b", 2, "kept"]]}', []) == Verdict(None)


def test_an_array_of_draft_07_follows_the_policy_too():
    old = {"type": "array", "items": [{"type": "string"}]}
    dialect = "http://json-schema.org/draft-07/schema#"
    schema = {"$schema": dialect, "type": "object", "properties": {"pair": old}}
    assert codes(tool(schema), '{"pair": ["a", 1]}') == ["unknown-key"]
    schema = {**schema, "properties": {"pair": {**old, "additionalItems": True}}}
    assert judge(tool(schema), '{"pair": ["a", 1]}', []) == Verdict(None)


def test_an_item_that_one_form_of_a_union_declares_is_forwarded():
    either = {"anyOf": [PAIR, {"type": "array", "items": {"type": "string"}}]}
    schema = {"type": "object", "properties": {"pair": either}}
    assert judge(tool(schema), '{"pair": ["a", "b", "c"]}', []) == Verdict(None)
    assert judge(tool(schema), '{"pair": ["a", 1]}', []) == Verdict(None)


def test_keys_and_items_that_are_not_declared_are_all_named():
    found = tool(pairs(), read_only=True)
    verdict = judge(found, '{"rows": [["b", "2", 3]], "verbose": 1}', [])
    assert verdict.undeclared_names == ["verbose", "rows[0][2]"]
    assert verdict.rewritten == '{"rows":[["b",2,3]],"verbose":1}'


# --- the digits of a repaired call --------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ('{"limit": "5", "x": 1.50}', '{"limit":5,"x":1.50}'),
        ('{"limit": "5", "x": -0}', '{"limit":5,"x":-0}'),
        ('{"limit": "5", "x": [-0.0, 1e2]}', '{"limit":5,"x":[-0.0, 1e2]}'),
        ('{"limit": "5", "x": 0.10000000000000000555}', '{"limit":5,"x":0.10000000000000000555}'),
        (
            '{"limit": "5", "x": 123456789012345678901234}',
            '{"limit":5,"x":123456789012345678901234}',
        ),
        ('{"limit": "5", "x": "\\u00fc"}', '{"limit":5,"x":"\\u00fc"}'),
        (
            '{"limit": "5", "x": {"a": [1.0, {"b": 2.50}]}}',
            '{"limit":5,"x":{"a": [1.0, {"b": 2.50}]}}',
        ),
        ('{"limit": "5", "x": null, "y": true}', '{"limit":5,"x":null,"y":true}'),
        ('{"x": 2.50, "lists": "[1, 2]", "limit": 5}', '{"x":2.50,"lists":[1,2],"limit":5}'),
    ],
)
def test_a_repair_changes_no_digit_of_other_values(sent: str, written: str):
    integers = {"type": "array", "items": {"type": "integer"}}
    declared = {"limit": {"type": "integer"}, "x": {}, "y": {}, "lists": integers}
    found = tool({"type": "object", "properties": declared})
    verdict = judge(found, sent, [])
    assert verdict.rewritten is not None
    assert verdict.rewritten.replace(" ", "") == written.replace(" ", "")
    assert verdict.repairs


NUMBERS = {
    "type": "object",
    "properties": {
        "price": {"type": "number"},
        "prices": {"type": "array", "items": {"type": "number"}},
    },
}


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ('{"prices":"[1.50, %s]"}', '{"prices":[1.50,%s]}'),
        ('{"price":"%s"}', '{"price":%s}'),
        (r'"{\"price\": %s}"', '{"price":%s}'),
        (r'{"prices":"\"[%s]\""}', '{"prices":[%s]}'),
    ],
    ids=["an array", "a number", "all arguments", "encoded twice"],
)
def test_numbers_inside_json_text_keep_all_digits(sent: str, written: str):
    digits = "0.1000000000000000055511151231257827"
    assert judge(tool(NUMBERS), sent % digits, []).rewritten == written % digits
