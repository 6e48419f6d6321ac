"""What a view answered -> what the agent is told: a value, or problems in the names that it sent."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import orjson
from django.db import connections
from pydantic_core import to_json
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.utils.encoders import JSONEncoder

from toolbooth.django.call.caller import caller
from toolbooth.django.describe.arguments import WHOLE_BODY, Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import JsonPath, listed

logger = logging.getLogger("toolbooth.django")

MOST_TEXT = 1024 * 1024
"""Characters that are taken from an answer that is not JSON."""

_OPTIONS = (
    orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS
)
NO_ARGUMENTS = Arguments()
_encoder = JSONEncoder()


def value_of(
    response: Any, tool: str, arguments: Arguments = NO_ARGUMENTS, action: Action | None = None
) -> dict[str, Any]:
    """The result of a call: always an object. Raises what the agent is told instead."""
    try:
        if response.status_code >= 500:
            raise RuntimeError(f"the view answered {response.status_code}")
        if response.status_code >= 400:
            raise refusal(response, tool, arguments, action)
        return _value(response)
    finally:
        # Not `response.close()`, which ends Django's request: the one that brought this call goes
        # on.
        for closes in getattr(response, "_resource_closers", ()):
            closes()


def encoded(value: Any, tool: str) -> Any:
    """What the view gave, ready to be sent: it is not written again. Raises ToolError."""
    return orjson.Fragment(written(value, tool))


def written(value: Any, tool: str) -> bytes:
    """What the view gave, as REST would have sent it. Raises ToolError."""
    try:
        return orjson.dumps(value, default=_plainly, option=_OPTIONS)
    except TypeError:
        pass  # integers beyond 64 bits, or what nobody can send
    try:
        plain = json.loads(json.dumps(value, cls=JSONEncoder))
        return to_json(plain, inf_nan_mode="null")
    except Exception as error:
        logger.exception("tool %r returned what cannot be sent", tool)
        message = "it ran to its end, but what it returned cannot be sent; look at what it did before calling it again"
        raise ToolError(tool, message) from error


def _plainly(value: Any) -> Any:
    """What is not JSON by itself, as REST framework writes it; a mapping by what it says of itself,
    as `json` does.
    """
    if isinstance(value, dict):
        return dict(cast("dict[Any, Any]", value).items())
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration, its value
    for kind in cast("tuple[Any, ...]", (int, float, list, tuple)):
        if isinstance(value, kind):
            return kind(value)
    return _encoder.default(value)


def as_json(value: Any) -> Any:
    """What the view gave, as REST would have sent it: read back."""
    return orjson.loads(written(value, ""))


def _value(response: Any) -> dict[str, Any]:
    if not isinstance(response, Response):  # a plain Django response: a page, a file, a redirect
        return _plain(response)
    data: Any = response.data
    if data is None:
        return {"status": response.status_code}
    if isinstance(data, Mapping):
        return cast("dict[str, Any]", data)
    name = "results" if isinstance(data, list | tuple) else "value"
    return {name: data, **_pages(response)}


def _pages(response: Any) -> dict[str, Any]:
    """What pagination by headers says."""
    kept = {
        name: value for name, value in response.items() if name == "Link" or name.startswith("X-")
    }
    return {"headers": kept} if kept else {}


def _plain(response: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"status": response.status_code}
    for name in ("Location", "Content-Type", "Content-Disposition"):
        if response.get(name):
            made[name.lower().replace("-", "_")] = response[name]
    if callable(getattr(response, "render", None)) and not response.is_rendered:
        response.render()
    kind = str(response.get("Content-Type", "")).partition(";")[0]
    if (
        not (kind.startswith("text/") or kind.endswith(("json", "xml")))
        or kind == "text/event-stream"
    ):
        if _has_content(response):
            made["note"] = "the content is not sent over MCP; fetch it over REST"
        return made
    text, rest = _text(response)
    if rest:
        made["note"] = f"only the first {MOST_TEXT:,} characters; fetch the rest over REST"
    return {**made, "text": text} if text else made


def _has_content(response: Any) -> bool:
    return response.streaming or bool(response.content)


def _text(response: Any) -> tuple[str, bool]:
    """The text of a response, as far as it is taken, and whether there is more."""
    if not response.streaming:
        whole = response.content.decode(response.charset or "utf-8", errors="replace")
        return whole[:MOST_TEXT], len(whole) > MOST_TEXT
    taken = b""
    with warnings.catch_warnings(action="ignore"):  # that an async stream is read from sync code
        for part in response:
            taken += part
            if len(taken) > MOST_TEXT:
                break
    return taken[:MOST_TEXT].decode(response.charset or "utf-8", errors="replace"), len(
        taken
    ) > MOST_TEXT


# --- refusals ---


def refusal(
    response: Any, tool: str, arguments: Arguments = NO_ARGUMENTS, action: Action | None = None
) -> Exception:
    """What a view refused, in the boundary's own form."""
    status: int = response.status_code
    # A view that lets the caller in and then says 401 means what was sent: another password, a
    # token that has expired.
    if status == 401 and (action is None or not caller().may_call(action)):
        caller().challenge = response.get("WWW-Authenticate", "")
    problems = [_with_choices(each, arguments) for each in _problems(response, arguments, action)]
    if status in (400, 422) and problems:
        missing = any(each.code == "missing" for each in problems)
        declared = {(): tuple(arguments.slots)} if missing else {}
        return ToolInputError(
            problems, tool=tool, declared=declared, untouched=_is_untouched(response, action)
        )
    said = (
        "; ".join(dict.fromkeys(_said(each, arguments) for each in problems))
        or f"the API answered {status}"
    )
    told = [{"code": each.code, "path": each.where, "message": each.message} for each in problems]
    return ToolError(tool, said, {"status": status, "problems": told})


def _with_choices(problem: Problem, arguments: Arguments) -> Problem:
    """A problem with a choice, with all that can be chosen: REST framework does not say it."""
    node: Any = {"properties": arguments.properties}
    for step in problem.path:
        node = (
            node.get("items", {})
            if isinstance(step, int)
            else node.get("properties", {}).get(step, {})
        )
    choices: list[Any] = [each for each in node.get("enum", ()) if each not in ("", None)]
    if problem.code != "invalid" or not choices:
        return problem
    return replace(
        problem,
        message=f"{problem.message.rstrip('.')}; it takes {listed(tuple(map(str, choices)))}",
    )


def _said(problem: Problem, arguments: Arguments) -> str:
    """A problem in words, with its place where that is an argument."""
    is_argument = bool(problem.path) and problem.path[0] in arguments.slots
    return f"{problem.where}: {problem.message}" if is_argument else problem.message


def _is_untouched(response: Any, action: Action | None) -> bool:
    """Whether a refusal left no trace: raised, not answered, where Django rolls back what a view
    raises.
    """
    free = getattr(action and action.callback, "_non_atomic_requests", None)
    atomic = all(each.settings_dict["ATOMIC_REQUESTS"] for each in connections.all())
    return bool(getattr(response, "exception", False)) and atomic and not free


def _problems(response: Any, arguments: Arguments, action: Action | None) -> Iterator[Problem]:
    data: Any = getattr(response, "data", None)
    if (
        data is None
        and not response.streaming
        and response.get("Content-Type", "").startswith("text/plain")
    ):
        data = response.content.decode(errors="replace")[:1000]
    if (errors := _enveloped(data)) is not None:
        for each in errors:
            steps = str(each["attr"]).split(".") if each["attr"] else []
            place = tuple(int(step) if step.isdigit() else step for step in steps)
            yield _problem(each["detail"], place, each.get("code"))
    elif isinstance(data, Mapping):
        in_query = action is not None and action.method in ("GET", "DELETE")
        names = arguments.named("query" if in_query else "body")
        for key, each in cast("Mapping[Any, Any]", data).items():
            whole = (
                key in ("detail", "__all__", api_settings.NON_FIELD_ERRORS_KEY) and key not in names
            )
            here: JsonPath = (
                (WHOLE_BODY, key) if isinstance(key, int) else (str(names.get(key, key)),)
            )
            yield from problems_in(each, () if whole else here)
    else:
        yield from problems_in(data, (WHOLE_BODY,) if arguments.whole else ())


def problems_in(data: Any, path: JsonPath) -> Iterator[Problem]:
    """Every problem that REST framework names, at the place that was sent."""
    if isinstance(data, Mapping):
        for key, each in cast("Mapping[Any, Any]", data).items():
            whole = key in ("__all__", api_settings.NON_FIELD_ERRORS_KEY)
            step = key if isinstance(key, int) else str(key)
            yield from problems_in(each, path if whole else (*path, step))
    elif isinstance(data, list | tuple):
        for index, each in enumerate(cast("list[Any]", data)):
            nested = isinstance(each, Mapping | list)
            yield from problems_in(each, (*path, index) if nested else path)
    elif data is not None:
        yield _problem(data, path, getattr(data, "code", None))


def _problem(said: Any, path: JsonPath, code: Any) -> Problem:
    if code == "required":
        return Problem(code="missing", path=path, message="is required, but was not sent")
    return Problem(code="invalid", path=path, message=str(said))


def _enveloped(data: Any) -> list[Mapping[str, Any]] | None:
    """Errors in the form of drf-standardized-errors: a list, each with its place beside it."""
    errors: Any = (
        cast("Mapping[str, Any]", data).get("errors") if isinstance(data, Mapping) else None
    )
    if not isinstance(errors, list):
        return None
    found = cast("list[Any]", errors)
    placed = all(
        isinstance(each, Mapping) and "attr" in each and "detail" in each for each in found
    )
    return found if found and placed else None
