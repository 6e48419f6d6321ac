"""Parameters that a framework fills itself: found by their type, their markers in `Annotated`, and
their default, without knowing the framework.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator
from inspect import Parameter
from typing import Annotated, Any

from pydantic import Field, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.fields import FieldInfo

from toolbooth.compile.hints import Unresolved
from toolbooth.markers import Unpack

_HOSTS = frozenset(("fastmcp", "mcp", "pydantic_ai"))
"""Frameworks that fill every parameter with a type of theirs: all have a context that could be read
as a model.
"""

_MARKERS = frozenset(("pydantic", "pydantic_core", "annotated_types", "toolbooth"))
"""Packages whose markers in `Annotated` leave a parameter to the caller."""


def annotation_parts(hint: Any) -> Iterator[Any]:
    """Every class and every marker in a hint, also behind aliases."""
    # `type Key = ...` makes an alias, whose hint is behind this attribute.
    hint = getattr(hint, "__value__", hint)
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for each in typing.get_args(hint):
        yield from annotation_parts(each)


def is_unpack(part: Any) -> bool:
    """Whether a part of a hint is our marker, with or without brackets."""
    return part is Unpack or isinstance(part, Unpack)


def is_filled_by_host(param: Parameter, hint: Any) -> bool:
    """Whether the framework fills a parameter: its type, a marker or its default is neither ours
    nor Pydantic's. One marked `Unpack` is the caller's.
    """
    # A method that was registered through its class: agents cannot send the instance.
    if param.name in ("self", "cls") and param.annotation is Parameter.empty:
        return True
    annotation = Any if isinstance(hint, Unresolved) else hint
    parts = [] if isinstance(hint, Unresolved) else list(annotation_parts(hint))
    if any(map(is_unpack, parts)):
        return False
    markers = [each for part in parts for each in getattr(part, "__metadata__", ())]
    if not _is_value(param.default, parts) or not all(map(_is_known, markers)):
        return True
    classes = [typing.get_origin(part) or part for part in parts]
    if any(isinstance(each, type) and _home(each) in _HOSTS for each in classes):
        return True
    # A type that Pydantic has no schema for cannot be read from JSON, so only the framework can
    # fill it.
    try:
        TypeAdapter[Any](_type_of(annotation))
    except PydanticSchemaGenerationError:
        return True
    except PydanticUserError:  # a class that is defined later
        return False
    return False


def _type_of(annotation: Any) -> Any:
    """Return a type without the metadata of fields: Pydantic warns about an alias elsewhere."""
    info = FieldInfo.from_annotation(annotation)
    return Annotated[(info.annotation, *info.metadata, Field(discriminator=info.discriminator))]


def _is_value(default: Any, parts: list[Any]) -> bool:
    """Whether a default is a value of the parameter, not a dependency that a framework resolves."""
    if default is Parameter.empty or isinstance(default, FieldInfo):
        return True
    # In `options: Options = Options()` the default is a value of the declared type.
    return (
        any(part is type(default) for part in parts)
        # 5, "text" and a date are from the standard library. `Depends(...)` is from a framework.
        or _home(type(default)) in sys.stdlib_module_names
    )


def _is_known(marker: Any) -> bool:
    return (
        is_unpack(marker)
        or _home(type(marker)) in _MARKERS
        # A marker that writes its own core schema was made for Pydantic, also if another library
        # has it.
        or hasattr(marker, "__get_pydantic_core_schema__")
    )


def _home(kind: Any) -> str:
    """The package that a class comes from."""
    return kind.__module__.partition(".")[0]
