"""Stage 5: converts a value, or the problems of a call, to an MCP tool result. No other module
knows the format of the result.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import jiter
import orjson
from pydantic_core import to_json, to_jsonable_python

from toolbooth.boundary import messages
from toolbooth.boundary.keys.messages import REQUIRED, declared_fields
from toolbooth.boundary.mistakes import PLACES, Mistake, mistake_of
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.boundary.serialize import SameKey, as_json, checked_json
from toolbooth.content import Audio, Image, Resource, Text
from toolbooth.contract import Limits
from toolbooth.errors import (
    INVALID_PARAMS,
    Declared,
    Edit,
    LeaveOut,
    Problem,
    Split,
    ToolError,
    ToolInputError,
)
from toolbooth.jsonvalue import Json, JsonPath, is_array, path_text, shorten, write_json

logger = logging.getLogger("toolbooth")

META_KEY = "toolbooth"
"""The key in `_meta` with the data for programs: the repairs, notes and problems, and the corrected
call.
"""

_LINE = 600
"""The line of one problem has at most this many characters."""

_FIELDS = 300
"""The lines of problems always leave this many characters for the declared fields."""

_MOST_REPAIRS = 5
"""The text of a refusal names at most this many repairs."""

_LEAST_FIELDS = 100
"""The declared fields of an object are listed only if there is room for this many characters."""


LaterCode = Literal["busy", "in-flight"]
"""The reason why a call did not run now: the server is busy, or the same call is still running."""

as_fragment: Callable[[bytes], Any] = orjson.Fragment
"""Wraps JSON text so that it is written into the reply unchanged."""


def text_result(text: str, *, is_error: bool = False) -> Json:
    """Return a result with one plain text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def value_result(
    value: Any, remarks: Sequence[Remark], structured: Callable[[bytes], Any] = jiter.from_json
) -> Json:
    """Return the result for the value of a tool. If the value is an object, it is also sent as
    structured content. `structured` makes the structured content from the JSON of the value. If the
    value cannot be sent, any exception may be raised.
    """
    if type(value) is str:
        if not value.isascii():
            value.encode()  # Python accepts half a surrogate pair as text; JSON does not
        made: Json = {"content": [{"type": "text", "text": value}], "isError": False}
    elif type(value) is not dict and (pieces := pieces_of(value)) is not None:
        made = {"content": [_piece(each) for each in pieces], "isError": False}
        # This finds text that cannot be sent while the failure can still be reported as one of this
        # tool.
        orjson.dumps(made)
    else:
        text = json_of(value)
        made = {"content": [{"type": "text", "text": text.decode()}], "isError": False}
        # Up to revision 2025-11-25, MCP allows only an object as `structuredContent`. A list or a
        # number is sent only as text.
        if text[0] == 123:  # an object
            made["structuredContent"] = structured(text)
    if remarks:
        made["_meta"] = {META_KEY: remarks_data(remarks)}
    return made


def json_of(value: Any) -> bytes:
    """Return a tool's value as JSON. Models and dataclasses become objects. NaN is never written.

    Raises:
        SameKey: if two keys of a dict are the same in JSON, such as 1 and "1".
    """
    try:
        return orjson.dumps(value, default=as_json)
    except TypeError:  # integers of more than 64 bits, keys that are not text, or an error below
        return checked_json(value)


def remarks_data(remarks: Sequence[Remark]) -> Json:
    """Return the repairs and the notes of a call, for programs."""
    made: Json = {}
    for each in remarks:
        kind = "repairs" if isinstance(each, Repair) else "notes"
        made.setdefault(kind, []).append({"code": each.code, "path": each.where})
    return made


def later_result(code: LaterCode, text: str, seconds: int) -> Json:
    """Return the result of a call that did not run. It says when to send the call again."""
    made = text_result(text, is_error=True)
    made["_meta"] = {META_KEY: {"code": code, "retry_after": seconds}}
    return made


def unusable_result(why: str) -> Json:
    """Return the result of a tool that ran, but whose value cannot be sent. It asks the agent not
    to simply repeat the call.
    """
    return text_result(messages.result_unusable(why), is_error=True)


def unsendable_result(error: BaseException) -> Json:
    """Return `unusable_result` for a value that `value_result` could not write."""
    reason = str(error) if isinstance(error, SameKey) else ""
    return unusable_result(messages.result_unsendable(reason))


_CONTENT = (Text, Image, Audio, Resource)


def pieces_of(value: Any) -> list[Any] | None:
    """Return what a tool returned as a list of content. The tool may have returned one piece of
    content, or a list with at least one piece. Return None for any other value.
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
    """Return the tool's own error, with its own text. Details that cannot be sent are left out."""
    made = text_result(str(error), is_error=True)
    try:
        if error.details is not None:
            # Read back from the JSON, so that `details` may hold models and dates.
            made["structuredContent"] = {"details": jiter.from_json(json_of(error.details))}
        # Half a surrogate pair in the message raises an error only when the message is written.
        to_json(made)
    except Exception:
        logger.exception("tool %r failed with details that cannot be sent", error.tool)
        return text_result(str(error).encode(errors="replace").decode(), is_error=True)
    return made


def refusal_result(error: ToolInputError, limits: Limits) -> Json:
    """Return a refusal as a tool result, which models can see."""
    text, data = _text_and_data(error, limits.max_text)
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META_KEY: data}}


def refusal_error(error: ToolInputError, limits: Limits) -> Json:
    """Return a refusal as a JSON-RPC error object, for servers with `errors="protocol"`."""
    text, data = _text_and_data(error, limits.max_text)
    return {"code": INVALID_PARAMS, "message": text, "data": {META_KEY: data}}


def refusal_text(error: ToolInputError, most: int) -> str:
    """Return the message of a refusal. An agent needs only this text to send the call again."""
    return _text_and_data(error, most)[0]


def _text_and_data(error: ToolInputError, most: int) -> tuple[str, Json]:
    """Return a refusal as text for the agent and as data for programs."""
    # The data comes first, because its paths are also used in the text.
    data: Json = {
        "code": INVALID_PARAMS,
        "problems": [_problem_data(each) for each in error.problems],
    }
    objects = _objects(error.declared)
    if objects:
        data["declared"] = {path: each.types for path, each in objects}
    if error.form is not None:
        data["form"] = error.form
    if error.repairs:
        data["repaired"] = [{"code": code, "path": path_text(path)} for code, path in error.repairs]
    if error.edits:
        data["edits"] = [messages.edit_text(edit) for edit in error.edits]
    call = b""
    if error.corrected is not None:
        try:
            # This is almost always plain JSON, as it was read, and may be large.
            data["corrected"], call = error.corrected, orjson.dumps(error.corrected)
        except TypeError:
            data["corrected"] = to_jsonable_python(error.corrected)
            call = json_of(error.corrected)
    return _refusal_text(error, data["problems"], objects, call, most), data


_MOST_OBJECTS = 1_000
"""At most this many objects are compared, to find those with different fields."""


def _problem_data(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "path": problem.where, "message": problem.message}


def _objects(declared: Mapping[JsonPath, Declared]) -> list[tuple[str, Declared]]:
    """Return the objects whose fields are listed. If several objects have the same fields, only the
    first is returned, because there is little room.
    """
    found: dict[int, tuple[str, Declared]] = {}
    for path, each in islice(declared.items(), _MOST_OBJECTS):
        if id(each) not in found:
            found[id(each)] = (path_text(path), each)
    return list(found.values())


def _refusal_text(
    error: ToolInputError,
    problems: list[dict[str, str]],
    objects: list[tuple[str, Declared]],
    call: bytes,
    most: int,
) -> str:
    """Return the lines of a refusal. If the text would be too long, the corrected call gets its
    room first, then the problems. The declared fields get the remaining room.
    """
    count = len(problems) + error.more
    head = messages.head(count, error.tool, error.target, untouched=error.untouched)
    left = error.more
    # Past the limit, the rest of the call was not looked at.
    if 0 < left < messages.MOST_COUNTED:
        left -= sum(each.unlisted for each in error.problems)
    lines = _lines(error.problems, problems, at_least=left > 0)
    # Most refusals are short. The room is divided only if the whole text does not fit.
    if not error.more and len(call) < most:
        fields = [declared_fields(path, each) for path, each in objects]
        whole = "\n".join([head, *lines, *fields, *_remedy(error, call, most, most // 2)])
        if len(whole) <= most:
            return whole
    room = most - len(head)
    # A corrected call alone does not show the mistake, so room is kept for the first problem and
    # some of the declared fields.
    needed = sum(map(len, lines[:1])) + (_LEAST_FIELDS if objects else 0)
    remedy = _remedy(error, call, room - needed, most // 2)
    room -= sum(len(line) + 1 for line in remedy)
    shown = _lines_that_fit(lines, room - (_FIELDS if objects else 0), left)
    room -= sum(len(line) + 1 for line in shown)
    return shorten("\n".join([head, *shown, *_field_lines(objects, room), *remedy]), most)


def _lines(problems: Sequence[Problem], data: list[dict[str, str]], *, at_least: bool) -> list[str]:
    """Return a line for each problem. The same mistake in several items of an array has only one
    line. If `at_least` is true, some problems are not listed, so the counts may be too low.
    """
    if len(problems) == 1:
        return [_line(data[0]["path"], data[0]["message"])]
    places: dict[Mistake, list[dict[str, str]]] = {}
    unlisted: dict[Mistake, int] = {}
    # A wrong column in 500 rows is one mistake. As 500 lines, it would leave no room for others.
    for problem, each in zip(problems, data, strict=True):
        mistake = mistake_of(problem)
        places.setdefault(mistake, []).append(each)
        unlisted[mistake] = unlisted.get(mistake, 0) + problem.unlisted
    lines: list[str] = []
    for mistake, (first, *others) in places.items():
        message = first["message"]
        count = 1 + len(others) + unlisted[mistake]
        if count > 1:
            also = [shorten(each["path"], 80) for each in others[: PLACES - 1]]
            message = messages.same_in_rows(message, count, also, at_least=at_least)
        lines.append(_line(first["path"], message))
    return lines


def _line(path: str, message: str) -> str:
    return shorten(f"- {shorten(path, 160)}: {message}", _LINE)


def _lines_that_fit(lines: list[str], room: int, more: int) -> list[str]:
    """Return as many lines as there is room for, but at least one. Add a line with the number of
    lines that were left out.
    """
    room -= 20  # for the count
    shown: list[str] = []
    for line in lines:
        if shown and room < len(line) + 1:
            break
        shown.append(line)
        room -= len(line) + 1
    left = len(lines) - len(shown) + more
    return [*shown, messages.more_problems(left)] if left else shown


def _field_lines(objects: list[tuple[str, Declared]], room: int) -> list[str]:
    """Return the declared fields of as many objects as there is room for. Objects with few fields
    leave their unused room to the other objects.
    """
    objects = objects[: max(1, room // _LEAST_FIELDS)]
    made: dict[str, str] = {}
    for path, declared in sorted(objects, key=lambda each: len(each[1].types)):
        # The line break also counts for the length of a line.
        share = room // (len(objects) - len(made)) - 1
        line = declared_fields(path, declared, share)
        made[path] = line if len(line) <= share else ""
        room -= len(made[path]) + 1
    return [made[path] for path, _ in objects if made[path]]


def _remedy(error: ToolInputError, call: bytes, room: int, most: int) -> list[str]:
    if call:
        left_out = [edit for edit in error.edits if isinstance(edit, LeaveOut)]
        lines = [messages.left_out(left_out)] if left_out else []
        lines.append(messages.send_instead(call))
        # The corrected call is shown completely or not at all, because an agent would send half a
        # call as it is.
        if sum(map(len, lines)) < room:
            return lines
    lines = [shorten(_steps(error), most)] if error.edits else []
    if error.form is not None:
        form = messages.form(write_json(error.form))
        lines += [form] if len(form) <= most else []
    if error.repairs:
        made = [(code, path_text(path)) for code, path in error.repairs[:_MOST_REPAIRS]]
        lines.append(shorten(messages.repaired(made), most // 2))
    if error.is_empty:
        lines.append(messages.NOTHING_ARRIVED)
    return lines


def _steps(error: ToolInputError) -> str:
    """Return the edits as text, and how many of the problems they correct."""
    if error.corrected is not None:
        return messages.steps(error.edits)
    count = len(error.problems) + error.more
    done = sum(_is_edited(each, error.edits) for each in error.problems)
    if done == count:
        return messages.steps(error.edits)
    missing = [each.path for each in error.problems if each.code == "missing"]
    needed = tuple(_needed(error, path) for path in missing)
    return messages.some_steps(error.edits, done, count, needed)


def _is_edited(problem: Problem, edits: Sequence[Edit]) -> bool:
    keys = {edit.key for edit in edits if isinstance(edit, Split)}
    sources = {edit.source for edit in edits if not isinstance(edit, Split)}
    return problem.path in sources or not keys.isdisjoint(map(str, problem.path[-1:]))


def _needed(error: ToolInputError, path: JsonPath) -> str:
    """Return the name of a required field, with its type if the type is known."""
    declared = error.declared.get(path[:-1])
    name = path_text(path).removeprefix("$.")
    kind = "" if declared is None else declared.types.get(str(path[-1]), "")
    if not kind:
        return name
    return f"{name} ({kind.removesuffix(REQUIRED)})"
