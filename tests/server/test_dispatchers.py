"""Dispatcher tools: one tool for many. Every argument reaches its sub-tool, or the reply shows the
caller how to send it.
"""

import asyncio
import json
import threading
from decimal import Decimal

import pytest

from dispatched_crm import customers
from registry_calls import codes, on_the_wire, text
from toolbooth import ContractError, ToolError, ToolInputError, ToolRegistry
from toolbooth.server.listed_tools import UnknownTool
from toolbooth.server.observe import CallRecord


def test_dispatcher_replaces_its_sub_tools_in_the_list():
    registry = customers()
    assert registry.tools["customers"].is_dispatcher is True
    assert [tool.listing() for tool in registry.tools.values()] == [
        {
            "name": "customers",
            "title": "Customers",
            "description": "Customers. Fields go beside action, or in params; help=true lists them. "
            "create(name, age?, credit?), list(limit?).",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["create", "list"]},
                    "params": {
                        "type": "string",
                        "description": 'Fields as JSON text, e.g. {"name": "A"}',
                    },
                    "help": {"type": "boolean"},
                },
            },
        }
    ]


def test_sub_tools_stay_in_the_list_where_they_are_not_hidden():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    registry.dispatcher("customers", {"create": "create"}, hide=False)
    assert list(registry.tools) == ["create", "customers"]


def test_a_dispatcher_may_take_the_name_of_a_tool_it_hides():
    registry = ToolRegistry("shop")
    registry.tool(name="customers")(lambda: "listed")
    registry.dispatcher("customers", {"list": "customers"})
    assert list(registry.tools) == ["customers"]
    assert registry.dispatch("customers", {"action": "list"}) == text("listed")


def test_a_dispatcher_that_cannot_be_registered_hides_nothing():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    with pytest.raises(ContractError):
        registry.dispatcher("two words", {"create": "create"})
    with pytest.raises(UnknownTool, match="did you mean 'create'"):
        registry.dispatcher("customers", {"create": "creat"})
    assert list(registry.tools) == ["create"]


def test_a_dispatcher_of_dispatchers_is_a_mistake():
    registry = customers()
    with pytest.raises(ContractError) as caught:
        registry.dispatcher("everything", {"customers": "customers"})
    assert caught.value.mistakes == ("'customers' is another dispatcher; list its actions instead",)


LONG = "0.1000000000000000055511151231257827"

ROUTED = {
    "flat": (b'{"action": "create", "name": "Ada", "age": 36}', "created 'Ada' 36 None", []),
    "params": (
        b'{"action": "create", "params": {"name": "Ada", "age": 36}}',
        "created 'Ada' 36 None",
        [],
    ),
    "mixture": (
        b'{"action": "create", "name": "Ada", "params": {"age": 36}}',
        "created 'Ada' 36 None",
        [],
    ),
    "empty-params": (
        b'{"action": "create", "name": "Ada", "params": {}}',
        "created 'Ada' 0 None",
        [],
    ),
    "async": (b'{"action": "list", "limit": 5}', "listed 5", []),
    "no-params": (b'{"action": "list"}', "listed 10", []),
    "params-as-text": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\"}"}',
        "created 'Ada' 0 None",
        [],
    ),
    "all-as-text": (
        b'"{\\"action\\": \\"create\\", \\"params\\": \\"{\\\\\\"name\\\\\\": \\\\\\"Ada\\\\\\"}\\"}"',
        "created 'Ada' 0 None",
        [("json-text", "$")],
    ),
    "null-params": (
        b'{"action": "create", "name": "Ada", "params": null}',
        "created 'Ada' 0 None",
        [("null-optional", "$.params")],
    ),
    "repaired-below": (
        b'{"action": "create", "name": "Ada", "age": "36"}',
        "created 'Ada' 36 None",
        [("scalar-text", "$.age")],
    ),
    "repaired-async": (b'{"action": "list", "params": "{\\"limit\\": 5}"}', "listed 5", []),
    "client-key": (
        b'{"action": "create", "name": "Ada", "toolCallId": "x"}',
        "created 'Ada' 0 None",
        [("client-key", "$.toolCallId")],
    ),
    "pointed": (
        b'{"action": "create", "params": {"name": "Ada", "age": 36.0}}',
        "created 'Ada' 36 None",
        [],
    ),
    "exact-flat": (
        b'{"action": "create", "name": "Ada", "credit": %s}' % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-in-params": (
        b'{"action": "create", "params": {"name": "Ada", "credit": %s}}' % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-in-text": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\", \\"credit\\": %s}"}'
        % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-behind-an-escape": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\", \\"age\\": \\u0031e1}"}',
        "created 'Ada' 10 None",
        [],
    ),
}


@pytest.mark.parametrize(("sent", "words", "repairs"), ROUTED.values(), ids=ROUTED)
def test_every_argument_of_a_dispatcher_call_reaches_the_sub_tool(sent, words, repairs):
    registry = customers()
    expected = text(words)
    if repairs:
        expected["_meta"] = {
            "toolbooth": {"repairs": [{"code": code, "path": path} for code, path in repairs]}
        }
    assert registry.dispatch_bytes("customers", sent) == expected
    assert on_the_wire(registry, "customers", sent) == expected


REFUSED = {
    "wrapper": (
        b'{"action": "create", "data": {"name": "Ada"}}',
        [("nested-wrapper", "$.data")],
        {"action": "create", "name": "Ada"},
    ),
    "wrapper-for-an-async-tool": (
        b'{"action": "list", "data": {"limit": 5}}',
        [("nested-wrapper", "$.data")],
        {"action": "list", "limit": 5},
    ),
    "wrapper-in-params": (
        b'{"action": "create", "params": {"data": {"name": "Ada"}}}',
        [("nested-wrapper", "$.params.data")],
        {"action": "create", "name": "Ada"},
    ),
    "unknown-key": (
        b'{"action": "create", "name": "Ada", "nickname": "A"}',
        [("unknown-key", "$.nickname")],
        None,
    ),
    "unknown-key-in-params": (
        b'{"action": "create", "params": {"name": "Ada", "nickname": "A"}}',
        [("unknown-key", "$.params.nickname")],
        None,
    ),
    "unknown-action": (
        b'{"action": "creat", "name": "Ada"}',
        [("invalid", "$.action")],
        None,
    ),
    "action-in-another-case": (
        b'{"action": "Create", "name": "Ada"}',
        [("invalid", "$.action")],
        {"action": "create", "name": "Ada"},
    ),
    "no-action": (b'{"name": "Ada"}', [("missing", "$.action")], None),
    "twice": (
        b'{"action": "create", "name": "Ada", "params": {"name": "Ada"}}',
        [("conflicting-keys", "$.name")],
        None,
    ),
    "params-of-another-type": (
        b'{"action": "create", "params": [1]}',
        [("wrong-type", "$.params")],
        None,
    ),
    "params-as-other-text": (
        b'{"action": "create", "params": "Ada"}',
        [("wrong-type", "$.params")],
        None,
    ),
    "array": (b"[]", [("not-an-object", "$")], None),
}


@pytest.mark.parametrize(("sent", "problems", "corrected"), REFUSED.values(), ids=REFUSED)
def test_a_refused_dispatcher_call_comes_with_the_call_to_send_instead(sent, problems, corrected):
    registry = customers()
    result = registry.dispatch_bytes("customers", sent)
    assert result["isError"] is True
    assert codes(result) == problems
    assert result["_meta"]["toolbooth"].get("corrected") == corrected
    assert on_the_wire(registry, "customers", sent) == result
    if corrected is not None:
        assert (
            f"Send instead: {json.dumps(corrected, separators=(',', ':'))}"
            in result["content"][0]["text"]
        )
        assert registry.dispatch("customers", corrected)["isError"] is False


def test_a_refusal_of_a_sub_tool_names_the_dispatcher_and_the_action():
    result = customers().dispatch("customers", {"action": "create", "nickname": "A"})
    assert result["content"][0]["text"] == (
        "Refused: 2 problems in the arguments of 'customers' (create). Nothing was done.\n"
        '- $.nickname: there is no field "nickname"; did you mean "name", which is missing?\n'
        "- $.name: is required, but was not sent\n"
        'Declared fields: "name" (text, required), "age" (integer), '
        '"credit" (text or number or null).\n'
        'Form: {"action": "create", "name": "<text>"}'
    )


FAILURES = {
    "tool-error": (ToolError("fail", "no ink"), "Tool 'do' (fail) failed: no ink"),
    "only-words": (ToolError("no ink"), "no ink"),
    "of-another-tool": (ToolError("printer", "no ink"), "Tool 'printer' failed: no ink"),
    "crash": (ZeroDivisionError(), "Tool 'do' (fail) failed unexpectedly."),
}


@pytest.mark.parametrize(("error", "told"), FAILURES.values(), ids=FAILURES)
def test_a_failure_of_a_sub_tool_names_the_dispatcher_and_the_action(error, told):
    registry = ToolRegistry("shop")

    @registry.tool
    def fail() -> None:
        raise error

    registry.dispatcher("do", {"fail": "fail"})
    assert registry.dispatch("do", {"action": "fail"}) == text(told, error=True)


def test_correction_keeps_the_action_field_of_a_sub_tool():
    registry = ToolRegistry("shop")

    @registry.tool
    def audit(action: str, level: int = 0) -> str:
        return f"{action} {level}"

    registry.dispatcher("log", {"write": "audit"})
    wrong = {"action": "write", "params": {"data": {"action": "login", "level": 2}}}
    corrected = registry.dispatch("log", wrong)["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"action": "write", "params": {"action": "login", "level": 2}}
    assert registry.dispatch("log", corrected) == text("login 2")


def test_a_refused_dispatcher_call_is_a_protocol_error_where_refusals_are():
    registry = customers(errors="protocol")
    with pytest.raises(ToolInputError) as caught:
        registry.dispatch("customers", {"action": "create", "data": {"name": "Ada"}})
    assert caught.value.corrected == {"action": "create", "name": "Ada"}


def test_the_time_limit_of_a_sub_tool_holds_behind_a_dispatcher():
    registry = ToolRegistry("shop")

    @registry.tool(timeout=0.01)
    async def wait() -> None:
        await asyncio.Event().wait()

    registry.dispatcher("do", {"wait": "wait"})
    expected = text(
        "Tool 'do' (wait) failed: it did not answer within 0.01 s; it was stopped", error=True
    )
    assert registry.dispatch("do", {"action": "wait"}) == expected
    assert asyncio.run(registry.dispatch_async("do", {"action": "wait"})) == expected


def test_sync_sub_tools_alone_need_no_event_loop():
    registry = ToolRegistry("shop")
    registry.tool(name="where")(lambda: threading.current_thread().name)
    registry.dispatcher("do", {"where": "where"})
    assert registry.dispatch("do", {"action": "where"}) == text(threading.current_thread().name)


def test_a_dispatcher_call_is_recorded_once_under_its_sub_tool():
    registry = customers()
    records: list[CallRecord] = []
    registry.observe(records.append)
    registry.dispatch("customers", {"action": "create", "params": '{"name": "Ada", "age": "3"}'})
    registry.dispatch("customers", {"action": "list"})
    registry.dispatch("customers", {"action": "nothing"})
    assert [
        (each.tool, each.dispatcher, each.outcome, each.problems, each.repairs) for each in records
    ] == [
        ("create_customer", "customers", "repaired", (), ("scalar-text",)),
        ("list_customers", "customers", "passed", (), ()),
        ("customers", None, "refused", ("invalid",), ()),
    ]


@pytest.mark.parametrize(
    ("sent", "corrected"),
    [
        (b'"count": 9007199254740994.0', b'"count":9007199254740994'),
        (b'"count": 1e23', b'"count":100000000000000000000000'),
        (b'"price": 0.12345678901234567890', b'"price":"0.12345678901234567890"'),
    ],
)
def test_a_misspelt_action_is_corrected_beside_a_number_with_many_digits(sent, corrected):
    registry = ToolRegistry("shop")

    @registry.tool
    def pay(count: int = 1, price: Decimal = Decimal(1)) -> str:
        return f"{count} at {price}"

    registry.dispatcher("orders", {"pay": "pay"})
    result = on_the_wire(registry, "orders", b'{"action": "Pay", %s}' % sent)
    repeated = b'{"action":"pay",%s}' % corrected
    assert result == {
        "content": [
            {
                "type": "text",
                "text": "Refused: 1 problem in the arguments of 'orders' (pay). Nothing was done.\n"
                '- $.action: there is no action "Pay"; did you mean "pay"?\n'
                f"Send instead: {repeated.decode()}",
            }
        ],
        "isError": True,
        "_meta": {
            "toolbooth": {
                "code": -32602,
                "problems": [
                    {
                        "code": "invalid",
                        "path": "$.action",
                        "message": 'there is no action "Pay"; did you mean "pay"?',
                    }
                ],
                "corrected": json.loads(repeated),
            }
        },
    }
    assert on_the_wire(registry, "orders", repeated)["isError"] is False
