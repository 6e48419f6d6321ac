"""Stage 5: a value or problems -> the MCP tool result. The only place that knows the wire form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jiter
import orjson
from pydantic_core import to_json, to_jsonable_python

from toolbooth.boundary.decode import Repair
from toolbooth.boundary.paths import listed
from toolbooth.contract import Limits
from toolbooth.errors import INVALID_PARAMS, Problem, ToolError, ToolInputError

META_KEY = "toolbooth"
"""Under this key of `_meta` stands what a program may want to read: repairs, problems, the corrected call."""

_LINE = 420
"""Characters of one problem's line."""

Json = dict[str, Any]


def as_fragment(text: bytes) -> Any:
    """Structured content that is written into the reply as it is."""
    return orjson.Fragment(text)


def text_result(text: str, *, is_error: bool = False) -> Json:
    """Plain text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def value_result(value: Any, repairs: list[Repair], structured: Callable[[bytes], Any] = jiter.from_json) -> Json:
    """What the tool returned; an object also as structured content, in the form that `structured` gives it."""
    if type(value) is str:
        made: Json = {"content": [{"type": "text", "text": value}], "isError": False}
    else:
        text = _json_of(value)
        made = {"content": [{"type": "text", "text": text.decode()}], "isError": False}
        if text[0] == 123:  # an object
            made["structuredContent"] = structured(text)
    if repairs:
        made["_meta"] = {META_KEY: {"repairs": [{"code": each.code, "path": each.path} for each in repairs]}}
    return made


def _json_of(value: Any) -> bytes:
    """The JSON of what a tool returned: models and dataclasses by field, never a NaN that no client can read."""
    try:
        return orjson.dumps(value, default=to_jsonable_python)
    except TypeError:  # integers beyond 64 bits, keys that are not text
        return to_json(value, inf_nan_mode="null")


def tool_error_result(error: ToolError) -> Json:
    """The tool's own failure, in its own words."""
    made: Json = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    if error.details is not None:
        made["structuredContent"] = {"details": to_jsonable_python(error.details)}
    return made


def refusal_result(error: ToolInputError, limits: Limits) -> Json:
    """A refusal as a tool result: what models can see."""
    text = refusal_text(error, limits.max_text)
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META_KEY: _data(error)}}


def refusal_error(error: ToolInputError, limits: Limits) -> Json:
    """A refusal as a JSON-RPC error object, for hosts that are set to answer so."""
    return {"code": INVALID_PARAMS, "message": refusal_text(error, limits.max_text), "data": {META_KEY: _data(error)}}


def _data(error: ToolInputError) -> Json:
    made: Json = {
        "code": INVALID_PARAMS,
        "problems": [{"code": each.code, "path": each.path, "message": each.message} for each in error.problems],
    }
    if error.edits:
        made["edits"] = list(error.edits)
    if error.corrected is not None:
        made["corrected"] = to_jsonable_python(error.corrected)
    return made


def refusal_text(error: ToolInputError, most: int) -> str:
    """The one message from which the agent can send the call again."""
    count = len(error.problems) + error.more
    head = f"Refused: {count} problem{'s' if count > 1 else ''} in the arguments{_of(error.tool)}. Nothing was done."
    tail = [*_declared(error), *_remedy(error, most // 2)]
    lines = _fitting([_line(each) for each in error.problems], most - len(head) - len("\n".join(tail)) - 40, error.more)
    return _cut("\n".join([head, *lines, *tail]), most)


def _of(tool: str) -> str:
    return f" of {_cut(tool, 70)!r}" if tool else ""


def _line(problem: Problem) -> str:
    return _cut(f"- {_cut(problem.path, 160)}: {problem.message}", _LINE)


def _fitting(lines: list[str], room: int, more: int) -> Iterable[str]:
    """As many lines as there is room for, at least one; the others are counted."""
    shown: list[str] = []
    for line in lines:
        if shown and room < len(line) + 1:
            break
        shown.append(line)
        room -= len(line) + 1
    left = len(lines) - len(shown) + more
    return [*shown, f"- and {left} more"] if left else shown


def _declared(error: ToolInputError) -> Iterable[str]:
    for path, names in list(error.declared.items())[:2]:
        where = "" if path == "$" else f" of {_cut(path, 80)}"
        yield _cut(f"Declared fields{where}: {listed(names)}.", 300) if names else f"No fields are declared{where}."


def _remedy(error: ToolInputError, room: int) -> Iterable[str]:
    if error.corrected is not None:
        call = _json_of(error.corrected)
        if len(call) <= room:
            yield f"Send instead: {call.decode()}"
            return
    if error.edits:
        yield _cut("To correct it: " + "; ".join(error.edits) + ".", room)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
