"""Numbers in JSON text that an author declares (`Json[T]`): every digit of a Decimal is kept."""

import json
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, Json, create_model
from validator_places import outcome

LONG = "1.123456789012345678901234567890"


class Price(BaseModel):
    amount: Decimal
    count: int = 0
    weight: float = 0
    anything: Any = None


class Pair(BaseModel):
    first: Price
    second: Price


class Tree(BaseModel):
    amount: Decimal = Decimal(0)
    count: int = 0
    below: "list[Tree]" = []


class Beside(BaseModel):
    text: Json[Pair]
    price: Price


TOO_MANY = [("lossy-number", "$.it")]

CASES: dict[str, tuple[Any, str, Any]] = {
    "alone": (Json[Decimal], LONG, Decimal(LONG)),
    "few digits": (Json[Decimal], "1.5", Decimal("1.5")),
    "a large one": (
        Json[Decimal],
        "12345678901234567890123.5",
        Decimal("12345678901234567890123.5"),
    ),
    "in a list": (
        Json[list[Decimal]],
        f"[{LONG}, {LONG[:-2]}1, 0.1]",
        [Decimal(LONG), Decimal(LONG[:-2] + "1"), Decimal("0.1")],
    ),
    "in an object": (Json[dict[str, Decimal]], f'{{"a": {LONG}}}', {"a": Decimal(LONG)}),
    "in a model": (
        Json[Price],
        f'{{"amount": {LONG}, "count": 12345678901234567890.0, "weight": {LONG}, "anything": 0.5}}',
        Price(amount=Decimal(LONG), count=12345678901234567890, weight=float(LONG), anything=0.5),
    ),
    "in a model that is there twice": (
        Json[Pair],
        f'{{"first": {{"amount": {LONG}}}, "second": {{"amount": {LONG}, "count": 1e22}}}}',
        Pair(first=Price(amount=Decimal(LONG)), second=Price(amount=Decimal(LONG), count=10**22)),
    ),
    "in a union": (Json[Decimal | Price], LONG, Decimal(LONG)),
    "beside an integer": (Json[Decimal | int], LONG, Decimal(LONG)),
    "in text inside text": (Json[Json[Decimal]], json.dumps(LONG), Decimal(LONG)),
    "optional": (Json[Decimal] | None, LONG, Decimal(LONG)),
    "behind an author's validator": (
        Json[Annotated[Decimal, BeforeValidator(lambda value: value)]],
        LONG,
        Decimal(LONG),
    ),
    "as text": (Json[Decimal], f'"{LONG}"', Decimal(LONG)),
    "a fraction for an integer": (Json[int], "1.00000000000000000001", TOO_MANY),
    "a fraction beside a Decimal": (
        Json[Price],
        '{"amount": 1.00000000000000000001}',
        Price(amount=Decimal("1.00000000000000000001")),
    ),
    "too large for a float": (Json[Decimal], "1e400", TOO_MANY),
    "too large for a Decimal": (Json[Decimal], "1e99999999999999999999", TOO_MANY),
    "not a Decimal": (Json[list[float]], f"[{LONG}]", [float(LONG)]),
    # A definition that contains itself is the same inside and outside of the text.
    "in a model that contains itself": (Json[Tree], f'{{"amount": {LONG}}}', TOO_MANY),
    "few digits in such a model": (
        Json[Tree],
        '{"amount": 0.1, "count": 12345678901234567890.0, "below": [{"amount": 2.5}]}',
        Tree(
            amount=Decimal("0.1"),
            count=12345678901234567890,
            below=[Tree(amount=Decimal("2.5"))],
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_in_declared_text_are_exact_or_refused(case: str):
    hint, text, expected = CASES[case]
    assert outcome(hint, json.dumps(text)) == expected


def test_the_same_model_may_be_inside_and_outside_of_the_text():
    price = f'{{"amount": {LONG}}}'
    text = json.dumps(f'{{"first": {price}, "second": {price}}}')
    made = outcome(Beside, f'{{"text": {text}, "price": {price}}}')
    assert {made.text.first.amount, made.text.second.amount, made.price.amount} == {Decimal(LONG)}


def test_too_many_definitions_are_left_unchanged():
    model: Any = Price
    for level in range(12):
        model = create_model(f"Level{level}", one=(model | None, None), two=(model | None, None))
    made = outcome(Json[model], json.dumps('{"one": {"two": null}}'))
    assert made.one.two is None


decimals = st.decimals(
    allow_nan=False, allow_infinity=False, places=25, min_value=-(10**30), max_value=10**30
)


@settings(deadline=None)
@given(st.lists(decimals | st.integers(-(10**20), 10**20).map(Decimal), min_size=1, max_size=5))
def test_random_numbers_in_a_text_keep_their_digits(numbers: list[Decimal]):
    text = f"[{', '.join(format(each, 'f') for each in numbers)}]"
    assert outcome(Json[list[Decimal]], json.dumps(text)) == numbers
