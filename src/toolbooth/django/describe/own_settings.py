"""Gives drf-spectacular's settings the values that the gateway needs, but only while an action is
described.

There is one settings object for the whole process. The host's own schema view may read it at the
same time in another thread.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from drf_spectacular import settings as untyped_settings

_spectacular: Any = untyped_settings

_OWN: dict[str, Any] = {
    # Without this, a component serves responses too, and has their read-only fields.
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": True,
    "OAS_VERSION": "3.1.1",
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATION_PARAMETERS": False,
    # Every model has this manager. It needs neither a query nor a scope of the project.
    "DEFAULT_QUERY_MANAGER": "_base_manager",
}

_is_own: ContextVar[bool] = ContextVar("_is_own", default=False)


@contextmanager
def own_settings() -> Generator[None]:
    """Let drf-spectacular read the gateway's settings in this context. All other threads read the
    host's settings.
    """
    token = _is_own.set(True)
    try:
        yield
    finally:
        _is_own.reset(token)


def _setting(name: str, own: Any) -> property:
    """Return the property for one setting. It returns the gateway's value inside `own_settings`,
    and the host's value everywhere else.
    """

    def read(host: Any) -> Any:
        if _is_own.get():
            return own
        # drf-spectacular keeps a setting in `__dict__` after its first use. A property hides that
        # entry, so it is read here.
        stored = host.__dict__
        return stored[name] if name in stored else host.__getattr__(name)

    def write(host: Any, value: Any) -> None:
        host.__dict__[name] = value

    def forget(host: Any) -> None:
        del host.__dict__[name]

    return property(read, write, forget)


# Modules of drf-spectacular have imported the object itself, so its class is replaced and not the
# object.
_of_host: Any = _spectacular.spectacular_settings
_of_host.__class__ = type(
    "SpectacularSettings",
    (_of_host.__class__,),
    {name: _setting(name, own) for name, own in _OWN.items()},
)
