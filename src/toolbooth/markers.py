"""Markers that authors write in `Annotated[...]`. Pydantic keeps each marker in the metadata of the
core schema, and `compile/` finds it there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

METADATA_KEY = "toolbooth"

VERBATIM_KEYWORD = "x-toolbooth-verbatim"
"""This keyword on a property of a JSON Schema has the same meaning as `Verbatim` on a parameter or
field.
"""

CoreSchemaHook = Callable[[Any, GetCoreSchemaHandler], CoreSchema]


class _Hook:
    """Pydantic's hook. It works on an instance and on the class, so `Unpack` has the same meaning
    as `Unpack()`.
    """

    def __get__(self, marker: Any, owner: type) -> CoreSchemaHook:
        found = owner() if marker is None else marker

        # The chain with one step is our own node. Metadata on a model's node would be shared by all
        # uses of the model.
        def hook(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.chain_schema([handler(source)], metadata={METADATA_KEY: found})

        return hook


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpack:
    """Replaces the parameter or field by the fields of its model in the published schema. `prefix`
    is put before the name of each field.
    """

    prefix: str = ""

    __get_pydantic_core_schema__ = _Hook()


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonText:
    """Publishes the parameter as a string that holds JSON, with an example. The caller may send
    JSON text or the value itself.
    """

    example: Any = None

    __get_pydantic_core_schema__ = _Hook()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbatim:
    """Takes the value exactly as sent. `null` and `""` never mean "not sent", and tags in a text
    are never read as other arguments.
    """

    __get_pydantic_core_schema__ = _Hook()


Marker = Unpack | JsonText | Verbatim
