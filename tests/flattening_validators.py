"""Rows 17 to 26: validators run once, configuration, and model validators."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from flattening_calls import Row, Tool, by_host, gets, refused, rows_into, shown
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Json, model_validator

from toolbooth import Unpack

VALIDATORS: list[Row] = []
row = rows_into(VALIDATORS)


@row(
    17,
    "validators run once",
    gets('{"a": 1, "b": 2}', "['before', 'after', 'model']"),
    gets('{"a": 1, "b": "2"}', "['before', 'after', 'model']", "scalar-text $.b"),
    gets('{"a": 1, "b": null}', "['before', 'after', 'model']", "null-optional $.b"),
)
def validators_once() -> Tool:
    runs: list[str] = []

    def note(word: str) -> Callable[[Any], Any]:
        def noted(value: Any) -> Any:
            runs.append(word)
            return value

        return noted

    class Noted(BaseModel):
        a: Annotated[int, BeforeValidator(note("before")), AfterValidator(note("after"))]
        b: int = 0

        @model_validator(mode="after")
        def check(self) -> "Noted":
            runs.append("model")
            return self

    def tool(item: Annotated[Noted, Unpack()]) -> str:
        said = repr(runs)
        runs.clear()
        return said

    return tool


class Money(BaseModel):
    cents: Annotated[int, AfterValidator(lambda euros: euros * 100)]


@row(
    18,
    "an AfterValidator that is not idempotent",
    gets('{"cents": 1}', "Money(cents=100)"),
    gets('{"cents": "1"}', "Money(cents=100)", "scalar-text $.cents"),
)
def after_not_idempotent() -> Tool:
    def tool(money: Annotated[Money, Unpack()]) -> str:
        return repr(money)

    return tool


def _split(text: Any) -> list[str]:
    if not isinstance(text, str):
        raise ValueError("give the names as text, with commas")
    return text.split(",")


class Listed(BaseModel):
    names: Annotated[list[str], BeforeValidator(_split)]


@row(
    19,
    "a BeforeValidator that takes only text",
    gets('{"names": "a,b"}', "Listed(names=['a', 'b'])"),
    gets('{"names": "[1,2]"}', "Listed(names=['[1', '2]'])"),
    refused('{"names": ["a"]}', ("invalid", "$.names", "give the names as text, with commas")),
)
def before_not_idempotent() -> Tool:
    def tool(listed: Annotated[Listed, Unpack()]) -> str:
        return repr(listed)

    return tool


class Jsoned(BaseModel):
    filter: Json[dict[str, int]]
    loose: Json[Any] = "null"  # type: ignore[assignment]


@row(
    20,
    "Json[T]",
    gets('{"filter": "{\\"a\\": 1}"}', "Jsoned(filter={'a': 1}, loose='null')"),
    gets('{"filter": "{\\"a\\": 1}", "loose": "[null]"}', "Jsoned(filter={'a': 1}, loose=[None])"),
    refused('{"filter": {"a": 1}}', ("wrong-type", "$.filter", "must be text, got an object")),
)
def json_field() -> Tool:
    def tool(item: Annotated[Jsoned, Unpack()]) -> str:
        return repr(item)

    return tool


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int
    on: date = date(2026, 1, 1)
    flag: bool = False
    tags: list[str] = []


@row(
    21,
    "strict",
    gets(
        '{"n": 5, "on": "2026-02-03"}',
        "Strict(n=5, on=datetime.date(2026, 2, 3), flag=False, tags=[])",
    ),
    gets(
        '{"n": 5, "tags": "[\\"a\\"]"}',
        "Strict(n=5, on=datetime.date(2026, 1, 1), flag=False, tags=['a'])",
        "json-text $.tags",
    ),
    refused(
        '{"n": "5", "flag": "true"}',
        ("wrong-type", "$.n", 'must be an integer, got text "5"; send 5 if that is the number'),
        ("wrong-type", "$.flag", 'must be true or false, got text "true"'),
        edits=["send $.flag as true"],
    ),
)
def strict() -> Tool:
    def tool(item: Annotated[Strict, Unpack()]) -> str:
        return repr(item)

    return tool


class Tidy(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_to_lower=True, str_max_length=5)
    name: str


@row(
    22,
    "text settings of the model",
    gets('{"name": "  ANN  "}', "Tidy(name='ann')"),
    refused(
        '{"name": "Annabel"}',
        ("invalid", "$.name", 'must have at most 5 characters; got "Annabel"; e.g. "text"'),
    ),
)
def text_settings() -> Tool:
    def tool(item: Annotated[Tidy, Unpack()]) -> str:
        return repr(item)

    return tool


class Range(BaseModel):
    lo: int = 0
    hi: int = 0

    @model_validator(mode="after")
    def in_order(self) -> "Range":
        if self.lo > self.hi:
            raise ValueError("lo must not be above hi")
        return self


@row(
    23,
    "model validator, after",
    gets('{"lo": 1, "hi": 2}', "Range(lo=1, hi=2)"),
    refused('{"lo": 3, "hi": 2}', ("invalid", "$", "lo must not be above hi")),
)
def model_after() -> Tool:
    def tool(item: Annotated[Range, Unpack()]) -> str:
        return repr(item)

    return tool


class Popped(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def rename(cls, values: Any) -> Any:
        if "fullname" in values:
            values["name"] = values.pop("fullname")
        if values.get("name") == "nobody":
            raise ValueError("nobody is not a name")
        return values


@row(
    24,
    "model validator, before, renames with pop",
    gets('{"name": "Ann"}', "Popped(name='Ann') sent=['name']"),
    by_host(gets('{"fullname": "Ann"}', "Popped(name='Ann') sent=['name']")),
    refused('{"name": "nobody"}', ("invalid", "$", "nobody is not a name")),
    by_host(
        refused(
            '{"name": "Ann", "nickname": "A"}',
            ("unknown-key", "$.nickname", 'there is no field "nickname"'),
            declared={"name": "text, required"},
        )
    ),
)
def model_before_pop() -> Tool:
    def tool(item: Annotated[Popped, Unpack()]) -> str:
        return shown(item)

    return tool


class Read(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def rename(cls, values: Any) -> Any:
        return {**values, "name": values["fullname"]} if "fullname" in values else values


@row(
    24,
    "model validator, before, reads without pop",
    gets('{"name": "Ann"}', "Read(name='Ann') sent=['name']"),
    by_host(gets('{"fullname": "Ann"}', "Read(name='Ann') sent=['name']")),
)
def model_before_read() -> Tool:
    def tool(item: Annotated[Read, Unpack()]) -> str:
        return shown(item)

    return tool


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


@row(
    25,
    "extra allow",
    gets('{"name": "Ann"}', "Open(name='Ann') sent=['name']"),
    by_host(gets('{"name": "Ann", "age": 3}', "Open(name='Ann', age=3) sent=['age', 'name']")),
    by_host(
        gets('{"name": "Ann", "at": {"x": 3}}', "Open(name='Ann', at={'x': 3}) sent=['at', 'name']")
    ),
    by_host(
        refused(
            '{"data": {"name": "Ann"}}',
            (
                "nested-wrapper",
                "$.data",
                '"data" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
                'Send "name" at the top level, not inside "data"',
            ),
            declared={"name": "text, required"},
            edits=["move $.data.* to $"],
            instead={"name": "Ann"},
        )
    ),
)
def extra_allow() -> Tool:
    def tool(item: Annotated[Open, Unpack()]) -> str:
        return shown(item)

    return tool


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Ignoring(BaseModel):
    name: str


@row(
    26,
    "extra forbid",
    gets('{"name": "Ann"}', "Closed(name='Ann')"),
    by_host(
        refused(
            '{"name": "Ann", "age": 3}',
            ("unknown-key", "$.age", 'there is no field "age"'),
            declared={"name": "text, required"},
        )
    ),
)
def extra_forbid() -> Tool:
    def tool(item: Annotated[Closed, Unpack()]) -> str:
        return repr(item)

    return tool


@row(
    26,
    "extra ignore is closed",
    gets('{"name": "Ann"}', "Ignoring(name='Ann')"),
    by_host(
        refused(
            '{"name": "Ann", "age": 3}',
            ("unknown-key", "$.age", 'there is no field "age"'),
            declared={"name": "text, required"},
        )
    ),
)
def extra_ignore() -> Tool:
    def tool(item: Annotated[Ignoring, Unpack()]) -> str:
        return repr(item)

    return tool
