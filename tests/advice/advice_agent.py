"""A literal agent: it sends a call, and if it is refused, it sends exactly the call in the refusal."""

import json
from collections.abc import Callable
from typing import Any, Literal

from advice_corpus import Call
from advice_tools import Entry

Outcome = Literal[
    "right at once",
    "right the second time",
    "refused without a correction",
    "wrong advice",
    "ran with other arguments",
]

Send = Callable[[Call, dict[str, Any]], dict[str, Any]]
"""Sends arguments to the tool of a call. Returns the tool result, as the wire has it."""


def outcome(call: Call, send: Send) -> Outcome:
    """The outcome of a call. A correction of a call that no reader can be certain of is wrong."""
    first = send(call, call.sent)
    if not first["isError"]:
        return "right at once" if _is_right(call, first) else "ran with other arguments"
    again = correction(first)
    if again is None:
        return "refused without a correction"
    second = send(call, again)
    if not second["isError"] and _is_right(call, second) and not repaired(second):
        return "right the second time"
    return "wrong advice"


def correction(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that a refusal asks for, as a program and as a model reads it."""
    told = result.get("_meta", {}).get("toolbooth", {}).get("corrected")
    lines = result["content"][0]["text"].splitlines()
    read = [line for line in lines if line.startswith("Send instead: ")]
    found = json.loads(read[0].removeprefix("Send instead: ")) if read else None
    return told if told is not None else found


def repaired(result: dict[str, Any]) -> bool:
    """Whether the suggested call had to be repaired: then it was not the right one."""
    return bool(result.get("_meta", {}).get("toolbooth", {}).get("repairs"))


def _is_right(call: Call, result: dict[str, Any]) -> bool:
    """Whether the tool received the intended arguments."""
    if call.right is None:
        return False
    got = result.get("structuredContent") or json.loads(result["content"][0]["text"])
    return _entries(call, got) == _entries(call, call.right)


def _entries(call: Call, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries in the arguments, with their defaults, in the same form for every tool."""
    arguments = arguments.get("result", arguments)
    if call.depth == "items":
        found = arguments["entries"]
    else:
        found = [arguments["entry"] if call.depth == "object" else arguments]
    return [Entry.model_validate(each).model_dump(mode="json") for each in found]
