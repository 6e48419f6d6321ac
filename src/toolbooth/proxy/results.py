"""Makes the results that clients get: the result of the upstream server with the proxy's additions,
or a result of the proxy itself.
"""

from __future__ import annotations

from typing import Any

from toolbooth.boundary.render import META_KEY, refusal_result, remarks_data, text_result
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages
from toolbooth.proxy.guard import Verdict
from toolbooth.proxy.message import (
    Key,
    Message,
    NotAMessage,
    json_text,
    members,
    spliced,
    value_of,
    with_member,
)
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.envelope import id_in
from toolbooth.server.messages import NOT_A_REQUEST, WRONG_ID
from toolbooth.server.redact import as_text
from toolbooth.server.revisions import INVALID_REQUEST, PARSE_ERROR, VERSION_KEY

RETRY_AFTER = "retry_after"
NOT_CALLED, UNANSWERED = "not-called", "unanswered"
"""The codes of calls that the server did not answer."""


def answered(message: Message, client_id: str, tool: ProxiedTool, verdict: Verdict) -> bytes:
    """Return the answer to a tool call as the client gets it."""
    own: Json = remarks_data(verdict.remarks)
    if verdict.undeclared:
        own["undeclared"] = verdict.undeclared_names
    if tool.contract is None:
        own["guarded"] = False
    if not own:
        return message.with_id(client_id)
    changes = [(message.spans["id"], client_id)]
    if (written := message.part("result")) is not None and written[:1] == "{":
        changes.append((message.spans["result"], _with_own(written, own, verdict)))
    elif verdict.undeclared and (failure := message.part("error") or "")[:1] == "{":
        changes.append((message.spans["error"], _with_words(failure, verdict)))
    return message.written(changes)


def _with_own(result: str, own: Json, verdict: Verdict) -> str:
    if verdict.undeclared:
        result = _with_note(result, messages.note(verdict.undeclared_names))
    span = members(result, 0, last=True).get("_meta")
    meta: Any = value_of(result[span[0] : span[1]]) if span is not None else None
    meta = meta if is_object(meta) else {}
    # The server may use Toolbooth too, and its result may have other repairs.
    found: Any = meta.get(META_KEY)
    merged: Json = dict(found) if is_object(found) else {}
    for key, value in own.items():
        before: Any = merged.get(key)
        merged[key] = [*before, *value] if is_array(before) and is_array(value) else value
    return with_member(result, "_meta", json_text({**meta, META_KEY: merged}))


def _with_note(result: str, note: str) -> str:
    """Return the result with one more text item, the note. A result without content is not changed.
    For example, a request for more input has no content.
    """
    span = members(result, 0, last=True).get("content")
    if span is None or result[span[0]] != "[":
        return result
    end = span[1] - 1
    comma = "" if result[span[0] + 1 : end].strip() == "" else ","
    item = json_text({"type": "text", "text": note})
    return spliced(result, [((end, end), comma + item)])


def _with_words(failure: str, verdict: Verdict) -> str:
    span = members(failure, 0, last=True).get("message")
    words: Any = value_of(failure[span[0] : span[1]]) if span is not None else ""
    note = messages.note(verdict.undeclared_names)
    return with_member(failure, "message", json_text(f"{words} {note}".strip()))


def unreadable(line: bytes, error: NotAMessage) -> bytes:
    """Return the answer to bytes that are not a message."""
    request_id = wire.written_id(id_in(line))
    if line.lstrip()[:1] == b"[":
        return wire.error(request_id, INVALID_REQUEST, messages.BATCHES)
    return wire.error(request_id, PARSE_ERROR, f"Parse error: {error}")


def no_request(message: Message) -> bytes:
    """Return the answer to a message that is neither a request nor an answer."""
    return wire.error(message.id or "null", INVALID_REQUEST, NOT_A_REQUEST)


def wrong_id(message: Message, key: Key | None) -> bytes:
    """Return the answer to a request whose id cannot be used. `key` is None if the id is invalid.
    Otherwise the id is already in use.
    """
    if key is None:
        return wire.error("null", INVALID_REQUEST, WRONG_ID)
    return wire.error(message.id or "null", INVALID_REQUEST, messages.ID_IN_USE)


def refused(error: ToolInputError, meta: Json) -> str:
    """Return the result of a refused call, as JSON."""
    return completed(refusal_result(error, DEFAULT_LIMITS), meta)


def not_called(tool: str, why: str, meta: Json, seconds: float | None = None) -> str:
    """Return the result of a call that was not written to the server."""
    made = text_result(messages.not_called(tool, why), is_error=True)
    own: Json = {"code": NOT_CALLED}
    if seconds is not None:
        own[RETRY_AFTER] = seconds
    return completed({**made, "_meta": {META_KEY: own}}, meta)


def unanswered(published: str, tool: ProxiedTool | None, why: str, meta: Json) -> str:
    """Return the result of a call that was written to the server but got no answer."""
    repeatable: messages.Repeatable = "unknown"
    if tool is not None and tool.read_only:
        repeatable = "reads"
    elif tool is not None and tool.idempotent:
        repeatable = "idempotent"
    words = messages.unanswered(published, why, repeatable)
    own = {"code": UNANSWERED, "repeatable": repeatable != "unknown"}
    return completed({**text_result(words, is_error=True), "_meta": {META_KEY: own}}, meta)


def completed(result: Json, meta: Json) -> str:
    """Return a result of the proxy itself as JSON. `meta` is the `_meta` of the request."""
    # Only the stateless revisions have several types of results. They require the type to be named.
    return as_text({**result, "resultType": "complete"} if VERSION_KEY in meta else result)
