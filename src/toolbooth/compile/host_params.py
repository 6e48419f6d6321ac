"""Finds the parameters that a framework fills itself. They are recognised by their type, by their
markers in `Annotated`, and by their default, so the framework need not be known.
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
"""Frameworks that fill every parameter whose type comes from them. They are listed because the type
of their context could otherwise be taken for a model.
"""

_MARKERS = frozenset(("pydantic", "pydantic_core", "annotated_types", "toolbooth"))
"""Packages whose markers in `Annotated` do not mean that a framework fills the parameter."""


def annotation_parts(hint: Any) -> Iterator[Any]:
    """Yield every class and every marker in an annotation. Type aliases are followed."""
    # `type Key = ...` makes an alias, whose hint is behind this attribute.
    hint = getattr(hint, "__value__", hint)
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for each in typing.get_args(hint):
        yield from annotation_parts(each)


def is_unpack(part: Any) -> bool:
    """Return True if the part is `Unpack` or `Unpack()`."""
    return part is Unpack or isinstance(part, Unpack)


def is_filled_by_host(param: Parameter, hint: Any) -> bool:
    """Return True if the framework fills a parameter. There are three signs: a marker or a default
    from another package than Pydantic and Toolbooth, a type of a known framework, or a type that
    Pydantic cannot validate. A parameter marked `Unpack` is always sent by the caller.
    """
    # The method was registered through its class. Agents cannot send the instance.
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
    """Return the type without its field metadata. If an alias is in the metadata, Pydantic would
    give a warning.
    """
    info = FieldInfo.from_annotation(annotation)
    return Annotated[(info.annotation, *info.metadata, Field(discriminator=info.discriminator))]


def _is_value(default: Any, parts: list[Any]) -> bool:
    """Return True if a default is an ordinary value. Return False if it is a dependency that a
    framework resolves.
    """
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
        # A marker that writes its own core schema was made for Pydantic, even if it is from another
        # library.
        or hasattr(marker, "__get_pydantic_core_schema__")
    )


def _home(kind: Any) -> str:
    """Return the package that a class comes from."""
    return kind.__module__.partition(".")[0]
