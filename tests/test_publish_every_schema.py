"""For every exact schema, the published one is portable and never narrower."""

import json
import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from published_schemas import assert_portable

from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.publish import ANY_ITEMS, Profile, input_schema, portable

NAMES = ["a", "b", "title", "$ref", "properties", "items", "default", "type"]
TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]
Strategy = st.SearchStrategy[Any]
names = st.sampled_from(NAMES)
some_names = st.lists(names, min_size=1, max_size=2, unique=True)
values = st.sampled_from(["", "a", "bb", 0, 1, 1.0, 2.5, -3, True, False, None, [], [1], {"a": 1}])
small = st.integers(0, 3)


def optional(**keywords: Strategy) -> Strategy:
    return st.fixed_dictionaries({}, optional=keywords)


def joined(*parts: Strategy) -> Strategy:
    return st.tuples(*parts).map(
        lambda dicts: {key: value for each in dicts for key, value in each.items()}
    )


def of_type(kind: str, **keywords: Strategy) -> Strategy:
    return joined(st.just({"type": kind}), optional(**keywords), annotated)


annotated = optional(
    title=st.just("T"), description=st.sampled_from(["text", "other"]), default=values
)
bounds = {
    "minimum": small,
    "maximum": small,
    "exclusiveMinimum": st.integers(-3, 1),
    "multipleOf": st.sampled_from([1, 0.5]),
}
leaves = st.one_of(
    st.booleans(),
    annotated,
    of_type(
        "string",
        minLength=small,
        maxLength=small,
        pattern=st.sampled_from(["^a", "b"]),
        format=st.just("date"),
    ),
    of_type("integer", **bounds),
    of_type("number", **bounds),
    optional(**bounds, minLength=small, nullable=st.just(True)),
    st.sampled_from(TYPES).map(lambda kind: {"type": kind}),
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True).map(
        lambda kinds: {"type": kinds}
    ),
    joined(
        st.lists(values, min_size=1, max_size=4).map(lambda v: {"enum": v}),
        optional(type=st.sampled_from(TYPES)),
    ),
    values.map(lambda value: {"const": value}),
    values.map(lambda value: {"not": {"const": value}}),
)


def objects(children: Strategy) -> Strategy:
    """Further properties get an explicit type: where a schema has none, the law of the boundary is
    stricter.
    """
    fixed = {
        "properties": st.dictionaries(names, children, max_size=3),
        "additionalProperties": st.one_of(st.booleans(), children),
    }
    more = of_type(
        "object",
        required=some_names,
        minProperties=small,
        patternProperties=st.dictionaries(st.sampled_from(["^a", "t"]), children, max_size=2),
        propertyNames=st.sampled_from([{"pattern": "^."}, {"enum": NAMES}]),
        dependentRequired=st.just({"a": ["b"]}),
    )
    return joined(st.fixed_dictionaries(fixed), more)


def arrays(children: Strategy) -> Strategy:
    prefix = st.lists(children, min_size=1, max_size=3)
    return of_type(
        "array",
        items=children,
        prefixItems=prefix,
        minItems=small,
        maxItems=small,
        uniqueItems=st.booleans(),
        contains=children,
    )


def combined(parts: Strategy) -> Strategy:
    options = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        options.map(lambda each: {"anyOf": each}),
        options.map(lambda each: {"oneOf": each}),
        options.map(lambda each: {"allOf": each}),
        st.fixed_dictionaries({"if": parts}, optional={"then": parts, "else": parts}),
        parts.map(lambda each: {"dependentSchemas": {"a": each}}),
    )


# A recursive reference may only appear below a property or an item; in a combinator it would be a
# loop.
references = st.sampled_from(["#/$defs/Object", "#/$defs/Array", "#/properties/a", "#"]).map(
    lambda ref: {"$ref": ref}
)
plain_references = joined(
    st.sampled_from(["#/$defs/Plain", "#/definitions/Plain"]).map(lambda ref: {"$ref": ref}),
    annotated,
)


def grown(inner: Strategy) -> Strategy:
    children = st.one_of(inner, references, plain_references)
    containers = st.one_of(objects(children), arrays(children))
    parts = st.one_of(inner, plain_references, containers)
    return st.one_of(containers, combined(parts), joined(containers, combined(parts)))


plain = st.recursive(
    leaves, lambda inner: st.one_of(objects(inner), arrays(inner), combined(inner)), max_leaves=4
)
schemas = st.one_of(grown(leaves), st.recursive(leaves, grown, max_leaves=8), references)
alternatives = st.one_of(
    plain, objects(schemas), some_names.map(lambda required: {"required": required})
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    closed = {"type": "object", "additionalProperties": False, "required": ["a"]}
    narrow = schemas.map(lambda schema: {**closed, "properties": {"a": schema}})
    root = draw(
        st.one_of(narrow, objects(schemas), joined(objects(schemas), combined(alternatives)))
    )
    root["properties"].setdefault("a", {"type": "integer"})
    root["$defs"] = {
        "Plain": draw(plain),
        "Object": draw(objects(schemas)),
        "Array": draw(arrays(schemas)),
    }
    return {**root, "definitions": {"Plain": draw(plain)}}


class Guesser:
    """Generates values that are likely to fit a schema; the validator makes the decision."""

    def __init__(self, root: Any, seed: int):
        self.root = root
        self.random = random.Random(seed)

    def anything(self, fuel: int = 2) -> Any:
        nested = (
            []
            if fuel == 0
            else [
                {
                    self.random.choice(NAMES): self.anything(fuel - 1)
                    for _ in range(self.random.randrange(3))
                },
                [self.anything(fuel - 1) for _ in range(self.random.randrange(3))],
            ]
        )
        return self.random.choice(["", "a", "bb", 0, 1, -3, 2.5, 1.0, True, False, {}, *nested])

    def fitting(self, schema: Any, fuel: int = 6) -> Any:
        if not isinstance(schema, dict) or not schema or fuel < 0 or self.random.random() < 0.03:
            return self.anything()
        parts = [self.fitting(part, fuel - 1) for part in self.parts(schema)]
        made = [
            *([schema["const"]] if "const" in schema else schema.get("enum", [])),
            *parts,
            self.own(schema, fuel),
        ]
        dicts = [each for each in made if isinstance(each, dict)]
        if len(dicts) > 1 and self.random.random() < 0.8:
            return {key: value for each in dicts for key, value in each.items()}
        return self.random.choice(made)

    def parts(self, schema: Any) -> list[Any]:
        found = [
            *schema.get("allOf", []),
            *(self.random.choice(schema[key]) for key in ("anyOf", "oneOf") if key in schema),
        ]
        if "if" in schema:
            found += (
                [schema["if"], schema.get("then", True)]
                if self.random.random() < 0.5
                else [schema.get("else", True)]
            )
        if "$ref" in schema:
            target = self.root
            for step in schema["$ref"].split("/")[1:]:
                target = target[step]
            found.append(target)
        return found

    def own(self, schema: Any, fuel: int) -> Any:
        kind = (
            self.random.choice(schema["type"])
            if isinstance(schema.get("type"), list)
            else schema.get("type")
        )
        if kind == "object":
            return self.object(schema, fuel)
        if kind == "array":
            least = schema.get("minItems", 0)
            length = self.random.randint(least, max(least, schema.get("maxItems", 3)))
            items = [*schema.get("prefixItems", []), *[schema.get("items", True)] * length][:length]
            return [self.fitting(item, fuel - 1) for item in items]
        scalars = {
            "string": ["", "a", "bb", "ab"],
            "integer": [0, 1, 2, 1.0],
            "number": [0, 1, 0.5, 2.5],
            "null": [None],
        }
        return self.random.choice(scalars[kind]) if kind in scalars else self.anything()

    def object(self, schema: Any, fuel: int) -> Any:
        rules = dict(schema.get("properties", {}))
        rest = schema.get("additionalProperties", True)
        for pattern, rule in schema.get("patternProperties", {}).items():
            rules.update(
                {name: rule for name in NAMES if jsonschema_rs.is_valid({"pattern": pattern}, name)}
            )
        required = schema.get("required", [])
        chosen = [*required, *(name for name in rules if self.random.random() < 0.6)]
        if rest is not False and self.random.random() < 0.3:
            chosen.append(self.random.choice(NAMES))
        return {name: self.fitting(rules.get(name, rest), fuel - 1) for name in chosen}


def has_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inner))


def without_the_limit(schema: Any) -> Any:
    """Replace `ANY_ITEMS` with its meaning: this is the one place where portable has to end before
    exact does.
    """
    if isinstance(schema, list):
        return [without_the_limit(item) for item in schema]
    if not isinstance(schema, dict) or schema == ANY_ITEMS:
        return True if schema == ANY_ITEMS else schema
    return {key: without_the_limit(value) for key, value in schema.items()}


@settings(
    derandomize=True,  # the same examples on every run
    database=None,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(documents(), st.integers(0, 2**32))
def test_portable_form_of_every_schema_admits_the_same_calls(schema: dict[str, Any], seed: int):
    before = json.dumps(schema)
    made = portable(schema)
    assert json.dumps(schema) == before
    assert json.dumps(portable(json.loads(before))) == json.dumps(made)
    note(json.dumps(made))
    assert made["type"] == "object"
    assert_portable(made)
    jsonschema_rs.meta.validate(made)
    assert portable(made) == made
    admits = jsonschema_rs.validator_for(schema)
    still_admits = jsonschema_rs.validator_for(without_the_limit(made))
    guesser = Guesser(schema, seed)
    for call in (guesser.fitting(schema) for _ in range(20)):
        if isinstance(call, dict) and not has_null(call) and admits.is_valid(call):
            still_admits.validate(call)


@settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(documents(), st.integers(0, 2**32))
def test_base_profile_admits_all_calls_of_every_schema(schema: dict[str, Any], seed: int):
    written = Profile().write(schema)
    note(json.dumps(written))
    jsonschema_rs.meta.validate(written)
    admits = jsonschema_rs.validator_for(schema)
    still_admits = jsonschema_rs.validator_for(written)
    guesser = Guesser(schema, seed)
    for call in (guesser.fitting(schema) for _ in range(20)):
        if isinstance(call, dict) and admits.is_valid(call):
            still_admits.validate(call)


def test_an_unknown_profile_is_refused_with_the_known_ones():
    contract = compile_json_schema({"type": "object"}, name="tool")
    with pytest.raises(ValueError, match="'portable' and 'exact'"):
        input_schema(contract, "strict")  # pyright: ignore[reportArgumentType]
