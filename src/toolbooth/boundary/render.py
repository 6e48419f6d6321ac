"""Stage 5: a value or problems -> the MCP tool result. Only this module knows its format."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jiter
import orjson
from pydantic_core import to_json, to_jsonable_python

from toolbooth.boundary import messages
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.boundary.serialize import SameKey, as_json, checked_json
from toolbooth.content import Audio, Image, Resource, Text
from toolbooth.contract import Limits
from toolbooth.errors import INVALID_PARAMS, Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, is_array, shorten

logger = logging.getLogger("toolbooth")

META_KEY = "toolbooth"
"""The key of `_meta` under which programs find repairs, notes, problems and the corrected call."""

_LINE = 420
"""Characters of one problem's line."""


as_fragment: Callable[[bytes], Any] = orjson.Fragment
"""JSON text -> structured content that is written into the reply as it is."""


def text_result(text: str, *, is_error: bool = False) -> Json:
    """Plain text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def value_result(
    value: Any, remarks: Sequence[Remark], structured: Callable[[bytes], Any] = jiter.from_json
) -> Json:
    """The value that the tool returned. An object is also sent as structured content, made from its
    JSON by `structured`. Raises any exception if the value cannot be sent.
    """
    if type(value) is str:
        if not value.isascii():
            value.encode()  # half a surrogate pair is text for Python alone
        made: Json = {"content": [{"type": "text", "text": value}], "isError": False}
    elif type(value) is not dict and (pieces := pieces_of(value)) is not None:
        made = {"content": [_piece(each) for each in pieces], "isError": False}
        orjson.dumps(made)
    else:
        text = json_of(value)
        made = {"content": [{"type": "text", "text": text.decode()}], "isError": False}
        if text[0] == 123:  # an object
            made["structuredContent"] = structured(text)
    if remarks:
        made["_meta"] = {META_KEY: remarks_data(remarks)}
    return made


def json_of(value: Any) -> bytes:
    """The JSON of what a tool returned: models and dataclasses by field, never a NaN that no client
    can read.

    Raises:
        SameKey: two keys of a dict are the same in JSON, such as 1 and "1".
    """
    try:
        return orjson.dumps(value, default=as_json)
    except TypeError:  # integers beyond 64 bits, keys that are not text, or an error below
        return checked_json(value)


def remarks_data(remarks: Sequence[Remark]) -> Json:
    """The repairs and the notes of a call, for programs."""
    made: Json = {}
    for each in remarks:
        kind = "repairs" if isinstance(each, Repair) else "notes"
        made.setdefault(kind, []).append({"code": each.code, "path": each.where})
    return made


def unusable_result(why: str) -> Json:
    """The result of a tool that ran: what was done stays done, so the call must not simply be made
    again.
    """
    return text_result(messages.result_unusable(why), is_error=True)


def unsendable_result(error: BaseException) -> Json:
    """`unusable_result` for a value that `value_result` could not write."""
    reason = str(error) if isinstance(error, SameKey) else ""
    return unusable_result(messages.result_unsendable(reason))


_CONTENT = (Text, Image, Audio, Resource)


def pieces_of(value: Any) -> list[Any] | None:
    """The content pieces that a tool returned: one, or a list with at least one among its items.
    None if the value is not content.
    """
    if isinstance(value, _CONTENT):
        return [value]
    if is_array(value) and any(isinstance(each, _CONTENT) for each in value):
        return value
    return None


def _piece(piece: Any) -> Json:
    if isinstance(piece, Image | Audio):
        kind = "image" if isinstance(piece, Image) else "audio"
        return {"type": kind, "data": _base64(piece.data), "mimeType": piece.mime_type}
    if isinstance(piece, Resource):
        inner: Json = {"uri": piece.uri, "mimeType": piece.mime_type}
        if isinstance(piece.content, bytes):
            return {"type": "resource", "resource": {**inner, "blob": _base64(piece.content)}}
        return {"type": "resource", "resource": {**inner, "text": piece.content}}
    text = piece.text if isinstance(piece, Text) else piece
    return {"type": "text", "text": text if isinstance(text, str) else json_of(text).decode()}


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def tool_error_result(error: ToolError) -> Json:
    """The tool's own failure, in its own words; without its details if they cannot be sent."""
    made = text_result(str(error), is_error=True)
    try:
        if error.details is not None:
            made["structuredContent"] = {"details": jiter.from_json(json_of(error.details))}
        to_json(made)
    except Exception:
        logger.exception("tool %r failed with details that cannot be sent", error.tool)
        return text_result(str(error).encode(errors="replace").decode(), is_error=True)
    return made


def refusal_result(error: ToolInputError, limits: Limits) -> Json:
    """A refusal as a tool result: what models can see."""
    text, data = _text_and_data(error, limits.max_text)
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META_KEY: data}}


def refusal_error(error: ToolInputError, limits: Limits) -> Json:
    """A refusal as a JSON-RPC error object, for hosts that are set to answer so."""
    text, data = _text_and_data(error, limits.max_text)
    return {"code": INVALID_PARAMS, "message": text, "data": {META_KEY: data}}


def refusal_text(error: ToolInputError, most: int) -> str:
    """The one message from which the agent can send the call again."""
    return _text_and_data(error, most)[0]


def _text_and_data(error: ToolInputError, most: int) -> tuple[str, Json]:
    """A refusal for the agent and for programs."""
    # As data first, because its paths are written once and used for the text too.
    problems = [_problem_data(each) for each in error.problems]
    if error.corrected is None:
        return _refusal_text(error, problems, b"", most), _refusal_data(error, problems, None)
    try:
        # Almost always nothing but JSON as it was read, however much of it.
        corrected, call = error.corrected, orjson.dumps(error.corrected)
    except TypeError:
        corrected, call = to_jsonable_python(error.corrected), json_of(error.corrected)
    text = _refusal_text(error, problems, call, most)
    return text, _refusal_data(error, problems, corrected)


def _problem_data(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "path": problem.where, "message": problem.message}


def _refusal_data(error: ToolInputError, problems: list[dict[str, str]], corrected: Any) -> Json:
    made: Json = {"code": INVALID_PARAMS, "problems": problems}
    if error.edits:
        made["edits"] = [messages.edit_text(edit) for edit in error.edits]
    if corrected is not None:
        made["corrected"] = corrected
    return made


def _refusal_text(
    error: ToolInputError, problems: list[dict[str, str]], call: bytes, most: int
) -> str:
    count = len(problems) + error.more
    head = messages.head(count, error.tool, untouched=error.untouched)
    tail = "\n".join(_field_lines(error) + _remedy(error, call, most // 2))
    lines = [_line(each["path"], each["message"]) for each in problems]
    shown = _lines_that_fit(lines, most - len(head) - len(tail) - 40, error.more)
    whole = [head, *shown, tail] if tail else [head, *shown]
    return shorten("\n".join(whole), most)


def _line(path: str, message: str) -> str:
    return shorten(f"- {shorten(path, 160)}: {message}", _LINE)


def _lines_that_fit(lines: list[str], room: int, more: int) -> Iterable[str]:
    """As many lines as there is room for, at least one; the others are counted."""
    shown: list[str] = []
    for line in lines:
        if shown and room < len(line) + 1:
            break
        shown.append(line)
        room -= len(line) + 1
    left = len(lines) - len(shown) + more
    return [*shown, messages.more_problems(left)] if left else shown


def _field_lines(error: ToolInputError) -> list[str]:
    first = list(error.declared.items())[:2]
    return [shorten(messages.declared_fields(path, names), 300) for path, names in first]


def _remedy(error: ToolInputError, call: bytes, room: int) -> list[str]:
    if call and len(call) <= room:
        return [messages.send_instead(call)]
    return [shorten(messages.steps(error.edits), room)] if error.edits else []
