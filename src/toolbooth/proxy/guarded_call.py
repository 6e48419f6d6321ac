"""Checks a tool call of a client. Returns the verdict, and the changes that are made to the message
before it is sent to the server.
"""

from __future__ import annotations

from toolbooth.contract import LARGE
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.proxy.guard import Verdict, judge
from toolbooth.proxy.message import Message, Span, json_text
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.envelope import beside

Outcome = Verdict | ToolInputError | str
"""A verdict, a refusal, or a sentence that says how the headers of the call contradict its
arguments.
"""


def outcome_of(pending: Pending, tool: ProxiedTool) -> Outcome:
    """Check a call. This may run in a thread."""
    fault = fault_of(pending, tool)
    if fault is not None:
        return fault
    try:
        return judge_call(pending, tool)
    except ToolInputError as refusal:
        return refusal


def is_large(pending: Pending) -> bool:
    """Return True if checking a call takes long. The check then runs in a thread, so that other
    messages do not have to wait.
    """
    start, end = pending.message.params.get("arguments", (0, 0))
    return end - start > LARGE


def fault_of(pending: Pending, tool: ProxiedTool) -> str | None:
    """Return a sentence that says how the headers of a call contradict its arguments. Return None
    if there is no contradiction, or if there are no headers.
    """
    if pending.about is None:
        return None
    return pending.about.fault(tool, pending.param("arguments"))


def judge_call(pending: Pending, tool: ProxiedTool) -> Verdict:
    """Return the verdict on a call. Raises ToolInputError."""
    message = pending.message
    sent: Json = {**dict.fromkeys(message.params), "_meta": pending.meta}
    problems = beside(dict.fromkeys(message.spans), sent)
    return judge(tool, pending.param("arguments"), problems)


def changed_params(message: Message, tool: ProxiedTool, verdict: Verdict) -> list[tuple[Span, str]]:
    """Return the changes to the params of a call. There are changes if the tool has another name on
    the server, or if its arguments were repaired. There are also changes if the client has sent
    `{"id": 1}` where the server expects `{"params": {"id": 1}}`.
    """
    params = message.params
    changes: list[tuple[Span, str]] = []
    if tool.name != tool.published:
        changes.append((params["name"], json_text(tool.name)))
    arguments = verdict.rewritten
    if tool.wrapped_in is not None:
        sent = message.at(params.get("arguments"))
        inner = arguments or ("{}" if sent in (None, "null") else sent)
        arguments = f"{{{json_text(tool.wrapped_in)}:{inner}}}"
    if arguments is None:
        return changes
    if "arguments" in params:
        changes.append((params["arguments"], arguments))
    else:
        end = message.spans["params"][1] - 1
        changes.append(((end, end), f',"arguments":{arguments}'))
    return changes
