"""Rewrites Pydantic's core schema for JSON that the boundary has already examined.

In: the core schema that Pydantic generates for an annotation. Out: a core schema with these
differences:
- It forbids the keys that `extra="ignore"` would drop.
- It accepts numbers and booleans, but not text for them. The boundary has already made every
  permitted repair, so reading text here would only be a guess. For example, Pydantic would choose
  `int` for "5" in `int | date`.
- It uses the JSON branch of every node that has one, and accepts text for dates and similar types
  even in strict models. This is what `validate_json` would do. But the validation runs with
  `validate_python`, on JSON that was parsed once.

Unions in which several branches accept the same JSON type are an exception. Pydantic ranks their
branches differently for Python values, so the validation runs with `validate_json` (`AS_JSON`,
`json_run`).

If an author's before or wrap validator runs first, the author's code has made the values. For
these, only undeclared keys that would be dropped are refused (`unread_keys.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import orjson
from pydantic import BaseModel
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    SchemaError,
    SchemaValidator,
    core_schema,
)

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    DEFAULTS,
    DICTS,
    FIELD_LISTS,
    REWRITES,
    Config,
    CoreNode,
    below,
    each_child,
    extra_of,
    fields_of,
    is_authors,
    marker_of,
)
from toolbooth.compile.pydantic.json_text import checked_text, in_place
from toolbooth.compile.pydantic.numbers import (
    DIGITS,
    NUMBERS,
    number_node,
    placeholders,
)
from toolbooth.compile.pydantic.unread_keys import watch_keys
from toolbooth.jsonvalue import is_object

_STRICT_SCALARS = frozenset(("int", "float", "bool"))
_ANY: CoreNode = {"type": "any"}

CONFLICTING_KEYS = "conflicting_keys"
"""The kind of the error for two keys of a dict that mean the same."""


def validator(schema: CoreSchema) -> SchemaValidator:
    """Build the validator from this schema alone. By default, Pydantic would use the validator that
    a class already has, but that one accepts unknown keys.
    """
    _check_closing()
    return _built(schema)


def _built(schema: CoreSchema) -> SchemaValidator:
    return SchemaValidator(schema, None, _use_prebuilt=False)


@cache
def _check_closing() -> None:
    """Raise an error if undeclared keys are not refused. The refusal depends on a private flag of
    Pydantic, which a new version may not have. Tools would then lose keys silently.
    """

    class Probe(BaseModel):
        pass

    if _built(for_wire(core_schema.list_schema(Probe.__pydantic_core_schema__))).isinstance_python(
        [{"extra": 1}]
    ):
        raise ImportError(  # pragma: no cover
            "this pydantic-core reuses prebuilt validators; Toolbooth cannot close models"
        )


def for_wire(node: Any, config: Config = DEFAULTS, authored: bool = False) -> Any:
    """Rewrite a node of a core schema and all nodes inside it."""
    kind = node["type"]
    if marker_of(node):
        return for_wire(node["steps"][0], config, authored)
    as_python = not (authored or config.as_json)
    if kind == "lax-or-strict" and as_python:
        branch = node["strict_schema" if config.strict else "lax_schema"]
        return _in_place_of(node, for_wire(branch, config, authored))
    if kind == "json-or-python" and as_python:
        return _in_place_of(node, for_wire(node["json_schema"], config, authored))
    inner = Config.of(node, config)
    if kind == "json":  # the boundary has not examined the values in the text
        node = in_place(node, inner.definitions)
        inner = replace(inner, as_json=True, exact_types=True)
    # In a union with a float, 5.0 is a float and not an integer.
    if kind in ("union", "tagged-union"):
        inner = replace(inner, exact_types=True)
    if kind == "definitions":
        inner = replace(inner, definitions={each["ref"]: each for each in node["definitions"]})
    is_validator = kind in AUTHORED and is_authors(node)
    behind = authored or is_validator
    made = each_child(node, lambda child: for_wire(child, inner, behind))
    if kind in DICTS and _may_merge_keys(node.get("keys_schema", _ANY), inner):
        # A JSON key is always text. Two texts may become the same key of the dict.
        keys = node["keys_schema"]
        also = inner.rewrites if keys["type"] == "str" else ()
        # The key 1 can only be sent as the text "1", so keys are read leniently.
        made["keys_schema"] = for_wire({**keys, **dict.fromkeys(also, True)}, inner, True)
        return _in_place_of(node, _without_loss(made))
    if kind in FIELD_LISTS and extra_of(node, config) == "ignore":
        made["extra_behavior"] = "forbid"
    if is_validator:
        made["function"] = watch_keys(node, inner)
    # Behind the author's code, Pydantic may convert values as the author expects.
    if authored:
        return made
    # A strict model refuses text for a date, but JSON has no other way to send one.
    if as_python:
        made.pop("strict", None)
        if "config" in made:
            own = made["config"].items()
            made["config"] = {key: value for key, value in own if key != "strict"}
    if kind in _STRICT_SCALARS and (config.exact_types or kind != "int"):
        made["strict"] = True
    if kind == "generator":  # a lazy one would raise while the tool runs
        made["type"] = "list"
    return made


def _in_place_of(outer: CoreNode, inner: CoreNode) -> CoreNode:
    """Return `inner` with the name and description of the node `outer`, which it replaces."""
    kept = {key: outer[key] for key in ("ref", "metadata", "serialization") if key in outer}
    return {**inner, **kept}


def for_values(core: Any, *, as_json: bool = False, digits: bool = False) -> Any:
    """Complete a schema from `for_wire`, so that it can validate. With `as_json`, it is used for
    `validate_json`. With `digits`, it replaces placeholders by Decimals.
    """
    kind = core["type"]
    if kind == "json":
        made = each_child(core, partial(for_values, as_json=True))
        exact = each_child(core, partial(for_values, as_json=True, digits=True))
        return _in_place_of(core, checked_text(made, exact))
    made = each_child(core, partial(for_values, as_json=as_json, digits=digits))
    if as_json and kind in NUMBERS:
        return _in_place_of(core, number_node(made, digits=digits))
    return made


def for_python(node: Any, config: Config = DEFAULTS) -> Any:
    """Return the author's own schema for Python values. There is only one change: keys that were
    ignored are forbidden.
    """
    if marker_of(node):
        return for_python(node["steps"][0], config)
    inner = Config.of(node, config)
    made = each_child(node, lambda child: for_python(child, inner))
    if node["type"] in FIELD_LISTS and extra_of(node, config) == "ignore":
        made["extra_behavior"] = "forbid"
    return made


def json_run(core: CoreNode) -> Callable[[Any], Any]:
    """Return a function for Python values. It gives the same result as `validate_json` for these
    values written as JSON. `core` must be the result of `for_wire` with `AS_JSON`.
    """
    run = validator(for_values(core, as_json=True)).validate_json

    # Made on first use: few calls have such numbers, and a validator takes long to build.
    @cache
    def run_with_digits() -> Callable[[bytes], Any]:
        return validator(for_values(core, as_json=True, digits=True)).validate_json

    def validate(values: Any) -> Any:
        try:
            body = orjson.dumps(values)
        except TypeError:  # an integer beyond 64 bits, or a Decimal
            plain, digits = placeholders(values)
            token = DIGITS.set(digits)
            try:
                return run_with_digits()(json.dumps(plain, default=float).encode())
            finally:
                DIGITS.reset(token)
        return run(body)

    return validate


def _may_merge_keys(keys: CoreNode, config: Config) -> bool:
    """Return True if two different keys of a JSON object may become one key of the validated
    dict.
    """
    if keys["type"] == "str":
        return bool(config.rewrites) or any(keys.get(how) for how in REWRITES)
    # Keys of any type stay the texts that were sent, and these all differ.
    return keys["type"] != "any"


class _Key:
    """A dict key that never equals another key. With it, two keys that mean the same are both
    kept.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _without_loss(node: CoreNode) -> CoreNode:
    """Return a node for a dict. It refuses two keys that mean the same, such as "1" and "01" for an
    integer. Otherwise one value would be lost.
    """
    keys = node["keys_schema"]

    def check(kept: Any) -> Any:
        made: dict[Any, Any] = {}
        for key, value in kept.items():
            if key.value in made:
                find = partial(_keys_that_mean, key.value, keys)
                raise PydanticCustomError(
                    CONFLICTING_KEYS, "two keys mean the same", {"find": find}
                )
            made[key.value] = value
        # A `Counter` or an `OrderedDict` keeps its type.
        return made if type(kept) is dict else type(kept)(made)

    return _after(check, {**node, "keys_schema": _after(_Key, keys)})


def _keys_that_mean(meaning: Any, keys: Any, sent: dict[str, Any]) -> list[str]:
    """Return the keys of the sent object whose validated value is `meaning`. Return an empty list
    if the schema `keys` cannot be used alone, because it refers to a definition.
    """
    try:
        run = _built(core_schema.dict_schema(keys)).validate_json
    except SchemaError:
        return []
    # Each key is validated in its own dict, because this is how Pydantic shows its meaning.
    return [key for key in sent if run(orjson.dumps({key: None})) == {meaning: None}]


def _after(function: Callable[[Any], Any], node: Any) -> Any:
    return core_schema.no_info_after_validator_function(function, node)


_PROVING = FIELD_LISTS | {
    "none",
    "bool",
    "int",
    "float",
    "str",
    "literal",
    "list",
    "dict",
    "nullable",
    "default",
    "union",
    "definitions",
    "definition-ref",
    "model",
    "dataclass",
    "typed-dict-field",
    "model-field",
    "dataclass-field",
}


def proves_shape(core: CoreNode) -> bool:
    """Return True if the validation accepts only values that fit the shape, and runs no code of the
    author. `core` is a schema from `for_values`.
    """
    if (
        core["type"] not in _PROVING
        or core.get("custom_init")
        or core.get("post_init")
        or "default_factory" in core
    ):
        return False
    # An invalid value would be dropped silently.
    if core.get("on_error", "raise") != "raise":
        return False
    # Values beside an alias path are not checked.
    if isinstance(core.get("validation_alias"), list):
        return False
    # For Python values, Pydantic accepts 1.0 and True as `Literal[1]`, because they are equal.
    if core["type"] == "literal" and not all(isinstance(each, str) for each in core["expected"]):
        return False
    return all(map(proves_shape, below(core)))


def _fields_of_instance(instance: Any) -> dict[str, Any]:
    """Return the values of a model, dataclass or TypedDict by Python name."""
    return instance if is_object(instance) else instance.__dict__


def with_defaults_of(node: Any, instance: Any, definitions: dict[str, CoreNode]) -> Any:
    """Return the schema of a model with changed defaults. `instance` is the author's default for
    the whole model. Each field gets its value in `instance` as its default.
    """
    kind = node["type"]
    if kind == "definition-ref":
        # This copy has different defaults than the definition, so it must not have the same name.
        own = {key: value for key, value in definitions[node["schema_ref"]].items() if key != "ref"}
        return with_defaults_of(own, instance, definitions)
    if kind not in FIELD_LISTS:
        return each_child(node, lambda child: with_defaults_of(child, instance, definitions))
    names = {id(field): name for name, field in fields_of(node)}
    held = _fields_of_instance(instance)

    def settle(field: Any) -> Any:
        name = names.get(id(field), "")
        if name not in held:
            return field
        inner = field["schema"]
        if inner["type"] == "default":
            inner = inner["schema"]
        made = {**field, "schema": core_schema.with_default_schema(inner, default=held[name])}
        # A field of a TypedDict has a separate key `required`, which does not depend on a default.
        return {**made, "required": False} if field["type"] == "typed-dict-field" else made

    return each_child(node, settle)
