"""Turns the errors in a view's response into problems. Each problem has the path of the argument
that caused the error.
"""

from __future__ import annotations

import json
import logging
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

logger = logging.getLogger("toolbooth.django")


def problems_of(response: Any, arguments: Arguments, action: Action | None) -> Iterator[Problem]:
    """Yield a problem for each error in a view's response. Each problem has the path of the
    argument that caused the error.
    """
    data = _data_of(response)
    # The same name may be a filter and a field of the body, such as `status`. For a GET or a
    # DELETE, an error of `status` is about the query.
    in_query = action is not None and action.method in ("GET", "DELETE")
    names = arguments.named("query" if in_query else "body")
    # The project's own function comes first, because it knows the form of the project's errors.
    # Other forms are recognised by their structure.
    found = _found_by_project(data)
    if found is not None:
        yield from _problems_of_fields(found, names)
    elif (errors := _standardized_errors(data)) is not None:
        yield from _standardized_problems(errors, ())
    elif is_mapping(data):
        # The names of the URL's arguments are included, so that `{"project": "unknown"}` counts as
        # an error of the argument `project`. Otherwise it would look like a description of the
        # response.
        fields = _fields_in(data, {**names, **arguments.named("path")})
        yield from _problems_of_fields(fields, names)
    else:
        yield from problems_in(data, (WHOLE_BODY,) if arguments.whole else ())


def problems_of_rows(response: Any, place: JsonPath) -> Iterator[Problem]:
    """Yield the problems in a view's response to a list of rows. `place` is the path of the list in
    the arguments.
    """
    data = _data_of(response)
    rows: Any = _found_by_project(data)
    if rows is None and (errors := _standardized_errors(data)) is not None:
        yield from _standardized_problems(errors, place)
        return
    if rows is None:
        rows = _rows_in(data)
    if not is_mapping(rows):
        yield from problems_in(rows, place)
        return
    for key, each in rows.items():
        yield from problems_in(each, place if key in _general() else (*place, key))


def _data_of(response: Any) -> Any:
    # Only REST framework's responses have `data`. The host's middleware may answer with a plain
    # `JsonResponse`.
    data: Any = getattr(response, "data", None)
    return _plain_content(response) if data is None and not response.streaming else data


def _problems_of_fields(fields: Mapping[Any, Any], names: Mapping[str, str]) -> Iterator[Problem]:
    for key, each in fields.items():
        yield from problems_in(each, _path_of(key, names))


# --- envelopes ---

_MESSAGES = ("detail", "message", "error", "title", "description", "reason", "msg")
"""Keys under which APIs put a sentence about the whole call, the most usual first."""


def _fields_in(data: Mapping[Any, Any], names: Mapping[str, str]) -> Mapping[Any, Any]:
    """Return the part of a response that maps fields to errors. Keys that only describe the
    response, such as an id, a status or a version, are removed.
    """
    inside = [each for key, each in data.items() if _holds_fields(key, each, names)]
    if inside:
        own = {key: each for key, each in data.items() if key in names}
        # Some fields may be outside of the envelope: their errors are kept too.
        return {**inside[0], **own}
    about = [key for key, each in data.items() if _is_about_answer(key, each, names)]
    # If all keys look like information, as in `{"reference": 12}`, nothing else is left to report.
    if not about or len(about) == len(data):
        return data
    return {key: each for key, each in data.items() if key not in about}


def _found_by_project(data: Any) -> Mapping[Any, Any] | None:
    """Return the errors that the function in the setting `ERROR_ENVELOPE` finds in a response.
    Return None if the project has no such function, or if the function finds nothing or fails.
    """
    path = configuration().error_envelope
    if not path or data is None:
        return None
    try:
        found: Any = import_string(path)(data)
    except Exception:
        logger.warning("TOOLBOOTH['ERROR_ENVELOPE'] failed", exc_info=True)
        return None
    if found is None or is_mapping(found):
        return found
    logger.warning("TOOLBOOTH['ERROR_ENVELOPE'] returned %s, not a dict", type(found).__name__)
    return None


def _rows_in(data: Any) -> Any:
    """Return the errors of each row from the response to a list of rows. Some APIs put these errors
    into an outer object, such as `{"errors": [...]}`.
    """
    if not is_mapping(data) or _are_of_rows(data):
        return data
    found = next(filter(_are_of_rows, data.values()), None)
    return _fields_in(data, {}) if found is None else found


def _are_of_rows(errors: Any) -> bool:
    """Return True if the errors are grouped by row. REST framework writes such errors as a list.
    Newer versions write a mapping from the index of each row to its errors.
    """
    if is_mapping(errors):
        return bool(errors) and all(isinstance(key, int) for key in errors)
    # REST framework writes `{}` for each row without errors, so a list about rows holds objects. A
    # list of sentences is about the whole body.
    return is_array(errors) and any(map(is_mapping, errors))


def _general() -> tuple[str, ...]:
    """Return the keys of errors that are about the whole body."""
    return (*_MESSAGES, "__all__", api_settings.NON_FIELD_ERRORS_KEY)


def _holds_fields(key: Any, value: Any, names: Mapping[str, str]) -> bool:
    """Return True if a key contains the errors of arguments, as `errors` does in
    `{"errors": {"title": [...]}}`. The key must not be an argument.
    """
    if key in names or not is_mapping(value) or not value:
        return False
    # Such a key is recognised by its name, such as `validationErrors`, or by its content:
    # `{"title": [...]}` if `title` is an argument.
    return str(key).lower().endswith(("error", "errors")) or not names.keys().isdisjoint(value)


def _is_about_answer(key: Any, value: Any, names: Mapping[str, str]) -> bool:
    """Return True if a value is not an error and only describes the response. REST framework's
    errors are lists, objects, or one sentence under a known key.
    """
    return (
        key not in names and key not in _general() and not isinstance(value, Mapping | list | tuple)
    )


def _plain_content(response: Any) -> Any:
    """Return the content of a plain Django response if it is JSON or plain text. Return None for
    any other content.
    """
    media_type = response.get("Content-Type", "").partition(";")[0]
    # A plain text is usually one sentence. HTML would be a page for browsers.
    if media_type == "text/plain":
        return response.content.decode(errors="replace")[:1000]
    try:
        return json.loads(response.content) if media_type == "application/json" else None
    except ValueError:
        return None


def _path_of(key: Any, names: Mapping[str, str]) -> JsonPath:
    """Return the path of a field's argument. The path is empty for errors that are about the whole
    body.
    """
    if isinstance(key, int):
        # The index of a row: the body is a list.
        return (WHOLE_BODY, key)
    is_field = key in names
    if not is_field and key in _general():
        return ()
    return (str(names.get(key, key)),)


def problems_in(data: Any, path: JsonPath) -> Iterator[Problem]:
    """Yield every problem in REST framework's errors. `path` is the path of the value that the
    errors are about.
    """
    if is_mapping(data):
        for key, each in data.items():
            # Errors of a whole object have the path of that object.
            whole = key in ("__all__", api_settings.NON_FIELD_ERRORS_KEY)
            step = key if isinstance(key, int) else str(key)
            yield from problems_in(each, path if whole else (*path, step))
    elif _is_sequence(data):
        for index, each in enumerate(data):
            # All sentences in a list are about the same place. Each object in a list is about a
            # place of its own.
            nested = isinstance(each, Mapping | list)
            yield from problems_in(each, (*path, index) if nested else path)
    elif data is not None:
        yield _problem(data, path, getattr(data, "code", None))


def _is_sequence(value: Any) -> TypeIs[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def _problem(message: Any, path: JsonPath, code: Any) -> Problem:
    # `refusal` lists the tool's fields if one of the problems is `missing`, as the boundary does.
    if code == "required":
        return Problem(code="missing", path=path, message=messages.REQUIRED)
    kind = None if code is None else str(code)
    return Problem(code="invalid", path=path, message=str(message), kind=kind)


def _standardized_errors(data: Any) -> list[Mapping[str, Any]] | None:
    """Return the errors if they have the form of drf-standardized-errors: a list of errors, each
    with its path. Return None for any other form.
    """
    errors: Any = data.get("errors") if is_mapping(data) else None
    if not errors or not is_array(errors):
        return None
    return errors if all(map(_is_standardized, errors)) else None


def _standardized_problems(errors: list[Mapping[str, Any]], place: JsonPath) -> Iterator[Problem]:
    for each in errors:
        path = (*place, *_standardized_path(each["attr"]))
        yield _problem(each["detail"], path, each.get("code"))


def _is_standardized(error: Any) -> bool:
    return is_mapping(error) and "attr" in error and "detail" in error


def _standardized_path(attribute: Any) -> JsonPath:
    """Return a path such as `lines.0.price` as a tuple."""
    # drf-standardized-errors sends `"attr": null` for errors of the whole request.
    if not attribute:
        return ()
    return tuple(map(_index_or_name, str(attribute).split(".")))


def _index_or_name(step: str) -> int | str:
    return int(step) if step.isdigit() else step
