"""Sentences of a refusal agree with each other, with the call, and with the corrected call."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from toolbooth import compile_function, compile_json_schema, handle_bytes


class Cat(BaseModel):
    kind: Literal["cat"]
    size: int
    owner: str = ""


class Dog(BaseModel):
    kind: Literal["dog"]
    size: str
    breed: str = ""


class ByName(BaseModel):
    name: str
    depth: int = 1


class ById(BaseModel):
    id: int
    depth: int = 1


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    email: str


class Address(BaseModel):
    street: str
    city: str


def keep(
    pets: list[Cat | Dog] = [],  # noqa: B006
    tagged: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = [],  # noqa: B006
    find: ByName | ById | None = None,
    pair: tuple[int, str] | None = None,
    rows: list[Open] = [],  # noqa: B006
    address: Address | None = None,
    count: int = 1,
) -> str:
    return "kept"


CONTRACT = compile_function(keep)


def told(arguments: Any, contract: Any = CONTRACT) -> list[str]:
    """The lines of a refusal, but for the first one and the declared fields. The corrected call is
    accepted as it is.
    """
    result = handle_bytes(contract, json.dumps(arguments).encode())
    corrected = result["_meta"]["toolbooth"].get("corrected")
    if corrected is not None:
        again = handle_bytes(contract, json.dumps(corrected).encode())
        assert (again["isError"], "_meta" in again) == (False, False)
    lines = result["content"][0]["text"].splitlines()[1:]
    return [line for line in lines if not line.startswith("Declared fields")]


# --- the same mistake ---------------------------------------------------------------------------


def test_mistakes_against_different_types_are_listed_separately():
    assert told({"pair": ["a", 1]})[:2] == [
        '- $.pair[0]: must be an integer, got text "a"',
        "- $.pair[1]: must be text, got an integer 1",
    ]
    sent = [
        {"kind": "cat", "size": "big"},
        {"kind": "dog", "size": 5},
        {"kind": "cat", "size": "l"},
    ]
    assert told({"pets": sent})[:2] == [
        '- $.pets[0].size: must be an integer, got text "big" (the same 2 times, also at '
        "$.pets[2].size)",
        "- $.pets[1].size: must be text, got an integer 5",
    ]


def test_mistakes_against_different_bounds_are_listed_separately():
    class Small(BaseModel):
        kind: Literal["small"]
        size: int = Field(le=10)

    class Large(BaseModel):
        kind: Literal["large"]
        size: int = Field(le=1000)

    def pack(boxes: list[Small | Large]) -> None: ...

    sent = {"boxes": [{"kind": "small", "size": 11}, {"kind": "large", "size": 1001}]}
    lines = told(sent, compile_function(pack))
    assert [line.partition(";")[0] for line in lines] == [
        "- $.boxes[0].size: must be at most 10",
        "- $.boxes[1].size: must be at most 1000",
    ]


# --- unions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["pets", "tagged"])
def test_every_item_without_its_tag_is_reported(field: str):
    forms = '"cat" with "size"; "dog" with "size"'
    assert told({field: [{"size": 1}, {"size": "s"}]}) == [
        f"- $.{field}[0].kind: is required, but was not sent: {forms} (the same 2 times, also at "
        f"$.{field}[1].kind)"
    ]


@pytest.mark.parametrize("field", ["pets", "tagged"])
def test_a_tag_in_another_case_selects_its_form(field: str):
    sent = {field: [{"kind": "Cat", "size": 1}, {"kind": "DOG", "size": "s"}]}
    right = {field: [{"kind": "cat", "size": 1}, {"kind": "dog", "size": "s"}]}
    assert told(sent)[-1] == f"Send instead: {json.dumps(right, separators=(',', ':'))}"


@pytest.mark.parametrize("field", ["pets", "tagged"])
def test_an_unknown_key_beside_a_missing_tag_is_asked_about(field: str):
    forms = '"cat" with "size"; "dog" with "size"'
    for kind, size in (("cat", 1), ("dog", "s")):
        assert told({field: [{"type": kind, "size": size}]}) == [
            f'- $.{field}[0].type: there is no field "type"; did you mean "kind", which is missing?',
            f"- $.{field}[0].kind: is required, but was not sent: {forms}",
        ]


@pytest.mark.parametrize("field", ["pets", "tagged"])
def test_a_key_of_another_form_is_reported_with_the_missing_fields_of_this_one(field: str):
    assert told({field: [{"kind": "cat", "breed": "x"}]}) == [
        f'- $.{field}[0].breed: "breed" is only used if "kind" is "dog"',
        f"- $.{field}[0].size: is required, but was not sent",
    ]


def test_keys_of_two_forms_without_a_tag_are_named_together():
    assert told({"find": {"name": "a", "id": 1}}) == [
        '- $.find.id: "id" cannot be combined with "name"; it is used with "depth"'
    ]


def test_which_form_an_unknown_key_belongs_to_is_not_guessed():
    assert told({"find": {"zq": 1}}) == [
        '- $.find.zq: there is no field "zq"',
        '- $.find.name: one of these is required, but none was sent: "name"; or "id"',
    ]


def test_declared_fields_of_a_union_have_the_types_of_all_forms():
    result = handle_bytes(CONTRACT, b'{"pets": [{"type": "cat", "size": 1}]}')
    assert result["_meta"]["toolbooth"]["declared"]["$.pets[0]"] == {
        "kind": '"cat" or "dog", required',
        "size": "integer or text, required",
        "owner": "text",
        "breed": "text",
    }


# --- names --------------------------------------------------------------------------------------


def test_a_missing_field_is_reported_with_the_name_it_was_sent_under():
    assert told({"rows": [{"email": "a"}, {"emial": "b"}, {"Email": "c"}]}) == [
        '- $.rows[1].email: is required, but was sent as "emial"',
        '- $.rows[2].email: is required, but was sent as "Email"',
        'Send instead: {"rows":[{"email":"a"},{"email":"b"},{"email":"c"}]}',
    ]


def test_a_missing_field_that_was_found_is_reported_beside_other_problems():
    assert told({"rows": [{"emial": "b"}], "Count": 2}) == [
        '- $.Count: there is no field "Count"; did you mean "count"?',
        '- $.rows[0].email: is required, but was sent as "emial"',
        'Send instead: {"rows":[{"email":"b"}],"count":2}',
    ]


def test_a_field_inside_an_open_object_is_reported_with_that_object():
    def fetch(url: str, params: dict[str, Any] = {}) -> str:  # noqa: B006
        return url

    assert told({"params": {"url": "x"}}, compile_function(fetch)) == [
        '- $.url: is required, but was sent inside "params"',
        'Send instead: {"url":"x"}',
    ]


def test_no_other_name_is_mentioned_for_a_key_that_is_moved():
    lines = told({"address_street": "Dam 1", "address_city": "Utrecht"})
    assert lines == [
        '- $.address_street: there is no field "address_street"',
        '- $.address_city: there is no field "address_city"',
        'Send instead: {"address":{"street":"Dam 1","city":"Utrecht"}}',
    ]


@pytest.mark.parametrize("key", ["count\t", "\ncount", "cou\u00a0nt", "COUNT "])
def test_white_space_in_a_name_does_not_count(key: str):
    assert told({key: 2})[-1] == 'Send instead: {"count":2}'


@pytest.mark.parametrize(
    ("key", "shown"),
    [("\u200bcount", "\\u200bcount"), ("count\u202e", "count\\u202e"), ("caf\u00e9", "caf\u00e9")],
)
def test_characters_that_cannot_be_seen_are_escaped(key: str, shown: str):
    [line] = told({key: 2})
    assert line.startswith(f'- $["{shown}"]: there is no field "{shown}"')
    [line] = told({"count": key})
    assert line.startswith(f'- $.count: must be an integer, got text "{shown}"')


# --- JSON Schema --------------------------------------------------------------------------------


def schema_lines(schema: dict[str, Any], value: Any) -> list[str]:
    whole = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    contract = compile_json_schema(whole, keep, name="tool")
    return [line.partition(";")[0] for line in told({"it": value}, contract)]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "array", "uniqueItems": True}, [1, 1], "must not have the same item twice"),
        ({"type": "object", "minProperties": 2}, {"a": 1}, "must have at least 2 keys"),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "must have at most 1 key"),
        ({"enum": ["asc", None]}, "up", 'must be one of "asc"'),
        ({"type": "integer", "not": {"const": 5}}, 5, "is a value that the schema excludes"),
        (
            {"type": "array", "unevaluatedItems": {"pattern": "a"}, "contains": {"const": 1}},
            [2],
            "does not have the items that the schema requires",
        ),
    ],
)
def test_keywords_of_a_schema_are_reported_in_words(schema: Any, value: Any, message: str):
    assert schema_lines(schema, value)[0] == f"- $.it: {message}"


def test_an_item_that_the_schema_does_not_allow_must_be_left_out():
    schema = {"type": "array", "prefixItems": [{"type": "integer"}], "items": False}
    assert schema_lines(schema, [1, "b"]) == ['- $.it[1]: must be left out, got text "b"']


def test_every_value_that_the_corrected_call_changes_is_reported():
    def order(priority: Literal["low", "high"], notify: bool = True) -> str:
        return "ordered"

    assert told({"priority": "HIGH", "notify": "no"}, compile_function(order)) == [
        '- $.notify: must be true or false, got text "no"',
        "- $.priority: must be 'low' or 'high'; got \"HIGH\"",
        'Send instead: {"priority":"high","notify":false}',
    ]
