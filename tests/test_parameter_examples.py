"""Every object and array that an agent must write has an example, or a type that shows its format.
If not, the author gets a `ContractWarning`, and lint reports the same.

The rule comes from docs/project/evidence/parameter-transformation.md.
"""

import dataclasses
import enum
import re
import warnings
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from datetime import date, datetime
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NamedTuple, Union
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AnyUrl,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    JsonValue,
    RootModel,
    SecretStr,
    WithJsonSchema,
    create_model,
)
from typing_extensions import TypedDict

from toolbooth import (
    ContractWarning,
    JsonText,
    ToolRegistry,
    Unpack,
    compile_function,
    compile_json_schema,
    compile_model,
    input_schema,
    unpack_pydantic_params,
)
from toolbooth.lint.check import lint


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


class Loose(BaseModel):
    filter: dict


class Line(BaseModel):
    sku: str
    tags: list[str] = []


class Order(BaseModel):
    lines: list[Line]
    by_shop: dict[Colour, Line] = {}


class Folder(BaseModel):
    name: str
    inside: list["Folder"] = []
    labels: list[str] = []


class Pair(NamedTuple):
    x: float
    y: float


class Options(TypedDict, total=False):
    verbose: bool


class NoOptions(TypedDict): ...


class Empty(BaseModel): ...


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Names(RootModel[list[str]]): ...


@dataclasses.dataclass
class Size:
    width: int


def warned(kind: Any) -> list[str]:
    """Return the warnings for one parameter of this type, without their common beginning."""

    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_function(tool)
    assert {each.category for each in caught} <= {ContractWarning}
    start = "tool: nothing shows what to write in "
    texts = [str(each.message) for each in caught]
    assert all(text.startswith(start) for text in texts)
    return [text.removeprefix(start) for text in texts]


def names(kind: Any) -> list[str]:
    """Return the parameters and fields that the warnings name."""
    return [re.match("'(.*?)'", text)[1] for text in warned(kind)]


def described(kind: Any, text: str) -> Any:
    return Annotated[kind, Field(description=text)]


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        (dict, '{"name": "text"}'),
        (dict[str, Any], '{"name": "text"}'),
        (dict[str, Any] | None, '{"name": "text"}'),
        (dict[str, str], '{"name": "text"}'),
        (dict[str, Point], '{"name": {"x": 2}}'),
        (dict[str, Colour], '{"name": "red"}'),
        (dict[str, UUID], '{"name": "0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3d"}'),
        (Mapping[str, int], '{"name": 2}'),
        (MutableMapping[str, bool], '{"name": true}'),
        (str | dict[str, str], '{"name": "text"}'),
        (Point | dict[str, int], '{"name": 2}'),
        (Open, '{"name": "text"}'),
        (list, '["text"]'),
        (list[Any], '["text"]'),
        (list[str], '["text"]'),
        (list[str] | None, '["text"]'),
        (list[int], "[2]"),
        (list[float], "[2.5]"),
        (list[dict], '[{"name": "text"}]'),
        (list[list[str]], '[["text"]]'),
        (list[SecretStr], '["text"]'),
        (list[str | Colour], '["text"]'),
        (list[Annotated[int, Field(ge=10)]], "[10]"),
        (Annotated[list[str], Field(min_length=2)], '["text", "text"]'),
        (set[str], '["text"]'),
        (frozenset[int], "[2]"),
        (Sequence[str], '["text"]'),
        (Iterable[str], '["text"]'),
        (tuple, '["text"]'),
        (tuple[int, str], '[2, "text"]'),
        (tuple[float, ...], "[2.5]"),
        (Pair, "[2.5, 2.5]"),
        (Names, '["text"]'),
        (dict[Colour, list[str]], '{"red": ["text"]}'),
    ],
    ids=str,
)
def test_type_without_a_visible_format_needs_an_example(kind, example):
    line = f"Field(description='e.g. {example}')"
    assert warned(kind) == [f"'it'; give it an example with real values: {line}"]
    assert warned(described(kind, f"e.g. {example}")) == []


@pytest.mark.parametrize(
    "kind",
    [
        str,
        int,
        Any,
        JsonValue,
        Colour,
        Point,
        Size,
        Options,
        Point | None,
        list[Point],
        list[Point | Size],
        tuple[Point, ...],
        list[Colour],
        set[Colour] | None,
        list[Literal["a", "b"]],
        list[Literal["sole"]],
        list[list[Colour]],
        tuple[Colour, bool],
        list[bool],
        list[UUID],
        list[date],
        list[datetime],
        list[AnyUrl],
        list[IPv4Address],
        dict[Colour, int],
        dict[Literal["low", "high"], Any],
        dict[Literal["sole"], int],
        dict[Colour, Point | str],
        Annotated[list[Colour], JsonText()],
        Annotated[Point, JsonText()],
        Json[list[Colour]],
        Json[int],
        Json,
        list[Annotated[str, Field(examples=["security"])]],
    ],
    ids=str,
)
def test_choices_fields_and_formats_need_no_example(kind):
    assert warned(kind) == []


@pytest.mark.parametrize(
    "kind",
    [
        described(dict[str, Any], 'Additional metadata, e.g. {"priority": "high"}'),
        described(list[str], 'Tags for categorization, e.g. ["security", "critical"]'),
        described(list[str], 'Tags: ["a"]'),
        described(list[str] | None, 'See [the page](https://example.org) ["a"] or {}'),
        described(list[dict], 'Each like {"sku": "A1"}'),
        described(list[dict], '[{"sku": "A1"}, …]'),
        described(list[tuple[int, str]], 'pairs such as [1, "a"]'),
        described(dict, 'Metadata as JSON text: {"priority": "high"}'),
        described(dict, 'Metadata, e.g. {"type": "bug"}'),
        described(dict[str, str], 'quotes: {"a": "{\\"b\\": [1]}"}'),
        described(dict[int, int], 'By year, e.g. {"2026": 40}'),
        Annotated[dict, Field(examples=[{"a": 1}])],
        Annotated[dict, Field(examples=[{}, {"a": False}])],
        Annotated[dict, Field(json_schema_extra={"example": {"a": 0}})],
        Annotated[list[int], Field(default=[3])],
        Annotated[dict, JsonText(example={"a": 1})],
        Annotated[list[str], JsonText(example=["a"])],
        Annotated[dict[str, str], JsonText(), Field(description='As JSON: {"a": "b"}')],
        Annotated[dict[str, str], JsonText(), Field(examples=['{"a": "b"}'])],
        Annotated[Json[list[str]], Field(description='As JSON: ["a"]')],
        Annotated[str | dict, Field(description='A name, or {"id": 1}')],
    ],
    ids=str,
)
def test_an_example_that_fits_ends_the_warning(kind):
    assert warned(kind) == []


@pytest.mark.parametrize(
    "kind",
    [
        described(dict, "Additional metadata {}"),
        described(dict, 'Additional metadata, e.g. {"a": {}}'),
        described(dict, 'Additional metadata, e.g. {"a": null}'),
        described(dict, "Additional metadata, e.g. {'a': 1}"),
        described(dict, 'Additional metadata, e.g. {"a": 1'),
        described(dict, "Additional metadata, e.g. [1]"),
        described(dict, 'Additional metadata, e.g. {"a": NaN}'),
        described(dict[str, str], 'Headers, e.g. {"Age": 1}'),
        described(list[str], "Tags, e.g. security, critical"),
        described(list[str], 'Tags, e.g. "security"'),
        described(list[str], "Tags []"),
        described(list[str], 'Tags [""]'),
        described(list[str], 'Tags {"a": "b"}'),
        described(list[str], "Tags [1]"),
        described(list[dict], "[{}]"),
        described(list[Annotated[int, Field(ge=10)]], "e.g. [1]"),
        described(str | dict, 'e.g. "x"'),
        described(dict, "[" * 5000),
        Annotated[dict, Field(examples=[{}])],
        Annotated[dict, Field(examples=[])],
        Annotated[dict, Field(examples=[[1]])],
        Annotated[dict, Field(examples=['{"a": 1}'])],
        Annotated[list[str], Field(examples=["a"])],
        Annotated[list[str], Field(default=[])],
        Annotated[dict, JsonText()],
        Annotated[list[str], JsonText()],
        Annotated[dict[str, str], JsonText(example={})],
        Annotated[dict[str, str], JsonText(example=[1])],
        Annotated[dict[str, str], JsonText(), Field(description="As JSON, e.g. [1]")],
        Annotated[dict[str, str], JsonText(), Field(description="As JSON, e.g. {}")],
        Json[list[str]],
    ],
    ids=lambda kind: str(kind)[:120],
)
def test_empty_examples_and_those_that_do_not_fit_do_not_count(kind):
    assert names(kind) == ["it"]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Loose, ["it.filter"]),
        (Loose | None, ["it.filter"]),
        (list[Loose], ["it[].filter"]),
        (Order, ["it.lines[].tags"]),
        (dict[Colour, Line], ["it.*.tags"]),
        (described(dict[str, Line], 'e.g. {"a": {"sku": "A1"}}'), ["it.*.tags"]),
        (Folder, ["it.labels"]),
        (Annotated[Loose, JsonText()], ["it.filter"]),
        (Annotated[Loose, Unpack()], ["filter"]),
        (create_model("Two", one=(Loose, ...), two=(Loose, ...)), ["it.one.filter"]),
        (create_model("Odd", **{"x": (Loose, Field(alias="a b"))}), ['it["a b"].filter']),
    ],
    ids=str,
)
def test_fields_of_models_are_named_by_their_path_and_once(kind, fields):
    assert names(kind) == fields


def exemplified(kind: Any, *examples: Any) -> Any:
    return Annotated[kind, Field(examples=list(examples))]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (exemplified(Loose, {"filter": {"a": 1}}), []),
        (exemplified(Loose, {"filter": {}}), ["it.filter"]),
        (exemplified(list[Line], [{"sku": "A1", "tags": ["a"]}]), []),
        (exemplified(list[Line], [{"sku": "A1"}]), ["it[].tags"]),
        (described(list[Line], 'such as {"sku": "A1", "tags": ["a"]}'), []),
        (described(dict[str, Line], 'e.g. {"a": {"sku": "A1", "tags": ["b"]}}'), []),
        (exemplified(Order, {"lines": [{"sku": "A1", "tags": ["a"]}]}), ["it.by_shop.*.tags"]),
        (
            create_model(
                "Two", one=(exemplified(Loose, {"filter": {"a": 1}}), ...), two=(Loose, ...)
            ),
            ["it.two.filter"],
        ),
    ],
    ids=str,
)
def test_an_example_of_the_model_shows_its_fields(kind, fields):
    assert names(kind) == fields


def test_an_example_of_the_whole_call_shows_its_parameters():
    class Search(BaseModel):
        model_config = ConfigDict(json_schema_extra={"examples": [{"tags": ["a"]}]})
        tags: list[str]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_model(Search)


def test_a_schema_that_the_author_wrote_is_checked_as_pydantics_are():
    values = {"type": ["null", "integer"]}
    schema = {"type": ["object", "null"], "additionalProperties": values}
    [warning] = warned(Annotated[Any, WithJsonSchema(schema)])
    assert warning.endswith("""Field(description='e.g. {"name": 2}')""")


@pytest.mark.parametrize("kind", [NoOptions, Empty], ids=str)
def test_the_warning_asks_for_fields_on_a_type_without_any(kind):
    remedy = "its type has no fields, so only {} can be sent: declare them, or take a dict"
    assert warned(kind) == [f"'it'; {remedy}"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Tags for categorization", 'Tags for categorization, e.g. ["text"]'),
        ("Tags for categorization. ", 'Tags for categorization, e.g. ["text"]'),
        ("Tags, e.g. security", 'Tags, e.g. ["text"]'),
        ("The author's tags", 'The author\'s tags, e.g. ["text"]'),
    ],
)
def test_the_suggested_line_keeps_the_authors_description(text, line):
    [warning] = warned(described(list[str], text))
    assert warning.endswith(f"Field(description={line!r})")


def test_json_text_inside_a_parameter_is_a_string_in_the_suggested_line():
    kind = dict[str, Annotated[list[Colour], JsonText()]]
    [warning] = warned(kind)
    line = eval(warning.partition("real values: ")[2])
    assert line.description == r'e.g. {"name": "[\"red\"]"}'
    assert warned(Annotated[kind, line]) == []


def test_the_warning_points_at_the_authors_file():
    def tool(it: dict): ...

    with pytest.warns(ContractWarning) as caught:
        compile_function(tool)
    assert caught[0].filename == __file__


def test_the_decorator_warns_as_well():
    def tool(it: Annotated[Loose, Unpack()]): ...

    with pytest.warns(ContractWarning, match="'filter'"):
        unpack_pydantic_params(tool)


def test_a_compiled_json_schema_gives_no_warning():
    schema = {"type": "object", "properties": {"it": {"type": "object"}}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_json_schema(schema, name="tool")


def test_an_openapi_example_is_published():
    def tool(it: Annotated[dict, Field(json_schema_extra={"example": {"a": 1}})]): ...

    assert input_schema(compile_function(tool))["properties"]["it"] == {
        "type": "object",
        "description": "any keys",
        "examples": [{"a": 1}],
    }


# --- the warning and the lint agree ---
# The portable schema does not close objects and omits the type inside JSON text, so lint may accept
# an example that the warning rejects.

LEAVES = (
    *(str, int, float, bool, UUID, date, Any, SecretStr, Colour, Literal["a", "b"]),
    *(Point, Line, Folder, Options),
    dict[Annotated[str, Field(max_length=3)], int],
)
TEXTS = (Json[list[int]], Json[list[Colour]], Annotated[list[Colour], JsonText()])


def deeper(kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return types that contain others."""
    return st.one_of(
        kinds.map(lambda kind: list[kind]),
        kinds.map(lambda kind: dict[str, kind]),
        kinds.map(lambda kind: dict[Colour, kind]),
        kinds.map(lambda kind: tuple[kind, ...]),
        kinds.map(lambda kind: kind | None if kind is not Any else kind),
        st.tuples(kinds, kinds).map(lambda pair: tuple[pair]),
        st.tuples(kinds, kinds).map(lambda pair: Union[pair]),
        kinds.map(lambda kind: create_model("Made", field=(kind, ...), other=(kind, None))),
    )


def exemplified_or_not(kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return types that contain others, some with an example, which may fit or not."""
    texts = st.sampled_from(['e.g. ["text"]', 'e.g. {"name": "text"}'])
    return st.one_of(deeper(kinds), st.builds(described, kinds, texts))


PLAIN_KINDS = st.recursive(st.sampled_from(LEAVES), deeper, max_leaves=4)
KINDS = st.recursive(st.sampled_from(LEAVES + TEXTS), exemplified_or_not, max_leaves=4)


def found_by_lint(kind: Any, profile: Any) -> list[str]:
    def tool(it: Any) -> str:
        """Do it."""
        return ""

    tool.__annotations__["it"] = kind
    registry = ToolRegistry("sample", profile=profile)
    registry.tool(tool)
    report = lint([each.listing() for each in registry.tools.values()])
    found = [each for each in report.findings if each.rule == "opaque-parameter"]
    return [each.path.removeprefix("$.") for each in found]


def test_schema_quoted_in_a_description_does_not_count_as_an_example():
    kind = dict[Annotated[str, Field(max_length=3)], int]
    assert found_by_lint(kind, "portable") == ["it"]


@given(kind=KINDS)
def test_the_warning_and_the_lint_of_the_exact_schema_agree(kind):
    assert found_by_lint(kind, "exact") == names(kind)


@given(kind=PLAIN_KINDS)
def test_warning_agrees_with_the_lint_of_the_published_schema(kind):
    """Not on each field: the portable schema repeats a shared model at each place."""
    assert bool(found_by_lint(kind, "portable")) == bool(names(kind))


@given(kind=KINDS)
def test_the_suggested_line_ends_the_warning(kind):
    for warning in warned(kind):
        if warning.startswith("'it';"):
            line = warning.partition("real values: ")[2]
            assert "it" not in names(Annotated[kind, eval(line)])
