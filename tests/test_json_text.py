"""`JsonText`: published as a string that takes JSON; JSON text and the native value both pass.

The form comes from docs/project/evidence/parameter-transformation.md.
"""

import json
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, Json, SecretStr

from toolbooth import (
    ContractError,
    ContractWarning,
    JsonText,
    Unpack,
    compile_function,
    compile_json_schema,
    handle_bytes,
    input_schema,
    unpack_pydantic_params,
)

Headers = Annotated[dict[str, str] | None, JsonText(example={"User-Agent": "MyBot"})]


def fetch(url: str, headers: Headers = None) -> str:
    return f"{url} {headers!r}"


FETCH = compile_function(fetch)


def test_json_text_is_published_as_a_string_described_as_json():
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
def test_json_text_and_the_native_value_both_pass_without_a_repair(headers, got):
    result = handle_bytes(FETCH, f'{{"url": "u", "headers": {headers}}}'.encode())
    assert result == {"content": [{"type": "text", "text": f"u {got}"}], "isError": False}


HINT = r'; e.g. "{\"name\": \"text\"}"; leave it out if unknown'


@pytest.mark.parametrize(
    ("headers", "path", "message"),
    [
        ('{"A": 1}', "$.headers.A", "must be text, got an integer 1"),
        ('{"A": null}', "$.headers.A", "must be text, got null"),
        ('{"A": true}', "$.headers.A", "must be text, got true"),
        ('{"A": {"x": 1}}', "$.headers.A", "must be text, got an object"),
        ('"{\\"A\\": 1}"', "$.headers.A", "must be text, got an integer 1"),
        ('"{\\"A\\": null}"', "$.headers.A", "must be text, got null"),
        ('"[1]"', "$.headers", 'must be JSON text of an object, got text "[1]"' + HINT),
        ("[1]", "$.headers", "must be JSON text of an object, got an array" + HINT),
        ('"x"', "$.headers", 'must be JSON text of an object, got text "x"' + HINT),
        ("5", "$.headers", "must be JSON text of an object, got an integer 5" + HINT),
    ],
)
def test_a_header_that_is_not_a_string_is_refused_and_not_converted(headers, path, message):
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
    assert result["_meta"]["toolbooth"]["corrected"] == {"name": "n", "at": '{"x": 1}'}
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


def test_the_contract_error_names_the_json_text_parameter():
    def tool(
        one: Annotated[dict[str, str], JsonText(example={})], two: Annotated[str, JsonText()]
    ): ...

    with pytest.raises(ContractError, match="'two'"):
        compile_function(tool)


@pytest.mark.parametrize(
    "kind",
    [
        *(dict, dict[str, Any], dict | None, list, list[Any], list[dict], set, tuple),
        Annotated[dict, Field(description="The filter")],
        Annotated[dict, JsonText()],
        Annotated[list, JsonText()],
    ],
    ids=str,
)
def test_open_object_or_untyped_list_without_an_example_warns(kind):
    """All others: tests/test_parameter_examples.py."""

    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    with pytest.warns(ContractWarning) as warned:
        compile_function(tool)
    [warning] = warned
    assert str(warning.message).startswith("tool: nothing shows what to write in 'it'; ")


# --- the published description of the type inside ---


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Paint(BaseModel):
    colour: Colour
    coats: int = 1
    effects: set[Literal["matt", "gloss"]] = set()


class Mix(BaseModel):
    parts: list["Mix"] = []
    base: Colour = Colour.RED


HEADERS_TEXT = 'Custom headers as JSON object, e.g. {"User-Agent": "MyBot"}'


def described(kind: Any, default: Any = ...) -> str:
    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    if default is not ...:
        tool.__defaults__ = (default,)
    return input_schema(compile_function(tool))["properties"]["it"]["description"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (list[Literal["active", "inactive"]], 'list of "active", "inactive", e.g. ["active"]'),
        (list[Colour], 'list of "red", "blue", e.g. ["red"]'),
        (set[Colour], 'list of "red", "blue", e.g. ["red"]'),
        (tuple[Colour, ...], 'list of "red", "blue", e.g. ["red"]'),
        (list[Literal[1, 2]], "list of 1, 2, e.g. [1]"),
        (list[Literal["sole"]], 'list of "sole", e.g. ["sole"]'),
        (dict[Colour, int], 'object with the keys "red", "blue", e.g. {"red": 2}'),
        (dict[str, Colour], 'object with the values "red", "blue".'),
    ],
    ids=str,
)
def test_the_choices_of_the_type_inside_are_published(kind, said):
    assert described(Annotated[kind, JsonText()]) == f"Takes a JSON {said}"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            Paint,
            'Takes JSON (colour: "red", "blue"; effects[]: "matt", "gloss"), '
            'e.g. {"colour": "red", "coats": 1, "effects": ["matt"]}',
        ),
        (
            list[Paint],
            'Takes JSON ([].colour: "red", "blue"; [].effects[]: "matt", "gloss"), '
            'e.g. [{"colour": "red"}]',
        ),
        (
            dict[str, list[Colour]],
            'Takes JSON (*[]: "red", "blue").',
        ),
        (
            dict[Literal["in", "out"], Colour],
            'Takes JSON (keys: "in", "out"; values: "red", "blue"), e.g. {"in": "red"}',
        ),
    ],
    ids=str,
)
def test_choices_deep_in_the_type_are_published_with_their_place(kind, said):
    assert described(Annotated[kind, JsonText()]) == said


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (list[Colour | int], 'Takes a JSON list of "red", "blue", any integer.'),
        (list[Literal["a"] | Literal["b"]], 'Takes a JSON list of "a", "b", e.g. ["a"]'),
        (tuple[Colour, int], 'Takes JSON ([0]: "red", "blue").'),
        (list[Colour] | Paint, None),
    ],
    ids=str,
)
def test_choices_beside_other_types_are_not_published_as_the_only_values(kind, said):
    found = described(Annotated[kind, JsonText()])
    assert found == said if said else "items: " in found


def test_length_limits_after_the_marker_apply_to_the_value_inside():
    length = Field(min_length=2, max_length=3)
    paints = Annotated[list[Colour], JsonText(), length]
    assert described(paints) == 'Takes a JSON list of "red", "blue", e.g. ["red", "red"]'

    def tool(paints: paints, point: Annotated[Point, JsonText()]): ...

    exact = input_schema(compile_function(tool), "exact")["properties"]["paints"]
    assert {key for key in exact if "Length" in key} == set()
    assert (exact["contentSchema"]["minItems"], exact["contentSchema"]["maxItems"]) == (2, 3)


@pytest.mark.parametrize(
    ("example", "description", "said"),
    [
        (5, None, "Takes JSON, e.g. 5"),
        (5, "A number", "A number. Takes JSON, e.g. 5"),
        (5, "A JSON number.", "A JSON number, e.g. 5"),
        (None, None, "Takes JSON."),
    ],
)
def test_a_number_may_be_json_text(example, description, said):
    marked = Annotated[int, JsonText(example=example), Field(description=description)]
    assert described(marked).startswith(said)


def test_examples_of_a_field_are_published_as_text():
    class Request(BaseModel):
        headers: Headers = Field(None, examples=[{"A": "b"}])
        more: Annotated[dict[str, str], JsonText()] = Field(examples=[{"A": "b"}])

    def tool(it: Request): ...

    published = input_schema(compile_function(tool))["properties"]["it"]["properties"]
    assert published["headers"]["examples"] == ['{"A": "b"}']
    assert published["headers"]["description"] == 'Takes JSON, e.g. {"User-Agent": "MyBot"}'
    assert published["more"]["description"] == 'Takes JSON, e.g. {"A": "b"}'


def test_a_model_that_contains_itself_is_described_once():
    assert described(Annotated[Mix, JsonText()]) == (
        'Takes JSON (base: "red", "blue"), e.g. {"parts": [{"parts": []}], "base": "red"}'
    )


@pytest.mark.parametrize("profile", ["portable", "exact"])
def test_choices_are_published_beside_null_and_defaults(profile):
    def tool(it: Annotated[list[Colour] | None, JsonText(), Field(description="Which")] = None): ...

    published = input_schema(compile_function(tool), profile)["properties"]["it"]
    assert published["description"] == 'Which. Takes a JSON list of "red", "blue", e.g. ["red"]'


def test_the_exact_schema_has_the_type_inside():
    published = input_schema(compile_function(fetch), "exact")["properties"]["headers"]
    inside = {"type": "object", "additionalProperties": {"type": "string"}}
    assert published["anyOf"][0]["contentSchema"] == inside


@pytest.mark.parametrize(
    ("description", "example", "said"),
    [
        (HEADERS_TEXT, None, HEADERS_TEXT),
        (HEADERS_TEXT, {"User-Agent": "MyBot"}, HEADERS_TEXT),
        (HEADERS_TEXT, {"Age": "1"}, HEADERS_TEXT + ', e.g. {"Age": "1"}'),
        ("Headers as JSON.", {"A": "b"}, 'Headers as JSON, e.g. {"A": "b"}'),
        ("Headers as JSON", {"A": "b"}, 'Headers as JSON, e.g. {"A": "b"}'),
        ("Headers, as json!", {"A": "b"}, 'Headers, as json! E.g. {"A": "b"}'),
        ("Sent along", {"A": "b"}, 'Sent along. Takes JSON, e.g. {"A": "b"}'),
        ("Sent along. ", {"A": "b"}, 'Sent along. Takes JSON, e.g. {"A": "b"}'),
        ('Such as {"A": "b"}', None, 'Such as {"A": "b"}. Takes a JSON object.'),
        ('Such as {"A": "b"}', {"A": "b"}, 'Such as {"A": "b"}. Takes a JSON object.'),
        ("送信するヘッダー。", {"A": "b"}, '送信するヘッダー。 Takes JSON, e.g. {"A": "b"}'),
        ("Headers", None, "Headers. Takes a JSON object."),
        ("Headers as a JSON object.", None, "Headers as a JSON object."),
        (None, None, "Takes a JSON object."),
        (None, [1], "Takes a JSON object."),
        (None, {}, "Takes a JSON object."),
        (None, '{"A":"b"}', 'Takes JSON, e.g. {"A":"b"}'),
        (None, "A: b", "Takes a JSON object."),
    ],
)
def test_description_has_no_repetition_and_ends_with_a_full_stop(description, example, said):
    kind = Annotated[dict[str, str], JsonText(example=example), Field(description=description)]
    assert described(kind) == said


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("As JSON: red or blue.", 'As JSON: red or blue, e.g. ["red"]'),
        ("red or blue", 'red or blue. Takes JSON, e.g. ["red"]'),
        ("As JSON", 'As JSON. Choices: "red", "blue", e.g. ["red"]'),
        (
            'redder or bluer, ["red"]',
            'redder or bluer, ["red"]. Takes a JSON list of "red", "blue".',
        ),
    ],
)
def test_choices_that_the_author_names_are_not_listed_again(description, said):
    assert described(Annotated[list[Colour], JsonText(), Field(description=description)]) == said


def test_an_example_given_as_examples_is_in_the_description_too():
    kind = Annotated[dict[str, str], JsonText(), Field(examples=[{"A": "b"}, '{"C": "d"}'])]

    def tool(it): ...

    tool.__annotations__ = {"it": kind}
    assert input_schema(compile_function(tool))["properties"]["it"] == {
        "type": "string",
        "contentMediaType": "application/json",
        "description": 'Takes JSON, e.g. {"A": "b"}',
        "examples": ['{"A": "b"}', '{"C": "d"}'],
    }


def test_json_that_pydantic_reads_is_described_where_the_type_shows_it():
    assert described(Json[list[Colour]]) == 'Takes a JSON list of "red", "blue", e.g. ["red"]'
    assert described(Json[list[int]]).startswith("JSON text: ")
    assert described(Json[int]) == "JSON text: integer"


def test_content_schema_of_json_text_is_added_unless_described():
    text = {"type": "string", "contentMediaType": "application/json"}
    content = {"type": "array", "items": {"type": "integer"}}

    def said(description: str) -> str:
        schema = {"it": {**text, "contentSchema": content, "description": description}}
        tool = compile_json_schema({"type": "object", "properties": schema}, name="tool")
        return input_schema(tool)["properties"]["it"]["description"]

    phrase = 'JSON text: {"items": {"type": "integer"}, "type": "array"}'
    assert said("The ids as JSON") == f"The ids as JSON ({phrase})"
    assert said("The ids, e.g. [1]") == f"The ids, e.g. [1] ({phrase})"
    assert said("The ids as JSON, e.g. [1]") == "The ids as JSON, e.g. [1]"
    assert said("A JSON array of ids") == "A JSON array of ids"


@pytest.mark.parametrize("sent", ['"[\\"active\\", \\"inactive\\"]"', '["active", "inactive"]'])
def test_a_list_of_choices_passes_as_text_and_as_it_is(sent):
    def search(status: Annotated[list[Literal["active", "inactive"]], JsonText()]) -> str:
        return repr(status)

    result = handle_bytes(compile_function(search), f'{{"status": {sent}}}'.encode())
    text = "['active', 'inactive']"
    assert result == {"content": [{"type": "text", "text": text}], "isError": False}
