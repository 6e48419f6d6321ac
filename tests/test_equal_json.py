"""Equal schemas are kept and written once; values that only look equal are not."""

import json
from typing import Any

import pytest

from toolbooth.equal_json import equal_json, kept_once
from toolbooth.publish import PORTABLE
from toolbooth.publish.read import MAX_READS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"minimum": 1}, {"minimum": 1.0}),
        ({"minimum": 1}, {"minimum": True}),
        ({"default": ""}, {"default": None}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"enum": ["a"]}, {"enum": ["a", "a"]}),
    ],
    ids=str,
)
def test_values_of_other_types_or_in_another_order_are_not_equal(one: Any, other: Any):
    assert equal_json(one) != equal_json(other)
    assert equal_json(one) == equal_json(json.loads(json.dumps(one)))


class Text(str):
    """As Django's safe strings."""


def as_plain(value: Any) -> Any:
    return {key: str.__str__(each) for key, each in value.items()}


def test_equal_values_are_one_object():
    first = kept_once({"description": "of equal_json"}, as_plain)
    assert kept_once({"description": "of " + "equal_json"}, as_plain) is first
    assert kept_once({"description": Text("of equal_json")}, as_plain) is first


def test_a_value_that_does_not_become_plain_is_returned_as_it_is():
    value = {"default": Text("a")}
    assert equal_json(value) is None
    assert kept_once(value, lambda each: each) is value


def test_a_property_is_written_the_same_beside_few_and_beside_very_many_others():
    # Past `MAX_READS`, what was remembered is not used, because the rest of the schema is cut.
    few = {"a": {"type": "string", "maxLength": 3}, "b": {"$ref": "#/properties/a"}}
    assert PORTABLE.write({"type": "object", "properties": few})["properties"] == {
        "a": {"type": "string", "maxLength": 3},
        "b": {"type": "string", "maxLength": 3},
    }
    many = {f"f{index}": {"type": "integer", "minimum": 1} for index in range(MAX_READS + 5)}
    written = PORTABLE.write({"type": "object", "properties": many})["properties"]
    assert written["f0"] == {"type": "integer", "minimum": 1}
    assert written[f"f{MAX_READS + 4}"] != {"type": "integer", "minimum": 1}


def test_the_same_property_is_written_for_its_depth_and_for_its_profile():
    class Shallow(type(PORTABLE)):
        max_depth = 2

    inner = {"type": "object", "properties": {"x": {"type": "object", "properties": {"y": {}}}}}
    schema = {"type": "object", "properties": {"x": inner["properties"]["x"], "deep": inner}}
    assert PORTABLE.write(schema) == PORTABLE.write(json.loads(json.dumps(schema)))
    assert Shallow().write(schema) != PORTABLE.write(schema)
    whole, cut = PORTABLE.write(schema)["properties"], Shallow().write(schema)["properties"]
    assert whole["deep"]["properties"]["x"]["properties"] == whole["x"]["properties"]
    assert "properties" in cut["x"]
    assert "properties" not in cut["deep"]["properties"]["x"]
