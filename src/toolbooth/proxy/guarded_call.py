"""A call of a client -> the verdict on it, and the changes with which it is written."""

from __future__ import annotations

from toolbooth.jsonvalue import Json
from toolbooth.proxy.guard import Verdict, judge
from toolbooth.proxy.message import Message, Span, json_text
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.envelope import beside


def fault_of(pending: Pending, tool: ProxiedTool) -> str | None:
    """How the headers of a call contradict it; None if they do not, or if there are none."""
    if pending.about is None:
        return None
    return pending.about.fault(tool, pending.param("arguments"))


def judge_call(pending: Pending, tool: ProxiedTool) -> Verdict:
    """The verdict on a call. Raises ToolInputError."""
    message = pending.message
    sent: Json = {**dict.fromkeys(message.params), "_meta": pending.meta}
    problems = beside(dict.fromkeys(message.spans), sent)
    return judge(tool, pending.param("arguments"), problems)


def changed_params(message: Message, tool: ProxiedTool, verdict: Verdict) -> list[tuple[Span, str]]:
    """The changes to the params of a call: none, unless its tool has another name here, or its
    arguments were repaired or sent flat.
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
