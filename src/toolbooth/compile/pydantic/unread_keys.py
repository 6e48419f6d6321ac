"""An author's before or wrap validator in front of a model that does not take undeclared keys.

The rule looks at what the author's code hands on. An undeclared key that is still there under the
same name would be dropped by the fields, so it is refused, unless the code has read it by name. A
key that was removed, or handed on under another name, is the author's business; one that the code
never looked at is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from typing_extensions import TypeIs

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    FIELD_LISTS,
    Config,
    CoreNode,
    below,
    extra_of,
    fields_of,
    first_keys,
    is_authors,
    marker_of,
)
from toolbooth.compile.pydantic.key_log import History, KeyLog, logged, plain_copy
from toolbooth.jsonvalue import is_array, is_mapping, is_object, recased

_TRANSPARENT = frozenset(("model", "dataclass", "default", "nullable", "function-after", *AUTHORED))
_NEVER_OBJECTS = frozenset(("none", "bool", "int", "float", "str", "literal", "list", "date"))


def watch_keys(node: CoreNode, config: Config) -> CoreNode:
    """The author's validator, called with a dict that notes which keys it reads. The list of fields
    behind it is closed now.
    """
    fields = _fields_behind(node["schema"], config)
    if fields is None:
        return node["function"]
    watched = _before if node["type"] == "function-before" else _wrap
    return {**node["function"], "function": watched(node["function"]["function"], fields)}


def _before(function: Callable[..., Any], fields: _FieldsBehind) -> Callable[..., Any]:
    def before(value: Any, *info: Any) -> Any:
        if not is_object(value):
            return function(value, *info)
        history = fields.history_of(value)
        if history is None:
            return fields.kept(function(dict(value), *info))
        made = fields.pass_on(history, function(logged(plain_copy(value), history), *info))
        if history.lost and fields.report_extra and is_object(made):
            # The closed list of fields refuses them, together with all other problems.
            return {**made, **history.lost}
        if history.lost:
            raise _forbidden(history.lost)
        return made

    return before


def _wrap(function: Callable[..., Any], fields: _FieldsBehind) -> Callable[..., Any]:
    def wrap(value: Any, handler: Any, *info: Any) -> Any:
        if not is_object(value):
            return function(value, handler, *info)
        history = fields.history_of(value)
        if history is None:
            return function(dict(value), _keeping(fields, handler), *info)
        handed_on = False

        def hand_on(inner: Any, *at: Any) -> Any:
            nonlocal handed_on
            handed_on = True
            return handler(fields.pass_on(history, inner), *at)

        try:
            made = function(logged(plain_copy(value), history), hand_on, *info)
        except ValidationError as error:
            if not history.lost:
                raise
            raise _forbidden(history.lost, error) from None
        if not handed_on:
            fields.pass_on(history, made)
        # Raised here, where the author's code can no longer catch it.
        if history.lost:
            raise _forbidden(history.lost)
        return made

    return wrap


def _keeping(fields: _FieldsBehind, handler: Any) -> Callable[..., Any]:
    """The handler, called with the keys that the fields take."""

    def hand_on(inner: Any, *at: Any) -> Any:
        return handler(fields.kept(inner), *at)

    return hand_on


def _forbidden(keys: dict[str, Any], further: ValidationError | None = None) -> ValidationError:
    """The error for undeclared keys, with the errors that were found beside them."""
    errors: list[InitErrorDetails] = []
    others = further.errors(include_url=False) if further is not None else []
    for each in others:
        if each["type"] != "extra_forbidden" or len(each["loc"]) > 1:
            kind: Any = each["type"]
            said = PydanticCustomError(kind, "{said}", {"said": each["msg"]})
            errors.append({"type": said, "loc": each["loc"], "input": each["input"]})
    for key, value in keys.items():
        errors.append({"type": "extra_forbidden", "loc": (key,), "input": value})
    return ValidationError.from_exception_data("", errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FieldsBehind:
    """The fields right behind an author's validator, and what becomes of undeclared keys there."""

    declared: frozenset[str]
    keep_extra: bool
    """The author's model forbids undeclared keys itself, also those that a validator adds."""
    report_extra: bool
    """There is one list of fields, which reports undeclared keys together with other problems."""
    last: bool
    """There is no further validator of the author in between."""

    def history_of(self, value: dict[str, Any]) -> History | None:
        """The history of the object that a validator gets; None if no history is needed."""
        if isinstance(value, KeyLog):
            return value.history
        if self.last and value.keys() <= self.declared:
            return None
        return History(value)

    def kept(self, made: Any) -> Any:
        """What the fields get of the data that the author's code hands on."""
        if self.keep_extra or not is_mapping(made):
            return made
        return {key: value for key, value in plain_copy(made).items() if key in self.declared}

    def pass_on(self, history: History, made: Any) -> Any:
        """What the fields, or the author's next validator, get of the data that the author's code
        hands on. Sets `history.lost`.
        """
        if not is_mapping(made):
            history.lost = self._not_in(history, made)
            return made
        read = set(history.read)
        content = plain_copy(made)
        history.read = read  # a mapping of the author's own may have read keys to give them
        if not self.last:
            return logged(content, history)
        new = {name: content[name] for name in self._new_names(history) if name in content}
        history.lost = {
            key: value
            for key, value in self._unread(history).items()
            if (key in content or not history.walked) and not _is_handed_on(key, value, new)
        }
        return self.kept(content)

    def _unread(self, history: History) -> dict[str, Any]:
        known = self.declared | history.read
        return {key: value for key, value in history.sent.items() if key not in known}

    def _new_names(self, history: History) -> frozenset[str]:
        return self.declared - history.sent.keys()

    def _not_in(self, history: History, made: Any) -> dict[str, Any]:
        """The unread keys whose values are not in an instance that the author's code has made. A
        model drops the keys that it does not declare without a trace.
        """
        new = {name: getattr(made, name, None) for name in self._new_names(history)}
        unread = self._unread(history).items()
        return {key: value for key, value in unread if not _is_handed_on(key, value, new)}


def _is_handed_on(key: str, value: Any, new: dict[str, Any]) -> bool:
    """Whether the value of an undeclared key was handed on in one of the `new` fields.

    The author's code may have worked on a copy, where a read by name leaves no trace.
    """
    if is_object(value) and value and all(_holds(new.get(name), value[name]) for name in value):
        return True  # a wrapper, unwrapped
    is_telling = _is_collection(value) and len(value) > 1
    return any(
        _holds(each, value) and (is_telling or _are_similar(key, name))
        for name, each in new.items()
    )


def _is_collection(value: Any) -> TypeIs[str | list[Any] | dict[str, Any]]:
    return isinstance(value, str | list | dict)


def _holds(place: Any, value: Any) -> bool:
    """Whether a value is, or contains, another one."""
    if type(place) is type(value) and place == value:
        return True
    if is_object(place):
        return any(_holds(each, value) for each in place.values())
    return is_array(place) and any(_holds(each, value) for each in place)


def _are_similar(name: str, other: str) -> bool:
    one, two = recased(name), recased(other)
    return one in two or two in one


# --- finding the fields -------------------------------------------------------------------------


def _fields_behind(node: CoreNode, config: Config) -> _FieldsBehind | None:
    """The fields right below an author's validator; None if undeclared keys may be taken there, or
    there are no fields.
    """
    search = _Search()
    search.look(node, config)
    extras = {extra_of(*each) for each in search.lists}
    if search.is_open or not extras or "allow" in extras:
        return None
    names = (
        key
        for fields, _ in search.lists
        for name, each in fields_of(fields)
        for key in (name, *first_keys(each))
    )
    return _FieldsBehind(
        declared=frozenset((*names, *search.init_keys)),
        keep_extra=extras == {"forbid"},
        report_extra=not search.in_union and not search.has_own_init,
        last=not search.is_authored,
    )


@dataclass(slots=True)
class _Search:
    """The search for the lists of fields that an object may reach right behind a validator."""

    lists: list[tuple[CoreNode, Config]] = field(default_factory=list[tuple[CoreNode, Config]])
    init_keys: set[str] = field(default_factory=set[str])
    """The keys that overridden `__init__` methods take."""
    has_own_init: bool = False
    in_union: bool = False
    is_authored: bool = False
    is_open: bool = False

    def look(self, node: CoreNode, config: Config) -> None:
        """Look at a node and the ones behind it."""
        config = Config.of(node, config)
        kind = node["type"]
        if kind in FIELD_LISTS:
            self.lists.append((node, config))
        elif kind == "definition-ref":
            self.look(config.definitions[node["schema_ref"]], config)
        elif kind in ("union", "tagged-union"):
            self.in_union = True
            for each in below({"choices": node["choices"]}):
                self.look(each, config)
        elif marker_of(node):
            self.look(node["steps"][0], config)
        elif kind in _TRANSPARENT:
            self._note(node)
            self.look(node["schema"], config)
        elif kind not in _NEVER_OBJECTS:
            self.is_open = True

    def _note(self, node: CoreNode) -> None:
        if node.get("custom_init"):
            self.has_own_init = True
            params = inspect.signature(node["cls"].__init__).parameters.values()
            self.init_keys |= {each.name for each in params if each.kind is each.KEYWORD_ONLY}
        if node["type"] in AUTHORED and is_authors(node):
            self.is_authored = True
            # Which branch is taken is not known, nor is what its own validator reads.
            self.is_open = self.is_open or self.in_union
