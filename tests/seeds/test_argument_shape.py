"""The tool of the argument-shape report (docs/project/evidence/argument-shape.md), as Python authors
write it, on our registry and on both protected hosts.

The report is about Ruby, where nested keys arrive as symbols. In Python the same fault is a typed
payload that is read like a dict: a direct call with a dict passes, and the first real call fails.
"""

import json
import logging
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from document_servers import EVERY_HOST, listed, passed, refused, serve
from toolbooth import Context, ToolRegistry, compile_json_schema
from toolbooth.testing import call_over_wire, wire

MESSAGE = {"message": "hi", "payload": {"subject": "greet", "body": "..."}}
ANSWER = {"text": "Message: hi; subject: GREET"}
INPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "message": {"type": "string"},
        "payload": {
            "type": "object",
            "properties": {"subject": {"type": "string"}, "body": {"type": "string"}},
        },
    },
    "required": ["message"],
}


class PayloadModel(BaseModel):
    subject: str = ""
    body: str = ""


class PayloadDict(TypedDict, total=False):
    subject: str
    body: str


def answer(message: str, subject: str) -> dict[str, str]:
    return {"text": f"Message: {message}; subject: {subject.upper()}"}


Payload = Annotated[dict[str, str] | None, Field(examples=[{"subject": "greet"}])]
Rules = Annotated[dict[str, Any], Field(examples=[{"age": {"at_least": 18}}])]


def with_a_dict(message: str, payload: Payload = None) -> dict[str, str]:
    return answer(message, payload["subject"] if payload else "")


def with_a_typed_dict(message: str, payload: PayloadDict | None = None) -> dict[str, str]:
    return answer(message, payload["subject"] if payload else "")


def with_a_model(message: str, payload: PayloadModel | None = None) -> dict[str, str]:
    return answer(message, payload.subject if payload else "")


def with_a_context(message: str, server_context: Context, payload: PayloadModel) -> dict[str, str]:
    assert isinstance(server_context, Context)
    return answer(message, payload.subject)


FORMS = (with_a_dict, with_a_typed_dict, with_a_model)
EVERY_FORM = pytest.mark.parametrize("tool", FORMS, ids=lambda tool: tool.__name__)


@EVERY_FORM
@EVERY_HOST
def test_the_nested_payload_arrives_with_its_declared_type(host, tool: Callable[..., Any]):
    server = serve(host, tool)
    assert passed(call_over_wire(server, tool.__name__, MESSAGE)) == (ANSWER, [])

    as_text = {**MESSAGE, "payload": json.dumps(MESSAGE["payload"])}
    repaired = call_over_wire(server, tool.__name__, as_text)
    assert passed(repaired) == (ANSWER, [("json-text", "$.payload")])

    alone = call_over_wire(server, tool.__name__, {"message": "hi"})
    assert passed(alone) == ({"text": "Message: hi; subject: "}, [])


@EVERY_HOST
def test_the_server_context_is_injected_and_not_published(host):
    server = serve(host, with_a_context)
    assert passed(call_over_wire(server, "with_a_context", MESSAGE)) == (ANSWER, [])
    assert list(listed(server)["with_a_context"]["inputSchema"]["properties"]) == [*MESSAGE]
    sent = {**MESSAGE, "server_context": "mine"}
    result = call_over_wire(server, "with_a_context", sent)
    assert refused(result)[0] == [("unknown-key", "$.server_context")]


def test_the_schema_of_the_report_delivers_a_dict_with_text_keys():
    def example_tool(arguments: dict[str, Any]) -> dict[str, str]:
        return answer(arguments["message"], arguments["payload"]["subject"])

    registry = ToolRegistry("example")
    registry.add(compile_json_schema(INPUT_SCHEMA, example_tool, name="example_tool"))
    assert passed(call_over_wire(registry, "example_tool", MESSAGE)) == (ANSWER, [])


def kinds_of_keys(value: Any) -> set[str]:
    """The types of all keys, at every level."""
    if isinstance(value, list):
        return set().union(*map(kinds_of_keys, value))
    if not isinstance(value, dict):
        return set()
    inner = (kinds_of_keys(each) for each in value.values())
    return {type(key).__name__ for key in value}.union(*inner)


def keys_of(rule: Rules, payload: PayloadDict) -> dict[str, Any]:
    """Tell the types of the keys that arrive."""
    return {"rule": sorted(kinds_of_keys(rule)), "payload": sorted(kinds_of_keys(payload))}


@EVERY_HOST
def test_keys_are_text_at_every_level(host):
    rule = {"1": {"2026": [{"true": {"null": 0}}]}}
    result = call_over_wire(serve(host, keys_of), "keys_of", {"rule": rule, "payload": {}})
    assert passed(result) == ({"rule": ["str"], "payload": []}, [])


# --- the fault: passes when it is called directly, fails on the wire ---


def example_tool(message: str, payload: PayloadModel) -> dict[str, str]:
    return answer(message, payload["subject"])


FAILED = {
    "registry": "Tool 'example_tool' failed unexpectedly.",
    "fastmcp": "Error calling tool 'example_tool'",
    "mcp_sdk": "Error executing tool example_tool",
}


def test_a_direct_call_does_not_find_the_fault():
    assert example_tool(**MESSAGE) == ANSWER
    assert example_tool(**wire(MESSAGE)) == ANSWER


@EVERY_HOST
def test_wrong_annotation_is_found_by_a_call_over_the_wire(host):
    result = call_over_wire(serve(host, example_tool), "example_tool", MESSAGE)
    assert (result.is_error, result.text, result.problems) == (True, FAILED[host], ())


def test_the_log_of_the_server_names_the_fault(caplog):
    with caplog.at_level(logging.ERROR):
        call_over_wire(serve("registry", example_tool), "example_tool", MESSAGE)
    assert "'PayloadModel' object is not subscriptable" in caplog.text


@EVERY_HOST
def test_malformed_call_and_failing_tool_have_different_errors(host):
    server = serve(host, example_tool)
    wrong = {"message": "hi", "payload": {"subjct": "greet"}}
    result = call_over_wire(server, "example_tool", wrong)
    right = {"message": "hi", "payload": {"subject": "greet"}}
    assert refused(result) == ([("unknown-key", "$.payload.subjct")], right)
    assert "Nothing was done" in result.text
    failed = call_over_wire(server, "example_tool", MESSAGE)
    assert "Refused" not in failed.text


def test_call_records_distinguish_refused_and_failed_calls():
    registry = serve("registry", example_tool, with_a_model)
    records = []
    registry.observe(records.append)
    call_over_wire(registry, "example_tool", MESSAGE)
    call_over_wire(registry, "example_tool", {"data": MESSAGE})
    call_over_wire(registry, "with_a_model", MESSAGE)
    assert [(each.tool, each.outcome) for each in records] == [
        ("example_tool", "failed"),
        ("example_tool", "refused"),
        ("with_a_model", "passed"),
    ]


# --- the tool on which it was found ---


class Rule(BaseModel):
    field: str
    at_least: int


def save_rules(rules: list[Rule]) -> dict[str, Any]:
    """Save the rules of an operator."""
    return {"saved": [f"{rule.field} >= {rule.at_least}" for rule in rules]}


@EVERY_HOST
def test_two_correct_rules_of_an_operator_are_saved(host):
    rules = [{"field": "age", "at_least": 18}, {"field": "score", "at_least": 3}]
    result = call_over_wire(serve(host, save_rules), "save_rules", {"rules": rules})
    assert passed(result) == ({"saved": ["age >= 18", "score >= 3"]}, [])
