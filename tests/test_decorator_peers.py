"""`@unpack_pydantic_params` compared with other libraries that do it differently, or that read
signatures in their own way.

The first part has one test for each difference from katana's `unpack_pydantic_params`
(docs/guides/flattening.md lists them); the second builds a tool as pydantic-ai does.
"""

import asyncio
import inspect
import io
import pydoc
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, Generic, NotRequired, TypeVar

import pytest
from plain_hosts import HOSTS, call, plain_fastmcp, published
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from toolbooth import ContractError, ToolInputError, Unpack, unpack_pydantic_params


class Query(BaseModel):
    name: str = Field(description="Part of the name", max_length=20)
    limit: int = Field(10, description="At most so many", ge=1, le=50)
    owner: str | None = Field(None, description="Whose")


@unpack_pydantic_params
def search(query: Annotated[Query, Unpack()]) -> str:
    """Search."""
    return repr(query)


# --- katana ---------------------------------------------------------------------------------------------------


def test_a_marked_class_that_is_not_a_model_is_refused():
    class Plain: ...

    def tool(request: Annotated[Plain, Unpack()]) -> str: ...

    with pytest.raises(ContractError) as raised:
        unpack_pydantic_params(tool)
    [mistake] = raised.value.mistakes
    assert mistake == (
        "parameter 'request' is marked Unpack() but is not a model with fields; remove the marker"
    )


T = TypeVar("T")


class Box(Generic[T]): ...


NOT_MODELS: list[Any] = [Box, Box[int], int, list[Query], dict[str, int], bytes]


@pytest.mark.parametrize("marker", [Unpack(), Unpack(prefix="a_"), Unpack], ids=repr)
@pytest.mark.parametrize("kind", NOT_MODELS, ids=repr)
def test_unpack_on_a_type_other_than_a_model_is_refused_in_every_spelling(kind: Any, marker: Any):
    for hint in (Annotated[kind, marker], Annotated[kind, marker] | None):

        def tool(request: hint = None, note: str = ""): ...

        with pytest.raises(ContractError, match="'request'"):
            unpack_pydantic_params(tool)


class AsTypedDict(TypedDict):
    name: str


@dataclass
class AsDataclass:
    name: str


@pytest.mark.parametrize("kind", [AsTypedDict, AsDataclass])
def test_typed_dicts_and_dataclasses_are_models(kind: Any):
    def tool(request: Annotated[kind, Unpack()]) -> str: ...

    assert list(inspect.signature(unpack_pydantic_params(tool)).parameters) == ["name"]


def test_signature_has_the_names_types_and_defaults_of_the_fields():
    params = inspect.signature(search).parameters
    assert list(params) == ["name", "limit", "owner"]
    assert [str(each) for each in params.values()] == [
        "name: str",
        "limit: int = 10",
        "owner: str | None = None",
    ]
    assert params["name"].default is inspect.Parameter.empty
    assert (params["limit"].annotation, params["limit"].default) == (int, 10)
    # Deliberate: the official SDK parses text by itself wherever the annotation is not `str`.
    assert {each.annotation.__origin__ for each in params.values()} == {str}
    # Deliberate: the model's own defaults apply, so `model_fields_set` contains only the fields
    # sent.
    assert all(isinstance(params[name].default, FieldInfo) for name in ("limit", "owner"))


def test_the_defaults_of_the_model_apply():
    assert search(name="x") == "Query(name='x', limit=10, owner=None)"
    assert search(name="x", limit=5, owner="me") == "Query(name='x', limit=5, owner='me')"


def test_help_shows_one_short_line():
    shown = io.StringIO()
    pydoc.Helper(output=shown)(search)
    [line] = [line for line in shown.getvalue().splitlines() if line.startswith("search(")]
    assert line == "search(*, name: str, limit: int = 10, owner: str | None = None) -> str"


def without_titles(schema: Any) -> Any:
    """Return the properties, without the titles that Pydantic adds for some hosts."""
    return {
        name: {key: value for key, value in each.items() if key != "title"}
        for name, each in schema["properties"].items()
    }


@HOSTS
def test_types_defaults_and_metadata_are_in_the_published_schema(host: Any):
    schema = asyncio.run(published(host(search)))
    assert schema["required"] == ["name"]
    assert without_titles(schema) == {
        "name": {"type": "string", "description": "Part of the name", "maxLength": 20},
        "limit": {
            "type": "integer",
            "description": "At most so many",
            "minimum": 1,
            "maximum": 50,
            "default": 10,
        },
        "owner": {"type": "string", "description": "Whose"},
    }


def test_a_refused_call_raises_tool_input_error_and_not_pydantics_error():
    with pytest.raises(ToolInputError) as raised:
        search(limit=99)
    # Deliberate: every problem at once, in the agent's terms, and shown where hosts mask errors.
    assert not isinstance(raised.value, ValidationError)
    assert [(each.code, each.where) for each in raised.value.problems] == [
        ("missing", "$.name"),
        ("invalid", "$.limit"),
    ]


# --- pydantic-ai ----------------------------------------------------------------------------------------------


def typed_dict_of(function: Any) -> TypeAdapter[Any]:
    """Return the validator that pydantic-ai builds from a signature: a typed dict, with a field for
    each parameter.
    """
    fields: dict[str, Any] = {}
    for param in inspect.signature(function).parameters.values():
        if param.default is inspect.Parameter.empty:
            fields[param.name] = param.annotation
        else:
            fields[param.name] = NotRequired[Annotated[param.annotation, param.default]]
    return TypeAdapter(TypedDict("Arguments", fields))


def test_a_framework_that_reads_a_signature_as_a_typed_dict_can_use_it():
    adapter = typed_dict_of(search)
    schema = adapter.json_schema()
    assert schema["required"] == ["name"]
    assert schema["properties"]["limit"]["maximum"] == 50
    values = adapter.validate_python({"name": "x", "limit": "5"})
    assert search(**values) == "Query(name='x', limit=5, owner=None)"
    with pytest.raises(ValidationError, match="name\n  Field required"):
        adapter.validate_python({"limit": 5})


class RunContext(Generic[T]):
    """Filled by pydantic-ai itself."""

    __module__ = "pydantic_ai.tools"


@pytest.mark.parametrize("hint", [RunContext, RunContext[int]], ids=["plain", "generic"])
def test_pydantic_ai_fills_its_own_context(hint: Any):
    @unpack_pydantic_params
    def tool(ctx: hint, query: Annotated[Query, Unpack()]) -> str:
        return f"{ctx} {query.name}"

    assert list(inspect.signature(tool).parameters) == ["ctx", "name", "limit", "owner"]
    assert tool("context", name="x") == "context x"


class ModelRetry(Exception):
    """As in pydantic-ai: the text of such an exception is sent to the model."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def test_a_refusal_is_sent_to_the_model_by_pydantic_ai(monkeypatch: pytest.MonkeyPatch):
    loaded = ModuleType("pydantic_ai.exceptions")
    loaded.ModelRetry = ModelRetry
    monkeypatch.setitem(sys.modules, loaded.__name__, loaded)
    with pytest.raises(ModelRetry) as raised:
        search(name="x", limit=99)
    assert isinstance(raised.value, ToolInputError)
    assert raised.value.message == str(raised.value)
    assert "$.limit: " in raised.value.message


@HOSTS
def test_other_frameworks_still_get_every_problem_at_once(host: Any):
    [(answer, is_error)] = call(host(search), {"limit": 99})
    assert is_error
    assert "$.name: is required" in answer
    assert "$.limit: " in answer


def test_fastmcp_publishes_the_schema_of_a_typed_dict():
    plain = asyncio.run(published(plain_fastmcp(search)))
    assert without_titles(typed_dict_of(search).json_schema()) == without_titles(plain)
