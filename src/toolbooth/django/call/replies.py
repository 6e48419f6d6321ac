"""Converts the response of a view to a value, or to problems. Problems name the arguments as they
were sent.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import orjson
from django.db import connections
from pydantic_core import to_json
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from toolbooth.boundary.serialize import SameKey, check_keys
from toolbooth.django import messages
from toolbooth.django.call.api_errors import problems_of
from toolbooth.django.call.caller import caller
from toolbooth.django.call.next_steps import next_step, with_existing_rows
from toolbooth.django.describe.argument_shape import declared_arguments
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import is_object

logger = logging.getLogger("toolbooth.django")

MOST_TEXT = 1024 * 1024
"""The most characters of a response that is not JSON."""

# REST framework writes UTC as `Z`, and orjson as `+00:00`. So REST framework's encoder gets these
# values.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
NO_ARGUMENTS = Arguments()
_encoder = JSONEncoder()


def value_of(
    response: Any, tool: str, arguments: Arguments = NO_ARGUMENTS, action: Action | None = None
) -> dict[str, Any]:
    """Return the result of a call, which is always an object. Raises the refusal for the agent."""
    try:
        if response.status_code >= 500:
            caller().has_failed = True
            # The server masks this error, because the page of a 500 may contain a traceback.
            raise RuntimeError(messages.view_answered(response.status_code))
        if response.status_code >= 400:
            raise refusal(response, tool, arguments, action)
        return _value(response)
    finally:
        # Not `response.close()`, which ends Django's request: the outer one is still running.
        for closes in getattr(response, "_resource_closers", ()):
            closes()


def json_fragment(value: Any, tool: str) -> Any:
    """Return a view's value as a fragment of JSON, which is not serialised again. Raises
    ToolError.
    """
    return orjson.Fragment(json_bytes(value, tool))


def json_bytes(value: Any, tool: str) -> bytes:
    """Return the JSON of a view's value, as REST would have sent it. Raises ToolError."""
    try:
        return orjson.dumps(value, default=_without_type, option=_OPTIONS)
    except TypeError:
        pass  # keys that are not text, integers beyond 64 bits, or values without a JSON form
    try:
        return _with_other_keys(value)
    except Exception as error:
        logger.exception("the result of tool %r cannot be sent", tool)
        reason = str(error) if isinstance(error, SameKey) else ""
        raise ToolError(tool, messages.result_cannot_be_sent(reason)) from error


def _with_other_keys(value: Any) -> bytes:
    """Return the JSON of a value that has keys other than strings, or integers beyond 64 bits.
    Raises SameKey.
    """
    option = _OPTIONS | orjson.OPT_NON_STR_KEYS
    try:
        text = orjson.dumps(value, default=_without_type, option=option)
    except TypeError:
        text = json.dumps(value, cls=JSONEncoder).encode()
        # `{1: "a", "1": "b"}` would become an object with the key `"1"` twice.
        check_keys(text, value)
        # `json` writes NaN and Infinity, which are not JSON.
        return to_json(json.loads(text), inf_nan_mode="null")
    check_keys(text, value)
    return text


def _without_type(value: Any) -> Any:
    """Return the JSON form of a value that orjson cannot write. A mapping is converted by its
    `items()`, as `json` does, and other values as REST framework does.
    """
    if is_object(value):
        return dict(value.items())
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration, its value
    for kind in _KINDS:
        if isinstance(value, kind):
            return kind(value)
    return _encoder.default(value)


_KINDS: tuple[Any, ...] = (int, float, list, tuple)
"""Types of JSON that a host may have subclassed."""


def as_json(value: Any) -> Any:
    """Return a view's value as REST would have sent it, read back from JSON."""
    return orjson.loads(json_bytes(value, ""))


def _value(response: Any) -> dict[str, Any]:
    if not isinstance(response, Response):  # a plain Django response: a page, a file, a redirect
        return _page_or_file(response)
    data: Any = response.data
    if data is None:
        return {"result": messages.NO_CONTENT}
    if isinstance(data, Mapping):
        return cast("dict[str, Any]", data)
    # The structured content of a tool result is an object, so a list or a scalar gets a key.
    name = "results" if isinstance(data, list | tuple) else "value"
    return {name: data, **_pages(response)}


def _pages(response: Any) -> dict[str, Any]:
    """Return the headers by which some APIs paginate."""
    kept = {
        name: value for name, value in response.items() if name == "Link" or name.startswith("X-")
    }
    return {"headers": kept} if kept else {}


def _page_or_file(response: Any) -> dict[str, Any]:
    """Return the status, the useful headers, and the content if it is text."""
    value: dict[str, Any] = {"status": response.status_code}
    for name in ("Location", "Content-Type", "Content-Disposition"):
        if response.get(name):
            value[name.lower().replace("-", "_")] = response[name]
    if callable(getattr(response, "render", None)) and not response.is_rendered:
        response.render()
    media_type = str(response.get("Content-Type", "")).partition(";")[0]
    if not _is_text(media_type):
        if _has_content(response):
            value["note"] = messages.FETCH_CONTENT_OVER_REST
        return value
    text, is_cut = _text(response)
    if is_cut:
        value["note"] = messages.fetch_rest_over_rest(MOST_TEXT)
    return {**value, "text": text} if text else value


def _is_text(media_type: str) -> bool:
    # A stream of events may never end.
    if media_type == "text/event-stream":
        return False
    return media_type.startswith("text/") or media_type.endswith(("json", "xml"))


def _has_content(response: Any) -> bool:
    return response.streaming or bool(response.content)


def _text(response: Any) -> tuple[str, bool]:
    """Return the start of a response's text, and True if there is more."""
    if not response.streaming:
        whole = response.content.decode(response.charset or "utf-8", errors="replace")
        return whole[:MOST_TEXT], len(whole) > MOST_TEXT
    taken = b""
    with warnings.catch_warnings(action="ignore"):  # about async streams read from sync code
        for part in response:
            taken += part
            if len(taken) > MOST_TEXT:
                break
    text = taken[:MOST_TEXT].decode(response.charset or "utf-8", errors="replace")
    return text, len(taken) > MOST_TEXT


# --- refusals ---


def refusal(
    response: Any, tool: str, arguments: Arguments = NO_ARGUMENTS, action: Action | None = None
) -> Exception:
    """Return the refusal of a view: a ToolInputError if the agent can correct the arguments,
    otherwise a ToolError.
    """
    status: int = response.status_code
    # If a view lets the caller in and then returns 401, it refuses a value that was sent: another
    # password, a token that has expired.
    if status == 401 and (action is None or not caller().lets_in(action, response)):
        caller().challenge = response.get("WWW-Authenticate", "")
    who = caller()
    problems = explained(problems_of(response, arguments, action), response, arguments)
    # The agent can correct the arguments. With other statuses, such as 404 or 409, other arguments
    # may not help.
    if status in (400, 422) and problems:
        missing = any(each.code == "missing" for each in problems)
        declared = {(): declared_arguments(arguments, arguments.published)} if missing else {}
        return ToolInputError(
            problems, tool=tool, declared=declared, untouched=_is_untouched(response, action)
        )
    # Each sentence once: an API may repeat one reason for several fields.
    sentences = dict.fromkeys(_sentence(each, arguments) for each in problems)
    message = "; ".join(sentences) or messages.api_answered(status)
    step = next_step(response, action, who)
    message = f"{message.rstrip('.')}. {step}" if step else message
    details = [
        {"code": each.code, "path": each.where, "message": each.message} for each in problems
    ]
    return ToolError(tool, message, {"status": status, "problems": details})


def explained(
    problems: Iterable[Problem], response: Any, arguments: Arguments, sent: Any = None
) -> list[Problem]:
    """Return the problems of a response with better messages. A message names the choices of a
    field, or the rows that exist. If the call has many rows, `sent` has the arguments of the row
    with the problems.
    """
    serializer = partial(_serializer_of, response)
    who = caller()
    told = (with_existing_rows(each, arguments, who, serializer, sent) for each in problems)
    return [_with_choices(each, arguments) for each in told]


def _serializer_of(response: Any) -> Any:
    """Return the serializer of the view that has responded."""
    return response.renderer_context["view"].get_serializer()


def _with_choices(problem: Problem, arguments: Arguments) -> Problem:
    """Return the problem of an invalid choice with all valid choices in its message. REST
    framework's message does not list them. Other problems are returned unchanged.
    """
    node: Any = {"properties": arguments.properties}
    for step in problem.path:
        if isinstance(step, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(step, {})
    choices = tuple(str(each) for each in node.get("enum", ()) if each not in ("", None))
    if problem.code != "invalid" or not choices:
        return problem
    return replace(problem, message=messages.with_choices(problem.message, choices))


def _sentence(problem: Problem, arguments: Arguments) -> str:
    """Return a problem as a sentence. The sentence begins with the path of the value if the value
    is an argument.
    """
    is_argument = bool(problem.path) and problem.path[0] in arguments.slots
    return f"{problem.where}: {problem.message}" if is_argument else problem.message


def _is_untouched(response: Any, action: Action | None) -> bool:
    """Return True if a refused call has certainly changed nothing. This is so if the view has
    raised the refusal, and Django rolls back the changes of the view.
    """
    free = getattr(action and action.callback, "_non_atomic_requests", None)
    atomic = all(each.settings_dict["ATOMIC_REQUESTS"] for each in connections.all())
    return bool(getattr(response, "exception", False)) and atomic and not free
