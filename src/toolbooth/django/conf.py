"""The one owner of `settings.TOOLBOOTH`: what can be set, its defaults, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, cast

from django.conf import settings

from toolbooth.django.protocol import misnamed
from toolbooth.server.registry import TOOL_NAME

Dispatch = Literal["off", "resource", "app", False] | Mapping[str, tuple[str, ...]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a project may set in `TOOLBOOTH = {...}`; each key is a field's name in capitals."""

    name: str = "api"
    instructions: str = ""
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    """Tools by name, with `*`."""
    errors: Literal["result", "protocol"] = "result"
    login_required: bool | None = None
    """Whether anonymous callers are answered with 401; None: where no tool is open to them."""
    origins: tuple[str, ...] = ()
    """Origins of browsers that may call, beside the hosts in ALLOWED_HOSTS."""
    max_body: int = 4 * 1024 * 1024
    bulk_tools: bool = False
    """Publish `…__bulk_create` beside each create, instead of a sentence in its description."""
    max_bulk: int = 1000
    """Rows in one bulk call."""
    max_result: int = 40_000
    """Bytes of one result; what is longer comes in pages. Claude Code warns from 10,000 tokens on (its docs on MCP)."""
    max_page_size: int = 1000
    """Rows in a page that is asked for, where the view has no pages of its own."""
    token_age: int = 900
    """Seconds for which a result can be continued."""
    cache: str = "default"
    """Where results are kept that cannot be asked for again: a cache that all workers share."""
    dispatch: Dispatch = None
    """Tools behind one tool: of a resource, of an app, or in groups, each of resources by name, with `*`."""
    arguments: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Other names for protocol arguments; None switches one off."""


_FIELDS = {each.name.upper(): each for each in fields(Configuration)}


def configuration() -> Configuration:
    """The project's configuration; what is wrong in it counts as not set, and `manage.py check` says so."""
    given = _given()
    wrong = {key for key, _ in mistakes()}
    return Configuration(**{_FIELDS[key].name: _tuple(value) for key, value in given.items() if key not in wrong})


def mistakes() -> Iterator[tuple[str, str]]:
    """Each wrong key, and what is wrong with it."""
    for key, value in _given().items():
        if key not in _FIELDS:
            near = get_close_matches(str(key).upper(), _FIELDS, n=1)
            meant = f"{near[0]!r} may be meant" if near else f"there are {', '.join(_FIELDS)}"
            yield key, f"there is no such setting; {meant}"
        elif key == "ARGUMENTS":
            yield from ((key, what) for what in misnamed(value))
        elif (expected := _expected(key, value)) is not None:
            yield key, f"must be {expected}, not {value!r}"


def _given() -> Mapping[str, Any]:
    found: Any = getattr(settings, "TOOLBOOTH", {})
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _expected(key: str, value: Any) -> str | None:
    """What a value should have been; None where it is right."""
    match key:
        case "NAME" | "INSTRUCTIONS":
            return None if isinstance(value, str) else "text"
        case "INCLUDE" | "EXCLUDE" | "ORIGINS":
            return None if _is_texts(value) else "a list of texts"
        case "ERRORS":
            return None if value in ("result", "protocol") else '"result" or "protocol"'
        case "LOGIN_REQUIRED":
            return None if value is None or isinstance(value, bool) else "True, False or None"
        case "BULK_TOOLS":
            return None if isinstance(value, bool) else "True or False"
        case "CACHE":
            known = list(settings.CACHES)
            return None if value in known else f"one of CACHES: {', '.join(known)}"
        case "MAX_RESULT":
            return None if _is_number(value) and value >= _LEAST_RESULT else f"a number from {_LEAST_RESULT:,}"
        case "DISPATCH":
            return None if _is_dispatch(value) else _DISPATCH
        case _:
            return None if _is_number(value) and value > 0 else "a positive number"


_LEAST_RESULT = 4_000
"""Bytes: less would hold little but what is said of a page."""

_DISPATCH = '"off", "resource", "app" or groups of resources by name, as {"sales": ["contacts", "deal*"]}'


def _is_dispatch(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return value is None or value is False or value in ("off", "resource", "app")
    groups = cast("Mapping[Any, Any]", value)
    named = all(isinstance(name, str) and TOOL_NAME.fullmatch(name) for name in groups)
    return named and all(_is_texts(patterns) and patterns for patterns in groups.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in cast("list[Any]", value))


def _tuple(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuple(each) for key, each in cast("dict[str, Any]", value).items()}
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
