"""The sentence about a wrapper asks the agent to send declared fields, and no others."""

import json
import re
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from wrapper_sentences import wrapper

from toolbooth import Unpack, compile_function, compile_json_schema, detect_nested_wrapper
from toolbooth.boundary.handle import handle_bytes
from toolbooth.jsonvalue import path_from_text

CONTACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "email": {"type": "string"},
        "first_name": {"type": "string"},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        },
    },
    "required": ["email"],
}
FLAT = {
    **CONTACT,
    "properties": {key: CONTACT["properties"][key] for key in ("email", "first_name")},
}
OPEN = {**CONTACT, "additionalProperties": True}

CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "one declared object inside is named itself",
        CONTACT,
        {"email": "a", "data": {"address": {"street": "Dam 1"}}},
        wrapper("data", send=["address"]),
    ),
    (
        "one undeclared object inside is named, not its content",
        FLAT,
        {"email": "a", "data": {"address": {"street": "Dam 1"}}},
        wrapper("data", undeclared=["address"]),
    ),
    (
        "a wrapper in a wrapper: the fields in the innermost one",
        FLAT,
        {"data": {"contact": {"attributes": {"email": "a", "first_name": "A"}}}},
        wrapper("data", send=["email", "first_name"]),
    ),
    (
        "a misspelt field in a wrapper in a wrapper",
        FLAT,
        {"data": {"contact": {"emial": "a"}}},
        wrapper("data", similar=[("emial", "email")]),
    ),
    (
        "a flat value and another one inside",
        FLAT,
        {"email": "a", "data": {"email": "b", "first_name": "A"}},
        wrapper("data", send=["first_name"], conflicting=["email"]),
    ),
    (
        "true and 1 are other values",
        {"type": "object", "properties": {"on": {}}},
        {"on": 1, "data": {"on": True}},
        wrapper("data", conflicting=["on"]),
    ),
    (
        "a flat value and the same one inside",
        FLAT,
        {"email": "a", "data": {"email": "a"}},
        wrapper("data", sent=["email"]),
    ),
    (
        "two wrappers with other values",
        FLAT,
        {"first_name": "A", "data": {"email": "a"}, "body": '{"email": "b"}'},
        wrapper("data", conflicting=["email"]),
    ),
    (
        "two wrappers with other fields",
        FLAT,
        {"data": {"email": "a"}, "body": {"first_name": "A"}},
        wrapper("data", send=["email"]),
    ),
    (
        "a misspelt field",
        FLAT,
        {"data": {"emial": "a"}},
        wrapper("data", similar=[("emial", "email")]),
    ),
    (
        "a misspelt field beside the field itself",
        FLAT,
        {"data": {"email": "a", "emial": "b"}},
        wrapper("data", send=["email"], undeclared=["emial"]),
    ),
    (
        "a misspelt field whose own name is sent flat",
        FLAT,
        {"email": "a", "data": {"emial": "b"}},
        wrapper("data", undeclared=["emial"]),
    ),
    (
        "a name in another case",
        FLAT,
        {"data": {"email": "a", "firstName": "A"}},
        wrapper("data", send=["email"], similar=[("firstName", "first_name")]),
    ),
    ("undeclared keys only", FLAT, {"data": {"q": 1, "z": 2}}, wrapper("data", undeclared="qz")),
    ("an empty object", FLAT, {"data": {}}, wrapper("data")),
    (
        "an empty object in a wrapper",
        FLAT,
        {"data": {"contact": {}}},
        wrapper("data", undeclared=["contact"]),
    ),
    (
        "JSON text of a wrapper",
        FLAT,
        {"data": '{"email": "a", "q": 1}'},
        wrapper("data", as_text=True, send=["email"], undeclared=["q"]),
    ),
    (
        "an object whose fields are flat, with its name as a prefix",
        {"type": "object", "properties": {"ship_city": {"type": "string"}, "ship_to": {}}},
        {"ship": {"city": "Utrecht", "to": "Ann"}},
        wrapper("ship", send=["ship_city", "ship_to"]),
    ),
    (
        "one level down",
        CONTACT,
        {"email": "a", "address": {"data": {"street": "Dam 1", "email": "b"}}},
        wrapper("data", inside="$.address", send=["street"], undeclared=["email"]),
    ),
    (
        "an open object: further keys can be sent beside the declared ones",
        OPEN,
        {"data": {"email": "a", "colour": "red"}},
        wrapper("data", send=["email"], content=["colour"]),
    ),
    (
        "an open object that has such a key already",
        OPEN,
        {"colour": "blue", "data": {"email": "a", "colour": "red"}},
        wrapper("data", send=["email"], undeclared=["colour"]),
    ),
    (
        "an object that is open for numbers",
        {**CONTACT, "additionalProperties": {"type": ["integer", "object"]}},
        {"data": {"email": "a", "colour": "red"}},
        wrapper("data", send=["email"], undeclared=["colour"]),
    ),
    (
        "a tool without fields",
        {"type": "object", "properties": {}},
        {"data": {"email": "a"}},
        wrapper("data", undeclared=["email"]),
    ),
]


@pytest.mark.parametrize(
    ("schema", "arguments", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_advice_names_the_fields_found_inside_the_wrapper(schema, arguments, told):
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    result = handle_bytes(contract, json.dumps(arguments).encode())
    first = result["_meta"]["toolbooth"]["problems"][0]
    assert (first["code"], first["message"]) == ("nested-wrapper", told)
    assert told in result["content"][0]["text"]
    detected = detect_nested_wrapper(arguments, schema)
    assert detected is not None
    line = detected.splitlines()[0].removesuffix(".")
    assert line == f"{first['path']}: {told}"


def test_detect_gives_the_facts_in_order_and_lists_every_field():
    schema = {"type": "object", "properties": {f"first_name_{n}": {} for n in range(300)}}
    names = ", ".join(f'"first_name_{n}" (anything)' for n in range(300))
    assert detect_nested_wrapper({"data": {"first_name_7": "A"}}, schema) == (
        f"$.data: {wrapper('data', send=['first_name_7'])}.\nDeclared fields: {names}."
    )


def test_detect_reports_that_no_fields_are_declared():
    schema = {"type": "object", "properties": {}}
    assert detect_nested_wrapper({"data": {}}, schema) == (
        f"$.data: {wrapper('data')}.\nNo fields are declared."
    )
    inner = {"type": "object", "properties": {"inner": schema | {"additionalProperties": False}}}
    assert detect_nested_wrapper({"inner": {"data": {"a": 1}}}, inner) == (
        f"$.inner.data: {wrapper('data', inside='$.inner', undeclared=['a'])}.\n"
        "No fields are declared of $.inner."
    )


def test_detect_adds_no_full_stop_after_a_question():
    found = detect_nested_wrapper({"data": {"emial": "a"}}, FLAT)
    assert found is not None
    assert found.splitlines()[0].endswith('did you mean "email"?')


def test_detect_lists_the_fields_of_rows_once():
    rows = {"type": "object", "properties": {"rows": {"type": "array", "items": FLAT}}}
    found = detect_nested_wrapper({"rows": [{"data": {"email": "a"}}] * 2}, rows)
    assert found is not None
    assert [line.partition(":")[0] for line in found.splitlines()] == [
        "$.rows[0].data",
        "$.rows[1].data",
        "Declared fields of $.rows[0]",
    ]


class Named(BaseModel):
    mail: str = Field(validation_alias=AliasChoices("email", "e_mail"))


def test_a_field_under_another_of_its_names_is_a_conflict_too():
    def tool(named: Named) -> str:
        raise AssertionError("called")

    body = b'{"named": {"e_mail": "a", "data": {"email": "b"}}}'
    result = handle_bytes(compile_function(tool), body)
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert problem["message"] == wrapper("data", inside="$.named", conflicting=["email"])


class Checked(BaseModel):
    size: int

    @model_validator(mode="before")
    @classmethod
    def look(cls, given: Any) -> Any:
        return given


def test_behind_an_authors_validator_the_advice_is_the_same():
    def tool(it: Checked) -> str:
        raise AssertionError("called")

    body = b'{"it": {"size": 2, "data": {"size": 1, "colour": "red"}}}'
    result = handle_bytes(compile_function(tool), body)
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    told = wrapper("data", inside="$.it", conflicting=["size"], undeclared=["colour"])
    assert problem["message"] == told


def test_if_the_declared_fields_are_not_known_none_is_named():
    # One keyword declares the name, and another one forbids it.
    schema = {
        "type": "object",
        "properties": {},
        "required": ["data"],
        "additionalProperties": False,
    }
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    result = handle_bytes(contract, b'{"data": {"a": 1}}')
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    told = wrapper("data", send=["a"]).replace('Send "a"', "Send its fields")
    assert problem["message"] == told


# --- random tools and calls ---------------------------------------------------------------------

WORDS = [
    "email",
    "first_name",
    "address",
    "city",
    "notes",
    "data",
    "body",
    "emial",
    "firstName",
    "q",
]
words = st.sampled_from(WORDS)
scalars = st.sampled_from(["a", 1, True, None])
values = st.recursive(
    scalars,
    lambda inner: (
        st.dictionaries(words, inner, max_size=4)
        | st.dictionaries(words, inner, max_size=3).map(json.dumps)
        | st.lists(inner, max_size=2)
    ),
    max_leaves=8,
)
leaves = st.sampled_from([{"type": "string"}, {"type": "integer"}, {}])


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = {
        "properties": st.dictionaries(words, inner, max_size=5),
        "required": st.lists(words, max_size=2, unique=True),
        "additionalProperties": st.sampled_from([False, False, True, {"type": "object"}]),
    }
    return st.fixed_dictionaries({"type": st.just("object"), **parts})


schemas = objects(
    st.recursive(
        leaves,
        lambda inner: (
            objects(inner) | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        ),
        max_leaves=6,
    )
)
SEND = re.compile(r'Send (".*?) (?:at the top level|directly in)')


def declared_at(schema: Any, path: tuple[str | int, ...]) -> set[str]:
    """Return the names that the schema declares for the object at a path."""
    for step in path:
        if isinstance(step, int):
            schema = schema["items"]
        elif step in schema["properties"]:
            schema = schema["properties"][step]
        else:
            schema = schema["additionalProperties"]
    return {*schema["properties"], *schema["required"]}


@given(schema=schemas, arguments=st.dictionaries(words, values, max_size=4))
@settings(max_examples=400, deadline=None)
def test_wrapper_advice_names_only_fields_declared_at_that_place(schema, arguments):
    contract = compile_json_schema(schema, lambda arguments: "called", name="tool")
    result = handle_bytes(contract, json.dumps(arguments).encode())
    for problem in result.get("_meta", {}).get("toolbooth", {}).get("problems", []):
        if problem["code"] != "nested-wrapper":
            continue
        path = path_from_text(problem["path"])[:-1]
        for names in SEND.findall(problem["message"]):
            assert set(json.loads(f"[{names}]")) <= declared_at(schema, path)


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    email: str
    note: str = ""


def test_an_unpacked_open_model_gets_the_same_advice():
    def tool(loose: Annotated[Loose, Unpack()]) -> str:
        raise AssertionError("called")

    result = handle_bytes(compile_function(tool), b'{"data": {"email": "a", "colour": "red"}}')
    data = result["_meta"]["toolbooth"]
    assert data["problems"][0]["message"] == wrapper("data", send=["email"], content=["colour"])
    assert data["corrected"] == {"email": "a", "colour": "red"}
