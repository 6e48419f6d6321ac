"""The repairs.

Each repair undoes a known fault of clients, and only if the declared type allows no other meaning.
Every rule names the reports that justify it. Do not add a rule without a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolbooth.boundary import messages
from toolbooth.boundary.integers import is_whole
from toolbooth.boundary.read import Unreadable, check_values, read_json, text_as_json
from toolbooth.contract import Limits
from toolbooth.errors import ProblemCode
from toolbooth.jsonvalue import JsonPath, is_array, is_object, path_text, recased
from toolbooth.shape import Field, ObjectShape, Shape, json_type

RepairCode = Literal["json-text", "scalar-text", "null-optional", "empty-optional", "client-key"]

NoteCode = Literal["call-tags"]

CLIENT_KEYS = frozenset(
    (
        "toolCallId",  # n8n-io/n8n#21500, 2025-11-03
        "_meta",  # cyanheads/mcp-ts-core#453, 2026-09-18
        "tool_call_description",  # the same
        "_as_extra",  # the same
    )
)
"""Keys that clients add to the arguments. Each has a report."""

_STARTS = frozenset('{["-0123456789tfn \t\r\n')
"""The possible first characters of JSON text."""

_SHORT_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
"""Matches an integer that is too short to exceed a limit."""

NOT_SENT: Any = object()
"""Returned instead of a value that is treated as if its key had not been sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One recorded repair."""

    code: RepairCode
    path: JsonPath

    @property
    def where(self) -> str:
        """Return the path as people read it: `$.lines[0]`."""
        return path_text(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something unusual in the arguments. It was not changed."""

    code: NoteCode
    path: JsonPath

    @property
    def where(self) -> str:
        """Return the path as people read it: `$.body`."""
        return path_text(self.path)


Remark = Repair | Note
"""A remark about the arguments of a call. It is added to the result."""


@dataclass(frozen=True, slots=True)
class Unrepairable:
    """Returned for text that does not hold a value of the declared type."""

    code: ProblemCode
    message: str


WRONG_TYPE = Unrepairable("wrong-type", "")


def admits(shape: Shape, value: Any) -> bool:
    """Return True if the JSON type of the value is declared here. 1.0 is an integer, because it is
    the same JSON number.
    """
    kind = json_type(value)
    if kind in shape.types:
        return True
    # In JSON Schema every integer is a number as well, so 5 may be sent where a float is declared.
    if kind == "integer":
        return "number" in shape.types
    return kind == "number" and "integer" in shape.types and is_whole(value)


def text(shape: Shape, value: str, limits: Limits) -> tuple[Any, RepairCode] | Unrepairable:
    """Parse JSON out of a text, where text is not declared. The text may be encoded twice.

    Objects and arrays: anthropics/claude-code#5504 (2025-08-10) to #87361 (2026-08-17),
    PrefectHQ/fastmcp#932; twice encoded: justrach/codegraff2#141 (2026-05-29). Numbers and
    booleans: claude-code#29104 (2026-02-26), #32524, #56539, #91803 (2026-09-03),
    netclaw-dev/netclaw#51.
    """
    # The first character is enough to recognise prose.
    if value[:1] not in _STARTS:
        return WRONG_TYPE
    found: Any = int(value) if _SHORT_INTEGER.fullmatch(value) else value
    while isinstance(found, str):
        # `"\"[1, 2]\""` was encoded twice, so the inner text is read again.
        try:
            found, _, body = read_json(found.encode(), limits)
            check_values(found, body, limits)
        except Unreadable as error:
            return _unreadable(shape, found, error)
    if is_object(found) or is_array(found):
        return (found, "json-text") if admits(shape, found) else WRONG_TYPE
    # null is returned even where it is not declared. The caller then reports a null that is not
    # allowed, instead of text.
    if found is None:
        return None, "json-text"
    # Clients that write a number as text add no spaces, so `" 5"` may have another cause. With
    # `strict`, the author wants no number out of text at all.
    if value != value.strip() or shape.strict or not admits(shape, found):
        return WRONG_TYPE
    return found, "scalar-text"


def _unreadable(shape: Shape, value: str, error: Unreadable) -> Unrepairable:
    """Return the reason why a text could not be parsed. The reason is empty if the text is probably
    not meant as JSON.
    """
    if error.problem.code == "lossy-number" and shape.types & {"integer", "number"}:
        return Unrepairable("lossy-number", messages.LOSSY_TEXT)
    # Text that is not JSON is explained only if an object or array is declared. Otherwise the agent
    # did not mean JSON, and only the type is wrong.
    meant = value.lstrip()[:1] in ("{", "[") and shape.types & {"object", "array"}
    if not meant:
        return WRONG_TYPE
    not_json = error.problem.code == "not-json"
    message = messages.unreadable_text(
        error.problem.message, single_quotes=not_json and "'" in value
    )
    return Unrepairable("wrong-type" if not_json else error.problem.code, message)


def left_out(field: Field, value: Any) -> RepairCode | None:
    """Return the code of the repair if a value means that an optional field was not sent.

    null: ZenRows/zenrows-mcp#23 (2026-09-18), langflow#8059, zereight/gitlab-mcp#281 (2025-11-14).
    "": coder/xum#2887 (2026-03-10), langchain-ai/deepagents#6077 (2026-09-04),
    anomalyco/opencode#33626.
    """
    # A required field cannot be left out. `Verbatim` accepts null as a value, and an author's own
    # code may use null in its own way.
    if field.required or field.verbatim or field.exact or field.shape.opaque:
        return None
    if value is None:
        return None if "null" in field.shape.types else "null-optional"
    # If text is declared, empty text is an ordinary value.
    if value == "" and "string" not in field.shape.types:
        return "empty-optional"
    return None


def is_client_key(key: str, value: Any, form: ObjectShape) -> bool:
    """Return True if a client has added this top-level key. A key that is another spelling of a
    declared name does not count.

    Only `_meta` has been seen with an object as its value. So an object under any other key is a
    wrapper. A value that contains a declared field is a wrapper too, at any depth, even inside JSON
    text.
    """
    if key not in CLIENT_KEYS or (key != "_meta" and isinstance(value, dict)):
        return False
    # A tool may declare `meta`. Then `_meta` is probably a misspelling of this field, and its value
    # must not be dropped.
    declared = {recased(name) for name in form.fields} | form.guarded
    return declared.isdisjoint({recased(key), *map(recased, _keys_in(value))})


def _keys_in(value: Any) -> Iterator[str]:
    """Yield the keys of all objects in a value. Objects inside JSON text are included."""
    found = text_as_json(value)
    if is_object(found):
        yield from found
        found = list(found.values())
    if is_array(found):
        for each in found:
            yield from _keys_in(each)
