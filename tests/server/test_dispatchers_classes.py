"""Dispatchers that are written as classes, and the mistakes of their authors."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry_calls import text
from toolbooth import ContractError, ToolRegistry
from toolbooth.server.dispatch.build import mcp_action


def leads() -> tuple[ToolRegistry, list[dict[str, str]]]:
    registry = ToolRegistry("sales")
    rows: list[dict[str, str]] = []

    @registry.dispatcher("leads")
    class Leads:
        """People who may buy."""

        @mcp_action
        def create(self, email: str, first_name: str = "") -> dict[str, Any]:
            """Add a lead."""
            rows.append({"email": email, "first_name": first_name})
            return {"created": True, "id": len(rows)}

        @mcp_action(name="close", title="Close", annotations={"destructiveHint": True})
        async def shut(self, id: int) -> str:
            return f"closed {id}"

        def helper(self) -> None:
            raise AssertionError("no action")

    return registry, rows


def test_the_marked_methods_of_a_class_are_its_actions():
    registry, rows = leads()
    assert registry.tools["leads"].contract.description.startswith(
        "People who may buy. Fields go beside action"
    )
    assert list(registry.hidden) == ["leads__create", "leads__close"]
    assert registry.hidden["leads__close"].title == "Close"
    assert registry.dispatch("leads", {"action": "create", "email": "a@x.io"})[
        "structuredContent"
    ] == {
        "created": True,
        "id": 1,
    }
    assert registry.dispatch("leads", {"action": "close", "id": 1}) == text("closed 1")
    assert rows == [{"email": "a@x.io", "first_name": ""}]


# Calls that frisian-mcp 1.1.1 answered with `created: true` and a blank or partial row
# (docs/project/evidence/gateways.md).
LOST_ELSEWHERE = [
    {"action": "create", "data": {"email": "a@x.io"}},
    {"action": "create", "params": {"data": {"email": "a@x.io"}}},
    {"action": "create", "params": {"Email": "a@x.io"}},
    {"action": "create", "data": '{"email": "a@x.io"}'},
    {"action": "create", "params": {}, "data": {"email": "a@x.io"}},
    {"action": "create", "params": {"params": {"email": "a@x.io"}}},
    {"action": "create", "payload": {"email": "a@x.io"}},
]


@pytest.mark.parametrize("sent", LOST_ELSEWHERE, ids=json.dumps)
def test_no_argument_is_lost_in_a_call_through_a_class(sent):
    registry, rows = leads()
    refused = registry.dispatch("leads", sent)
    assert (refused["isError"], rows) == (True, [])
    corrected = refused["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"action": "create", "email": "a@x.io"}
    registry.dispatch("leads", corrected)
    assert rows == [{"email": "a@x.io", "first_name": ""}]


def test_arguments_beside_params_are_routed_too():
    registry, rows = leads()
    registry.dispatch(
        "leads", {"action": "create", "params": {"email": "a@x.io"}, "first_name": "KEPT"}
    )
    assert rows == [{"email": "a@x.io", "first_name": "KEPT"}]


MISTAKES: dict[str, tuple[Callable[[ToolRegistry], Any], str]] = {
    "no-actions": (lambda registry: registry.dispatcher("all", {}), "there are no actions"),
    "empty-resource": (
        lambda registry: registry.dispatcher("all", {"a": {}}),
        "'a' has no actions",
    ),
    "mixture": (
        lambda registry: registry.dispatcher("all", {"a": "one", "b": {"c": "one"}}),
        "some names map to tools and others to actions; all must do the same",
    ),
    "help-named-as-another": (
        lambda registry: registry.dispatcher("all", {"a": "one"}, help="params"),
        "help='params' cannot be the name of the help argument; choose another",
    ),
    "no-name": (
        lambda registry: registry.dispatcher("all", {"": "one"}),
        "an action or a resource has no name",
    ),
    "class-without-actions": (
        lambda registry: registry.dispatcher("all")(type("Empty", (), {})),
        "no method is marked with @mcp_action",
    ),
}


@pytest.mark.parametrize(("make", "mistake"), MISTAKES.values(), ids=MISTAKES)
def test_invalid_dispatcher_is_a_contract_error(make, mistake):
    registry = ToolRegistry("shop")
    registry.tool(name="one")(lambda: "1")
    with pytest.raises(ContractError) as caught:
        make(registry)
    assert caught.value.mistakes == (mistake,)


@pytest.mark.parametrize(
    ("annotations", "shown"),
    [
        ([{"readOnlyHint": True}, {"readOnlyHint": True}], {"readOnlyHint": True}),
        (
            [{"readOnlyHint": True}, {"destructiveHint": False}],
            {"readOnlyHint": False, "destructiveHint": False},
        ),
        (
            [{"readOnlyHint": True}, {"readOnlyHint": False}],
            {"readOnlyHint": False, "destructiveHint": True},
        ),
        ([{"readOnlyHint": True}, None], None),
    ],
    ids=str,
)
def test_a_dispatcher_has_only_the_hints_that_all_its_actions_have(annotations, shown):
    registry = ToolRegistry("shop")
    for number, each in enumerate(annotations):
        registry.tool(name=f"tool{number}", annotations=each)(lambda: "done")
    registry.dispatcher(
        "all", {f"do{number}": f"tool{number}" for number in range(len(annotations))}
    )
    assert registry.tools["all"].listing().get("annotations") == shown
