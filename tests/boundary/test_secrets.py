"""A secret of any type accepts the values of its schema, and no refusal shows any part of it."""

import json
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    Secret,
    SecretBytes,
    SecretStr,
    TypeAdapter,
    field_validator,
)

from toolbooth import Unpack, compile_function, handle_bytes


class Card(BaseModel):
    number: int
    holder: str = ""

    @field_validator("holder")
    @classmethod
    def known(cls, holder: str) -> str:
        if holder:
            raise ValueError(f"{holder} is not known")
        return holder


class Pin(BaseModel):
    kind: Literal["pin"]
    code: Annotated[int, Field(lt=10_000)]


class Key(BaseModel):
    kind: Literal["key"]
    code: str


INNER: dict[str, tuple[Any, list[str]]] = {
    "int": (int, ["5", "-12345678901234567890", "7.0", '"5"']),
    "int < 100": (Annotated[int, Field(lt=100)], ["5"]),
    "float": (float, ["1.5", "2"]),
    "bool": (bool, ["true"]),
    "str": (str, ['"s3cr3t"', '"5"']),
    "date": (date, ['"2026-11-15"']),
    "Decimal": (Decimal, ["1.10", '"2.5"']),
    "UUID": (UUID, ['"12345678-1234-5678-1234-567812345678"']),
    "literal": (Literal[1, 2], ["1"]),
    "int | None": (int | None, ["5", "null"]),
    "list[int]": (list[int], ["[1, 2]", "[]", '"[1, 2]"']),
    "list[list[int]]": (list[list[int]], ["[[1], [2]]"]),
    "tuple[int, str]": (tuple[int, str], ['[1, "a"]']),
    "dict[str, int]": (dict[str, int], ['{"a": 1}', "{}"]),
    "model": (Card, ['{"number": 5}']),
    "list of models": (list[Card], ['[{"number": 5}]']),
    "union": (
        Annotated[Pin | Key, Field(discriminator="kind")],
        ['{"kind": "pin", "code": 5}', '{"kind": "key", "code": "x"}'],
    ),
}


def as_sent(value: Any) -> Any:
    return value


def field_of(secret: Any) -> Any:
    return type("Held", (BaseModel,), {"__annotations__": {"it": secret, "n": int}, "n": 0})


PLACES: dict[str, Any] = {
    "parameter": lambda secret: (secret, "%s"),
    "field": lambda secret: (field_of(secret), '{"it": %s}'),
    "item": lambda secret: (list[secret], "[%s]"),
    "value": lambda secret: (dict[str, secret], '{"a": %s}'),
    "unpacked": lambda secret: (Annotated[field_of(secret), Unpack()], "%s"),
    "before": lambda secret: (Annotated[secret, BeforeValidator(as_sent)], "%s"),
    "optional": lambda secret: (secret | None, "%s"),
}


def contract_of(hint: Any) -> Any:
    def tool(it: hint, other: int = 0) -> str:
        return "done"

    return compile_function(tool)


@pytest.mark.parametrize("inner", INNER)
def test_secret_accepts_the_values_of_its_schema(inner: str):
    hint, examples = INNER[inner]
    received: list[Any] = []

    def tool(it: Secret[hint]) -> str:
        received.append(it)
        return "done"

    contract = compile_function(tool)
    schema = Draft202012Validator(contract.schema)
    for sent in examples:
        result = handle_bytes(contract, b'{"it": %b}' % sent.encode())
        assert not result["isError"], result
        repaired = "repairs" in result.get("_meta", {}).get("toolbooth", {})
        assert repaired or schema.is_valid({"it": json.loads(sent)})
        decoded = json.loads(sent) if repaired and sent[0] == '"' else None
        expected = TypeAdapter[Any](hint).validate_json(decoded or sent)
        assert received.pop().get_secret_value() == expected


def test_secret_text_and_bytes_stay_text():
    for hint in (SecretStr, SecretBytes):
        contract = contract_of(hint)
        assert not handle_bytes(contract, b'{"it": "abc"}')["isError"]
        refused = handle_bytes(contract, b'{"it": 5}')
        assert refused["_meta"]["toolbooth"]["problems"] == [
            {"code": "wrong-type", "path": "$.it", "message": "must be text, got an integer"}
        ]


TOKENS = ("s3cr3t", "hunter2", "9876543", "20261115")
SCALARS = st.sampled_from(["s3cr3t", "hunter2", "s3cr3t hunter2", 9876543, 9876543.5, "20261115"])
KEYS = st.sampled_from(["hunter2", "number", "Number", "numbers", "holder", "kind", "code"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=5,
)
CASES = [(inner, place) for inner in INNER for place in PLACES]
CONTRACTS: dict[tuple[str, str], Any] = {}


def case(inner: str, place: str) -> tuple[Any, str]:
    hint, body = PLACES[place](Secret[INNER[inner][0]])
    if (inner, place) not in CONTRACTS:
        CONTRACTS[inner, place] = contract_of(hint)
    return CONTRACTS[inner, place], f'{{"it": {body}, "other": "many"}}'


@pytest.mark.parametrize(("inner", "place"), CASES)
@given(value=VALUES, as_text=st.booleans())
def test_no_refusal_shows_any_part_of_a_secret(inner: str, place: str, value: Any, as_text: bool):
    contract, body = case(inner, place)
    sent = json.dumps(json.dumps(value)) if as_text else json.dumps(value)
    for call in (body % sent, (body % sent).replace('"other": "many"', '"Other": 1')):
        result = handle_bytes(contract, call.encode())
        assert result["isError"]
        shown = json.dumps(result)
        assert [token for token in TOKENS if token in shown] == []


def test_problem_inside_a_secret_is_reported_at_the_secret():
    contract, _ = case("list of models", "field")
    body = b'{"it": {"it": [{"nr": 9876543, "hunter2": {"number": 1}}, {"number": "s3cr3t"}]}}'
    problems = handle_bytes(contract, body)["_meta"]["toolbooth"]["problems"]
    assert {each["path"] for each in problems} == {"$.it.it"}
    assert {each["message"] for each in problems} == {
        "is not valid; details of a secret are hidden"
    }
    codes = sorted(each["code"] for each in problems)
    assert codes == ["nested-wrapper", "unknown-key", "wrong-type"]


@pytest.mark.parametrize(
    ("body", "edits"),
    [
        ('{"it": {"it": {"Number": 9876543}}}', []),
        ('{"it": {"it.Number": 9876543}}', []),
        ('{"it": {"data": {"it": {"number": 9876543}}}}', ["move $.it.data.* to $.it"]),
        ('{"it": {"it": {"number": 9876543}, "N": 1}}', ['rename $.it.N to "n"']),
    ],
)
def test_edits_inside_a_secret_are_not_shown(body: str, edits: list[str]):
    contract, _ = case("model", "field")
    result = handle_bytes(contract, body.encode())
    assert "9876543" not in json.dumps(result)
    text = result["content"][0]["text"]
    assert ("To correct it: " + "; ".join(edits) in text) if edits else "To correct" not in text


@pytest.mark.parametrize(
    ("hint", "sent", "message"),
    [
        (list[int], "[9876543, 1]", "must have at most 1 item"),
        (dict[str, int], '{"hunter2": 1, "b": 2}', "must have at most 1 key"),
        (str, '"hunter2"', "must have at most 1 character"),
    ],
)
def test_constraint_on_a_whole_secret_is_shown(hint: Any, sent: str, message: str):
    contract = contract_of(Secret[Annotated[hint, Field(max_length=1)]])
    result = handle_bytes(contract, b'{"it": %b}' % sent.encode())
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert problem["path"] == "$.it"
    assert problem["message"].startswith(message)


def test_a_message_that_repeats_a_secret_is_not_shown():
    contract = contract_of(Secret[date])
    result = handle_bytes(contract, b'{"it": "20261115"}')
    assert result["_meta"]["toolbooth"]["problems"] == [
        {
            "code": "wrong-type",
            "path": "$.it",
            "message": "is not valid; details of a secret are hidden",
        }
    ]


def test_an_item_that_is_a_secret_is_named_by_its_position():
    contract = contract_of(list[Secret[int]])
    result = handle_bytes(contract, b'{"it": [5, "s3cr3t"]}')
    assert result["_meta"]["toolbooth"]["problems"] == [
        {"code": "wrong-type", "path": "$.it[1]", "message": "must be an integer, got text"}
    ]
