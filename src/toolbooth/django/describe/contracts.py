"""Makes the contract of a tool, its annotations, and the check that decides which callers see the
tool.
"""

from __future__ import annotations

from toolbooth.contract import Contract
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.validation import Validation
from toolbooth.django.describe.argument_shape import argument_shape
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.gateway_arguments import brief
from toolbooth.django.describe.operations import BodySerializer
from toolbooth.django.describe.repeatable import is_idempotent
from toolbooth.shape import Shape


def access_check_of_view(call: SyncInvocation) -> Exception | None:
    """Return the refusal if the view of a tool refuses the caller. Return None if it lets the
    caller in.
    """
    who = caller()
    answer = call.objection(who, who.sent)
    return None if answer is None else refusal(answer, call.tool, call.arguments)


def access_check_of_function(tool: str, action: Action) -> Exception | None:
    """Return the refusal if a hand-written tool refuses the caller. Return None if it lets the
    caller in.
    """
    answer = caller().objection(action)
    return None if answer is None else refusal(answer, tool)


def contract_of(name: str, description: str, arguments: Arguments) -> Contract:
    """Return the contract of a tool. The boundary checks the structure of the arguments. REST
    framework validates their values once, in the view.
    """
    published = arguments.schema(arguments.properties)
    validation = Validation(arguments)
    return Contract(
        name=name,
        description=description,
        shape=argument_shape(arguments),
        describe=lambda: published,
        listing_schema=brief(arguments),
        validate=validation,
        about_unknown=validation.about_unknown,
        unsent=validation.missing,
        controls=arguments.controls,
    )


def listed_contract(name: str, description: str, arguments: Arguments) -> Contract:
    """Return a contract that only the list of tools reads: it has the schemas, and refuses
    nothing.
    """
    published = arguments.schema(arguments.properties)
    return Contract(
        name=name,
        description=description,
        shape=Shape(),
        describe=lambda: published,
        listing_schema=brief(arguments),
        validate=dict,
    )


def hints(action: Action, body: BodySerializer) -> dict[str, bool]:
    """Return the MCP annotations of a tool, which a client may show before it allows a call. Values
    that clients assume by default are left out.
    """
    # By the MCP specification, the other hints have a meaning only for tools that write.
    if action.method == "GET":
        return {"readOnlyHint": True}
    # Without hints, clients assume that a write is destructive and not idempotent.
    made = {"destructiveHint": False} if action.method == "POST" else {}
    return {**made, "idempotentHint": True} if is_idempotent(action, body) else made
