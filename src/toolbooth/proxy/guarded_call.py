"""A call that may pass -> the changes with which it is written to the server."""

from __future__ import annotations

from toolbooth.proxy.guard import Verdict
from toolbooth.proxy.message import Message, Span, json_text
from toolbooth.proxy.tool import ProxiedTool


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
