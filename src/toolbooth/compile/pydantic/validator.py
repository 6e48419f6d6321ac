"""Pydantic's core schema, made ready for JSON that the boundary has already examined.

In: the core schema that Pydantic generates for an annotation. Out: one that
- forbids the keys which `extra="ignore"` would drop;
- takes numbers and booleans only as such: the boundary has made every permitted repair, so
  Pydantic's lax reading of text could only add a guess (it would choose `int` for "5" in `int |
  date`);
- takes the JSON branch of every node that has one, and text for dates and the like even in strict
  models, as `validate_json` would: the run itself is `validate_python`, on JSON that was read once.

Below an author's before or wrap validator the values are the author's: there, only undeclared keys
that would be dropped are refused (`unread_keys.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isfinite
from typing import Any

from jiter import LosslessFloat, from_json
from pydantic import BaseModel
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    SchemaValidator,
    ValidationError,
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
from toolbooth.compile.pydantic.unread_keys import watch_keys
from toolbooth.jsonvalue import exact_decimal, is_array, is_object

_STRICT_SCALARS = frozenset(("int", "float", "bool"))
_ANY: CoreNode = {"type": "any"}


def validator(schema: CoreSchema) -> SchemaValidator:
    """Build the validator from this very schema: by default Pydantic reuses each class's own,
    unclosed one.
    """
    _check_closing()
    return _built(schema)


def _built(schema: CoreSchema) -> SchemaValidator:
    return SchemaValidator(schema, None, _use_prebuilt=False)


@cache
def _check_closing() -> None:
    """The whole guard against ignored keys rests on a private flag; better no tool than a silent
    loss.
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
    """Rewrite one core schema node and all below it."""
    kind = node["type"]
    if marker_of(node):
        return for_wire(node["steps"][0], config, authored)
    if kind == "lax-or-strict" and not authored:
        branch = node["strict_schema" if config.strict else "lax_schema"]
        return _in_place_of(node, for_wire(branch, config, authored))
    if kind == "json-or-python" and not authored:
        return _in_place_of(node, for_wire(node["json_schema"], config, authored))
    inner = Config.of(node, config)
    if kind in ("union", "tagged-union"):
        inner = replace(inner, exact_types=True)
    if kind == "definitions":
        inner = replace(inner, definitions={each["ref"]: each for each in node["definitions"]})
    is_validator = kind in AUTHORED and is_authors(node)
    behind = authored or is_validator
    made = each_child(node, lambda child: for_wire(child, inner, behind))
    if kind in DICTS and _may_merge_keys(node.get("keys_schema", _ANY), inner):
        # A JSON key is text, whatever it stands for; and two texts may stand for the same.
        keys = node["keys_schema"]
        also = inner.rewrites if keys["type"] == "str" else ()
        made["keys_schema"] = for_wire({**keys, **dict.fromkeys(also, True)}, inner, True)
        return _in_place_of(node, _without_loss(made))
    if kind in FIELD_LISTS and extra_of(node, config) == "ignore":
        made["extra_behavior"] = "forbid"
    if is_validator:
        made["function"] = watch_keys(node, inner)
    if authored:
        return made
    made.pop("strict", None)
    if "config" in made:
        made["config"] = {key: value for key, value in made["config"].items() if key != "strict"}
    if kind in _STRICT_SCALARS and (config.exact_types or kind != "int"):
        made["strict"] = True
    if kind == "generator":  # read lazily, it would refuse in the middle of the tool
        made["type"] = "list"
    return made


def _in_place_of(outer: CoreNode, inner: CoreNode) -> CoreNode:
    """`inner` under the name, and with the description, of the node that it replaces."""
    kept = {key: outer[key] for key in ("ref", "metadata", "serialization") if key in outer}
    return {**inner, **kept}


def for_values(core: Any) -> Any:
    """A schema made by `for_wire`, ready to validate with: JSON text (`Json[T]`) is read as
    strictly as all else.
    """
    made = each_child(core, for_values)
    if core["type"] != "json":
        return made
    inner = made.get("schema", _ANY)
    return core_schema.no_info_before_validator_function(_read_text, inner)


def _read_text(value: Any) -> Any:
    if not isinstance(value, str | bytes):
        raise PydanticCustomError("json_type", "must be JSON text")
    body = value.encode() if isinstance(value, str) else value
    try:
        found = from_json(
            body, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float"
        )
    except ValueError as error:
        kind = "duplicate_key" if "duplicate key" in str(error) else "json_invalid"
        raise PydanticCustomError(
            kind, "must be valid JSON: {reason}", {"reason": str(error)}
        ) from None
    return _as_floats(found)


def _as_floats(value: Any) -> Any:
    if is_object(value):
        return {key: _as_floats(each) for key, each in value.items()}
    if is_array(value):
        return [_as_floats(each) for each in value]
    if not isinstance(value, LosslessFloat):
        return value
    number, exact = float(value), exact_decimal(value)
    if exact is None or not isfinite(number) or (number == 0 and exact != 0):
        raise PydanticCustomError("lossy_number", "holds a number too large or too small to hold")
    if not number.is_integer():
        return number
    # An integer may be declared: it gets all digits, and no number that was not whole.
    if exact != exact.to_integral_value():
        raise PydanticCustomError("lossy_number", "holds a number with too many digits")
    return int(exact) if abs(number) >= 2**53 else number


def _may_merge_keys(keys: CoreNode, config: Config) -> bool:
    """Whether two different keys of a JSON object may stand for the same key of the dict."""
    if keys["type"] == "str":
        return bool(config.rewrites) or any(keys.get(how) for how in REWRITES)
    return keys["type"] != "any"


def _without_loss(node: CoreNode) -> CoreNode:
    """A dict that refuses two keys which mean the same ("1" and "01" for an integer): one value
    would be lost.
    """
    keys = validator(node["keys_schema"])

    def check(value: Any, handler: Any) -> Any:
        made: Any = handler(value)
        if not is_object(value) or len(made) == len(value):
            return made
        seen: dict[Any, str] = {}
        for key in value:
            first = seen.setdefault(keys.validate_python(key), key)
            if first is not key:
                error = PydanticCustomError(
                    "conflicting_keys",
                    "{one} and {other} mean the same",
                    {"one": first, "other": key},
                )
                raise ValidationError.from_exception_data(
                    "", [{"type": error, "loc": (key,), "input": None}]
                )
        return made

    function = {"type": "no-info", "function": check}
    return {"type": "function-wrap", "function": function, "schema": node}


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
    """Whether a schema made for values takes only values that fit the shape, and runs no author's
    code.
    """
    if (
        core["type"] not in _PROVING
        or core.get("custom_init")
        or core.get("post_init")
        or "default_factory" in core
    ):
        return False
    # An invalid value would be left out in silence.
    if core.get("on_error", "raise") != "raise":
        return False
    # Values beside an alias path are not looked at.
    if isinstance(core.get("validation_alias"), list):
        return False
    if core["type"] == "literal" and not all(isinstance(each, str) for each in core["expected"]):
        return False
    return all(map(proves_shape, below(core)))


def _fields_of_instance(instance: Any) -> dict[str, Any]:
    """The values of a model, a dataclass or a TypedDict, by Python name."""
    return instance if is_object(instance) else instance.__dict__


def with_defaults_of(node: Any, instance: Any, definitions: dict[str, CoreNode]) -> Any:
    """A model's schema whose fields default to the values of `instance`, the author's default."""
    kind = node["type"]
    if kind == "definition-ref":
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
        return {**made, "required": False} if field["type"] == "typed-dict-field" else made

    return each_child(node, settle)
