"""Texts that people really write are not refused as swallowed arguments."""

import json

from real_texts import FIELDS, UNSENT, real_texts

from toolbooth import compile_json_schema, handle_arguments
from toolbooth.boundary.accept import accept_bytes
from toolbooth.errors import ToolInputError

TOOL = compile_json_schema(
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in (*FIELDS, *UNSENT)},
    }
)


def refused(sent: list[str]) -> list[tuple[str, str, str]]:
    """Return the refused texts, each with its field and its problem."""
    found: list[tuple[str, str, str]] = []
    for text in sent:
        value = json.dumps(text)
        for field in FIELDS:
            try:
                accept_bytes(TOOL, f'{{"{field}": {value}}}'.encode())
            except ToolInputError as error:
                found.append((field, str(error), text))
    return found


def test_the_names_are_the_commonest_tags_and_attributes_and_common_arguments():
    assert len(set(UNSENT) - set(FIELDS)) == len(UNSENT) >= 250


def test_the_tool_refuses_swallowed_arguments():
    for name in UNSENT:
        for field in FIELDS:
            text = f"x</{field}>\n<{name}>y"
            (problem,) = handle_arguments(TOOL, {field: text})["_meta"]["toolbooth"]["problems"]
            assert problem["code"] == "swallowed-argument"


def test_a_sample_of_real_texts_is_not_refused():
    assert refused(real_texts(1_000)[::2]) == []


def test_ten_thousand_real_texts_are_not_refused():
    texts = real_texts(10_000)
    assert len(texts) == 10_000
    assert refused(texts) == []
