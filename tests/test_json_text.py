"""`JsonText`: published as a string that takes JSON; JSON text and the native value both pass.

The form comes from docs/project/evidence/parameter-transformation.md.
"""

import json
import warnings
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, Json, SecretStr

from toolbooth import (
    ContractError,
    ContractWarning,
    JsonText,
    Unpack,
    compile_function,
    handle_bytes,
    input_schema,
    unpack_pydantic_params,
)

Headers = Annotated[dict[str, str] | None, JsonText(example={"User-Agent": "MyBot"})]


def fetch(url: str, headers: Headers = None) -> str:
    return f"{url} {headers!r}"


FETCH = compile_function(fetch)


def test_json_text_is_published_as_a_string_whose_description_says_that_it_takes_json():
    assert input_schema(FETCH) == {
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "headers": {
                "type": "string",
                "description": 'Takes JSON, e.g. {"User-Agent": "MyBot"}',
                "contentMediaType": "application/json",
            },
        },
        "required": ["url"],
    }


def test_the_example_follows_the_authors_own_description():
    def tool(
        ids: Annotated[list[int], JsonText(example=[1, 2]), Field(description="The ids.")],
    ): ...

    published = input_schema(compile_function(tool))["properties"]["ids"]
    assert published == {
        "type": "string",
        "contentMediaType": "application/json",
        "description": "The ids. Takes JSON, e.g. [1, 2]",
    }


def test_a_published_default_is_text_like_the_published_type():
    def tool(ids: Annotated[list[int], JsonText(example=[1, 2])] = [3]): ...  # noqa: B006

    assert input_schema(compile_function(tool))["properties"]["ids"]["default"] == "[3]"


@pytest.mark.parametrize(
    ("headers", "got"),
    [
        ('"{\\"A\\": \\"b\\"}"', "{'A': 'b'}"),
        ('{"A": "b"}', "{'A': 'b'}"),
        ('{"A": "{\\"x\\": 1}"}', "{'A': '{\"x\": 1}'}"),
        ('"{}"', "{}"),
        ("null", "None"),
        ('"null"', "None"),
    ],
    ids=["text", "native", "text inside is content", "empty", "null", "null as text"],
)
def test_text_and_native_value_both_pass_without_a_repair(headers, got):
    result = handle_bytes(FETCH, f'{{"url": "u", "headers": {headers}}}'.encode())
    assert result == {"content": [{"type": "text", "text": f"u {got}"}], "isError": False}


@pytest.mark.parametrize(
    ("headers", "path", "message"),
    [
        ('{"A": 1}', "$.headers.A", "must be text, got an integer 1"),
        ('{"A": null}', "$.headers.A", "must be text, got null"),
        ('{"A": true}', "$.headers.A", "must be text, got true"),
        ('{"A": {"x": 1}}', "$.headers.A", "must be text, got an object"),
        ('"{\\"A\\": 1}"', "$.headers.A", "must be text, got an integer 1"),
        ('"{\\"A\\": null}"', "$.headers.A", "must be text, got null"),
        ('"[1]"', "$.headers", 'must be JSON text of an object or null, got text "[1]"'),
        ("[1]", "$.headers", "must be JSON text of an object or null, got an array"),
        ('"x"', "$.headers", 'must be JSON text of an object or null, got text "x"'),
        ("5", "$.headers", "must be JSON text of an object or null, got an integer 5"),
    ],
)
def test_a_header_that_is_not_text_is_refused_and_never_made_text(headers, path, message):
    result = handle_bytes(FETCH, f'{{"url": "u", "headers": {headers}}}'.encode())
    head = "Refused: 1 problem in the arguments of 'fetch'. Nothing was done."
    assert result == {
        "content": [{"type": "text", "text": f"{head}\n- {path}: {message}"}],
        "isError": True,
        "_meta": {
            "toolbooth": {
                "code": -32602,
                "problems": [{"code": "wrong-type", "path": path, "message": message}],
            }
        },
    }


def test_text_that_is_not_json_is_refused_with_the_reason():
    result = handle_bytes(FETCH, b"""{"url": "u", "headers": "{'A': 'b'}"}""")
    assert result["isError"]
    assert "holds text that cannot be read as JSON" in result["content"][0]["text"]
    assert "JSON wants double quotes" in result["content"][0]["text"]


class Point(BaseModel):
    x: int
    y: int = 0


class Place(BaseModel):
    name: str
    at: Annotated[Point, JsonText(example={"x": 1, "y": 2})]


def unpacked(place: Annotated[Place, Unpack()]) -> str:
    return repr(place)


def nested(place: Place) -> str:
    return repr(place)


@pytest.mark.parametrize("at", ['{"x": 1}', json.dumps('{"x": 1}')], ids=["native", "text"])
@pytest.mark.parametrize("depth", ["unpacked", "nested", "decorated"])
def test_json_text_on_a_field_of_a_model_gives_the_typed_value(depth, at):
    body = f'{{"name": "n", "at": {at}}}'
    expected = "Place(name='n', at=Point(x=1, y=0))"
    if depth == "decorated":
        assert unpack_pydantic_params(unpacked)(**json.loads(body)) == expected
        return
    tool, sent = (unpacked, body) if depth == "unpacked" else (nested, f'{{"place": {body}}}')
    result = handle_bytes(compile_function(tool), sent.encode())
    assert result == {"content": [{"type": "text", "text": expected}], "isError": False}


def test_a_wrapper_inside_the_text_is_refused_with_the_corrected_call():
    result = handle_bytes(
        compile_function(unpacked), b'{"name": "n", "at": "{\\"data\\": {\\"x\\": 1}}"}'
    )
    assert result["_meta"]["toolbooth"]["corrected"] == {"name": "n", "at": {"x": 1}}
    assert [each["code"] for each in result["_meta"]["toolbooth"]["problems"]] == ["nested-wrapper"]


@pytest.mark.parametrize(
    "kind",
    [
        str,
        str | dict[str, str],
        list[str] | str | None,
        Any,
        object,
        Literal["a"],
        bytes,
        Json[int],
        SecretStr,
    ],
    ids=str,
)
def test_json_text_on_a_type_with_text_in_it_is_a_contract_error(kind):
    def tool(it): ...

    tool.__annotations__ = {"it": Annotated[kind, JsonText()]}
    with pytest.raises(ContractError) as raised:
        compile_function(tool)
    [mistake] = raised.value.mistakes
    assert mistake.endswith(
        "JsonText() needs a type without text in it, an object or an array; text is taken as it is"
    )


def test_the_mistaken_json_text_is_named():
    def tool(
        one: Annotated[dict[str, str], JsonText(example={})], two: Annotated[str, JsonText()]
    ): ...

    with pytest.raises(ContractError, match="'two'"):
        compile_function(tool)


@pytest.mark.parametrize(
    "kind",
    [
        dict,
        dict[str, Any],
        dict | None,
        list,
        list[Any],
        list[dict],
        set,
        tuple,
        Annotated[dict, Field(description="The filter")],
        Annotated[dict, JsonText()],
        Annotated[list, JsonText()],
    ],
    ids=str,
)
def test_an_open_object_or_untyped_list_without_an_example_is_a_contract_warning(kind):
    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    with pytest.warns(ContractWarning) as warned:
        compile_function(tool)
    assert [str(each.message) for each in warned] == [
        "tool: 'it' is an open object or untyped list without an example; put one in its description, "
        "or use JsonText(example=...)"
    ]


def test_the_warning_points_at_the_authors_file():
    def tool(it: dict): ...

    with pytest.warns(ContractWarning) as warned:
        compile_function(tool)
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "kind",
    [
        dict[str, int],
        list[str],
        Point,
        Annotated[dict, Field(description='The filter, e.g. {"a": 1}')],
        Annotated[dict, Field(examples=[{"a": 1}])],
        Annotated[dict, JsonText(example={"a": 1})],
        Annotated[list, JsonText(example=[1])],
    ],
    ids=str,
)
def test_a_typed_or_exemplified_parameter_gives_no_warning(kind):
    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_function(tool)


class Loose(BaseModel):
    filter: dict


def test_the_warning_reaches_into_models_and_is_given_once_a_field():
    def tool(it: Annotated[Loose, Unpack()], other: Loose): ...

    with pytest.warns(ContractWarning) as warned:
        compile_function(tool)
    assert len(warned) == 2


def test_the_decorator_warns_as_well():
    def tool(it: Annotated[Loose, Unpack()]): ...

    with pytest.warns(ContractWarning) as warned:
        unpack_pydantic_params(tool)
    assert [str(each.message) for each in warned] == [
        "tool: 'filter' is an open object or untyped list without an example; put one in its description, "
        "or use JsonText(example=...)"
    ]
