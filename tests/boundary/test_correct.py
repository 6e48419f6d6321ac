"""The corrected call: corrections that follow from the declared names alone, and the limits of
derivation.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from toolbooth import compile_function, compile_json_schema, handle_bytes
from toolbooth.boundary.correct import correct
from toolbooth.boundary.examine import examine
from toolbooth.boundary.mend import is_beyond_correction


class Line(BaseModel):
    sku: str
    qty: int = 1


class Address(BaseModel):
    city: str
    zip: str = ""


class Person(BaseModel):
    name: str
    address: Address | None = None


def refused(function: Callable[..., Any], arguments: Any) -> Any:
    """Return the corrected arguments and the edits; the corrected arguments are accepted unchanged."""
    contract = compile_function(function)
    body = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    result = handle_bytes(contract, body)
    assert result["isError"]
    meta = result["_meta"]["toolbooth"]
    if "corrected" in meta:
        again = handle_bytes(contract, json.dumps(meta["corrected"]).encode())
        assert (again["isError"], again.get("_meta")) == (False, None)
    return meta.get("corrected"), meta.get("edits", [])


def order(
    name: str,
    address: Address,
    lines: list[Line] = [],  # noqa: B006
    tags: list[str] = [],  # noqa: B006
    notes: dict[str, str] = {},  # noqa: B006
):
    return name


SENT = {"name": "Ann", "address": {"city": "Bern"}}


@pytest.mark.parametrize(
    ("sent", "corrected", "edits"),
    [
        pytest.param(
            {"name": "Ann", "address.city": "Bern", "address[zip]": "3000"},
            {"name": "Ann", "address": {"city": "Bern", "zip": "3000"}},
            ['write "address.city" as $.address.city', 'write "address[zip]" as $.address.zip'],
            id="object",
        ),
        pytest.param(
            {**SENT, "lines[0].sku": "a", "lines[0].qty": 2, "lines[1].sku": "b"},
            {**SENT, "lines": [{"sku": "a", "qty": 2}, {"sku": "b"}]},
            [
                'write "lines[0].sku" as $.lines[0].sku',
                'write "lines[0].qty" as $.lines[0].qty',
                'write "lines[1].sku" as $.lines[1].sku',
            ],
            id="objects-in-an-array",
        ),
        pytest.param(
            {**SENT, "tags[0]": "a", "tags[1]": "b"},
            {**SENT, "tags": ["a", "b"]},
            ['write "tags[0]" as $.tags[0]', 'write "tags[1]" as $.tags[1]'],
            id="items-of-an-array",
        ),
        pytest.param(
            {**SENT, "notes.door": "red"},
            {**SENT, "notes": {"door": "red"}},
            ['write "notes.door" as $.notes.door'],
            id="key-of-an-open-object",
        ),
        pytest.param({**SENT, "lines[1].sku": "b"}, None, [], id="no-item-before-it"),
        pytest.param({**SENT, "tags[1]": "b"}, None, [], id="no-text-before-it"),
        pytest.param({**SENT, "tags": ["a"], "tags[0]": "b"}, None, [], id="item-sent-already"),
        pytest.param({**SENT, "address.city": "Basel"}, None, [], id="field-sent-already"),
        pytest.param({**SENT, "tags[first]": "b"}, None, [], id="name-where-a-number-belongs"),
        pytest.param({**SENT, "name.first": "Ann"}, None, [], id="below-text"),
        pytest.param(
            {"name": "Ann", "address": "Bern", "address.zip": "3000"},
            None,
            [],
            id="below-what-is-no-object",
        ),
    ],
)
def test_path_written_as_a_key_is_split_unless_a_value_would_be_lost(sent, corrected, edits):
    assert refused(order, sent) == (corrected, edits)


@pytest.mark.parametrize(
    ("sent", "corrected", "edits"),
    [
        pytest.param(
            {**SENT, "zip": "3000"},
            {"name": "Ann", "address": {"city": "Bern", "zip": "3000"}},
            ["move $.zip to $.address.zip"],
            id="free",
        ),
        pytest.param({**SENT, "city": "Basel"}, None, [], id="taken"),
    ],
)
def test_field_of_the_only_inner_object_moves_there_unless_already_sent(sent, corrected, edits):
    assert refused(order, sent) == (corrected, edits)


def test_miscased_object_is_corrected_with_its_miscased_keys():
    def tool(person: Person): ...

    assert refused(tool, {"person": {"name": "Ann", "Address": {"CITY": "Bern"}}}) == (
        {"person": {"name": "Ann", "address": {"city": "Bern"}}},
        [
            'rename $.person.Address to "address"',
            "move $.person.Address.CITY to $.person.address.city",
        ],
    )


def test_miscased_argument_is_corrected_with_its_miscased_keys():
    def tool(person: Person): ...

    corrected, _ = refused(tool, {"Person": {"name": "Ann", "address": {"CITY": "Bern"}}})
    assert corrected == {"person": {"name": "Ann", "address": {"city": "Bern"}}}


@pytest.mark.parametrize(
    "sent",
    [
        {"prson": {"name": "Ann", "address": {"city": "Bern"}}},
        {"person": {"name": "Ann", "adress": {"city": "Bern"}}},
        {"person": {"name": "Ann", "adress.city": "Bern"}},
        {"person": {"name": "Ann", "addresses": {"city": "Bern"}}},
    ],
    ids=json.dumps,
)
def test_misspelt_name_without_another_meaning_is_corrected(sent):
    def tool(person: Person): ...

    corrected, _ = refused(tool, sent)
    assert corrected == {"person": {"name": "Ann", "address": {"city": "Bern"}}}


@pytest.mark.parametrize(
    "sent",
    [
        {"people": {"name": "Ann", "address": {"city": "Bern"}}},
        {"parson": {"name": "Ann", "address": {"city": "Bern"}}},
        {"person": {"name": "Ann", "adrss": {"city": "Bern"}}},
        {"person": {"name": "Ann", "address": {"ctiy": "Bern"}}},
        {"person": {"name": "Ann", "caddress.city": "Bern"}},
    ],
    ids=json.dumps,
)
def test_no_corrected_call_is_built_on_a_similar_name(sent):
    def tool(person: Person): ...

    assert refused(tool, sent) == (None, [])


def test_a_name_in_another_case_that_two_fields_share_is_not_corrected():
    def tool(user_id: int = 0, userId: int = 0): ...

    assert refused(tool, {"UserID": 1}) == (None, [])


def test_items_past_the_end_of_a_tuple_are_kept_and_prevent_a_correction():
    def tool(pair: tuple[Line, Line]): ...

    sent = {"pair": [{"data": {"sku": "a"}}, {"Sku": "b"}, 3]}
    edits = ["move $.pair[0].data.* to $.pair[0]", 'rename $.pair[1].Sku to "sku"']
    assert refused(tool, sent) == (None, edits)


def test_numbers_as_written_are_corrected_too():
    def tool(rate: float, count: int = 0): ...

    assert refused(tool, b'{"data": {"rate": 1.5e3}}') == ({"rate": 1500.0}, ["move $.data.* to $"])
    long = 10**30
    assert refused(tool, b'{"data": {"rate": 1, "count": %d}}' % long)[0] == {
        "rate": 1,
        "count": long,
    }
    assert refused(tool, b'{"data": {"rate": 1e400}}') == (None, [])


class Login(BaseModel):
    user: str
    password: SecretStr


def test_a_corrected_call_is_shown_only_without_secrets():
    def tool(name: str, login: Login | None = None, others: list[Login] | None = None): ...

    login = {"user": "u", "password": "p"}
    edits = ["move $.data.* to $"]
    assert refused(tool, {"data": {"name": "Ann"}, "login": None}) == (
        {"name": "Ann", "login": None},
        edits,
    )
    assert refused(tool, {"data": {"name": "Ann"}, "others": []}) == (
        {"name": "Ann", "others": []},
        edits,
    )
    assert refused(tool, {"data": {"name": "Ann"}, "login": login}) == (None, edits)
    assert refused(tool, {"data": {"name": "Ann"}, "others": [login]}) == (None, edits)


def test_an_object_is_not_unwrapped_over_an_undeclared_key_that_was_sent():
    schema = {
        "type": "object",
        "properties": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
        "additionalProperties": True,
    }
    contract = compile_json_schema(schema, lambda arguments: arguments, name="tool")
    result = handle_bytes(contract, b'{"note": 1, "address": {"more": {"note": 2}}}')
    meta = result["_meta"]["toolbooth"]
    assert [(each["code"], each["path"]) for each in meta["problems"]] == [
        ("nested-wrapper", "$.address.more")
    ]
    assert "corrected" not in meta


def test_many_slips_are_corrected_and_only_twenty_edits_listed():
    def tool(lines: list[Line]): ...

    sent = {"lines": [{"Sku" if index % 2 else "SKU": "a"} for index in range(25)]}
    corrected, edits = refused(tool, sent)
    assert corrected == {"lines": [{"sku": "a"}] * 25}
    assert edits == [
        f'rename $.lines[{index}].{"Sku" if index % 2 else "SKU"} to "sku"' for index in range(20)
    ]


@pytest.mark.parametrize(
    "many", [{"Sku": "a"}, {"data": {"sku": "a"}}], ids=["another case", "a wrapper"]
)
@pytest.mark.parametrize(
    "one", [{"SKU": "a"}, {"body": {"sku": "a"}}], ids=["another case", "a wrapper"]
)
def test_the_search_for_a_corrected_call_ends_after_a_number_of_trials(many, one):
    def tool(lines: list[Line]): ...

    corrected, edits = refused(tool, {"lines": [many] * 2_100 + [one]})
    assert corrected is None
    assert len(edits) == 20


@pytest.mark.parametrize("name", ["strange_{}_{}", "strange.{}.{}"], ids=["plain", "a path"])
def test_very_many_undeclared_keys_are_not_searched_one_by_one(name: str):
    def tool(lines: list[Line]): ...

    def line(index: int) -> dict[str, Any]:
        return {"sku": "a", **{name.format(index, n): 1 for n in range(10)}}

    assert refused(tool, {"lines": [line(index) for index in range(30)]}) == (None, [])


def test_very_deep_wrappers_are_refused_without_a_correction():
    def tool(sku: str): ...

    def wrapped(levels: int, value: Any) -> Any:
        for _ in range(levels):
            value = {"data": value}
        return value

    sent = {"sku": "a"}
    assert refused(tool, wrapped(40, sent))[0] == sent
    assert refused(tool, wrapped(150, sent)) == (None, [])
    texts = wrapped(60, json.dumps(wrapped(60, json.dumps(wrapped(60, sent)))))
    assert refused(tool, texts) == (None, [])


@pytest.mark.parametrize("number", ["100000000.7265625", "1e5", "12345678901234567.5"])
def test_long_numbers_in_the_text_of_a_wrapper_are_corrected_too(number: str):
    def add(amounts: list[float]) -> int:
        return len(amounts)

    sent = json.dumps({"data": f'{{"amounts": [{number}]}}'}).encode()
    found = handle_bytes(compile_function(add), sent)["_meta"]["toolbooth"]
    assert [each["code"] for each in found["problems"]] == ["nested-wrapper"]
    assert found["corrected"] == {"amounts": [float(number)]}


def typos() -> Iterator[Any]:
    """Yield calls of `order` with one undeclared key, at every level."""
    for key in ("nme", "adrss", "sku2", "x"):
        yield {**SENT, key: "Ann"}
        yield {"name": "Ann", "address": {"city": "Bern", key: 1}}
        yield {**SENT, "lines": [{"sku": "a"}, {"sku": "b", key: [1]}]}
        yield {**SENT, key: '["text"]'}


@pytest.mark.parametrize("sent", list(typos()), ids=json.dumps)
def test_calls_beyond_correction_get_no_correction(sent: Any):
    contract = compile_function(order)
    _, exam = examine(contract.shape, sent, contract.limits, thorough=False)
    assert exam.only_slips
    assert is_beyond_correction(contract.shape, exam.slips, contract.limits)
    assert correct(contract, sent) == (None, [])


@pytest.mark.parametrize("key", ["City", "address.zip", "lines[0]", "SKU", "wrap"])
def test_an_undeclared_key_is_searched_only_where_it_may_belong(key: str):
    contract = compile_function(order)
    sent = {**SENT, key: {"sku": "a"} if key == "wrap" else "a"}
    _, exam = examine(contract.shape, sent, contract.limits, thorough=False)
    assert not is_beyond_correction(contract.shape, exam.slips, contract.limits)
