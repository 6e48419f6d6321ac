"""Copies tools. The class of a copy is derived from the class of the original tool, so `isinstance`
checks still succeed in the framework and in the author's code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

from toolbooth.adapters.agent_tools.options import Options

Protect = Callable[[Any, Options], Any]


def derived_copy(
    thing: Any, mixin: type[Any], protect: Protect, options: Options, **attributes: Any
) -> Any:
    """Return a copy of a tool or toolset with these attributes. The class of the copy inherits
    first from `mixin`, then from the class of the original.

    Compiled contracts can be neither copied nor pickled. So `protect` is called again when the copy
    is copied or unpickled.
    """
    made = copy.copy(thing)
    # A Pydantic model does not allow you to assign its class, or a name that is not a field.
    object.__setattr__(made, "__class__", _derived(mixin, thing.__class__))
    made.__dict__.update(attributes, toolbooth_origin=(protect, (thing, options)))
    return made


@cache
def _derived(mixin: type[Any], plain: type[Any]) -> type[Any]:
    return type(plain.__name__, (mixin, plain), {"__reduce__": _reduce})


def _reduce(self: Any) -> Any:
    return self.toolbooth_origin
