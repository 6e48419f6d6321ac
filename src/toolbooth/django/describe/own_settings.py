"""drf-spectacular's settings as the gateway needs them, seen only where an action is described.

There is one object of settings for the whole process, and the host's own schema view may read it in
another thread at the same time.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from drf_spectacular import settings as untyped_settings

_spectacular: Any = untyped_settings

_OWN: dict[str, Any] = {
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": True,
    "OAS_VERSION": "3.1.1",
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATION_PARAMETERS": False,
    # The manager that every model has, and that needs neither a query nor a scope of the project.
    "DEFAULT_QUERY_MANAGER": "_base_manager",
}

_is_own: ContextVar[bool] = ContextVar("_is_own", default=False)


@contextmanager
def own_settings() -> Generator[None]:
    """Have drf-spectacular read our settings here. All other threads read the host's."""
    token = _is_own.set(True)
    try:
        yield
    finally:
        _is_own.reset(token)


def _setting(name: str, own: Any) -> property:
    """One setting: ours, or what the object of settings has stored under that name."""

    def read(host: Any) -> Any:
        if _is_own.get():
            return own
        stored = host.__dict__
        return stored[name] if name in stored else host.__getattr__(name)

    def write(host: Any, value: Any) -> None:
        host.__dict__[name] = value

    def forget(host: Any) -> None:
        del host.__dict__[name]

    return property(read, write, forget)


# Modules of drf-spectacular have imported the object, so it gets another class instead of being
# replaced.
_of_host: Any = _spectacular.spectacular_settings
_of_host.__class__ = type(
    "SpectacularSettings",
    (_of_host.__class__,),
    {name: _setting(name, own) for name, own in _OWN.items()},
)
