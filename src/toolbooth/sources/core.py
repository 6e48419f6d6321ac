"""Pydantic's core schema, made ready for JSON that the boundary has already examined.

In: the core schema that Pydantic generates for an annotation. Out: one that
- forbids the keys which `extra="ignore"` would drop;
- takes numbers and booleans only as such: the boundary has made every permitted repair, so Pydantic's lax
  reading of text could only add a guess (it would choose `int` for "5" in `int | date`);
- takes the JSON branch of every node that has one, and text for dates and the like even in strict models,
  as `validate_json` would: the run itself is `validate_python`, on JSON that was read once.

Below an author's before or wrap validator the values are the author's: there, only keys that nobody read are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, cast

from jiter import LosslessFloat, from_json
from pydantic import BaseModel
from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator, ValidationError, core_schema

from toolbooth.markers import METADATA_KEY, Marker

Node = dict[str, Any]

DICTS = frozenset(("dict", "ordered-dict", "counter"))
FIELD_LISTS = frozenset(("model-fields", "typed-dict", "dataclass-args"))
_STRICT_SCALARS = frozenset(("int", "float", "bool"))
_CHILDREN = (
    *("schema", "items_schema", "keys_schema", "values_schema", "extras_schema", "fields", "steps", "choices"),
    *("json_schema", "python_schema", "lax_schema", "strict_schema", "definitions"),
)
_ANY: Node = {"type": "any"}
_AUTHORED = frozenset(("function-before", "function-wrap"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the enclosing model's configuration says, as far as the wire is concerned."""

    extra: str = "ignore"
    strict: bool = False
    by_name: bool = False
    by_alias: bool = True
    numbers_as_text: bool = False
    exact_types: bool = True
    """Whether validation takes an integer only as such; else it also takes 5.0, which the gate calls an integer."""

    @staticmethod
    def of(node: Node, outer: Config) -> Config:
        """The configuration inside `node`: its own where it brings one, else the enclosing."""
        raw = node.get("config")
        if raw is None:
            return outer
        return replace(
            outer,
            extra=raw.get("extra_fields_behavior") or "ignore",
            strict=bool(raw.get("strict")),
            by_name=bool(raw.get("validate_by_name")),
            by_alias=raw.get("validate_by_alias") is not False,
            numbers_as_text=bool(raw.get("coerce_numbers_to_str")),
        )


DEFAULTS = Config()
LENIENT = Config(exact_types=False)


def validator(schema: CoreSchema) -> SchemaValidator:
    """Build the validator from this very schema: by default Pydantic reuses each class's own, unclosed one."""
    return SchemaValidator(schema, None, _use_prebuilt=False)


def marker_of(node: Node) -> Marker | None:
    """The Toolbooth marker that this node was made for, if any."""
    metadata = cast("dict[str, Any] | None", node.get("metadata"))
    return metadata.get(METADATA_KEY) if metadata and node["type"] == "chain" else None


def is_authors(node: Node) -> bool:
    """Whether a function node runs the author's code; Pydantic builds several of its own types from functions."""
    function = node["function"]["function"]
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] not in ("pydantic", "pydantic_core")


def extra_of(node: Node, config: Config) -> str:
    """What a list of fields does with undeclared keys."""
    return node.get("extra_behavior") or Config.of(node, config).extra


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
    below = authored or (kind in _AUTHORED and is_authors(node))
    made = each_child(node, lambda child: for_wire(child, inner, below))
    if kind in DICTS and node.get("keys_schema", _ANY)["type"] not in ("str", "any"):
        # A JSON key is text, whatever it stands for; and two texts may stand for the same.
        made["keys_schema"] = for_wire(node["keys_schema"], inner, True)
        return _in_place_of(node, _without_loss(made))
    if kind in FIELD_LISTS and extra_of(node, config) == "ignore":
        made["extra_behavior"] = "forbid"
    if authored:
        return made
    if below:
        made["function"] = _watched(node, inner)
    made.pop("strict", None)
    if "config" in made:
        made["config"] = {key: value for key, value in made["config"].items() if key != "strict"}
    if kind in _STRICT_SCALARS and (config.exact_types or kind != "int"):
        made["strict"] = True
    if kind == "generator":  # read lazily, it would refuse in the middle of the tool
        made["type"] = "list"
    return made


def for_values(core: Any) -> Any:
    """A schema made by `for_wire`, ready to validate with: JSON text (`Json[T]`) is read as strictly as all else."""
    made = each_child(core, for_values)
    if core["type"] != "json":
        return made
    inner = made.get("schema", _ANY)
    return core_schema.no_info_before_validator_function(_read_text, inner)


_PROVING = frozenset(
    (
        *(
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
        ),
        *("definition-ref", "model", "dataclass", "typed-dict-field", "model-field", "dataclass-field", *FIELD_LISTS),
    )
)


def proves_shape(core: Node) -> bool:
    """Whether a schema made for values takes nothing but what the shape says, and runs nobody's code."""
    if core["type"] not in _PROVING or core.get("custom_init") or core.get("post_init") or "default_factory" in core:
        return False
    if isinstance(core.get("validation_alias"), list):  # what stands beside an alias path is not looked at
        return False
    if core["type"] == "literal" and not all(isinstance(each, str) for each in core["expected"]):
        return False
    proven: list[bool] = []

    def note(child: Any) -> Any:
        proven.append(proves_shape(child))
        return child

    each_child(core, note)
    return all(proven)


def has_exact_integers(core: Node) -> bool:
    """Whether some integer is taken only as such, so that 5.0 must be made 5 before."""
    found: list[bool] = [core["type"] == "int" and bool(core.get("strict"))]

    def note(child: Any) -> Any:
        found.append(has_exact_integers(child))
        return child

    each_child(core, note)
    return any(found)


def _read_text(value: Any) -> Any:
    if not isinstance(value, str | bytes):
        raise PydanticCustomError("json_type", "must be JSON text")
    body = value.encode() if isinstance(value, str) else value
    try:
        found = from_json(body, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float")
    except ValueError as error:
        kind = "duplicate_key" if "duplicate key" in str(error) else "json_invalid"
        raise PydanticCustomError(kind, "must be valid JSON: {reason}", {"reason": str(error)}) from None
    return _as_floats(found)


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_floats(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_as_floats(each) for each in cast("list[Any]", value)]
    if not isinstance(value, LosslessFloat):
        return value
    number = float(value)
    if not isfinite(number) or (number == 0 and value.as_decimal() != 0):
        raise PydanticCustomError("lossy_number", "holds a number too large or too small to hold")
    return number


def _without_loss(node: Node) -> Node:
    """A dict that refuses two keys which mean the same ("1" and "01" for an integer): one value would be lost."""
    keys = validator(node["keys_schema"])

    def check(value: Any, handler: Any) -> Any:
        made: Any = handler(value)
        if not isinstance(value, dict) or len(made) == len(cast("dict[str, Any]", value)):
            return made
        seen: dict[Any, str] = {}
        for key in cast("dict[str, Any]", value):
            first = seen.setdefault(keys.validate_python(key), key)
            if first is not key:
                error = PydanticCustomError(
                    "conflicting_keys", "{one} and {other} mean the same", {"one": first, "other": key}
                )
                raise ValidationError.from_exception_data("", [{"type": error, "loc": (key,), "input": None}])
        return made

    return cast("Node", core_schema.no_info_wrap_validator_function(check, cast("Any", node)))


def each_child(node: Node, rewrite: Callable[[Any], Any]) -> Node:
    """A copy of `node` in which every node right below it is rewritten."""
    return {key: _each(value, rewrite) if key in _CHILDREN else value for key, value in node.items()}


def with_defaults_of(node: Any, instance: Any, definitions: dict[str, Node]) -> Any:
    """A model's schema whose fields default to what `instance` holds: what the author wrote as the default."""
    kind = node["type"]
    if kind == "definition-ref":
        own = {key: value for key, value in definitions[node["schema_ref"]].items() if key != "ref"}
        return with_defaults_of(own, instance, definitions)
    if kind not in FIELD_LISTS:
        return each_child(node, lambda child: with_defaults_of(child, instance, definitions))
    names = {id(field): name for name, field in fields_of(node)}
    held = cast("dict[str, Any]", instance if isinstance(instance, dict) else vars(instance))

    def settle(field: Any) -> Any:
        name = names.get(id(field), "")
        if name not in held:
            return field
        inner = field["schema"]["schema"] if field["schema"]["type"] == "default" else field["schema"]
        value = held[name]
        made = {**field, "schema": core_schema.with_default_schema(inner, default=value)}
        return {**made, "required": False} if field["type"] == "typed-dict-field" else made

    return each_child(node, settle)


def _in_place_of(outer: Node, inner: Node) -> Node:
    """`inner` under the name, and with the description, of the node that it replaces."""
    kept = {key: outer[key] for key in ("ref", "metadata", "serialization") if key in outer}
    return {**inner, **kept}


def _each(children: Any, rewrite: Callable[[Any], Any]) -> Any:
    """Apply `rewrite` to a child, a list of them, a table of them, or labelled ones."""
    if isinstance(children, dict):
        table = cast("dict[Any, Any]", children)
        if isinstance(table.get("type"), str):
            return rewrite(table)
        return {key: _each(child, rewrite) for key, child in table.items()}
    if isinstance(children, list):
        return [_each(child, rewrite) for child in cast("list[Any]", children)]
    if isinstance(children, tuple):
        child, label = cast("tuple[Any, Any]", children)
        return rewrite(child), label
    return children


class _Watched(dict[str, Any]):
    """A dict that remembers which keys somebody asked for by name.

    A key that the author's code asked for is the author's business. One that nobody asked for, and that the model
    does not declare, would be dropped in silence, even if it was copied along on the way.
    """

    __slots__ = ("seen",)

    def __init__(self, items: dict[str, Any], seen: set[str] | None = None) -> None:
        super().__init__(items)
        self.seen: set[str] = set() if seen is None else seen

    def unread(self) -> set[str]:
        """The keys that nobody asked for."""
        return set(self) - self.seen

    def __getitem__(self, key: str) -> Any:
        self.seen.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.seen.add(cast("str", key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.seen.add(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self.seen.add(key)
        return super().pop(key, *default)

    def copy(self) -> dict[str, Any]:
        return _Watched(self, self.seen)


def _watched(node: Node, config: Config) -> Node:
    """The author's validator, given a dict that notes what it reads, in front of a list of fields now closed."""
    declared = _ignoring_keys(node, config)
    if declared is None:
        return node["function"]
    function = node["function"]["function"]

    def settle(before: Any, after: Any) -> Any:
        if not (isinstance(before, _Watched) and isinstance(after, dict)):
            return after
        unread = before.unread()
        made = dict(cast("dict[str, Any]", after))
        return {key: value for key, value in made.items() if key in declared or key in unread}

    def watch(value: Any) -> Any:
        return _Watched(cast("dict[str, Any]", value)) if type(value) is dict else value

    def before(value: Any, *info: Any) -> Any:
        watched = watch(value)
        return settle(watched, function(watched, *info))

    def wrap(value: Any, handler: Any, *info: Any) -> Any:
        watched = watch(value)

        def settled(inner: Any, *outer: Any) -> Any:
            return handler(settle(watched, inner), *outer)

        return function(watched, settled, *info)

    return {**node["function"], "function": before if node["type"] == "function-before" else wrap}


def _ignoring_keys(node: Node, config: Config) -> frozenset[str] | None:
    """The keys of the list of fields right below an author's validator, if it ignores all others."""
    inner = node["schema"]
    config = Config.of(inner, config)
    while inner["type"] in ("model", "dataclass", "default", "function-after", *_AUTHORED):
        inner = inner["schema"]
        config = Config.of(inner, config)
    if inner["type"] not in FIELD_LISTS or extra_of(inner, config) != "ignore":
        return None
    return frozenset(key for name, field in fields_of(inner) for key in (name, *_first_keys(field)))


def fields_of(node: Node) -> Iterable[tuple[str, Node]]:
    """The fields of a list of fields, by Python name, whichever way the node keeps them."""
    if node["type"] == "dataclass-args":
        return [(field["name"], field) for field in node["fields"] if field.get("init", True)]
    return cast("dict[str, Node]", node["fields"]).items()


def alias_paths(field: Node) -> list[list[str | int]]:
    """Every path by which a field may be sent by alias, first choice first."""
    alias: Any = field.get("validation_alias")
    if alias is None:
        return []
    if isinstance(alias, str):
        return [[alias]]
    return alias if isinstance(alias[0], list) else [alias]


def _first_keys(field: Node) -> list[str]:
    return [str(path[0]) for path in alias_paths(field)]


class _Probe(BaseModel):
    pass


# The whole guard against ignored keys rests on a private flag; better no import than a silent loss.
if validator(for_wire(core_schema.list_schema(_Probe.__pydantic_core_schema__))).isinstance_python([{"extra": 1}]):
    raise ImportError("this pydantic-core reuses prebuilt validators; Toolbooth cannot close models")
