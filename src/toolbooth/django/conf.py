"""Reads `settings.TOOLBOOTH`: the keys, their defaults, and their mistakes."""

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
    """The keys of `TOOLBOOTH = {...}`. Each key is the name of a field in capitals."""

    name: str = "api"
    """The name of the server, as clients show it."""
    instructions: str = ""
    """Text that every client gets when it connects, for its model."""
    include: tuple[str, ...] = ("*",)
    """Only tools whose names fit one of these patterns are published. `*` stands for any text."""
    exclude: tuple[str, ...] = ()
    """Tools whose names fit one of these patterns are left out, even if `INCLUDE` names them."""
    errors: Literal["result", "protocol"] = "result"
    """How a refusal is sent: as a tool result, or as the JSON-RPC error -32602."""
    login_required: bool | None = None
    """Whether anonymous callers get status 401. With `None` they get it if no tool is open to
    them.
    """
    login_views: bool = False
    """Whether views that log users in or return tokens are published as tools."""
    origins: tuple[str, ...] = ()
    """Origins of browsers that may call, in addition to the hosts in `ALLOWED_HOSTS`."""
    max_body: int = 4 * 1024 * 1024
    """The largest request, in bytes."""
    explain_arguments: bool = True
    """Whether the instructions explain the server's own arguments, such as `help`."""
    updates: Literal["all", "partial"] = "all"
    """`"partial"` publishes only updates of some fields (PATCH), and leaves full updates (PUT) out
    where a view has both.
    """
    bulk_tools: bool = False
    """Whether each create gets a separate tool for many rows, `…__bulk_create`, instead of a
    sentence in its description.
    """
    max_bulk: int = 1000
    """The largest number of rows in one call."""
    # Claude Code warns from 10,000 tokens on (its docs on MCP).
    max_result: int = 40_000
    """The largest result, in bytes. A longer one comes in pages."""
    max_page_size: int = 1000
    """The largest `page_size` that a call may ask for, unless the view's paginator has a parameter
    for it.
    """
    token_age: int = 900
    """For how many seconds a result can be continued."""
    key_age: int = KEPT_SECONDS
    """For how many seconds an idempotency key is known."""
    key_wait: float = WAIT_SECONDS
    """For how many seconds a call waits for another one with the same key."""
    cache: str = "default"
    """The cache, by its name in `CACHES`, for results that cannot be computed again. All workers
    must share it.
    """
    dispatch: Dispatch = None
    """Groups tools behind dispatchers: one per resource, one per app, or your own groups, each
    with patterns for the resources in it.
    """
    describe: str = ""
    """The import path of `describe(action, request) -> dict`, which adds to the context of the
    serializers that are described.
    """
    error_envelope: str = ""
    """The import path of `fields(data) -> dict | None`. It returns the errors by field, if your API
    does not answer in the format of REST framework. The function gets the data of every error
    response, which may also be a list. For a list of rows, it may return the errors by the index of
    the row.
    """
    inner_middleware: Literal["auto", "none"] | tuple[str, ...] = "auto"
    """Which of your middleware runs around each call: chosen automatically, none, or these
    classes.
    """
    preview_middleware: tuple[str, ...] = ()
    """Middleware that has no effect outside the database, so that writes can be previewed."""
    arguments: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Other names for the server's own arguments. `None` switches one off."""
    bodies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The body of an action, by the name of its tool, if the code does not declare it."""
    inherited_bodies: tuple[str, ...] = ()
    """Patterns for tools whose actions read their body with the serializer of their view."""
    verbatim: tuple[str, ...] = ()
    """Arguments that are taken exactly as sent, as `tool.argument`."""
    names_lock: str | PathLike[str] = ""
    """The file in which tools keep their names. The default is `mcp_names.lock` in `BASE_DIR`."""
    warm_file: str | PathLike[str] = ""
    """The file with the list of all tools, which `manage.py mcp_warm` writes. A relative path is
    read from `BASE_DIR`.
    """
    profile: ProfileChoice = "portable"
    """How input schemas are written: the name of a profile, or a `Profile` of your own."""


_FIELDS = {each.name.upper(): each for each in fields(Configuration)}


def configuration() -> Configuration:
    """Return the project's configuration. Settings with a wrong value get their default, and
    `manage.py check` reports them.
    """
    given = _given()
    wrong = {key for key, _ in mistakes()}
    right = {key: value for key, value in given.items() if key not in wrong}
    return Configuration(**{_FIELDS[key].name: _frozen(key, each) for key, each in right.items()})


def mistakes() -> Iterator[tuple[str, str]]:
    """Yield each wrong key of TOOLBOOTH, with a message."""
    for key, value in _given().items():
        if key not in _FIELDS:
            # `str`, because a key of a Python dict may have any type.
            yield key, messages.no_such_setting(near_name(str(key), _FIELDS), _FIELDS)
        elif key == "ARGUMENTS":
            yield from ((key, what) for what in naming_mistakes(value))
        elif (expected := _expected(key, value)) is not None:
            yield key, messages.wrong_setting(expected, value)


def _given() -> Mapping[str, Any]:
    found: Any = getattr(settings, "TOOLBOOTH", {})
    # `check_configuration` reports a TOOLBOOTH that is not a dict.
    return found if _is_mapping(found) else {}


def _is_mapping(value: Any) -> TypeIs[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _expected(key: str, value: Any) -> str | None:
    """Return a description of the expected value if `value` is wrong. Otherwise return None."""
    is_right, words = _RULES[key]
    return None if is_right(value) else words()


_LEAST_RESULT = 4_000
"""The smallest MAX_RESULT, in bytes. Less would leave little room beside the notes about the
page.
"""

_PROFILE = f"{', '.join(map(repr, PROFILES))} or a Profile"


def _is_dispatch(value: Any) -> bool:
    if not _is_mapping(value):
        return value is None or value is False or value in ("off", "resource", "app")
    # The name of a group becomes the name of a tool.
    named = all(isinstance(name, str) and TOOL_NAME.fullmatch(name) for name in value)
    return named and all(_is_texts(patterns) and patterns for patterns in value.values())


def _is_profile(value: Any) -> bool:
    try:
        choose_profile(value)
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    # `True` is an int in Python, and would be a limit of 1.
    return isinstance(value, int) and not isinstance(value, bool)


def _is_import_path(value: Any) -> bool:
    try:
        # The default is empty text: no function is configured.
        return isinstance(value, str) and (not value or callable(import_string(value)))
    except Exception:  # importing the module may raise any exception
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
"""A function that checks a value, and a function that describes the expected form."""

_TEXT: Rule = (lambda value: isinstance(value, str), _always("text"))
_TEXTS: Rule = (_is_texts, _always("a list of texts"))
_PATH: Rule = (lambda value: isinstance(value, str | PathLike), _always("a path"))
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
        # `list`, because looking up a wrong value such as `[]` in a dict raises TypeError. Both are
        # functions, because the settings may not be ready when this module is imported.
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
    "NAMES_LOCK": _PATH,
    "WARM_FILE": _PATH,
    "MAX_BODY": _POSITIVE,
    "MAX_BULK": _POSITIVE,
    "MAX_PAGE_SIZE": _POSITIVE,
    "TOKEN_AGE": _POSITIVE,
    "KEY_AGE": _POSITIVE,
    "KEY_WAIT": (_is_duration, _always(messages.DURATION_VALUES)),
}
"""The rules of all settings except ARGUMENTS, which has its own check. A new setting needs a rule
here.
"""


def _frozen(key: str, value: Any) -> Any:
    """Return the value with all its lists changed to tuples. The schemas in BODIES are not
    changed.
    """
    return value if key == "BODIES" else _tuple(value)


def _tuple(value: Any) -> Any:
    if is_object(value):
        return {key: _tuple(each) for key, each in value.items()}
    return tuple(value) if is_array(value) else value
