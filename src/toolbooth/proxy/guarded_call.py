"""Judges a call of a client. Returns the verdict, and the changes to the message before it is
written to the server.
"""

from __future__ import annotations

from toolbooth.jsonvalue import Json
from toolbooth.proxy.guard import Verdict, judge
from toolbooth.proxy.message import Message, Span, json_text
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.envelope import beside


def fault_of(pending: Pending, tool: ProxiedTool) -> str | None:
    """Return how the headers of a call contradict its arguments. Return None if there is no
    contradiction or if there are no headers.
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
    the server, or if its arguments were repaired or sent flat.
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
