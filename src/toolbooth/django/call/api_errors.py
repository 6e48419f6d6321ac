"""What a view says is wrong -> problems, in the names of the arguments that were sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.module_loading import import_string
from rest_framework.settings import api_settings
from typing_extensions import TypeIs

from toolbooth.django import messages
from toolbooth.django.conf import configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.declared_bodies import WHOLE_BODY
from toolbooth.django.describe.discovery import Action
from toolbooth.errors import Problem
from toolbooth.jsonvalue import JsonPath, is_array, is_mapping


def problems_of(response: Any, arguments: Arguments, action: Action | None) -> Iterator[Problem]:
    """What a view says is wrong, at the places where the arguments were sent."""
    data: Any = getattr(response, "data", None)
    if data is None and not response.streaming:
        data = _plain_content(response)
    if (errors := _standardized_errors(data)) is not None:
        for each in errors:
            path = _standardized_path(each["attr"])
            yield _problem(each["detail"], path, each.get("code"))
    elif is_mapping(data):
        in_query = action is not None and action.method in ("GET", "DELETE")
        names = arguments.named("query" if in_query else "body")
        for key, each in _fields_in(data, {**names, **arguments.named("path")}).items():
            yield from problems_in(each, _path_of(key, names))
    else:
        yield from problems_in(data, (WHOLE_BODY,) if arguments.whole else ())


# --- envelopes ---

_MESSAGES = ("detail", "message", "error", "title", "description", "reason", "msg")
"""Keys under which APIs put a sentence about the whole call, the most usual first."""


def _fields_in(data: Mapping[Any, Any], names: Mapping[str, str]) -> Mapping[Any, Any]:
    """The errors by field in what a view answered. Beside them, projects send what is about the
    answer: its id, its status, a version.
    """
    path = configuration().error_envelope
    if path:
        found = import_string(path)(data)
        if found is not None:
            return found
    inside = [each for key, each in data.items() if _holds_fields(key, each, names)]
    if inside:
        own = {key: each for key, each in data.items() if key in names}
        return {**inside[0], **own}
    about = [key for key, each in data.items() if _is_about_answer(key, each, names)]
    if not about or len(about) == len(data):
        return data
    return {key: each for key, each in data.items() if key not in about}


def _holds_fields(key: Any, value: Any, names: Mapping[str, str]) -> bool:
    """Whether a key that is no argument has errors of arguments below it."""
    if key in names or not is_mapping(value) or not value:
        return False
    return str(key).lower().endswith(("error", "errors")) or not names.keys().isdisjoint(value)


def _is_about_answer(key: Any, value: Any, names: Mapping[str, str]) -> bool:
    """Whether a value is about the answer, not about what was sent: REST framework's errors are
    lists or objects, except for one sentence.
    """
    general = (*_MESSAGES, "__all__", api_settings.NON_FIELD_ERRORS_KEY)
    return key not in names and key not in general and not isinstance(value, Mapping | list | tuple)


def _plain_content(response: Any) -> Any:
    """What a response of Django's own says, if that is JSON or plain text."""
    media_type = response.get("Content-Type", "").partition(";")[0]
    if media_type == "text/plain":
        return response.content.decode(errors="replace")[:1000]
    try:
        return json.loads(response.content) if media_type == "application/json" else None
    except ValueError:
        return None


def _path_of(key: Any, names: Mapping[str, str]) -> JsonPath:
    """Where the value of a field was sent; nowhere for problems with the whole."""
    if isinstance(key, int):
        return (WHOLE_BODY, key)
    is_field = key in names
    if not is_field and key in (*_MESSAGES, "__all__", api_settings.NON_FIELD_ERRORS_KEY):
        return ()
    return (str(names.get(key, key)),)


def problems_in(data: Any, path: JsonPath) -> Iterator[Problem]:
    """Every problem that REST framework names, at the place that was sent."""
    if is_mapping(data):
        for key, each in data.items():
            whole = key in ("__all__", api_settings.NON_FIELD_ERRORS_KEY)
            step = key if isinstance(key, int) else str(key)
            yield from problems_in(each, path if whole else (*path, step))
    elif _is_sequence(data):
        for index, each in enumerate(data):
            nested = isinstance(each, Mapping | list)
            yield from problems_in(each, (*path, index) if nested else path)
    elif data is not None:
        yield _problem(data, path, getattr(data, "code", None))


def _is_sequence(value: Any) -> TypeIs[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def _problem(message: Any, path: JsonPath, code: Any) -> Problem:
    if code == "required":
        return Problem(code="missing", path=path, message=messages.REQUIRED)
    kind = None if code is None else str(code)
    return Problem(code="invalid", path=path, message=str(message), kind=kind)


def _standardized_errors(data: Any) -> list[Mapping[str, Any]] | None:
    """Errors in the form of drf-standardized-errors: a list, each with its path beside it."""
    errors: Any = data.get("errors") if is_mapping(data) else None
    if not errors or not is_array(errors):
        return None
    return errors if all(map(_is_standardized, errors)) else None


def _is_standardized(error: Any) -> bool:
    return is_mapping(error) and "attr" in error and "detail" in error


def _standardized_path(attribute: Any) -> JsonPath:
    """`lines.0.price` as a path."""
    if not attribute:
        return ()
    return tuple(map(_index_or_name, str(attribute).split(".")))


def _index_or_name(step: str) -> int | str:
    return int(step) if step.isdigit() else step
