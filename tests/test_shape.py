"""Shapes: a changed copy is checked by its own fields, and the compiled check is no larger than the
shape.
"""

import json
from dataclasses import replace

import pytest

from toolbooth import compile_json_schema, handle_arguments
from toolbooth.jsonvalue import NoSuchPart, path_from_text, path_text, resolve_pointer
from toolbooth.shape import Field, Shape, walk
from toolbooth.shape_check import check_schema


def tool(schema):
    return compile_json_schema(schema, lambda arguments: arguments, name="tool")


def is_error(contract, arguments):
    return handle_arguments(contract, arguments)["isError"]


def test_a_copy_that_declares_fewer_fields_refuses_the_others():
    contract = tool({"type": "object", "properties": {"a": {"type": "integer"}}})
    assert is_error(contract, {"a": 1}) is False  # the check is compiled now
    form = replace(contract.shape.objects[0], fields={}, names=())
    changed = replace(contract, shape=replace(contract.shape, objects=(form,)))
    assert is_error(changed, {"a": 1}) is True


def extended(shape, fields):
    form = shape.objects[0]
    more = replace(form, fields={**form.fields, **fields}, names=(*form.names, *fields))
    return replace(shape, objects=(more,))


def test_a_copy_that_declares_more_fields_accepts_them():
    contract = tool({"type": "object", "properties": {"a": {"type": "integer"}}})
    assert is_error(contract, {"a": 1, "b": 2}) is True
    more = {"b": Field(name="b", shape=Shape(types=frozenset(("integer",))), required=False)}
    changed = replace(contract, shape=extended(contract.shape, more))
    assert is_error(changed, {"a": 1, "b": 2}) is False
    assert is_error(changed, {"a": 1, "c": 2}) is True


def test_a_copied_contract_derives_its_flags_again():
    contract = tool({"type": "object", "properties": {"a": {"type": "string"}}})
    assert (contract.has_integers, contract.closed) == (False, True)
    number = {"n": Field(name="n", shape=Shape(types=frozenset(("integer",))))}
    assert replace(contract, shape=extended(contract.shape, number)).has_integers is True


def doubling(times, two):
    """Return a schema in which each definition refers twice to the next one."""
    reference = [{"$ref": f"#/$defs/d{index + 1}"} for index in range(times)]
    definitions = {f"d{index}": two(each) for index, each in enumerate(reference)}
    definitions[f"d{times}"] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


DOUBLED = {
    "fields": lambda each: {"type": "object", "properties": {"a": each, "b": each}},
    "branches": lambda each: {"anyOf": [each, each]},
    "items": lambda each: {"type": "array", "prefixItems": [each, each]},
}


@pytest.mark.parametrize("two", DOUBLED.values(), ids=DOUBLED)
def test_a_schema_that_doubles_thirty_times_compiles_in_linear_size(two):
    schema = doubling(30, two)
    assert len(json.dumps(schema)) < 4_000
    contract = tool(schema)
    assert len(list(walk(contract.shape))) < 200
    assert len(json.dumps(check_schema(contract.shape))) < 20_000
    assert is_error(contract, {"p": {"data": {}}}) is True


@pytest.mark.parametrize(
    "path",
    [(), ("a",), ("a", 0, "b"), ("x y", 3), ("a.b", "c[0]"), ("",), ("ä", '"'), (0, 1)],
    ids=str,
)
def test_a_path_survives_formatting_and_parsing(path):
    assert path_from_text(path_text(path)) == path


DOCUMENT = {"$defs": {"a/b": {"x": 1}, "c~d": 2, "e f": 3}, "anyOf": [{"type": "string"}, 5]}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("#", DOCUMENT),
        ("#/$defs/a~1b/x", 1),
        ("#/$defs/c~0d", 2),
        ("#/$defs/e%20f", 3),
        ("#/anyOf/0/type", "string"),
        ("#/anyOf/1", 5),
    ],
)
def test_a_pointer_names_a_part_of_a_document(pointer, found):
    assert resolve_pointer(DOCUMENT, pointer) == found


@pytest.mark.parametrize(
    "pointer",
    [
        "#/$defs/none",
        "#/anyOf/2",
        "#/anyOf/x",
        "#/anyOf/-1",
        "#/anyOf/00",
        "#/anyOf/+1",
        "#/anyOf/1_0",
        "#/anyOf/\u0660",
        "#/anyOf/" + "9" * 5000,
        "#/anyOf/1/a",
        "#anchor",
        "other.json#/a",
        "https://x.io/s",
    ],
)
def test_a_pointer_to_nothing_or_to_another_document_is_an_error(pointer):
    with pytest.raises(NoSuchPart):
        resolve_pointer(DOCUMENT, pointer)
