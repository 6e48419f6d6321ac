"""Wrappers in open objects: when they are refused, and when they are accepted as content."""

import json
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from toolbooth import Unpack, compile_function, compile_json_schema, detect_nested_wrapper
from toolbooth.boundary.examine import examine
from toolbooth.boundary.handle import handle_bytes
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.shape_check import fits

CONTACT: dict[str, Any] = {
    "type": "object",
    "properties": {"email": {"type": "string"}, "name": {"type": "string"}, "notes": {}},
    "required": ["email", "name"],
    "additionalProperties": True,
}


class Contact(BaseModel):
    model_config = ConfigDict(extra="allow")
    email: str
    name: str
    notes: Any = None


class Row(BaseModel):
    contacts: list[Contact]


def by_schema(arguments: dict[str, Any]) -> str:
    return "called"


def by_model(contact: Contact) -> str:
    return "called"


def unpacked(contact: Annotated[Contact, Unpack()]) -> str:
    return "called"


def in_rows(row: Row) -> str:
    return "called"


PLACES: dict[str, tuple[Any, Any, str]] = {
    "schema": (
        compile_json_schema(CONTACT, by_schema, name="tool"),
        lambda contact: contact,
        "$",
    ),
    "model": (compile_function(by_model), lambda contact: {"contact": contact}, "$.contact"),
    "unpacked": (compile_function(unpacked), lambda contact: contact, "$"),
    "rows": (
        compile_function(in_rows),
        lambda contact: {"row": {"contacts": [{"email": "b", "name": "B"}, contact]}},
        "$.row.contacts[1]",
    ),
    "rows as JSON text": (
        compile_function(in_rows),
        lambda contact: {"row": json.dumps({"contacts": [contact]})},
        "$.row.contacts[0]",
    ),
}

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "required field beside content": (
        {"name": "A", "data": {"email": "a", "colour": "red"}},
        {"name": "A", "email": "a", "colour": "red"},
    ),
    "required fields beside content": (
        {"data": {"email": "a", "name": "A", "zz": {"q": 1}}},
        {"email": "a", "name": "A", "zz": {"q": 1}},
    ),
    "as JSON text": (
        {"name": "A", "data": '{"email": "a", "colour": "red"}'},
        {"name": "A", "email": "a", "colour": "red"},
    ),
    "in a wrapper in a wrapper": (
        {"name": "A", "data": {"contact": {"email": "a"}}},
        {"name": "A", "email": "a"},
    ),
    "only declared names, as before": (
        {"email": "a", "name": "A", "data": {"notes": 1}},
        {"email": "a", "name": "A", "notes": 1},
    ),
}

CONTENT: dict[str, dict[str, Any]] = {
    "no declared name": {"email": "a", "name": "A", "data": {"colour": "red"}},
    "empty": {"email": "a", "name": "A", "data": {}},
    "misspelt name": {"email": "a", "name": "A", "data": {"nmae": "B"}},
    "optional name beside content": {"email": "a", "name": "A", "data": {"notes": 1, "q": 2}},
    "required name that was sent too": {"email": "a", "name": "A", "data": {"email": "b", "q": 2}},
    "list of objects": {"email": "a", "name": "A", "data": [{"email": "b"}]},
    "text": {"email": "a", "name": "A", "data": "email"},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", REFUSED)
def test_an_object_around_a_required_field_that_was_not_sent_is_a_wrapper(place, case):
    contract, around, path = PLACES[place]
    sent, right = REFUSED[case]
    result = handle_bytes(contract, json.dumps(around(sent)).encode())
    data = result["_meta"]["toolbooth"]
    (problem,) = data["problems"]
    assert (problem["code"], problem["path"]) == ("nested-wrapper", f"{path}.data")
    again = handle_bytes(contract, json.dumps(data["corrected"]).encode())
    assert again["content"][0]["text"] == "called"
    if place == "schema":
        assert data["corrected"] == right
        assert problem["message"] in (detect_nested_wrapper(sent, CONTACT) or "")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CONTENT)
def test_any_other_object_is_content(place, case):
    contract, around, _ = PLACES[place]
    result = handle_bytes(contract, json.dumps(around(CONTENT[case])).encode())
    assert result["content"][0]["text"] == "called"
    assert detect_nested_wrapper(CONTENT[case], CONTACT) is None


def test_a_missing_field_is_still_reported_if_no_wrapper_contains_it():
    contract, _, _ = PLACES["schema"]
    result = handle_bytes(contract, b'{"email": "a", "data": {"nmae": "A"}}')
    problems = result["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in problems] == [("missing", "$.name")]


class Named(BaseModel):
    model_config = ConfigDict(extra="allow")
    mail: str = Field(validation_alias=AliasChoices("email", "e_mail"))


@pytest.mark.parametrize(
    ("sent", "is_error"),
    [
        ({"e_mail": "a", "data": {"email": "b", "q": 1}}, False),
        ({"data": {"e_mail": "b", "q": 1}}, True),
    ],
    ids=["sent under another name", "not sent"],
)
def test_a_field_counts_as_sent_under_any_of_its_names(sent, is_error):
    def tool(named: Named) -> str:
        return "called"

    result = handle_bytes(compile_function(tool), json.dumps({"named": sent}).encode())
    assert result["isError"] is is_error


def test_a_field_declared_by_an_additional_property_does_not_make_it_a_wrapper():
    place = {"type": "object", "properties": {"name": {"type": "string"}, "size": {}}}
    schema = {**CONTACT, "required": ["name"], "additionalProperties": place}
    contract = compile_json_schema(schema, by_schema, name="tool")
    result = handle_bytes(contract, b'{"home": {"name": "A", "size": 1}}')
    problems = result["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in problems] == [("missing", "$.name")]


def test_a_key_that_a_pattern_declares_is_never_a_wrapper():
    schema = {**CONTACT, "patternProperties": {"^x_": {}}}
    contract = compile_json_schema(schema, by_schema, name="tool")
    result = handle_bytes(contract, b'{"name": "A", "x_data": {"email": "a", "q": 1}}')
    problems = result["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in problems] == [("missing", "$.email")]


def test_hostile_wrappers_in_an_open_object_are_counted_not_listed():
    sent = {f"k{number}": {"email": "a", "q": 1} for number in range(5_000)}
    contract, _, _ = PLACES["schema"]
    result = handle_bytes(contract, json.dumps(sent).encode())
    codes = [each["code"] for each in result["_meta"]["toolbooth"]["problems"]]
    assert codes == ["nested-wrapper"] * 40 + ["missing"]
    assert "more" in result["content"][0]["text"]


# --- the compiled check -------------------------------------------------------------------------

NAMES = ["email", "name", "notes", "q", "data"]
names = st.sampled_from(NAMES)
values = st.recursive(
    st.sampled_from(["a", 1, None, "{}", '{"email": "a"}']),
    lambda inner: st.dictionaries(names, inner, max_size=4),
    max_leaves=6,
)
schemas = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(names, st.sampled_from([{}, {"type": "string"}]), max_size=3),
        "required": st.lists(names, max_size=2, unique=True),
        "additionalProperties": st.sampled_from([True, {}, {"type": "object"}]),
    }
)


@given(schema=schemas, arguments=st.dictionaries(names, values, max_size=4))
@settings(max_examples=400, deadline=None)
def test_calls_accepted_by_the_compiled_check_pass_the_examination(schema, arguments):
    contract = compile_json_schema(schema, by_schema, name="tool")
    if fits(contract.shape, arguments):
        made, exam = examine(contract.shape, arguments, DEFAULT_LIMITS, thorough=False)
        assert (made, exam.problems, exam.repairs) == (arguments, [], [])


@given(schema=schemas, arguments=st.dictionaries(names, values, max_size=4))
@settings(max_examples=400, deadline=None)
def test_unknown_keys_of_open_objects_follow_the_documented_rules(schema, arguments):
    contract = compile_json_schema(schema, by_schema, name="tool")
    _, exam = examine(contract.shape, arguments, DEFAULT_LIMITS, thorough=False)
    declared = {*schema["properties"], *schema["required"]}
    unsent = set(schema["required"]) - arguments.keys()
    expected: set[str] = set()
    for key, value in arguments.items():
        inner = json.loads(value) if isinstance(value, str) and value[:1] == "{" else value
        if key in declared or not isinstance(inner, dict) or not inner:
            continue
        while len(inner) == 1 and not inner.keys() & declared:
            (below,) = inner.values()
            if not isinstance(below, dict):
                break
            inner = below
        direct = json.loads(value) if isinstance(value, str) else value
        if direct.keys() <= declared or inner.keys() & unsent:
            expected.add(key)
    found = {each.path[0] for each in exam.problems if each.code == "nested-wrapper"}
    assert found == expected
