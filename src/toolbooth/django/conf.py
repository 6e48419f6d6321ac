"""`settings.TOOLBOOTH`: what can be set, its defaults, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any, Literal

from django.conf import settings
from django.utils.module_loading import import_string
from typing_extensions import TypeIs

from toolbooth.django import messages
from toolbooth.jsonvalue import is_array, is_object, near_name
from toolbooth.publish import PROFILES, ProfileChoice, choose_profile
from toolbooth.server.controls import naming_mistakes
from toolbooth.server.idempotency import KEPT_SECONDS, WAIT_SECONDS
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
    login_views: bool = False
    """Publish views that log users in or give out tokens: see `describe/login_views.py`."""
    origins: tuple[str, ...] = ()
    """Origins of browsers that may call, beside the hosts in ALLOWED_HOSTS."""
    max_body: int = 4 * 1024 * 1024
    explain_arguments: bool = True
    """Say in the instructions what the server's own arguments mean."""
    updates: Literal["all", "partial"] = "all"
    """Publish full updates, or only those of some fields."""
    bulk_tools: bool = False
    """Publish `…__bulk_create` beside each create, instead of a sentence in its description."""
    max_bulk: int = 1000
    """Rows in one bulk call."""
    max_result: int = 40_000
    """Bytes of one result; what is longer comes in pages. Claude Code warns from 10,000 tokens on
    (its docs on MCP).
    """
    max_page_size: int = 1000
    """Rows in a page that is asked for, unless the paginator of the view has a parameter for it."""
    token_age: int = 900
    """Seconds for which a result can be continued."""
    key_age: int = KEPT_SECONDS
    """Seconds for which an idempotency key is known."""
    key_wait: float = WAIT_SECONDS
    """Seconds for which a call waits for another one with the same key."""
    cache: str = "default"
    """Where results are kept that cannot be asked for again: a cache that all workers share."""
    dispatch: Dispatch = None
    """Tools behind one tool: of a resource, of an app, or in groups, each of resources by name,
    with `*`.
    """
    describe: str = ""
    """The import path of a function that adds to the context of serializers that are described."""
    error_envelope: str = ""
    """The import path of a function that finds the errors by field in an answer of the API."""
    inner_middleware: Literal["auto", "none"] | tuple[str, ...] = "auto"
    """The host's middleware that runs around each call: by our list, none, or these classes."""
    preview_middleware: tuple[str, ...] = ()
    """Those of them that do nothing outside the database, so that a write may be previewed."""
    arguments: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Other names for control arguments; None switches one off."""
    bodies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The bodies of actions, by the names of tools: see `describe/declared_bodies.py`."""
    inherited_bodies: tuple[str, ...] = ()
    """Tools by name, with `*`, whose actions read their body with their view's own serializer."""
    verbatim: tuple[str, ...] = ()
    """Arguments that are taken exactly as sent, as `tool.argument`."""
    names_lock: str | PathLike[str] = ""
    """The path of the file with the names that tools keep: see `describe/locked_names.py`."""
    profile: ProfileChoice = "portable"
    """How `tools/list` writes input schemas: by name, or a `Profile` of the project."""


_FIELDS = {each.name.upper(): each for each in fields(Configuration)}


def configuration() -> Configuration:
    """The project's configuration; what is wrong in it counts as not set, and `manage.py check`
    says so.
    """
    given = _given()
    wrong = {key for key, _ in mistakes()}
    right = {key: value for key, value in given.items() if key not in wrong}
    return Configuration(**{_FIELDS[key].name: _frozen(key, each) for key, each in right.items()})


def mistakes() -> Iterator[tuple[str, str]]:
    """Each wrong key, and what is wrong with it."""
    for key, value in _given().items():
        if key not in _FIELDS:
            yield key, messages.no_such_setting(near_name(str(key), _FIELDS), _FIELDS)
        elif key == "ARGUMENTS":
            yield from ((key, what) for what in naming_mistakes(value))
        elif (expected := _expected(key, value)) is not None:
            yield key, messages.wrong_setting(expected, value)


def _given() -> Mapping[str, Any]:
    found: Any = getattr(settings, "TOOLBOOTH", {})
    return found if _is_mapping(found) else {}


def _is_mapping(value: Any) -> TypeIs[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _expected(key: str, value: Any) -> str | None:
    """What a value should have been; None if it is right."""
    is_right, words = _RULES[key]
    return None if is_right(value) else words()


_LEAST_RESULT = 4_000
"""Bytes: less would hold little but what is said of a page."""

_PROFILE = f"{', '.join(map(repr, PROFILES))} or a Profile"


def _is_dispatch(value: Any) -> bool:
    if not _is_mapping(value):
        return value is None or value is False or value in ("off", "resource", "app")
    named = all(isinstance(name, str) and TOOL_NAME.fullmatch(name) for name in value)
    return named and all(_is_texts(patterns) and patterns for patterns in value.values())


def _is_profile(value: Any) -> bool:
    try:
        choose_profile(value)
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_import_path(value: Any) -> bool:
    try:
        return isinstance(value, str) and (not value or callable(import_string(value)))
    except Exception:  # the module, too, may fail
        return False


def _is_texts(value: Any) -> bool:
    texts: Any = value
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in texts)


def _is_named(value: Any) -> bool:
    return _is_mapping(value) and all(isinstance(name, str) for name in value)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _always(words: str) -> Callable[[], str]:
    return lambda: words


Rule = tuple[Callable[[Any], bool], Callable[[], str]]
"""Whether a value is right, and what to say if it is not."""

_TEXT: Rule = (lambda value: isinstance(value, str), _always("text"))
_TEXTS: Rule = (_is_texts, _always("a list of texts"))
_BOOL: Rule = (_is_bool, _always("True or False"))
_POSITIVE: Rule = (_is_positive, _always("a positive number"))

_RULES: Mapping[str, Rule] = {
    "NAME": _TEXT,
    "INSTRUCTIONS": _TEXT,
    "INCLUDE": _TEXTS,
    "EXCLUDE": _TEXTS,
    "ORIGINS": _TEXTS,
    "VERBATIM": _TEXTS,
    "ERRORS": (lambda value: value in ("result", "protocol"), _always('"result" or "protocol"')),
    "LOGIN_REQUIRED": (
        lambda value: value is None or _is_bool(value),
        _always("True, False or None"),
    ),
    "EXPLAIN_ARGUMENTS": _BOOL,
    "UPDATES": (lambda value: value in ("all", "partial"), _always('"all" or "partial"')),
    "BULK_TOOLS": _BOOL,
    "LOGIN_VIEWS": _BOOL,
    "CACHE": (
        lambda value: value in list(settings.CACHES),
        lambda: f"one of CACHES: {', '.join(settings.CACHES)}",
    ),
    "BODIES": (_is_named, _always(messages.BODIES_VALUES)),
    "DESCRIBE": (_is_import_path, _always(messages.FUNCTION_VALUES)),
    "ERROR_ENVELOPE": (_is_import_path, _always(messages.FUNCTION_VALUES)),
    "INHERITED_BODIES": _TEXTS,
    "INNER_MIDDLEWARE": (
        lambda value: value in ("auto", "none") or _is_texts(value),
        _always(messages.MIDDLEWARE_VALUES),
    ),
    "PREVIEW_MIDDLEWARE": _TEXTS,
    "DISPATCH": (_is_dispatch, _always(messages.DISPATCH_VALUES)),
    "MAX_RESULT": (
        lambda value: _is_number(value) and value >= _LEAST_RESULT,
        _always(f"a number from {_LEAST_RESULT:,}"),
    ),
    "PROFILE": (_is_profile, _always(_PROFILE)),
    "NAMES_LOCK": (lambda value: isinstance(value, str | PathLike), _always("a path")),
    "MAX_BODY": _POSITIVE,
    "MAX_BULK": _POSITIVE,
    "MAX_PAGE_SIZE": _POSITIVE,
    "TOKEN_AGE": _POSITIVE,
    "KEY_AGE": _POSITIVE,
    "KEY_WAIT": (_is_duration, _always(messages.DURATION_VALUES)),
}
"""For every setting but ARGUMENTS, which has mistakes of its own. A new setting must be given its
rule here.
"""


def _frozen(key: str, value: Any) -> Any:
    """A value with tuples for lists, but for schemas, which stay as they are."""
    return value if key == "BODIES" else _tuple(value)


def _tuple(value: Any) -> Any:
    if is_object(value):
        return {key: _tuple(each) for key, each in value.items()}
    return tuple(value) if is_array(value) else value
