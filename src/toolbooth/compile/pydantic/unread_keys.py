"""Checks undeclared keys of a model, if an author's before or wrap validator runs before the model
and the model does not accept such keys.

The data that the author's code passes on decides. If an undeclared key is still in this data under
the same name, the fields would drop it. Such a key is refused, unless the code has read it by name.
A key that the code removed, or passed on under another name, is accepted. A key that the code never
looked at is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from toolbooth.compile.pydantic.core_schema import Config, CoreNode
from toolbooth.compile.pydantic.handed_on import (
    HandOn,
    Histories,
    histories_of,
    kept,
    logged_value,
)
from toolbooth.compile.pydantic.watched_fields import Watched, place_behind
from toolbooth.jsonvalue import JsonPath, is_object


def watch_keys(node: CoreNode, config: Config) -> CoreNode:
    """Return the author's function in a validator node with a change: it gets dicts that note which
    keys it reads. Undeclared keys that would be lost are then refused.
    """
    place = place_behind(node["schema"], config)
    if place is None:
        return node["function"]
    watched = _before if node["type"] == "function-before" else _wrap
    return {**node["function"], "function": watched(node["function"]["function"], place)}


def _before(function: Callable[..., Any], place: Watched) -> Callable[..., Any]:
    def before(value: Any, *info: Any) -> Any:
        histories = histories_of(place, value)
        # In the usual case all keys are declared, so reads need not be noted.
        if histories is None:
            return kept(place, value, function(_own_copy(value), *info))
        hand_on = HandOn(place, value, histories)
        made = hand_on.pass_on(function(logged_value(place, value, histories), *info))
        lost = _lost_in(histories)
        if not lost:
            return made
        # The closed list of fields refuses these keys, and also reports all other problems.
        with_lost = hand_on.with_lost(made)
        if with_lost is None:
            # The fields cannot report these keys at the right path, so the error is raised here.
            raise _forbidden(lost)
        return with_lost

    return before


def _wrap(function: Callable[..., Any], place: Watched) -> Callable[..., Any]:
    def wrap(value: Any, handler: Any, *info: Any) -> Any:
        histories = histories_of(place, value)
        handed_on = False

        def hand_on(inner: Any, *at: Any) -> Any:
            nonlocal handed_on
            handed_on = True
            if histories is None:
                return handler(kept(place, value, inner), *at)
            return handler(HandOn(place, value, histories).pass_on(inner), *at)

        if histories is None:
            # The author's code may change the dict, and the arguments must stay as they were sent.
            return function(_own_copy(value), hand_on, *info)
        try:
            made = function(logged_value(place, value, histories), hand_on, *info)
        except ValidationError as error:
            lost = _lost_in(histories)
            if not lost:
                raise
            raise _forbidden(lost, error) from None
        # The code has returned a value without calling Pydantic. Keys that it never looked at are
        # lost too.
        if not handed_on:
            HandOn(place, value, histories).pass_on(made)
        # Raised here, because the author's code cannot catch it any more.
        lost = _lost_in(histories)
        if lost:
            raise _forbidden(lost)
        return made

    return wrap


def _own_copy(value: Any) -> Any:
    """Return a copy of the value, because the author's code may change the object that it gets."""
    return dict(value) if is_object(value) else value


def _lost_in(histories: Histories) -> dict[JsonPath, Any]:
    """Return the keys that the fields would drop, by path, with their values."""
    return {
        (*place, key): value
        for place, history in histories.items()
        for key, value in history.lost.items()
    }


def _forbidden(
    keys: dict[JsonPath, Any], further: ValidationError | None = None
) -> ValidationError:
    """Return one error with the undeclared keys and all other errors that were found."""
    errors: list[InitErrorDetails] = []
    others = further.errors(include_url=False) if further is not None else []
    for each in others:
        if each["loc"] not in keys:
            kind: Any = each["type"]
            # The message is a parameter of a template. Otherwise its own braces would be read as a
            # template.
            said = PydanticCustomError(kind, "{said}", {"said": each["msg"]})
            errors.append({"type": said, "loc": each["loc"], "input": each["input"]})
    for path, value in keys.items():
        errors.append({"type": "extra_forbidden", "loc": path, "input": value})
    return ValidationError.from_exception_data("", errors)
