"""One operation -> the contract of its tool, its description, and who may not see it."""

from __future__ import annotations

import inspect

from toolbooth.contract import Contract
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.validation import Validation
from toolbooth.django.describe import messages
from toolbooth.django.describe.argument_shape import argument_shape
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import STANDARD_ACTIONS, Action
from toolbooth.django.describe.gateway_arguments import brief
from toolbooth.django.describe.names import title
from toolbooth.django.describe.operations import Operation

LONGEST_DESCRIPTION = 900
"""Characters of a view's own description: with what is added to it, clients take 1,024 (lint knows
which).
"""


def access_check_of_view(call: SyncInvocation) -> Exception | None:
    """What a caller that the view does not let in is told instead of a refusal."""
    who = caller()
    answer = call.objection(who, who.sent)
    return None if answer is None else refusal(answer, call.tool, call.arguments)


def access_check_of_function(tool: str, action: Action) -> Exception | None:
    """The same for a tool that is written by hand."""
    answer = caller().objection(action)
    return None if answer is None else refusal(answer, tool)


def contract_of(name: str, description: str, arguments: Arguments) -> Contract:
    """A contract whose shape the boundary guards, and whose values REST framework validates: once,
    in the view.
    """
    published = arguments.schema(arguments.properties)
    return Contract(
        name=name,
        description=description,
        shape=argument_shape(arguments),
        describe=lambda: published,
        listing_schema=brief(arguments),
        validate=Validation(arguments),
    )


def description_of(described: Operation, arguments: Arguments) -> str:
    """What a tool does. The description of a view set is about its rows; the standard actions say
    what they do to them.
    """
    own = cut(described.description.strip())
    verb = title(described.action)
    if described.body_is_undeclared:
        ending = messages.takes_no_fields(tuple(arguments.slots))
        return f"{(own or verb).rstrip('. ')}. {ending}"
    if described.action.name not in STANDARD_ACTIONS:
        return own or verb
    return f"{verb}. {own}" if own and not _is_on_list(described) else verb


def _is_on_list(described: Operation) -> bool:
    """Whether the description is the view's own, which the tool that lists its rows already has."""
    view = described.action.view
    if described.action.name in ("list", "create") or not hasattr(view, "list"):
        return False
    return described.description.strip() == (inspect.getdoc(view) or "").strip()


def summary(described: Operation) -> str:
    """The first paragraph of a view's description."""
    return cut(described.description.strip().partition("\n\n")[0])


def cut(text: str) -> str:
    """A description that is not too long."""
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return f"{text[:LONGEST_DESCRIPTION].rsplit(maxsplit=1)[0]} …"


def hints(action: Action) -> dict[str, bool]:
    """What a client may show before it lets a call through, unless clients assume it anyway."""
    match action.method:
        case "GET":
            return {"readOnlyHint": True}
        case "POST":
            return {"destructiveHint": False}
        case _:
            return {}
