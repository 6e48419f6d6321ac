"""Undeclared keys under an author's before and wrap validators: a key that would be dropped is
refused, and a key that the author's code has handled is accepted.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

import pytest
from passing_ways import PASSING
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    Json,
    WrapValidator,
    create_model,
    model_validator,
)
from typing_extensions import TypedDict
from validator_ways import LOSING, LOSING_INSTANCES, Plain, Way, recased_keys

from toolbooth import Unpack, Verbatim, compile_function, handle_bytes

RUNS: list[str] = []


def before(way: Way) -> Any:
    def look(value: Any) -> Any:
        RUNS.append("before")
        return way(value)

    return look


def wrap(way: Way) -> Any:
    def look(value: Any, handler: Any) -> Any:
        RUNS.append("wrap")
        return handler(way(value))

    return look


def with_validator(mode: str, way: Way) -> Any:
    look = before(way) if mode == "before" else wrap(way)
    return create_model(
        "Contact", __base__=Plain, __validators__={"look": _model_level(mode, look)}
    )


def _model_level(mode: str, look: Any) -> Any:
    if mode == "before":
        return model_validator(mode="before")(lambda cls, value: look(value))
    return model_validator(mode="wrap")(
        classmethod(lambda cls, value, handler: look(value, handler))
    )


def on_field(mode: str, way: Way) -> Any:
    marker = BeforeValidator(before(way)) if mode == "before" else WrapValidator(wrap(way))
    return Annotated[Plain, marker]


@dataclass
class Recorded:
    email: str | None = None
    age: int = 0


class Typed(TypedDict):
    email: NotRequired[str | None]
    age: NotRequired[int]


PLACES: dict[str, Callable[[str, Way], tuple[Any, str, str]]] = {
    "model": lambda mode, way: (with_validator(mode, way), '{"it": %s}', "$.it"),
    "field": lambda mode, way: (on_field(mode, way), '{"it": %s}', "$.it"),
    "optional field": lambda mode, way: (
        Annotated[Plain | None, on_field(mode, way).__metadata__[0]],
        '{"it": %s}',
        "$.it",
    ),
    "nested": lambda mode, way: (
        create_model("Outer", inner=(with_validator(mode, way), ...)),
        '{"it": {"inner": %s}}',
        "$.it.inner",
    ),
    "list": lambda mode, way: (
        list[with_validator(mode, way)],
        '{"it": [%s]}',
        "$.it[0]",
    ),
    "items": lambda mode, way: (
        Annotated[list[Plain], on_field(mode, lambda items: list(map(way, items))).__metadata__[0]],
        '{"it": [%s]}',
        "$.it[0]",
    ),
    "values": lambda mode, way: (
        Annotated[
            dict[str, Plain],
            on_field(
                mode, lambda values: {key: way(each) for key, each in values.items()}
            ).__metadata__[0],
        ],
        '{"it": {"a": %s}}',
        "$.it.a",
    ),
    "unpacked": lambda mode, way: (
        Annotated[with_validator(mode, way), Unpack()],
        "%s",
        "$",
    ),
}
for kind in (Recorded, Typed):
    PLACES[kind.__name__] = lambda mode, way, kind=kind: (
        Annotated[kind, on_field(mode, way).__metadata__[0]],
        '{"it": %s}',
        "$.it",
    )
for order in (0, 1):
    PLACES[f"unpacked field {order}"] = lambda mode, way, order=order: (
        Annotated[Plain, *(on_field(mode, way).__metadata__[0], Unpack())[:: 1 - 2 * order]],
        "%s",
        "$",
    )

PLACES_OF_INSTANCES = ("field", "optional field", "items", "values")
"""Where Pydantic takes an instance from a before validator."""

EVERYWHERE = pytest.mark.parametrize(
    ("mode", "place"), [(mode, place) for mode in ("before", "wrap") for place in PLACES]
)


def refusal(result: dict[str, Any]) -> Any:
    assert result["isError"]
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


def caller(hint: Any) -> Callable[[str], tuple[dict[str, Any], list[Any]]]:
    """Compiles a tool once; each call returns the result and the value that the tool received."""
    received: list[Any] = []

    def tool(it: hint) -> str:
        received.append(it)
        return "done"

    contract = compile_function(tool)

    def send(body: str) -> tuple[dict[str, Any], list[Any]]:
        RUNS.clear()
        received.clear()
        return handle_bytes(contract, body.encode()), list(received)

    return send


def call(hint: Any, body: str) -> tuple[dict[str, Any], list[Any]]:
    return caller(hint)(body)


@EVERYWHERE
@pytest.mark.parametrize("way", LOSING)
def test_an_undeclared_key_that_the_fields_would_drop_is_refused(way: str, mode: str, place: str):
    check_that_nothing_is_dropped(LOSING[way], mode, place)


@pytest.mark.parametrize("place", PLACES_OF_INSTANCES)
@pytest.mark.parametrize("mode", ["before", "wrap"])
@pytest.mark.parametrize("way", LOSING_INSTANCES)
def test_an_undeclared_key_that_an_instance_drops_is_refused(way: str, mode: str, place: str):
    check_that_nothing_is_dropped(LOSING_INSTANCES[way], mode, place)


def check_that_nothing_is_dropped(way: Way, mode: str, place: str) -> None:
    hint, body, path = PLACES[place](mode, way)
    send = caller(hint)

    wrapper, received = send(body % '{"data": {"email": "a@x"}}')
    assert (refusal(wrapper), received) == ([("nested-wrapper", f"{path}.data")], [])
    assert len(RUNS) <= 1

    typo, received = send(body % '{"emial": "a@x", "age": 3}')
    assert (refusal(typo), received) == ([("unknown-key", f"{path}.emial")], [])
    assert len(RUNS) <= 1
    text = typo["content"][0]["text"]
    assert 'there is no field "emial"; did you mean "email"?' in text
    assert all(f'"{name}" (' in text for name in ("email", "age"))

    flag, received = send(body % '{"email": "a@x", "verified": true}')
    assert (refusal(flag), received) == ([("unknown-key", f"{path}.verified")], [])

    exact, received = send(body % '{"email": "a@x"}')
    assert (exact["isError"], len(received), len(RUNS)) == (False, 1, 1)


@EVERYWHERE
@pytest.mark.parametrize("way", PASSING)
def test_a_key_that_the_authors_code_has_handled_is_accepted(way: str, mode: str, place: str):
    rewrite, sent = PASSING[way]
    if "unpacked" in place:
        # A wrapper of declared names at the top level is refused before any validator.
        sent = sent.get("data", sent)
    hint, body, _ = PLACES[place](mode, rewrite)
    result, received = call(hint, body % json.dumps(sent))
    assert not result["isError"], result
    assert "'a@x'" in repr(received)
    assert len(RUNS) == 1


@pytest.mark.parametrize("mode", ["before", "wrap"])
def test_the_refusal_is_the_same_as_without_a_validator(mode: str):
    hint, body, _ = PLACES["model"](mode, dict)
    for sent in (
        '{"data": {"email": "a@x"}}',
        '{"emial": "a@x"}',
        '{"data": "{\\"email\\": \\"a@x\\"}", "Age": 1}',
        '{"e-mail": 3, "x": {"y": {"email": "a@x"}}}',
    ):
        guarded, _ = call(hint, body % sent)
        plain, _ = call(Plain, body % sent)
        ours = guarded["_meta"]["toolbooth"]["problems"]
        assert ours == plain["_meta"]["toolbooth"]["problems"]
        listed = 'Declared fields of $.it: "email" (text or null), "age" (integer).'
        assert listed in guarded["content"][0]["text"]
        assert listed in plain["content"][0]["text"]


@pytest.mark.parametrize("mode", ["before", "wrap"])
def test_other_problems_are_reported_beside_an_undeclared_key(mode: str):
    for place in ("model", "field"):
        hint, body, path = PLACES[place](mode, dict)
        result, _ = call(hint, body % '{"emial": "a@x", "age": [1]}')
        assert sorted(refusal(result)) == [
            ("invalid", f"{path}.age"),
            ("unknown-key", f"{path}.emial"),
        ]


def test_an_open_model_stays_open():
    hint = create_model(
        "Open", __base__=with_validator("before", dict), __config__=None, email=(str | None, None)
    )
    hint.model_config["extra"] = "allow"
    hint.model_rebuild(force=True)
    result, received = call(hint, '{"it": {"note": {"email": "a@x", "x": 1}}}')
    assert not result["isError"]
    assert received[0].model_extra == {"note": {"email": "a@x", "x": 1}}


class Forbidding(BaseModel):
    model_config = {"extra": "forbid"}
    email: str | None = None


@pytest.mark.parametrize(
    ("way", "sent", "expected"),
    [
        pytest.param(dict, '{"mail": "x"}', [("unknown-key", "$.it.mail")], id="copied"),
        pytest.param(
            lambda d: {"email": d.get("email")},
            '{"mail": "x"}',
            [("unknown-key", "$.it.mail")],
            id="left-behind",
        ),
        pytest.param(
            lambda d: {"email": d.get("mail")}, '{"mail": "x"}', Forbidding(email="x"), id="renamed"
        ),
        pytest.param(
            lambda d: {**d, "extra": 1}, '{"email": "x"}', [("unknown-key", "$.it.extra")], id="own"
        ),
    ],
)
def test_a_model_that_forbids_undeclared_keys_also_refuses_those_of_the_authors_code(
    way: Way, sent: str, expected: Any
):
    result, received = call(Annotated[Forbidding, BeforeValidator(way)], f'{{"it": {sent}}}')
    assert (refusal(result) if result["isError"] else received[0]) == expected


class Twice(BaseModel):
    email: str | None = None
    age: int = 0

    @model_validator(mode="before")
    @classmethod
    def second(cls, value: Any) -> Any:
        made = dict(value)
        if value.get("mail"):
            made["email"] = value["mail"].strip()
        return made

    @model_validator(mode="before")
    @classmethod
    def first(cls, value: Any) -> Any:
        return {key.lower(): each for key, each in value.items()}


class WrappedTwice(Twice):
    @model_validator(mode="wrap")
    @classmethod
    def forgive(cls, value: Any, handler: Any) -> Any:
        try:
            return handler({**value})
        except ValueError:
            return Plain()


@pytest.mark.parametrize("model", [Twice, WrappedTwice])
def test_consecutive_validators_share_the_keys_they_read(model: Any):
    result, received = call(model, '{"it": {"MAIL": " a@x"}}')
    assert not result["isError"]
    assert received[0].email == "a@x"

    result, received = call(model, '{"it": {"mail": " a@x"}}')
    assert not result["isError"]
    assert received[0].email == "a@x"

    result, _ = call(model, '{"it": {"mail": " a@x", "emial": "b@x"}}')
    assert refusal(result) == [("unknown-key", "$.it.emial")]


@pytest.mark.parametrize("mode", ["before", "wrap"])
@pytest.mark.parametrize(
    ("way", "sent"),
    [
        pytest.param(lambda d: Plain(**recased_keys(d)), '{"EMAIL": "a@x"}', id="re-cased"),
        pytest.param(lambda d: Plain(email=d.get("mail")), '{"mail": "a@x"}', id="by name"),
    ],
)
def test_an_instance_that_has_the_value_is_accepted(way: Way, sent: str, mode: str):
    # A second validator in front shows that an instance ends the row.
    hint = Annotated[on_field(mode, way), BeforeValidator(lambda value: value)]
    result, received = call(hint, f'{{"it": {sent}}}')
    assert not result["isError"]
    assert received == [Plain(email="a@x")]


def test_a_wrap_validator_may_try_again_with_another_object():
    def retry(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except ValueError:
            return handler({"email": value.get("mail"), "age": 0})

    hint = Annotated[Plain, WrapValidator(retry)]
    result, received = call(hint, '{"it": {"mail": "a@x", "age": "old"}}')
    assert not result["isError"]
    assert received == [Plain(email="a@x", age=0)]


def test_a_wrap_validator_that_does_not_call_its_handler_loses_nothing():
    hint = Annotated[Plain, WrapValidator(lambda value, _: Plain(**value))]
    result, received = call(hint, '{"it": {"email": "a@x"}}')
    assert received == [Plain(email="a@x")]
    result, _ = call(hint, '{"it": {"email": "a@x", "note": "x"}}')
    assert refusal(result) == [("unknown-key", "$.it.note")]


def test_a_wrap_validators_own_refusal_is_sent_unchanged():
    def strict(value: Any, handler: Any) -> Any:
        return handler({"email": value.get("mail"), "age": value.get("years")})

    hint = Annotated[Plain, WrapValidator(strict)]
    result, _ = call(hint, '{"it": {"mail": "a@x", "years": "many"}}')
    assert refusal(result) == [("invalid", "$.it.age")]


@dataclass
class Point:
    x: int = 0


class Square(BaseModel):
    side: int = 0


Either = Annotated[Point | Square | int, BeforeValidator(lambda value: value)]
Authored = Annotated[
    Point | Annotated[Square, BeforeValidator(dict)], BeforeValidator(lambda value: value)
]
Loose = Annotated[Point | dict[str, int], BeforeValidator(lambda value: value)]


@pytest.mark.parametrize(
    ("hint", "sent", "expected"),
    [
        pytest.param(Either, '{"x": 1}', Point(x=1), id="first"),
        pytest.param(Either, '{"side": 1}', Square(side=1), id="second"),
        pytest.param(Either, "5", 5, id="no-object"),
        pytest.param(
            Either, '{"side": 1, "z": 2}', [("unknown-key", "$.it.z")], id="undeclared-in-both"
        ),
        pytest.param(Authored, '{"side": 1}', Square(side=1), id="a-branch-with-its-own"),
        pytest.param(Loose, '{"z": 1}', {"z": 1}, id="an-open-branch"),
    ],
)
def test_in_front_of_a_union_the_keys_of_every_branch_are_declared(hint, sent, expected):
    result, received = call(hint, f'{{"it": {sent}}}')
    assert (refusal(result) if result["isError"] else received[0]) == expected


class OwnInit(BaseModel):
    email: str | None = None

    def __init__(self, *, mail: str | None = None, **fields: Any) -> None:
        super().__init__(**({"email": mail} if mail else {}), **fields)


def test_keys_of_an_overridden_init_are_declared():
    hint = Annotated[OwnInit, BeforeValidator(lambda value: {**value})]
    result, received = call(hint, '{"it": {"mail": "a@x"}}')
    assert not result["isError"]
    assert received[0].email == "a@x"
    result, _ = call(hint, '{"it": {"mial": "a@x"}}')
    assert refusal(result) == [("unknown-key", "$.it.mial")]


class Node(BaseModel):
    name: str = ""
    below: "list[Node]" = Field(default_factory=list)


def test_a_model_that_contains_itself_is_guarded_behind_a_validator_too():
    hint = Annotated[Node, BeforeValidator(lambda value: {k: value[k] for k in value})]
    result, received = call(hint, '{"it": {"name": "a", "below": [{"name": "b"}]}}')
    assert not result["isError"]
    assert received[0].below[0].name == "b"
    result, _ = call(hint, '{"it": {"nmae": "a", "below": [{"nmae": "b"}]}}')
    assert sorted(refusal(result)) == [
        ("unknown-key", "$.it.below[0].nmae"),
        ("unknown-key", "$.it.nmae"),
    ]


def test_text_that_the_authors_code_reads_is_guarded_too():
    hint = Annotated[Plain, BeforeValidator(json.loads)]
    result, received = call(hint, '{"it": "{\\"email\\": \\"a@x\\"}"}')
    assert received == [Plain(email="a@x")]
    result, _ = call(hint, '{"it": "{\\"data\\": {\\"email\\": \\"a@x\\"}}"}')
    assert [path for _, path in refusal(result)] == ["$.it.data"]


class Noted(BaseModel):
    age: int = 0
    meta: dict[str, Any] = Field(default={}, description='For example {"a": 1}')


def note_in_meta(d: Any) -> Any:
    made = json.loads(json.dumps(d))  # a copy in which a read by name leaves no trace
    made["meta"] = {"notes": [made["note"]]}
    return made


def aged_in_meta(d: Any) -> Any:
    return Noted(age=dict(d)["Age"], meta={"flag": True})


@pytest.mark.parametrize(
    ("way", "sent", "expected"),
    [
        pytest.param(
            note_in_meta, '{"note": "hi"}', Noted(meta={"notes": ["hi"]}), id="inside-another"
        ),
        pytest.param(
            note_in_meta, '{"note": true}', [("unknown-key", "$.it.note")], id="too-common-a-value"
        ),
        pytest.param(
            aged_in_meta, '{"Age": 3}', Noted(age=3, meta={"flag": True}), id="a-similar-name"
        ),
    ],
)
def test_a_value_stored_in_a_new_field_is_not_lost(way: Way, sent: str, expected: Any):
    result, received = call(Annotated[Noted, BeforeValidator(way)], f'{{"it": {sent}}}')
    assert (refusal(result) if result["isError"] else received[0]) == expected


def test_problems_of_validators_in_a_row_are_reported_once():
    class Rowed(Twice):
        @model_validator(mode="wrap")
        @classmethod
        def pass_on(cls, value: Any, handler: Any) -> Any:
            return handler(value)

    result, _ = call(Rowed, '{"it": {"emial": "b@x", "age": [1]}}')
    assert sorted(refusal(result)) == [("invalid", "$.it.age"), ("unknown-key", "$.it.emial")]


def test_a_marker_between_a_validator_and_its_model_changes_nothing():
    hint = Annotated[Plain | None, Verbatim(), BeforeValidator(dict)]
    result, _ = call(hint, '{"it": {"emial": "b@x"}}')
    assert refusal(result) == [("unknown-key", "$.it.emial")]


class Outer(BaseModel):
    inner: Plain


@pytest.mark.parametrize(
    ("hint", "sent", "path"),
    [
        pytest.param(Json[Plain], r'"{\"emial\": 1}"', "$.it.emial", id="object"),
        pytest.param(Json[list[Plain]], r'"[{\"emial\": 1}]"', "$.it[0].emial", id="in-an-array"),
        pytest.param(
            Json[list[Outer]], r'"[{\"inner\": {\"emial\": 1}}]"', "$.it[0].inner.emial", id="deep"
        ),
    ],
)
def test_undeclared_key_in_declared_json_text_is_refused_without_advice(hint, sent, path):
    result, _ = call(hint, f'{{"it": {sent}}}')
    assert refusal(result) == [("unknown-key", path)]
    assert "Declared fields" not in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("way", "sent", "expected"),
    [
        pytest.param(
            lambda items: [dict(each) for each in items[1:]],
            '[{"mail": "a@x"}, {"mail": "b@x"}]',
            [("unknown-key", "$.it[1].mail")],
            id="fewer",
        ),
        pytest.param(
            lambda items: items[::-1],
            '[{"mail": "a@x"}, {"email": "b@x"}]',
            [("unknown-key", "$.it[0].mail")],
            id="another-order",
        ),
        pytest.param(
            lambda items: json.loads(json.dumps(items))[::-1],
            '[{"mail": "a@x"}, {"email": "b@x"}]',
            [("unknown-key", "$.it[0].mail")],
            id="another-order-and-copied",
        ),
        pytest.param(
            lambda items: [json.loads(each) if isinstance(each, str) else each for each in items],
            r'["{\"mail\": \"a@x\"}", {"mail": "b@x"}]',
            [("unknown-key", "$.it[0].mail"), ("unknown-key", "$.it[1].mail")],
            id="text",
        ),
        pytest.param(lambda items: None, '[{"mail": "a@x"}]', [("invalid", "$.it")], id="no-list"),
        pytest.param(
            lambda items: [Plain(email=each.get("mail")) for each in items if each.get("mail")],
            '[{"mail": "a@x"}, {"age": 5}]',
            [Plain(email="a@x")],
            id="instances",
        ),
        pytest.param(lambda items: items, "5", [("invalid", "$.it")], id="sent-no-list"),
    ],
)
def test_the_items_of_a_list_are_checked_separately(way: Way, sent: str, expected: Any):
    result, received = call(Annotated[list[Plain], BeforeValidator(way)], f'{{"it": {sent}}}')
    assert (refusal(result) if result["isError"] else received[0]) == expected


def test_a_list_without_fields_is_left_to_its_validator():
    for hint, sent in ((list[int], "[1]"), (list[dict[str, int]], '[{"a": 1}]')):
        for listed in (hint, hint | None):
            marked = Annotated[listed, BeforeValidator(lambda value: value)]
            assert call(marked, f'{{"it": {sent}}}')[1] == [json.loads(sent)]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""


class Kennel(BaseModel):
    inner: Dog | None = None

    @model_validator(mode="before")
    @classmethod
    def put_in(cls, value: Any) -> Any:
        return {"inner": value}


Pet = Annotated[Cat | Dog, Field(discriminator="kind"), BeforeValidator(lambda value: {**value})]


@pytest.mark.parametrize(
    ("hint", "sent", "path"),
    [
        pytest.param(Pet, '{"kind": "cat", "livse": 3}', "$.it.livse", id="branch-of-a-union"),
        pytest.param(Kennel, '{"kind": "dog", "nmae": "x"}', "$.it.nmae", id="moved-inwards"),
    ],
)
def test_a_path_behind_a_validator_names_the_place_in_the_call_as_sent(
    hint: Any, sent: str, path: str
):
    result, _ = call(hint, f'{{"it": {sent}}}')
    assert refusal(result) == [("unknown-key", path)]
