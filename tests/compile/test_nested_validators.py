"""Objects below the one that an author's validator gets, and consecutive validators: the law is the
same for each of them.
"""

import json
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, model_validator
from validator_places import Deep, outcome
from validator_ways import Plain


class Line(BaseModel):
    sku: str = ""
    quantity: int = 1


class Order(BaseModel):
    lines: list[Line] = []
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def complete(cls, value: Any) -> Any:
        for line in value["lines"]:
            line["total"] = 5
            if line.get("code"):
                line["sku"] = line["code"].lower()
        return value


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param('[{"sku": "a"}]', [Line(sku="a")], id="a-key-of-the-authors-own"),
        pytest.param('[{"code": "A"}]', [Line(sku="a")], id="read-by-name"),
        pytest.param(
            '[{"code": "A", "zz": 1, "quantity": [1]}]',
            [("invalid", "$.it.lines[0].quantity"), ("unknown-key", "$.it.lines[0].zz")],
            id="all-problems-at-once",
        ),
    ],
)
def test_nested_objects_have_the_same_law_as_the_one_that_the_validator_gets(sent, expected):
    found = outcome(Order, f'{{"lines": {sent}}}')
    assert (found.lines if isinstance(found, Order) else found) == expected


class Inner(BaseModel):
    x: int = 0

    @model_validator(mode="before")
    @classmethod
    def copied(cls, value: Any) -> Any:
        return dict(value)


class Around(BaseModel):
    inner: Inner | None = None
    items: list[Inner] = []

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        if "inner" in value:
            value["inner"].get("legacy")
        return {**value}


def test_nested_validator_knows_the_keys_read_by_the_outer_one():
    assert outcome(Around, '{"inner": {"x": 1, "legacy": 2}}').inner.x == 1
    assert outcome(Around, '{"q": 1, "items": [{"x": 1}, {"zz": 2}]}') == [
        ("unknown-key", "$.it.items[1].zz"),
        ("unknown-key", "$.it.q"),
    ]


def test_a_key_added_by_the_authors_code_may_be_dropped_at_every_depth():
    def total(lines: Any) -> Any:
        return [{**each, "total": 5} for each in lines if each.get("quantity", 1)]

    hint = Annotated[list[Line], BeforeValidator(total)]
    assert outcome(hint, '[{"sku": "a"}]') == [Line(sku="a")]
    assert outcome(hint, '[{"sku": "a"}, {"quantity": 0}]') == [Line(sku="a")]
    assert outcome(hint, '[{"sku": "a"}, {"quantity": 0, "zz": 1}]') == [Line(sku="a")]
    assert outcome(hint, '[{"sku": "a", "zz": 1}, {"quantity": 0}]') == [
        ("unknown-key", "$.it[0].zz")
    ]


def test_an_object_that_the_authors_code_reads_from_text_is_not_its_own():
    def read(lines: Any) -> Any:
        return [json.loads(each) if isinstance(each, str) else each for each in lines]

    hint = Annotated[list[Line], BeforeValidator(read)]
    assert outcome(hint, r'["{\"sku\": \"a\"}"]') == [Line(sku="a")]
    assert outcome(hint, r'["{\"skv\": \"a\"}"]') == [("unknown-key", "$.it[0].skv")]


class Rowed(BaseModel):
    x: int = 0

    @model_validator(mode="before")
    @classmethod
    def second(cls, value: Any) -> Any:
        return dict(value)

    @model_validator(mode="before")
    @classmethod
    def first(cls, value: Any) -> Any:
        return {**value, "cached": 1}


def test_key_added_by_the_first_validator_is_accepted_by_the_second():
    assert outcome(Rowed, '{"x": 1}') == Rowed(x=1)
    assert outcome(Rowed, '{"x": 1, "zz": 1}') == [("unknown-key", "$.it.zz")]


def test_an_object_where_a_list_is_declared_is_left_to_the_fields():
    hint = Annotated[Deep, BeforeValidator(lambda value: {**value})]
    assert outcome(hint, '{"outers": {"label": "x"}, "zz": 1}') == [
        ("invalid", "$.it.outers"),
        ("unknown-key", "$.it.zz"),
    ]


class Name(StrEnum):
    ZZ = "zz"


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda value: value.get(Name.ZZ), id="get"),
        pytest.param(lambda value: dict(value).get(Name.ZZ), id="get-from-a-copy"),
        pytest.param(lambda value: [each for each in value if each == Name.ZZ], id="compared"),
        pytest.param(lambda value: [each for each in value if each != Name.ZZ], id="excluded"),
    ],
)
def test_a_comparison_with_an_enum_member_reads_the_key(look: Any):
    hint = Annotated[Plain, BeforeValidator(lambda value: (look(value), {**value})[1])]
    assert outcome(hint, '{"age": 1, "zz": 1}') == Plain(age=1)


def test_keys_in_an_iteration_compare_as_texts_do():
    def compared(value: Any) -> Any:
        first, second = value
        assert (first == second, first != second, first == first, first != 5) == (
            False,
            True,
            True,
            True,
        )
        assert (first == 5) is False
        return {**value}

    hint = Annotated[Plain, BeforeValidator(compared)]
    assert outcome(hint, '{"age": 1, "zz": 1}') == [("unknown-key", "$.it.zz")]
