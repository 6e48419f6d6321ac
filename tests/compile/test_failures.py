"""An exception in an author's code, while arguments are validated, is a refusal that names the
field. It is logged, and it does not reach the agent.
"""

import asyncio
import enum
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from failing_server import http_request
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    SecretStr,
    Tag,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from toolbooth import (
    ToolError,
    ToolInputError,
    ToolRegistry,
    Unpack,
    compile_function,
    compile_model,
    handle_arguments,
    handle_arguments_async,
    handle_bytes,
    unpack_pydantic_params,
)

UNREAD = "its value could not be read"
NO_DEFAULT = "its value could not be read from the default; send a value"


def fails(value: Any) -> Any:
    raise KeyError("inner secret")


def divides(value: int) -> int:
    return 12 // value


def compiled(annotation: Any, default: Any = ...) -> Any:
    def tool(before: int, value: Any, after: int = 0) -> str:
        return "ran"

    tool.__annotations__["value"] = annotation
    if default is not ...:
        tool.__defaults__ = (default, 0)
    return compile_function(tool)


def problems(contract: Any, arguments: Any) -> list[tuple[str, str]]:
    """Return the paths and messages of a refusal, over the bytes of a call."""
    result = handle_bytes(contract, json.dumps(arguments).encode())
    assert result["isError"], result
    assert "secret" not in json.dumps(result)
    for internal in ("KeyError", "Error:", "Traceback", "function"):
        assert internal not in result["content"][0]["text"]
    assert {each["code"] for each in result["_meta"]["toolbooth"]["problems"]} == {"invalid"}
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["path"], each["message"].partition("; got")[0]) for each in found]


# --- every kind of author's code ----------------------------------------------------------------


class ByField(BaseModel):
    number: int
    text: str = ""

    @field_validator("number")
    @classmethod
    def divides(cls, value: int) -> int:
        return divides(value)


class Before(BaseModel):
    number: int

    @model_validator(mode="before")
    @classmethod
    def unread(cls, value: Any) -> Any:
        return value.nothing


class After(BaseModel):
    number: int

    @model_validator(mode="after")
    def unread(self) -> Any:
        raise TypeError("inner secret")


class Wrapped(BaseModel):
    number: Annotated[int, BeforeValidator(fails)]

    @model_validator(mode="wrap")
    @classmethod
    def handed_on(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        return handler(value)


class WithInit(BaseModel):
    number: int

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        fails(data)


class WithPostInit(BaseModel):
    number: int
    _private: int = 1

    def model_post_init(self, context: Any) -> None:
        fails(context)


@dataclass
class WithPostInitToo:
    number: int

    def __post_init__(self) -> None:
        fails(self)


class WithFactory(BaseModel):
    number: int = Field(default_factory=lambda: int("inner secret"))


class WithFactoryOfData(BaseModel):
    text: str
    number: int = Field(alias="no", default_factory=lambda data: data["secret"])


class Dated(BaseModel):
    when: str = Field(default_factory=lambda: fails(None))
    next: "Dated | None" = None
    others: "list[Dated]" = []


class Colour(enum.Enum):
    RED = "red"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise AttributeError("inner secret")


class Custom:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        function = core_schema.no_info_after_validator_function
        return function(lambda value: value.nothing, core_schema.str_schema())


class Pair(NamedTuple):
    left: int
    right: Annotated[int, AfterValidator(divides)]


class Unhashable(BaseModel):
    number: int

    def __hash__(self) -> int:
        return fails(self)


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: Annotated[int, AfterValidator(divides)]


class Square(BaseModel):
    kind: Literal["square"]
    side: int


class Tree(BaseModel):
    number: Annotated[int, AfterValidator(divides)]
    below: "list[Tree]" = []


class Aliased(BaseModel):
    one: Annotated[int | str, AfterValidator(fails)] = Field(alias="eins")


class Uncomparable(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return fails(other)

    __hash__ = str.__hash__


def with_info(value: Any, info: ValidationInfo) -> Any:
    return info.data["nothing"]


def recurses(value: Any) -> Any:
    return recurses(value)


def wraps(value: Any, handler: Any) -> Any:
    return fails(handler(value))


ByTag = Annotated[
    Annotated[Circle, Tag("circle")] | Annotated[Square, Tag("square")], Discriminator(fails)
]
CASES: dict[str, tuple[Any, Any, str]] = {
    "before": (Annotated[int, BeforeValidator(fails)], 5, "$.value"),
    "after": (Annotated[int, AfterValidator(fails)], 5, "$.value"),
    "plain": (Annotated[int, PlainValidator(fails)], 5, "$.value"),
    "with info": (Annotated[int, BeforeValidator(with_info)], 5, "$.value"),
    "wrap": (Annotated[int, WrapValidator(wraps)], 5, "$.value"),
    "a function without Python code": (Annotated[int, BeforeValidator(len)], 5, "$.value"),
    "an endless recursion": (Annotated[int, BeforeValidator(recurses)], 5, "$.value"),
    "a secret": (Annotated[SecretStr, AfterValidator(fails)], "secret", "$.value"),
    "optional": (Annotated[int, AfterValidator(fails)] | None, 5, "$.value"),
    "a field": (ByField, {"number": 0}, "$.value.number"),
    "a field in a list": (list[ByField], [{"number": 1}, {"number": 0}], "$.value[1].number"),
    "a field in an object": (dict[str, ByField], {"a": {"number": 0}}, "$.value.a.number"),
    "a model, before": (Before, {"number": 1}, "$.value"),
    "a model, before, as text": (Before, '{"number": 1}', "$.value"),
    "a model, after": (list[After], [{"number": 1}], "$.value[0]"),
    "a field behind a wrap validator": (Wrapped, {"number": 1}, "$.value.number"),
    "an init": (WithInit, {"number": 1}, "$.value"),
    "inits, at one of several places": (list[WithInit], [{"number": 1}] * 2, "$.value"),
    "a post-init": (WithPostInit, {"number": 1}, "$.value"),
    "a post-init of a dataclass": (WithPostInitToo, {"number": 1}, "$.value"),
    "an enum": (Colour, "blue", "$.value"),
    "a custom type": (Custom, "x", "$.value"),
    "a named tuple": (Pair, [1, 0], "$.value[1]"),
    "a hash": (set[Unhashable], [{"number": 1}], "$.value[0]"),
    "a constraint that does not fit": (Annotated[str, Field(gt=3)], "x", "$.value"),
    "a discriminator": (list[ByTag], [{"kind": "circle", "radius": 1}], "$.value[0]"),
    "a tagged union": (
        Annotated[Circle | Square, Field(discriminator="kind")],
        {"kind": "circle", "radius": 0},
        "$.value.radius",
    ),
    "a union": (Circle | Square | str, {"kind": "circle", "radius": 0}, "$.value.radius"),
    "unions in a list": (
        list[Circle | Square],
        [{"kind": "circle", "radius": 1}, {"kind": "circle", "radius": 0}],
        "$.value[1].radius",
    ),
    "unions in a tuple": (
        tuple[int, Circle | str],
        [1, {"kind": "circle", "radius": 0}],
        "$.value[1].radius",
    ),
    "unions in an object": (
        dict[str, Circle | str],
        {"a": "b", "c": {"kind": "circle", "radius": 0}},
        "$.value.c.radius",
    ),
    "a key, and a union": (
        dict[Annotated[str, AfterValidator(fails)], int] | int,
        {"a": 1},
        "$.value.a",
    ),
    "a union in which another branch accepts": (
        Annotated[int, AfterValidator(fails)] | str | int,
        5,
        "$.value",
    ),
    "a recursive model": (
        Tree,
        {"number": 1, "below": [{"number": 2}, {"number": 3, "below": [{"number": 0}]}]},
        "$.value.below[1].below[0].number",
    ),
    "a recursive model in a union": (
        Tree | str,
        {"number": 1, "below": [{"number": 2}, {"number": 0}]},
        "$.value.below[1].number",
    ),
    "a value that cannot be compared": (
        list[Annotated[str, AfterValidator(Uncomparable), AfterValidator(fails)] | int],
        [1, "a"],
        "$.value",
    ),
    "an alias, in a union": (list[Aliased | None], [None, {"eins": 1}], "$.value[1].eins"),
}


@pytest.mark.parametrize(("annotation", "value", "path"), CASES.values(), ids=list(CASES))
def test_an_exception_is_a_refusal_that_names_the_field(annotation, value, path, caplog):
    contract = compiled(annotation)
    assert problems(contract, {"before": 1, "value": value}) in (
        [(path, UNREAD)],
        [(path, f"as a key: {UNREAD}")],
    )
    [record] = caplog.records
    assert (record.name, record.levelname) == ("toolbooth", "ERROR")
    assert record.getMessage() == "validating the arguments of 'tool' failed"
    assert record.exc_info is not None


@pytest.mark.parametrize(
    ("annotation", "value", "path"),
    [
        (WithFactory, {}, "$.value.number"),
        (list[WithFactory], [{"number": 1}, {}], "$.value[1].number"),
        (WithFactoryOfData, {"text": "a"}, "$.value.no"),
        (Annotated[WithFactory, AfterValidator(fails)] | str, {}, "$.value.number"),
        (list[Dated], [{"when": "now", "next": {}}], "$.value[0].next.when"),
    ],
    ids=["of a model", "in a list", "of data", "in a union", "in a recursive model"],
)
def test_a_default_factory_that_fails_asks_for_a_value(annotation, value, path, caplog):
    arguments = {"before": 1, "value": value}
    assert problems(compiled(annotation), arguments) == [(path, NO_DEFAULT)]
    assert len(caplog.records) == 1


def test_a_default_factory_of_a_parameter_that_fails_asks_for_a_value():
    contract = compiled(int, Field(default_factory=lambda: fails(None)))
    assert problems(contract, {"before": 1}) == [("$.value", NO_DEFAULT)]
    assert handle_bytes(contract, b'{"before": 1, "value": 2}')["isError"] is False


def test_a_default_that_is_validated_and_fails_names_its_field():
    class Checked(BaseModel):
        number: Annotated[int, AfterValidator(divides)] = Field(default=0, validate_default=True)

    assert problems(compiled(Checked), {"before": 1, "value": {}}) == [("$.value.number", UNREAD)]
    contract = compiled(Checked | str)
    assert problems(contract, {"before": 1, "value": {}}) == [("$.value.number", UNREAD)]


def test_all_problems_are_reported_at_once(caplog):
    contract = compiled(list[ByField])
    sent = {"value": [{"number": 0}, {"number": 1, "text": "ok"}, {"number": 0}], "after": 3}
    result = handle_arguments(contract, sent)
    found = result["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in found] == [
        ("missing", "$.before"),
        ("invalid", "$.value[0].number"),
        ("invalid", "$.value[2].number"),
    ]
    assert len(caplog.records) == 2


def test_the_sent_value_is_repeated_unless_it_is_a_secret():
    text = handle_arguments(compiled(Annotated[str, AfterValidator(fails)]), {"value": "[1]"})
    assert f'- $.value: {UNREAD}; got "[1]"' in text["content"][0]["text"]
    hidden = compiled(Annotated[SecretStr, AfterValidator(fails)])
    assert "[1]" not in json.dumps(handle_arguments(hidden, {"value": "[1]"}))


REFUSED = {
    "content": [
        {
            "type": "text",
            "text": "Refused: 1 problem in the arguments of 'http_request'. Nothing was done.\n"
            '- $.headers: its value could not be read; got "[1]"',
        }
    ],
    "isError": True,
    "_meta": {
        "toolbooth": {
            "code": -32602,
            "problems": [
                {
                    "code": "invalid",
                    "path": "$.headers",
                    "message": 'its value could not be read; got "[1]"',
                }
            ],
        }
    },
}


def test_the_validator_of_the_http_tool_refuses_a_list():
    contract = compile_function(http_request)
    assert handle_bytes(contract, b'{"headers": "[1]"}') == REFUSED
    assert handle_arguments(contract, {"headers": "[1]"}) == REFUSED
    assert asyncio.run(handle_arguments_async(contract, {"headers": "[1]"})) == REFUSED
    registry = ToolRegistry("web")
    registry.tool(http_request)
    assert registry.dispatch("http_request", {"headers": "[1]"}) == REFUSED
    ok = registry.dispatch("http_request", {"headers": '{"A": 1}'})
    assert ok["structuredContent"] == {"headers": {"A": "1"}}


def test_problem_of_a_whole_model_has_the_root_path_and_names_a_field():
    contract = compile_model(After, lambda request: "ran", name="tool")
    assert problems(contract, {"number": 1}) == [("$", UNREAD)]
    first = Annotated[After, Unpack(prefix="a_")]
    second = Annotated[ByField, Unpack(prefix="b_")]

    def tool(one: first, two: second) -> str:
        return "ran"

    [(path, said)] = problems(compile_function(tool), {"a_number": 1, "b_number": 1})
    assert (path, said) == ("$", f'{UNREAD} (of "a_number")')


def test_a_direct_call_of_an_unpacked_function_is_refused():
    flat = unpack_pydantic_params(http_request)
    with pytest.raises(ToolInputError, match=r"\$\.headers: its value could not be read"):
        flat(headers="[1]")


def test_python_values_are_refused_in_the_same_way():
    def tool(given: Annotated[Any, BeforeValidator(fails)], request: Annotated[ByField, Unpack()]):
        return "ran"

    flat: Any = unpack_pydantic_params(tool)
    with pytest.raises(ToolInputError, match=r"\$\.given: its value could not be read"):
        flat(given=object(), number=1)


# --- exceptions that pass through -----------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError]
)
@pytest.mark.parametrize("in_union", [False, True])
def test_exceptions_that_end_a_program_are_not_caught(error, in_union, caplog):
    def ends(value: Any) -> Any:
        raise error

    validated = Annotated[int, BeforeValidator(ends)]
    with pytest.raises(error):
        handle_arguments(
            compiled(validated | str if in_union else validated), {"before": 1, "value": 1}
        )
    assert caplog.records == []


def says(value: Any) -> Any:
    raise ToolError("tool", "in my words")


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, BeforeValidator(says)],
        Annotated[int, BeforeValidator(says)] | str,
        Annotated[int, WrapValidator(lambda value, handler: says(value))],
    ],
)
def test_a_tool_error_keeps_its_message(annotation, caplog):
    result = handle_arguments(compiled(annotation), {"before": 1, "value": 1})
    assert result == {
        "content": [{"type": "text", "text": "Tool 'tool' failed: in my words"}],
        "isError": True,
    }
    registry = ToolRegistry("own")
    registry.add(compiled(annotation))
    assert registry.dispatch("tool", {"before": 1, "value": 1}) == result
    assert caplog.records == []


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_validation_errors_are_reported_with_their_own_messages(kind, caplog):
    def refuses(value: Any) -> Any:
        raise kind("too dull")

    contract = compiled(Annotated[int, AfterValidator(refuses)])
    assert problems(contract, {"before": 1, "value": 1}) == [("$.value", "too dull")]
    assert caplog.records == []


def test_exceptions_for_a_host_reach_the_host():
    class Elsewhere(Exception):
        pass

    def moves(value: Any) -> Any:
        raise Elsewhere("there")

    def tool(value: Annotated[int, BeforeValidator(moves)]) -> str:
        return "ran"

    with pytest.raises(Elsewhere, match="there"):
        handle_arguments(compile_function(tool, passing=(Elsewhere,)), {"value": 1})
    assert handle_arguments(compile_function(tool), {"value": 1})["isError"] is True


def test_an_exception_that_the_author_catches_is_not_reported(caplog):
    def forgives(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except KeyError:
            return 7

    def tool(
        value: Annotated[Annotated[int, BeforeValidator(fails)], WrapValidator(forgives)],
    ) -> str:
        return str(value)

    assert handle_arguments(compile_function(tool), {"value": 1})["content"][0]["text"] == "7"
    assert caplog.records == []


def test_an_exception_is_not_taken_for_a_validation_error():
    def forgives(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            return 7

    broken = Annotated[int, BeforeValidator(fails)]
    contract = compiled(Annotated[broken, WrapValidator(forgives)])
    assert problems(contract, {"before": 1, "value": 1}) == [("$.value", UNREAD)]


def test_an_exception_of_a_function_that_was_made_elsewhere_has_no_place(caplog):
    """A set compares the items that it already has, so the failing item is unknown."""

    class Odd(str):
        def __eq__(self, other: object) -> bool:
            raise PydanticCustomError("odd", "inner secret")

        __hash__ = str.__hash__

    def odd(value: str) -> Odd:
        return Odd("same")

    contract = compiled(set[Annotated[str, AfterValidator(odd)]])
    assert problems(contract, {"before": 1, "value": ["a", "b"]}) == [("$", UNREAD)]


# --- corrected calls ------------------------------------------------------------------------------


@pytest.mark.parametrize("validator", [fails, says])
def test_the_authors_code_does_not_run_on_a_correction(validator):
    class Contact(BaseModel):
        email: Annotated[str, AfterValidator(validator)]

    def add(contact: Annotated[Contact, Unpack()]) -> str:
        return "ran"

    result = handle_arguments(compile_function(add), {"data": {"email": "a@b.c"}})
    told = result["_meta"]["toolbooth"]
    assert [(each["code"], each["path"]) for each in told["problems"]] == [
        ("nested-wrapper", "$.data")
    ]
    assert told["corrected"] == {"email": "a@b.c"}


def test_a_tool_error_beside_other_problems_does_not_hide_them():
    def tool(number: int, value: Annotated[int, BeforeValidator(says)]) -> str:
        return "ran"

    result = handle_arguments(compile_function(tool), {"number": "many", "value": 1})
    assert [each["path"] for each in result["_meta"]["toolbooth"]["problems"]] == ["$.number"]


def test_an_exception_is_reported_beside_the_problems_of_other_fields():
    contract = compiled(Annotated[int, AfterValidator(fails)])
    result = handle_arguments(contract, {"before": "many", "value": 1})
    found = result["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in found] == [
        ("wrong-type", "$.before"),
        ("invalid", "$.value"),
    ]
