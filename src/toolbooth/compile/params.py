"""Reads the parameters of a function: resolves their annotations, and marks the parameters that the
host fills.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic.fields import FieldInfo

from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.context import Context

Injected = Callable[[inspect.Parameter, Any], bool]
"""A function that returns True if the host fills a parameter. It gets the parameter and its
resolved annotation.
"""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParam:
    """One parameter as the author wrote it, with its resolved annotation."""

    name: str
    kind: Any
    info: FieldInfo
    injected: bool


def read_params(
    function: Callable[..., Any], injected: Injected | None, mistakes: list[str]
) -> list[ReadParam]:
    """Return the parameters of a function. For each parameter that cannot be compiled, a message is
    added to `mistakes`.
    """
    hints = Hints(function)
    made: list[ReadParam] = []
    for param in inspect.signature(function).parameters.values():
        if param.kind in _VARIADIC:
            mistakes.append(
                f"parameter {_starred(param)!r} accepts undeclared names; "
                'declare each parameter, or take a model with extra="allow"'
            )
            continue
        hint = hints.of(param)
        host = is_context(hint) or (injected is not None and injected(param, hint))
        # A parameter that the host fills needs no annotation, because agents never see it.
        if isinstance(hint, Unresolved) and not host:
            mistakes.append(
                f"parameter {param.name!r}: the name {hint.missing!r} in its annotation "
                "cannot be resolved; import it at run time, not only under TYPE_CHECKING"
            )
            continue
        info = FieldInfo() if host else _field_info(hint, param.default)
        made.append(ReadParam(name=param.name, kind=param.kind, info=info, injected=host))
    return made


def _starred(param: inspect.Parameter) -> str:
    stars = "*" if param.kind is inspect.Parameter.VAR_POSITIONAL else "**"
    return stars + param.name


def is_context(hint: Any) -> bool:
    """Return True if a parameter has the type Context."""
    if isinstance(hint, Unresolved):
        # The annotation is text, and its name is imported only under TYPE_CHECKING.
        return re.search(r"\bContext\b", hint.text) is not None
    while typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    # `Context | None` gets the Context as well.
    choices = [each for each in typing.get_args(hint) if each is not type(None)]
    found = choices[0] if len(choices) == 1 else hint
    return isinstance(found, type) and issubclass(found, Context)


def _field_info(hint: Any, default: Any) -> FieldInfo:
    if default is inspect.Parameter.empty:
        return FieldInfo.from_annotation(hint)
    return FieldInfo.from_annotated_attribute(hint, default)
