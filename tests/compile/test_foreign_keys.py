"""The keys that a foreign schema declares, and the types they have: a valid value is never changed,
and a conditional part of a schema only declares keys.
"""

from typing import Any

import pytest
from foreign_tool import codes, of, outcome

STRING = {"type": "string"}
INTEGER = {"type": "integer"}


# --- patternProperties beside additionalProperties ----------------------------------------------

PATTERNS: dict[str, tuple[Any, Any]] = {
    "text-or-object": ({"^x": {"type": ["string", "object"]}}, {"type": "object"}),
    "anything": ({"^x": {}}, INTEGER),
    "text": ({"1$": STRING}, INTEGER),
    "text-beside-another-pattern": ({"^y": INTEGER, "^x": STRING}, INTEGER),
    "two-patterns-of-which-one-is-free": ({"^x": True, "1$": STRING}, INTEGER),
    "no-others": ({"^x": STRING}, False),
}


@pytest.mark.parametrize(("patterns", "others"), PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize("text", ['"5"', '"hello"', r'"{\"a\": 1}"', '"true"', '""'])
def test_text_under_a_key_that_a_pattern_declares_is_not_changed(patterns, others, text):
    schema = {"type": "object", "patternProperties": patterns, "additionalProperties": others}
    body = b'{"p": {"x1": %b}}' % text.encode()
    value = {'"5"': "5", '"hello"': "hello", '"true"': "true", '""': ""}.get(text, '{"a": 1}')
    assert outcome(of(schema), body) == ({"p": {"x1": value}}, [])


def test_other_keys_beside_a_pattern_have_the_type_of_other_keys():
    schema = of(
        {
            "type": "object",
            "patternProperties": {"_name$": STRING},
            "additionalProperties": INTEGER,
        }
    )
    assert outcome(schema, b'{"p": {"a_name": "5", "count": "5"}}') == (
        {"p": {"a_name": "5", "count": 5}},
        [("scalar-text", "$.p.count")],
    )
    assert codes(schema, b'{"p": {"a_name": 5, "count": "many"}}') == [
        ("wrong-type", "$.p.a_name"),
        ("wrong-type", "$.p.count"),
    ]


def test_only_keys_that_match_a_pattern_of_integers_are_converted():
    schema = of(
        {"type": "object", "patternProperties": {"^n": INTEGER}, "additionalProperties": {}}
    )
    (sent, _) = outcome(schema, b'{"p": {"n": 5.0, "m": 5.0, "n2": "7"}}')
    assert repr(sent) == "{'p': {'n': 5, 'm': 5.0, 'n2': 7}}"
    (sent, repairs) = outcome(schema, b'{"p": {"n": 5.0, "m": 5.0}}')
    assert (repr(sent), repairs) == ("{'p': {'n': 5, 'm': 5.0}}", [])


def test_misspelt_keys_below_a_pattern_are_refused():
    person = {"type": "object", "properties": {"name": STRING}}
    schema = of({"type": "object", "patternProperties": {"^p": person}})
    assert outcome(schema, b'{"p": {"p1": {"nmae": "Ann"}}}') == [
        ("unknown-key", "$.p.p1.nmae", 'there is no field "nmae"; did you mean "name"?')
    ]
    assert outcome(schema, b'{"p": {"q1": {"nmae": "Ann"}}}') == (
        {"p": {"q1": {"nmae": "Ann"}}},
        [],
    )


def test_an_object_with_properties_and_patterns_accepts_only_those_keys():
    schema = {
        "type": "object",
        "properties": {"name": STRING},
        "patternProperties": {"^x-": {}},
    }
    assert outcome(schema, b'{"name": "a", "x-b": "{}"}') == ({"name": "a", "x-b": "{}"}, [])
    # A key that matches a pattern is declared, so it is not treated as a wrapper.
    assert outcome(schema, b'{"x-b": {"name": "a"}}') == ({"x-b": {"name": "a"}}, [])
    assert outcome(schema, b'{"nmae": "a"}') == [
        ("unknown-key", "$.nmae", 'there is no field "nmae"; did you mean "name"?')
    ]
    assert codes(schema, b'{"data": {"name": "a"}}') == [("nested-wrapper", "$.data")]


def test_corrected_call_keeps_keys_of_pattern_properties():
    schema = {
        "type": "object",
        "properties": {"first_name": STRING},
        "patternProperties": {"^x-": INTEGER},
        "additionalProperties": False,
    }
    assert outcome(schema, b'{"firstName": "a", "x-b": 1}') == [
        (
            "unknown-key",
            "$.firstName",
            'there is no field "firstName"; did you mean "first_name"?',
        )
    ]


@pytest.mark.parametrize("place", ["properties", "allOf", "anyOf", "$ref"])
def test_a_pattern_in_a_part_declares_keys_for_the_whole(place):
    part: Any = {"patternProperties": {"^x-": INTEGER}}
    whole: Any = {"type": "object", "properties": {"name": STRING}}
    if place == "properties":
        whole |= part
    else:
        whole[place] = "#/$defs/part" if place == "$ref" else [part]
    schema = of(whole, **{"$defs": {"part": part}})
    assert outcome(schema, b'{"p": {"name": "a", "x-b": "5"}}') == (
        {"p": {"name": "a", "x-b": 5}},
        [("scalar-text", '$.p["x-b"]')],
    )
    assert codes(schema, b'{"p": {"nam": "a"}}') == [("unknown-key", "$.p.nam")]


def test_the_patterns_of_two_parts_both_apply():
    schema = of(
        {
            "type": "object",
            "patternProperties": {"^x": {}, "^y": STRING},
            "allOf": [{"patternProperties": {"^x": INTEGER, "^z": {"type": "boolean"}}}],
        }
    )
    assert outcome(schema, b'{"p": {"x": "5", "y": "5", "z": "true", "o": "5"}}') == (
        {"p": {"x": 5, "y": "5", "z": True, "o": "5"}},
        [("scalar-text", "$.p.x"), ("scalar-text", "$.p.z")],
    )


# --- conditional parts
# ------------------------------------------------------------------------------

KIND = {"enum": ["a", "b"]}


def when(kind: str) -> dict[str, Any]:
    return {"properties": {"kind": {"const": kind}}, "required": ["kind"]}


def value(schema: Any) -> dict[str, Any]:
    return {"properties": {"value": schema}}


CONDITIONS: dict[str, dict[str, Any]] = {
    "then-else": {"if": when("a"), "then": value(STRING), "else": value(INTEGER)},
    "two-conditions": {
        "allOf": [
            {"if": when("a"), "then": value(STRING)},
            {"if": when("b"), "then": value(INTEGER)},
        ]
    },
    "nested-condition": {
        "if": when("a"),
        "then": value(STRING),
        "else": {"if": when("b"), "then": value(INTEGER)},
    },
    "behind-a-reference": {"$ref": "#/$defs/condition"},
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("nested", [False, True], ids=["arguments", "property"])
def test_types_under_a_condition_are_left_to_the_schema_validator(condition, nested):
    definitions = {"$defs": {"condition": CONDITIONS["then-else"]}}
    whole = {"type": "object", "properties": {"kind": KIND}, "required": ["kind"], **condition}
    schema = of(whole, **definitions) if nested else {**whole, **definitions}

    def sent(body: bytes) -> Any:
        return outcome(schema, b'{"p": %b}' % body if nested else body)

    def at(value: Any) -> Any:
        return {"p": value} if nested else value

    place = "$.p" if nested else "$"
    assert sent(b'{"kind": "a", "value": "3"}') == (at({"kind": "a", "value": "3"}), [])
    assert sent(b'{"kind": "b", "value": 3}') == (at({"kind": "b", "value": 3}), [])
    assert sent(b'{"kind": "b", "value": "3"}') == [
        ("invalid", f"{place}.value", 'must be an integer; got "3"; leave it out if unknown')
    ]
    assert sent(b'{"kind": "b", "vlaue": 3}') == [
        ("unknown-key", f"{place}.vlaue", 'there is no field "vlaue"; did you mean "value"?')
    ]


def test_keys_that_only_a_condition_names_may_be_sent():
    schema = {
        "type": "object",
        "if": {"properties": {"mode": {"const": "x"}}, "required": ["mode"]},
        "then": {"properties": {"n": INTEGER}},
    }
    assert outcome(schema, b'{"mode": "x", "n": 1}') == ({"mode": "x", "n": 1}, [])
    assert outcome(schema, b'{"mode": "y", "n": "1"}') == ({"mode": "y", "n": "1"}, [])
    assert codes(schema, b'{"mode": "x", "n": "1"}') == [("invalid", "$.n")]
    assert codes(schema, b'{"mod": "x"}') == [("unknown-key", "$.mod")]


def test_a_branch_that_can_never_hold_refuses_only_under_its_condition():
    schema = {
        "type": "object",
        "properties": {"kind": KIND, "value": {}},
        "if": when("a"),
        "then": {"properties": {"value": False}},
    }
    assert outcome(schema, b'{"kind": "b", "value": 1}') == ({"kind": "b", "value": 1}, [])
    assert codes(schema, b'{"kind": "a", "value": 1}') == [("invalid", "$.value")]
    never = {"type": "object", "properties": {"kind": KIND}, "if": when("a"), "then": False}
    assert outcome(never, b'{"kind": "b"}') == ({"kind": "b"}, [])
    assert codes(never, b'{"kind": "a"}') == [("invalid", "$")]


@pytest.mark.parametrize("word", ["dependentSchemas", "dependencies"])
@pytest.mark.parametrize("more", [{}, {"additionalProperties": True}], ids=["closed", "open"])
def test_a_dependency_that_does_not_apply_changes_nothing(word, more):
    needed = {"properties": {"address": INTEGER}, "required": ["address"]}
    schema = {"type": "object", "properties": {"card": STRING}, word: {"card": needed}, **more}
    if word == "dependencies":
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    assert outcome(schema, b'{"address": "5"}') == ({"address": "5"}, [])
    assert outcome(schema, b'{"card": "c", "address": 5}') == ({"card": "c", "address": 5}, [])
    assert codes(schema, b'{"card": "c", "address": "5"}') == [("invalid", "$.address")]
    assert outcome(schema, b'{"card": "c"}') == [
        ("missing", "$.address", "is required, but was not sent")
    ]


@pytest.mark.parametrize("word", ["dependentRequired", "dependencies"])
def test_keys_that_others_need_are_declared(word):
    schema = {"type": "object", "properties": {"card": STRING}, word: {"card": ["address"]}}
    if word == "dependencies":
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    assert outcome(schema, b'{"card": "c", "address": "5"}') == (
        {"card": "c", "address": "5"},
        [],
    )
    assert codes(schema, b'{"card": "c", "adrss": "5"}') == [
        ("unknown-key", "$.adrss"),
        ("missing", "$.address"),
    ]


def test_keys_inside_a_value_under_a_condition_are_declared_too():
    address = {"type": "object", "properties": {"city": STRING}}
    lines = {"type": "array", "items": {"type": "object", "properties": {"sku": STRING}}}
    pair = {"type": "array", "prefixItems": [address]}
    then = {"properties": {"address": address, "lines": lines, "pair": pair}}
    schema = {"type": "object", "properties": {"kind": KIND}, "if": when("a"), "then": then}
    good = b'{"kind": "b", "address": {"city": 1}, "lines": [{"sku": 2}], "pair": [{"city": 3}]}'
    assert outcome(schema, good) == (
        {"kind": "b", "address": {"city": 1}, "lines": [{"sku": 2}], "pair": [{"city": 3}]},
        [],
    )
    bad = b'{"address": {"cty": 1}, "lines": [{"skv": 2}], "pair": [{"cty": 3}]}'
    assert codes(schema, bad) == [
        ("unknown-key", "$.address.cty"),
        ("unknown-key", "$.lines[0].skv"),
        ("unknown-key", "$.pair[0].cty"),
    ]
    # Any other type may be valid where the condition does not hold.
    assert outcome(schema, b'{"address": [1], "lines": "[1]", "pair": null}') == (
        {"address": [1], "lines": "[1]", "pair": None},
        [],
    )


def test_a_condition_adds_keys_to_an_object_that_is_declared_already():
    schema = {
        "type": "object",
        "properties": {"kind": KIND, "address": {"type": "object", "properties": {"city": STRING}}},
        "if": when("a"),
        "then": {"properties": {"address": {"properties": {"zip": STRING}, "required": ["zip"]}}},
        "else": {"properties": {"address": {"properties": {"street": INTEGER}}}},
    }
    body = b'{"kind": "a", "address": {"city": "U", "zip": "1"}}'
    assert outcome(schema, body) == ({"kind": "a", "address": {"city": "U", "zip": "1"}}, [])
    assert outcome(schema, b'{"kind": "b", "address": "{\\"street\\": 1}"}') == (
        {"kind": "b", "address": {"street": 1}},
        [("json-text", "$.address")],
    )
    assert codes(schema, b'{"address": {"city": 5, "town": "U"}}') == [
        ("wrong-type", "$.address.city"),
        ("unknown-key", "$.address.town"),
    ]


def test_key_forbidden_by_a_condition_is_accepted_when_it_does_not_apply():
    closed = {"type": "object", "properties": {"x": INTEGER}, "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {"kind": KIND},
        "if": when("a"),
        "then": value(closed),
    }
    assert outcome(schema, b'{"kind": "b", "value": {"y": 1}}') == (
        {"kind": "b", "value": {"y": 1}},
        [],
    )
    assert outcome(schema, b'{"kind": "a", "value": {"y": 1}}') == [
        ("unknown-key", "$.value.y", 'there is no field "y"')
    ]


FREE = {
    "a-branch-that-says-nothing": ({}, {"type": "object", "properties": {"x": INTEGER}}),
    "a-branch-of-any-object": ({"type": "object"}, {"type": "object", "properties": {"x": {}}}),
    "a-branch-that-opens": ({"additionalProperties": True}, {"properties": {"x": INTEGER}}),
    "declared-free": ({"properties": {"x": INTEGER}}, {"properties": {"y": INTEGER}}),
}


@pytest.mark.parametrize("name", FREE)
def test_a_value_without_a_type_in_one_branch_is_not_changed(name):
    then, otherwise = FREE[name]
    schema = {
        "type": "object",
        "properties": {"kind": KIND, **({"value": True} if name == "declared-free" else {})},
        "if": when("a"),
        "then": value(then),
        "else": value(otherwise),
    }
    assert outcome(schema, b'{"kind": "a", "value": {"q": "1"}}') == (
        {"kind": "a", "value": {"q": "1"}},
        [],
    )


def test_condition_with_additional_properties_opens_the_object():
    schema = {
        "type": "object",
        "properties": {"kind": KIND},
        "if": when("a"),
        "then": {"additionalProperties": True, "patternProperties": {"^n": INTEGER}},
    }
    assert outcome(schema, b'{"kind": "b", "other": "1", "n": "1"}') == (
        {"kind": "b", "other": "1", "n": "1"},
        [],
    )


def test_a_value_with_only_a_condition_is_not_changed():
    schema = of({"if": {"properties": {"a": INTEGER}}, "then": {"properties": {"b": STRING}}})
    for text, found in ((b'"5"', "5"), (b"5", 5), (b'{"c": 1}', {"c": 1})):
        assert outcome(schema, b'{"p": %b}' % text) == ({"p": found}, [])


def test_an_alternative_that_allows_anything_only_declares_keys():
    schema = {
        "type": "object",
        "properties": {"a": STRING},
        "anyOf": [{"properties": {"b": INTEGER}}, True],
    }
    assert outcome(schema, b'{"a": "x", "b": "5"}') == ({"a": "x", "b": "5"}, [])
    assert codes(schema, b'{"a": "x", "c": "5"}') == [("unknown-key", "$.c")]


# --- names in `required` that `properties` does not list ----------------------------------------


def test_a_required_name_without_a_property_is_a_field_of_any_type():
    schema = {"type": "object", "properties": {"a": STRING}, "required": ["a", "id"]}
    for text, found in ((b'"5"', "5"), (b"5", 5), (b'{"x": 1}', {"x": 1}), (b"null", None)):
        assert outcome(schema, b'{"a": "x", "id": %b}' % text) == ({"a": "x", "id": found}, [])
    assert outcome(schema, b'{"a": "x"}') == [("missing", "$.id", "is required, but was not sent")]
    assert codes(schema, b'{"a": "x", "ID": 5}') == [("unknown-key", "$.ID")]


def test_a_required_name_has_the_type_of_other_keys():
    schema = of({"type": "object", "required": ["id"], "additionalProperties": INTEGER})
    assert outcome(schema, b'{"p": {"id": "5"}}') == (
        {"p": {"id": 5}},
        [("scalar-text", "$.p.id")],
    )


@pytest.mark.parametrize("closed", [{}, {"properties": {"name": STRING}}], ids=["open", "closed"])
def test_alternatives_that_only_require_names_say_which_one_is_missing(closed):
    choice = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    schema = of({"type": "object", **closed, **choice})
    assert outcome(schema, b'{"p": {"name": "n"}}') == [
        ("missing", "$.p.a", 'one of these is required, but none was sent: "a"; or "b"')
    ]
    assert outcome(schema, b'{"p": {"name": "n", "b": "5"}}') == (
        {"p": {"name": "n", "b": "5"}},
        [],
    )
    expected = [("unknown-key", "$.p.c")] if closed else ({"p": {"a": 1, "c": 2}}, [])
    found = outcome(schema, b'{"p": {"a": 1, "c": 2}}')
    assert (found if not closed else [each[:2] for each in found]) == expected


def test_the_keys_of_a_schema_outside_the_document_are_left_to_the_validator():
    # The meta-schemas are known without being fetched.
    meta = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    schema = of({"properties": {"note": STRING}, "allOf": [meta]})
    assert outcome(schema, b'{"p": {"note": "n", "minLength": 1}}') == (
        {"p": {"note": "n", "minLength": 1}},
        [],
    )
    assert codes(schema, b'{"p": {"minLength": "1"}}') == [("invalid", "$.p.minLength")]
