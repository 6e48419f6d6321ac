"""The law on random contracts: valid calls, and random mutations of them, each with its intended
meaning.

A call is either made as intended, or refused and not made. The corrected call in a refusal is
accepted unchanged.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import count
from typing import Annotated, Any, Literal
from uuid import UUID

from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, create_model

from toolbooth import (
    Contract,
    Unpack,
    compile_function,
    compile_json_schema,
    compile_model,
    handle_bytes,
)
from toolbooth.boundary.examine import examine
from toolbooth.shape_check import fits

# The same examples on every run: a failure in CI is a failure at home.
LAW = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=120,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)

NAMES = [
    "name",
    "head_count",
    "unit_price",
    "place",
    "tags",
    "first_day",
    "owner_id",
    "level",
    "remark",
    "weight_kg",
]
WRAPPERS = [
    "data",
    "params",
    "request",
    "body",
    "arguments",
    "input",
    "payload",
    "attributes",
    "fields",
    "zq",
    "My Own",
]
MARK = "s3cr3t"
CLASS = "Zqmodel"
serial = count()


# --- random contracts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A declared type, with valid JSON for it."""

    annotation: Any
    values: st.SearchStrategy[Any]
    text: bool = False
    """It has a string branch."""
    nullable: bool = False
    wrong: Any = True
    """JSON that is invalid for it, even after repairs."""
    slots: "dict[str, Slot] | None" = None
    items: "Kind | None" = None
    secret: bool = False


@dataclass(frozen=True, kw_only=True)
class Slot:
    kind: Kind
    required: bool


plain_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)
SCALARS = [
    Kind(annotation=int, values=st.integers(-(10**30), 10**30)),
    Kind(annotation=float, values=numbers),
    Kind(annotation=bool, values=st.booleans(), wrong=7),
    Kind(
        annotation=str,
        values=plain_text | st.sampled_from(["5", "null", "true", "[1]", '{"a": 1}', ""]),
        text=True,
    ),
    Kind(annotation=date, values=st.dates().map(date.isoformat), text=True),
    Kind(annotation=UUID, values=st.uuids().map(str), text=True),
    Kind(annotation=Literal["red", "blue"], values=st.sampled_from(["red", "blue"]), text=True),
    Kind(annotation=Literal[1, 2], values=st.sampled_from([1, 2])),
    Kind(annotation=int | float, values=st.integers(-99, 99) | numbers),
    Kind(annotation=int | str, values=st.integers(-99, 99) | plain_text, text=True),
    Kind(
        annotation=Decimal,
        values=st.integers(-(10**6), 10**6).map(lambda cents: cents / 100),
        text=True,
    ),
    Kind(
        annotation=SecretStr,
        values=st.integers(0, 99).map(lambda number: f"{MARK}-{number}"),
        text=True,
        secret=True,
    ),
]


def optional(kind: Kind) -> Kind:
    return replace(
        kind, annotation=kind.annotation | None, values=st.none() | kind.values, nullable=True
    )


def list_of(kind: Kind) -> Kind:
    return Kind(
        annotation=list[kind.annotation], values=st.lists(kind.values, max_size=3), items=kind
    )


def dict_of(kind: Kind) -> Kind:
    keys = plain_text | st.sampled_from(["data", "firstName", "a.b"])
    values = st.dictionaries(keys, kind.values, max_size=3)
    return Kind(annotation=dict[str, kind.annotation], values=values, items=kind)


def or_integers(model: Kind) -> Kind:
    integers = list_of(SCALARS[0])
    values = model.values | integers.values
    return replace(
        model, annotation=model.annotation | integers.annotation, values=values, items=SCALARS[0]
    )


@st.composite
def models(draw: st.DrawFn, depth: int = 2) -> Kind:
    slots: dict[str, Slot] = {}
    declared: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)):
        slot = Slot(kind=draw(kinds(depth - 1)), required=draw(st.booleans()))
        alias = f"{name}_as_sent" if draw(st.integers(0, 5)) == 0 else None
        given = Field(alias=alias) if slot.required else Field(default=None, alias=alias)
        declared[name] = (slot.kind.annotation, given)
        slots[alias or name] = slot
    model = create_model(f"{CLASS}{next(serial)}", **declared)
    required = {key: slot.kind.values for key, slot in slots.items() if slot.required}
    others = {key: slot.kind.values for key, slot in slots.items() if not slot.required}
    return Kind(
        annotation=model, values=st.fixed_dictionaries(required, optional=others), slots=slots
    )


@st.composite
def kinds(draw: st.DrawFn, depth: int) -> Kind:
    made = draw(st.sampled_from(SCALARS))
    if depth > 0:
        form = draw(st.sampled_from(["scalar", "model", "model", "list", "dict", "union"]))
        made = draw(models(depth)) if form == "model" else made
        made = or_integers(draw(models(depth))) if form == "union" else made
        made = list_of(draw(kinds(depth - 1))) if form == "list" else made
        made = dict_of(draw(kinds(depth - 1))) if form == "dict" else made
    return optional(made) if draw(st.integers(0, 4)) == 0 else made


@dataclass(frozen=True, kw_only=True, repr=False)
class Tool:
    """One random contract, with the model that defines the meaning of a valid call."""

    kind: Kind
    source: str
    contract: Contract

    def __repr__(self) -> str:
        return f"{self.source} {json.dumps(self.contract.schema)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def means(self, arguments: Any) -> str:
        """Return the values that the tool gets from a valid call, by Pydantic alone."""
        if self.source == "json-schema":
            return in_order(arguments)
        return described(self.kind.annotation.model_validate_json(json.dumps(arguments)))

    def send(self, arguments: Any) -> "Answer":
        return self.send_bytes(json.dumps(arguments).encode())

    def send_bytes(self, body: bytes) -> "Answer":
        got: list[str] = []

        def function(*args: Any, **keywords: Any) -> None:
            received = [*args, *keywords.values()]
            got.extend(
                in_order(each) if isinstance(each, dict) else described(each) for each in received
            )

        result = handle_bytes(self.contract, body, function)
        meta = result.get("_meta", {}).get("toolbooth", {})
        assert bool(got) is not result["isError"]
        return Answer(received=got[0] if got else None, result=result, meta=meta)


def in_order(arguments: Any) -> str:
    """Return canonical JSON, in which 1, 1.0 and true differ."""
    return json.dumps(arguments, sort_keys=True)


def described(value: Any) -> str:
    """Return a model with its types and the fields that were set, in the order of its fields."""
    if isinstance(value, BaseModel):
        names = [name for name in type(value).model_fields if name in value.model_fields_set]
        return str([f"{name}: {described(getattr(value, name))}" for name in names])
    if isinstance(value, list):
        return str(list(map(described, value)))
    if isinstance(value, dict):
        return str({key: described(each) for key, each in value.items()})
    if isinstance(value, Decimal):
        return f"Decimal {value.normalize()}"  # 1.10 and 1.1 are one number
    return value.get_secret_value() if isinstance(value, SecretStr) else repr(value)


@dataclass(frozen=True, kw_only=True)
class Answer:
    received: str | None
    result: dict[str, Any]
    meta: dict[str, Any]

    @property
    def text(self) -> str:
        return self.result["content"][0]["text"]


def compiled(model: type[BaseModel], source: str) -> Contract:
    if source == "model":
        return compile_model(model, name="tool")
    if source == "json-schema":
        return compile_json_schema(model.model_json_schema(), name="tool")

    def tool(request: Annotated[model, Unpack()]) -> None: ...

    return compile_function(tool)


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    kind = draw(models())
    source = draw(st.sampled_from(["model", "unpack", "json-schema"]))
    return Tool(kind=kind, source=source, contract=compiled(kind.annotation, source))


@st.composite
def valid_calls(draw: st.DrawFn) -> tuple[Tool, Any]:
    tool = draw(tools())
    return tool, draw(tool.kind.values)


# --- random mutations -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Place:
    """One value in a call: the object or array that contains it, its key there, and its declared
    type.
    """

    holder: Any
    key: Any
    kind: Kind
    slot: Slot | None

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def places(place: Place) -> Iterator[Place]:
    """Yield this place and all places below it."""
    yield place
    kind, value = place.kind, place.value
    if isinstance(value, dict) and kind.slots is not None:
        for key in list(value):
            slot = kind.slots[key]
            yield from places(Place(holder=value, key=key, kind=slot.kind, slot=slot))
    elif isinstance(value, dict | list) and kind.items is not None:
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(Place(holder=value, key=key, kind=kind.items, slot=None))


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A call that was changed on the way. `meant` is None if it must be refused."""

    name: str
    arguments: Any
    meant: Any
    invertible: bool = False
    """Only one correction is possible: the original call."""


def is_object(place: Place) -> bool:
    return isinstance(place.value, dict) and place.kind.slots is not None


def wrap(draw: st.DrawFn, place: Place) -> None:
    inner = place.value
    key = draw(st.sampled_from([each for each in WRAPPERS if each not in place.kind.slots]))
    place.holder[place.key] = {key: json.dumps(inner) if draw(st.booleans()) else inner}


def wrap_half(draw: st.DrawFn, place: Place) -> None:
    inner = place.value
    moved = draw(st.sampled_from(sorted(inner)))
    inner["data"] = {moved: inner.pop(moved)}


def stringify(draw: st.DrawFn, place: Place) -> None:
    text = json.dumps(place.value)
    place.holder[place.key] = json.dumps(text) if draw(st.booleans()) else text


def break_text(draw: st.DrawFn, place: Place) -> None:
    place.holder[place.key] = json.dumps(place.value)[:-1]


def rename(draw: st.DrawFn, place: Place, to: Callable[[str], str]) -> None:
    inner = place.value
    old = draw(st.sampled_from(sorted(inner)))
    place.holder[place.key] = {to(key) if key == old else key: each for key, each in inner.items()}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest) if rest else name.capitalize()


def movable(place: Place) -> list[tuple[str, str]]:
    """Return the keys of inner objects that this object does not declare, each after the key of its
    object.
    """
    if not is_object(place):
        return []
    inner = {
        key: each
        for key, each in place.value.items()
        if isinstance(each, dict) and place.kind.slots[key].kind.slots
    }
    return [
        (outer, key) for outer, each in inner.items() for key in each if key not in place.kind.slots
    ]


def move(draw: st.DrawFn, place: Place) -> None:
    outer, key = draw(st.sampled_from(movable(place)))
    place.value[key] = place.value[outer].pop(key)


def add(draw: st.DrawFn, place: Place) -> None:
    place.value["zzqx"] = draw(st.sampled_from([None, 1, "", "x", [], [1], True]))


@st.composite
def mutations(draw: st.DrawFn, names: list[str] | None = None) -> tuple[Tool, Any, Mutation]:
    """A tool, a valid call to it, and the outcome of the call."""
    tool, original = draw(valid_calls())
    root = {"$": copy.deepcopy(original)}
    found = list(places(Place(holder=root, key="$", kind=tool.kind, slot=None)))
    objects = [each for each in found if is_object(each)]
    filled = [each for each in objects if each.value]
    fields = [each for each in found if each.slot is not None]
    textless = [each for each in found if not each.kind.text and each.value is not None]
    containers = [each for each in textless if isinstance(each.value, dict | list)]
    choices: dict[str, list[Place]] = {
        "wrap": filled,
        "wrap-half": filled,
        "stringify": textless,
        "break-text": containers,
        "recase": filled,
        "rename": filled,
        "drop": fields,
        "add": objects,
        "move": [each for each in objects if movable(each)],
        "null": fields,
        "empty": [each for each in fields if not each.kind.text],
        "change-type": found,
        "list-instead": fields,
    }
    possible = sorted(
        name for name, among in choices.items() if among and (names is None or name in names)
    )
    if not possible:
        return tool, original, Mutation(name="none", arguments=root["$"], meant=original)
    name = draw(st.sampled_from(possible))
    place = draw(st.sampled_from(choices[name]))
    meant = _apply(draw, name, place, root, original)
    invertible = name in ("wrap", "wrap-half", "recase")
    return (
        tool,
        original,
        Mutation(name=name, arguments=root["$"], meant=meant, invertible=invertible),
    )


def _apply(draw: st.DrawFn, name: str, place: Place, root: Any, original: Any) -> Any:
    """Apply the mutation. Returns the intended call, or None if the call must be refused."""
    slot = place.slot
    if name == "stringify":
        stringify(draw, place)
        return original
    if name in ("drop", "null", "empty"):
        assert slot is not None
        if name == "null" and slot.kind.nullable:
            place.holder[place.key] = None
            return copy.deepcopy(root["$"])
        del place.holder[place.key]
        meant = None if slot.required else copy.deepcopy(root["$"])
        if name != "drop":
            place.holder[place.key] = None if name == "null" else ""
        return meant
    simple: dict[str, Callable[[], None]] = {
        "wrap": lambda: wrap(draw, place),
        "wrap-half": lambda: wrap_half(draw, place),
        "break-text": lambda: break_text(draw, place),
        "recase": lambda: rename(draw, place, camel),
        "rename": lambda: rename(draw, place, lambda old: f"zzqx_{old[:2]}"),
        "add": lambda: add(draw, place),
        "move": lambda: move(draw, place),
        "change-type": lambda: place.holder.__setitem__(place.key, place.kind.wrong),
        "list-instead": lambda: place.holder.__setitem__(place.key, [[[place.kind.wrong]]]),
    }
    simple[name]()
    return None


# --- the law --------------------------------------------------------------------------------------------------


@LAW
@given(valid_calls())
def test_valid_call_passes_with_the_values_of_pydantic(call: tuple[Tool, Any]):
    tool, arguments = call
    answer = tool.send(arguments)
    assert (answer.received, answer.meta) == (tool.means(arguments), {})


@settings(LAW, max_examples=350)
@given(mutations())
def test_a_mutated_call_is_made_as_intended_or_refused(call: tuple[Tool, Any, Mutation]):
    tool, _, mutation = call
    event(mutation.name)
    answer = tool.send(mutation.arguments)
    assert answer.received == (None if mutation.meant is None else tool.means(mutation.meant))


@settings(LAW, max_examples=300)
@given(mutations(["wrap", "wrap-half", "recase", "rename", "add", "move", "change-type"]))
def test_the_corrected_call_of_a_refusal_is_accepted_and_is_the_intended_call(
    call: tuple[Tool, Any, Mutation],
):
    tool, original, mutation = call
    corrected = tool.send(mutation.arguments).meta.get("corrected")
    event(f"{mutation.name}: {'corrected' if corrected else 'not corrected'}")
    if corrected is None:
        return
    again = tool.send(corrected)
    assert again.meta == {}
    assert again.received is not None
    if mutation.invertible:
        assert again.received == tool.means(original)


@settings(LAW, max_examples=300)
@given(mutations())
def test_refusal_is_short_and_contains_no_url_class_name_or_secret(
    call: tuple[Tool, Any, Mutation],
):
    tool, _, mutation = call
    answer = tool.send(mutation.arguments)
    if answer.received is None:
        everything = json.dumps(answer.result)
        assert len(answer.text) <= 1500
        assert "://" not in everything
        assert CLASS not in everything
        assert MARK not in everything


@settings(LAW, max_examples=200)
@given(mutations(), st.booleans())
def test_a_call_that_the_gate_accepts_has_no_repair_and_no_problem(
    call: tuple[Tool, Any, Mutation], original: bool
):
    tool, valid, mutation = call
    arguments = valid if original else mutation.arguments
    shape, limits = tool.contract.shape, tool.contract.limits
    if isinstance(arguments, dict):
        decoded, exam = examine(shape, copy.deepcopy(arguments), limits, thorough=True)
        if fits(shape, arguments):
            assert (exam.repairs, exam.problems, decoded) == ([], [], arguments)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = plain_text | st.sampled_from(NAMES)
    return inner | st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)


json_values = nested(
    nested(nested(st.none() | st.booleans() | st.integers() | st.floats() | plain_text))
)


@LAW
@given(tools(), st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
@example(None, b"\xff\xfe")
@example(None, b"\xef\xbb\xbf{}")
def test_any_bytes_get_an_answer(tool: Tool | None, body: bytes):
    class Zqmodel(BaseModel):
        name: str = ""

    kind = Kind(annotation=Zqmodel, values=st.none())
    tool = tool or Tool(kind=kind, source="model", contract=compile_model(Zqmodel, name="tool"))
    answer = tool.send_bytes(body)
    assert answer.result["isError"] in (True, False)
    assert len(answer.text) <= 1500
