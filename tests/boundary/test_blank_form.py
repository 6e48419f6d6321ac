"""The form that is sent if every argument of a call was wrong, and that it is refused if it is sent
back unchanged.
"""

import json
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator

from toolbooth import JsonText, Verbatim, compile_function, compile_json_schema, handle_bytes
from toolbooth.server.controls import BOOLEAN, accepting


class Line(BaseModel):
    sku: str
    quantity: int
    note: str = ""


def place_order(customer: str, lines: list[Line], due: date | None = None) -> str:
    raise AssertionError("called")


ORDER = compile_function(place_order)
FIELDS = (
    'Declared fields: "customer" (text, required), "lines" (array of objects, required),'
    ' "due" (ISO 8601 date or null).'
)
FORM = 'Form: {"customer": "<text>", "lines": [{"sku": "<text>", "quantity": "<integer>"}]}'


def told(contract: Any, arguments: Any) -> str:
    body = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    result = handle_bytes(contract, body)
    assert result["isError"] is True, result
    return result["content"][0]["text"]


def test_a_call_without_arguments_gets_the_fields_and_the_form():
    assert told(ORDER, {}) == "\n".join(
        [
            "Refused: 2 problems in the arguments of 'place_order'. Nothing was done.",
            "- $.customer: is required, but was not sent",
            "- $.lines: is required, but was not sent",
            FIELDS,
            FORM,
            "No arguments arrived. Some clients drop all of them when one is empty text: "
            "leave that one out.",
        ]
    )
    form = handle_bytes(ORDER, b"{}")["_meta"]["toolbooth"]["form"]
    assert form == {"customer": "<text>", "lines": [{"sku": "<text>", "quantity": "<integer>"}]}


def test_a_call_in_which_nothing_is_right_gets_the_form():
    assert told(ORDER, {"query": "wheels", "zq": {"zz": [1]}}).splitlines()[-2:] == [FIELDS, FORM]
    assert told(ORDER, {"lines": [{}], "customer": {}}).splitlines()[-1] == FORM


@pytest.mark.parametrize(
    "arguments",
    [
        {"customer": "Ann"},
        {"customer": "Ann", "query": "wheels"},
        {"lines": [{"sku": "A"}]},
        {"customer": {"a": 1}, "lines": [{"sku": "A", "quantity": 1}]},
        {"data": {"customer": "Ann"}},
        {"customer": 5, "lines": "x"},
    ],
)
def test_a_partly_valid_call_gets_no_form(arguments):
    assert "Form: " not in told(ORDER, arguments)


def test_a_tool_whose_fields_are_all_optional_has_no_form():
    def tool(a: int = 1, b: str = "") -> str:
        raise AssertionError("called")

    assert told(compile_function(tool), {"zq": 1}).splitlines()[1:] == [
        '- $.zq: there is no field "zq"',
        'Declared fields: "a" (integer), "b" (text).',
    ]


def test_arguments_for_the_server_are_not_in_the_form_and_do_not_count():
    contract = accepting(ORDER, {"help": BOOLEAN}, {"help": "help"})
    assert told(contract, {"help": False}).splitlines()[-1] == FORM


class Node(BaseModel):
    name: str
    child: "Node"


class Anything(BaseModel):
    extra: dict[str, int]
    maybe: str = ""


@pytest.mark.filterwarnings("ignore::toolbooth.ContractWarning")
def test_every_type_has_a_placeholder():
    def tool(
        yes: bool,
        price: float,
        day: date,
        at: datetime,
        hour: time,
        wait: timedelta,
        moment: date | time,
        kind: Literal["card", "cash"],
        free: Any,
        text: Annotated[dict[str, Any], JsonText()],
        pair: tuple[int, str],
        anything: Anything,
        node: Node,
        several: list[Any],
        checked: Annotated[int, BeforeValidator(int)],
        nothing: None,
    ) -> str:
        raise AssertionError("called")

    form = handle_bytes(compile_function(tool), b"{}")["_meta"]["toolbooth"]["form"]
    assert form == {
        "yes": "<true or false>",
        "price": "<number>",
        "day": "<date>",
        "at": "<date and time>",
        "hour": "<time of day>",
        "wait": "<duration>",
        "moment": "<date or time>",
        "kind": "<card or cash>",
        "free": "<anything>",
        "text": "<text>",
        "pair": ["<integer>", "<text>"],
        "anything": {"extra": {"<key>": "<integer>"}},
        "node": {
            "name": "<text>",
            "child": {
                "name": "<text>",
                "child": {"name": "<text>", "child": {"name": "<text>", "child": "<anything>"}},
            },
        },
        "several": ["<anything>"],
        "checked": "<anything>",
        "nothing": "<anything>",
    }


# --- a form that is sent back -------------------------------------------------------------------


def test_a_placeholder_is_refused_also_where_text_is_declared():
    def tool(customer: str) -> str:
        raise AssertionError("called")

    assert told(compile_function(tool), {"customer": "<text>"}).splitlines()[1:] == [
        "- $.customer: is a placeholder; send a real value"
    ]


def test_a_partly_filled_form_is_refused():
    filled = {"customer": "Ann", "lines": [{"sku": "<text>", "quantity": 1}]}
    assert told(ORDER, filled).splitlines()[1:] == [
        "- $.lines[0].sku: is a placeholder; send a real value"
    ]


@pytest.mark.parametrize(
    "body",
    [
        rb'{"customer": "\u003ctext\u003e"}',
        rb'{"customer": "\u003Ctext\u003E"}',
        rb'"{\"customer\": \"<text>\"}"',
    ],
    ids=["escaped", "escaped in capitals", "arguments as text"],
)
def test_a_placeholder_is_refused_in_every_spelling(body):
    def tool(customer: str) -> str:
        raise AssertionError("called")

    assert "is a placeholder" in told(compile_function(tool), body)


@pytest.mark.parametrize("text", ["<b>", "a <text> b", "<text>s", "text", "<text", "<a>\\", "\\>"])
def test_other_text_with_angle_brackets_passes(text):
    def tool(customer: str) -> str:
        return customer

    result = handle_bytes(compile_function(tool), json.dumps({"customer": text}).encode())
    assert (result["isError"], result["content"][0]["text"]) == (False, text)


def test_a_verbatim_field_accepts_a_placeholder_unchanged():
    def tool(text: Annotated[str, Verbatim()]) -> str:
        return text

    result = handle_bytes(compile_function(tool), b'{"text": "<text>"}')
    assert (result["isError"], result["content"][0]["text"]) == (False, "<text>")


def schemas(inner: Any) -> Any:
    names = st.sampled_from(["a", "b", "first name", "c_d", "é"])
    objects = st.builds(
        lambda fields, needed: {
            "type": "object",
            "properties": fields,
            "required": sorted(fields)[:needed],
        },
        st.dictionaries(names, inner, min_size=1, max_size=4),
        st.integers(1, 4),
    )
    return objects | st.builds(lambda items: {"type": "array", "items": items}, inner)


scalars = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": ["string", "null"]},
        {"type": ["integer", "string"]},
        {"type": "boolean"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "uuid"},
        {"enum": ["x", "y", None]},
        {"const": 5},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"anyOf": [{"type": "object", "properties": {"k": {}}}, {"type": "string"}]},
        {},
        True,
    ]
)
tools = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8),
    st.recursive(scalars, schemas, max_leaves=6),
    min_size=1,
    max_size=5,
)


@given(fields=tools, sent=st.sampled_from([{}, {"zq zq": 1}]))
@settings(max_examples=300, deadline=None)
def test_a_form_is_json_and_refused_if_it_is_sent(fields, sent):
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    called: list[Any] = []
    contract = compile_json_schema(schema, called.append, name="tool")
    text = told(contract, sent)
    [line] = [line for line in text.split("\n") if line.startswith("Form: ")]
    form = json.loads(line.removeprefix("Form: "))
    assert form.keys() == fields.keys()
    assert "Send instead" not in text
    told(contract, form)
    assert called == []
