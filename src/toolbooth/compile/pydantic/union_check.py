"""Finds the errors in unions of models that contain each other, without running Pydantic's
validation of the whole value.

Pydantic tries every branch again at every level, and reports the errors of every try. One wrong
value 15 levels deep causes 65,536 errors. Here, each branch is tried only once on each value, and
only the errors of the nearest branch are reported. Some values cannot be decided here, because the
author's code decides, or because a node is of a kind that this module does not know. These count as
fitting, and Pydantic's validation decides later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any, Literal

import orjson
from pydantic_core import CoreConfig, SchemaValidator, ValidationError

from toolbooth.compile.pydantic.core_schema import (
    DEFAULTS,
    FIELD_LISTS,
    OWN_LABELS,
    Config,
    CoreNode,
    below,
    extra_of,
    fields_of,
    is_authors,
    is_labelled,
)
from toolbooth.compile.pydantic.field_nodes import accepted_paths, is_optional
from toolbooth.compile.pydantic.validator import for_values
from toolbooth.contract import MOST_OBJECTIONS, InvalidValues, Objection
from toolbooth.jsonvalue import JsonPath, is_array, is_object

ReadErrors = Callable[[ValidationError], Iterable[Objection]]

Misfit = tuple[float, int]
"""How far a value is from fitting. The first number counts undeclared keys and values of a wrong
JSON type, the second counts all errors.
"""

_FITS: Misfit = (0, 0)
_OBJECTION: Misfit = (0, 1)
_OTHER_KIND: Misfit = (1, 1)
_NOT_NULL: Misfit = (float("inf"), 1)
"""The distance between null and a value that was sent. It is infinite, because the caller did not
mean null.
"""

_MOST_TRIALS = 20_000
"""After this many objects and arrays, all further ones count as fitting."""

_MOST_LEVELS = 60
"""Values at deeper levels than this count as fitting."""


def _no_error(_value: Any) -> ValidationError | None:
    """Return None: the value may fit."""
    return None


@dataclass(slots=True, eq=False)
class _Rule:
    """A rule for a value. It is the part of a core schema node that can be decided here."""

    kind: Literal["scalar", "null", "union", "tagged", "object", "list"] = "scalar"
    error: Callable[[Any], ValidationError | None] = _no_error
    """For a scalar: a function that returns the error for a value."""
    forms: list[_Rule] = field(default_factory=list["_Rule"])
    """For a union: the rule of each branch."""
    tag: str = ""
    tagged: dict[str, _Rule] = field(default_factory=dict[str, "_Rule"])
    """For a union with a tag: the rule of each branch, by the value of the tag."""
    fields: dict[str, _Rule] = field(default_factory=dict[str, "_Rule"])
    """For an object: the rule of each field, by every key of the field."""
    declared: set[str] = field(default_factory=set[str])
    """For an object: all declared keys, including those of fields that are not checked."""
    required: list[list[str]] = field(default_factory=list[list[str]])
    """For an object: a list with all keys of a field, for each required field."""
    items: _Rule | None = None
    """For a list: the rule of its items. For an object: the rule of undeclared keys, or None if
    they may not be sent.
    """


def union_check(core: CoreNode, read_errors: ReadErrors) -> Callable[[Any], None]:
    """Return a function that raises InvalidValues for arguments that the validation would refuse.
    `core` must be the result of `for_wire` with `AS_JSON`.
    """

    # Made on first use: few calls have many forms to try.
    @cache
    def root() -> _Rule:
        return _Rules(for_values(core, as_json=True)).root

    def check(arguments: Any) -> None:
        trials = _Trials(read_errors)
        misfit = trials.misfit(root(), arguments, 0)
        if misfit != _FITS:
            found = [*islice(trials.objections(root(), arguments, ()), MOST_OBJECTIONS)]
            raise InvalidValues(lambda: found, misfit[1], one_form=True)

    return check


class _Rules:
    """Converts a core schema to rules."""

    def __init__(self, core: CoreNode) -> None:
        self._definitions: dict[str, CoreNode] = {each["ref"]: each for each in core["definitions"]}
        self._known: dict[int, _Rule] = {}
        self.root = self._rule(core["schema"], None)

    def _rule(self, node: CoreNode, config: CoreConfig | None) -> _Rule:
        """Return the rule of a node. `config` is the configuration of the surrounding model."""
        match node["type"]:
            case "definition-ref":
                return self._rule(self._definitions[node["schema_ref"]], None)
            case "model" | "dataclass" if not node.get("custom_init"):
                return self._rule(node["schema"], node.get("config"))
            case "json-or-python":
                return self._rule(node["json_schema"], config)
            # With `on_error`, a default replaces a value that does not fit.
            case "function-after" | "default" if "on_error" not in node:
                return self._rule(node["schema"], config)
            case _:
                made = self._known.get(id(node))
                if made is None:
                    # Stored before its parts are read, because they may contain this node again.
                    made = self._known[id(node)] = _Rule()
                    self._fill(made, node, config)
                return made

    def _fill(self, made: _Rule, node: CoreNode, config: CoreConfig | None) -> None:
        kind = node["type"]
        if kind in FIELD_LISTS:
            made.kind = "object"
            self._add_fields(made, node, config)
        elif kind == "nullable":
            made.kind = "union"
            made.forms = [self._rule(node["schema"], config), _Rule(kind="null")]
        elif kind == "union":
            made.kind = "union"
            made.forms = [self._rule(_choice(each), config) for each in node["choices"]]
        elif kind == "tagged-union" and isinstance(node["discriminator"], str):
            made.kind, made.tag = "tagged", node["discriminator"]
            choices = node["choices"].items()
            made.tagged = {tag: self._rule(each, config) for tag, each in choices}
        elif kind in ("list", "dict"):
            made.kind = "list" if kind == "list" else "object"
            items = node.get("items_schema" if kind == "list" else "values_schema")
            made.items = _Rule() if items is None else self._rule(items, config)
        elif _is_certain(node):
            schema: Any = node
            made.error = partial(_error, SchemaValidator(schema, config))

    def _add_fields(self, made: _Rule, node: CoreNode, config: CoreConfig | None) -> None:
        names = Config.of({"type": "model", "config": config}, DEFAULTS)
        if extra_of(node, names) != "forbid":
            made.items = _Rule()
        for name, each in fields_of(node):
            paths = accepted_paths(name, each, names)
            made.declared.update(str(path[0]) for path in paths)
            # A path of several steps may end inside the value of another field.
            if all(len(path) == 1 for path in paths):
                keys = [str(path[0]) for path in paths]
                made.fields.update(dict.fromkeys(keys, self._rule(each["schema"], config)))
                if not is_optional(each):
                    made.required.append(keys)


def _choice(choice: Any) -> CoreNode:
    """Return one choice of a union. If it has a label, the label is dropped."""
    return choice[0] if is_labelled(choice) else choice


def _is_certain(node: CoreNode) -> bool:
    """Return True if a validator made from this node alone gives the same result as the whole
    validation. This is so only if the node contains no code of the author.
    """
    kind = node["type"]
    if kind in ("definition-ref", "model") or "default_factory" in node or "on_error" in node:
        return False
    if kind.startswith("function-") and is_authors(node):
        return False
    if kind == "tagged-union" and not node["choices"].keys() <= OWN_LABELS:
        return False
    return all(_is_certain(each) for each in below(node))


class _Trials:
    """Tries rules on the values of one call."""

    def __init__(self, read_errors: ReadErrors) -> None:
        self._read_errors = read_errors
        self._known: dict[tuple[int, int], Misfit] = {}

    def misfit(self, rule: _Rule, value: Any, level: int) -> Misfit:
        """Return how far a value is from fitting a rule. The result is `_FITS` if it fits."""
        match rule.kind:
            case "object" | "list":
                # The arguments exist during the whole call, so ids are not reused.
                trial = (id(rule), id(value))
                found = self._known.get(trial)
                if found is None:
                    if len(self._known) >= _MOST_TRIALS or level > _MOST_LEVELS:
                        return _FITS
                    found = self._known[trial] = self._of_parts(rule, value, level)
                return found
            case "union":
                return min(self.misfit(form, value, level) for form in rule.forms)
            case "tagged":
                form = _tagged_form(rule, value)
                return _FITS if form is None else self.misfit(form, value, level)
            case "scalar":
                return _FITS if rule.error(value) is None else _OBJECTION
            case _:  # null
                return _FITS if value is None else _NOT_NULL

    def _of_parts(self, rule: _Rule, value: Any, level: int) -> Misfit:
        """Return how far an object or array is from fitting. This is the sum of the distances of
        its parts.
        """
        if not _is_of_kind(rule, value):
            return _OTHER_KIND
        others: float = 0
        total = 0
        if rule.kind == "object":
            others = total = len(_undeclared(rule, value))
            total += len(_missing(rule, value))
        for _, inner, each in _parts(rule, value):
            other, count = self.misfit(inner, each, level + 1)
            others += other
            total += count
        return others, total

    def objections(self, rule: _Rule, value: Any, path: JsonPath) -> Iterator[Objection]:
        """Yield the errors of a value that does not fit. For each union, only the errors of the
        nearest branch are yielded.
        """
        level = len(path)
        if self.misfit(rule, value, level) == _FITS:
            return
        if rule.kind == "union":
            nearest = min(rule.forms, key=lambda form: self.misfit(form, value, level))
            yield from self.objections(nearest, value, path)
        elif rule.kind == "tagged":
            yield from self.objections(rule.tagged[value[rule.tag]], value, path)
        elif rule.kind == "scalar":
            error = rule.error(value)
            for each in () if error is None else self._read_errors(error):
                each.model_path = (*path, *each.model_path)
                yield each
        elif not _is_of_kind(rule, value):
            kind = "list_type" if rule.kind == "list" else "dict_type"
            yield Objection(model_path=path, kind=kind, message="")
        else:
            if rule.kind == "object":
                yield from _objections_to_keys(rule, value, path)
            for step, inner, each in _parts(rule, value):
                yield from self.objections(inner, each, (*path, step))


def _tagged_form(rule: _Rule, value: Any) -> _Rule | None:
    """Return the branch that the tag of a value selects. Return None if no branch has this tag."""
    tag = value.get(rule.tag) if is_object(value) else None
    return rule.tagged.get(tag) if isinstance(tag, str) else None


def _is_of_kind(rule: _Rule, value: Any) -> bool:
    return is_array(value) if rule.kind == "list" else is_object(value)


def _objections_to_keys(rule: _Rule, value: Any, path: JsonPath) -> Iterator[Objection]:
    for key in _undeclared(rule, value):
        yield Objection(model_path=(*path, key), kind="extra_forbidden", message="")
    for key in _missing(rule, value):
        yield Objection(model_path=(*path, key), kind="missing", message="")


def _undeclared(rule: _Rule, value: Any) -> list[str]:
    """Return the undeclared keys of an object."""
    if rule.items is not None:
        return []
    return [key for key in value if key not in rule.declared]


def _missing(rule: _Rule, value: Any) -> list[str]:
    """Return the required fields of an object that were not sent."""
    return [keys[0] for keys in rule.required if value.keys().isdisjoint(keys)]


def _parts(rule: _Rule, value: Any) -> list[tuple[str | int, _Rule, Any]]:
    """Return the parts of an object or array. Each has its step in the path, its rule and its
    value.
    """
    if rule.kind == "object":
        other = rule.items
        found = ((key, rule.fields.get(key, other), each) for key, each in value.items())
    else:
        found = ((index, rule.items, each) for index, each in enumerate(value))
    return [(step, inner, each) for step, inner, each in found if inner is not None]


def _error(validator: SchemaValidator, value: Any) -> ValidationError | None:
    try:
        validator.validate_json(orjson.dumps(value))
    except ValidationError as error:
        return error
    except TypeError:  # it has more digits than a float: the validation decides
        return None
    return None
