"""Models that an author's validator creates itself, at any depth and in a list of any length: a key
that such a model drops is refused, unless the author's code has handled it.
"""

import json
from typing import Annotated, Any, Literal

import pytest
from passing_ways import PASSING_INSTANCES
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    model_validator,
)
from validator_places import PLACES, Outer, in_mode, outcome
from validator_ways import LOSING_INSTANCES, Checked, Plain, Way

EVERYWHERE = pytest.mark.parametrize(
    ("mode", "place"), [(mode, place) for mode in ("before", "wrap") for place in PLACES]
)


@EVERYWHERE
@pytest.mark.parametrize("way", LOSING_INSTANCES)
def test_an_undeclared_key_that_an_instance_drops_is_refused(way: str, mode: str, place: str):
    hint, lift, body, path = PLACES[place]
    hint = in_mode(mode, hint, lift(LOSING_INSTANCES[way]))

    assert outcome(hint, body % '{"email": "a@x", "zz": "q1"}') == [
        ("unknown-key", f"$.it{path}.zz")
    ]
    assert outcome(hint, body % '{"data": {"email": "a@x"}}') == [
        ("nested-wrapper", f"$.it{path}.data")
    ]
    assert "'a@x'" in repr(outcome(hint, body % '{"email": "a@x"}'))


@EVERYWHERE
@pytest.mark.parametrize("way", PASSING_INSTANCES)
def test_a_key_that_the_authors_code_has_handled_is_accepted(way: str, mode: str, place: str):
    hint, lift, body, _ = PLACES[place]
    rewrite, sent = PASSING_INSTANCES[way]
    hint = in_mode(mode, hint, lift(rewrite))
    assert "'a@x'" in repr(outcome(hint, body % json.dumps(sent)))


def made_if_older(make: Way) -> Way:
    return lambda items: [make(each) for each in items if each.get("age", 0) > 1]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda each: Plain(**each), id="expanded"),
        pytest.param(Plain.model_validate, id="validated"),
        pytest.param(lambda each: Plain.model_validate(dict(each)), id="copied"),
    ],
)
def test_an_item_that_the_authors_code_removes_may_have_any_key(make: Way):
    hint = Annotated[list[Plain], BeforeValidator(made_if_older(make))]
    assert outcome(hint, '[{"age": 1, "zz": 1}, {"age": 5}]') == [Plain(age=5)]
    assert outcome(hint, '[{"age": 1, "zz": 1}, {"age": 5, "zz": 2}]') == [
        ("unknown-key", "$.it[1].zz")
    ]
    assert outcome(hint, '[{"age": 1, "zz": 1}]') == []


def test_a_model_that_contains_itself_may_be_made_by_the_authors_code():
    class Node(BaseModel):
        name: str = ""
        below: "list[Node]" = Field(default_factory=list)

    def build(value: Any) -> Any:
        return Node(**{**value, "below": [build(each) for each in value.get("below", [])]})

    for change in (build, Node.model_validate, lambda value: Node(**value)):
        hint = Annotated[Node, BeforeValidator(change)]
        three = '{"name": "a", "below": [{"name": "b", "below": [{"name": "c"%s}]}]}'
        assert outcome(hint, three % "").below[0].below[0].name == "c"
        assert outcome(hint, three % ', "zz": 1') == [("unknown-key", "$.it.below[0].below[0].zz")]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""


def test_the_instances_of_a_union_are_checked_separately():
    made = {"cat": Cat, "dog": Dog}
    pets = list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    hint = Annotated[
        pets, BeforeValidator(lambda items: [made[each["kind"]](**each) for each in items])
    ]
    assert outcome(hint, '[{"kind": "cat", "lives": 3}]') == [Cat(kind="cat", lives=3)]
    assert outcome(hint, '[{"kind": "cat"}, {"kind": "dog", "nmae": "x"}]') == [
        ("unknown-key", "$.it[1].nmae")
    ]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    email: str = ""


class Both(BaseModel):
    kept: Open | None = None
    closed: Plain | None = None
    anything: Any = None


def test_an_open_model_keeps_the_key():
    hint = Annotated[
        Both,
        BeforeValidator(
            lambda value: {"kept": Open(**value["kept"]), "closed": Plain(**value["closed"])}
        ),
    ]
    value = outcome(hint, '{"kept": {"zz": 1}, "closed": {"age": 1}}')
    assert value.kept.model_extra == {"zz": 1}
    assert outcome(hint, '{"kept": {"zz": 1}, "closed": {"age": 1, "zz": 1}}') == [
        ("unknown-key", "$.it.closed.zz")
    ]


def test_a_closed_field_may_hold_an_open_instance():
    class Wider(Plain):
        model_config = ConfigDict(extra="allow")

    hint = Annotated[list[Plain], BeforeValidator(lambda items: [Wider(**items[1])])]
    (made,) = outcome(hint, '[{}, {"age": 1, "zz": 2}]')
    assert made.model_extra == {"zz": 2}


def test_an_object_stored_in_a_field_of_any_type_is_not_lost():
    def leave(value: Any) -> Any:
        return {
            "anything": [value["closed"], {**value["closed"]}, list(value["closed"]), (1, value)],
        }

    value = outcome(
        Annotated[Both, BeforeValidator(leave)], '{"closed": {"age": 1, "zz": 2}}'
    ).anything
    assert value[:3] == [{"age": 1, "zz": 2}, {"age": 1, "zz": 2}, ["age", "zz"]]
    # The tool gets plain dicts and texts, and no type of ours.
    for each in (value[0], value[1], value[3][1]):
        assert type(each) is dict
        assert {type(key) for key in each} == {str}
    assert {type(each) for each in value[2]} == {str}


def test_an_instance_that_contains_the_sent_object_loses_no_key():
    hint = Annotated[
        list[Outer],
        BeforeValidator(lambda items: [Outer.model_construct(inner=items[1]["inner"])]),
    ]
    (made,) = outcome(hint, '[{}, {"label": "x", "inner": {"age": 1, "zz": 2}}]')
    assert made.inner == {"age": 1, "zz": 2}


def test_a_dataclass_checks_its_keys_itself():
    def filtered(items: Any) -> Any:
        names = ("email", "age")
        return [Checked(**{k: v for k, v in each.items() if k in names}) for each in items]

    def picked(items: Any) -> Any:
        return [Checked(email=each["email"]) for each in items]

    sent = '[{"email": "a@x", "zz": 1}]'
    hint = list[Checked]
    assert outcome(Annotated[hint, BeforeValidator(filtered)], sent) == [Checked(email="a@x")]
    assert outcome(Annotated[hint, BeforeValidator(picked)], sent) == [
        ("unknown-key", "$.it[0].zz")
    ]


class Slotted:
    """An instance that does not show its values."""

    __slots__ = ("email",)

    def __init__(self, **values: Any) -> None:
        self.email = values.get("email")


def test_instance_without_fields_is_not_taken_for_the_made_object():
    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        held: Plain | Slotted | None = None

    hint = Annotated[
        list[Holder],
        BeforeValidator(lambda items: [{"held": Slotted(**each["held"])} for each in items]),
    ]
    (made,) = outcome(hint, '[{"held": {"email": "a@x"}}]')
    assert made.held.email == "a@x"


class Kin(BaseModel):
    first: Plain | None = None
    second: Plain | None = None

    @model_validator(mode="before")
    @classmethod
    def swap(cls, value: Any) -> Any:
        return {"first": value.get("second"), "second": value.get("first")}


def test_an_object_that_is_moved_keeps_its_history_and_its_path():
    assert outcome(Kin, '{"first": {"age": 1}}').second == Plain(age=1)
    assert outcome(Kin, '{"first": {"age": 1, "zz": 1}}') == [("unknown-key", "$.it.first.zz")]


def many(count: int) -> str:
    items = (f'{{"email": "e{n}", "age": {n}, "z{n}": 1}}' for n in range(count))
    return f"[{', '.join(items)}]"


def test_many_instances_in_a_list_of_another_length_are_refused_in_time():
    hint = Annotated[
        list[Plain], BeforeValidator(lambda items: list(map(Plain.model_validate, items[1:])))
    ]
    found = outcome(hint, many(2_000))
    assert found[0] == ("unknown-key", "$.it[0].z0")
    assert len(found) == 40


def test_instances_that_a_type_adapter_creates_in_one_call_are_found():
    adapter = TypeAdapter(dict[str, list[Plain]])
    hint = Annotated[dict[str, list[Plain]], BeforeValidator(adapter.validate_python)]
    assert outcome(hint, '{"a": [{"age": 1}]}') == {"a": [Plain(age=1)]}
    assert outcome(hint, '{"a": [{"age": 1}], "b": [{"age": 2, "zz": 1}]}') == [
        ("unknown-key", "$.it.b[0].zz")
    ]


def test_an_instance_may_contain_another_one_twice():
    def doubled(value: Any) -> Any:
        one = Plain(**value["first"])
        return [Kin.model_construct(first=one, second=one)]

    hint = Annotated[list[Kin], BeforeValidator(lambda items: doubled(items[1]))]
    (made,) = outcome(hint, '[{}, {"first": {"age": 1}}]')
    assert made.first is made.second
    assert outcome(hint, '[{}, {"first": {"age": 1, "zz": 2}}]') == [
        ("unknown-key", "$.it[1].first.zz")
    ]


def test_keys_that_are_passed_on_as_texts_are_not_lost():
    def named(value: Any) -> Any:
        return {"anything": list(value["closed"]), "closed": Plain(**value["closed"])}

    hint = Annotated[Both, BeforeValidator(named)]
    assert outcome(hint, '{"closed": {"age": 1, "zz": 2}}').anything == ["age", "zz"]
