"""Swallowed arguments: the law for any text and any name, and the cost of hostile texts."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbooth import compile_json_schema, handle_arguments
from toolbooth.contract import Contract


def anything(*_: Any, **__: Any) -> str:
    return "ok"


words = st.text(
    st.characters(exclude_characters="<>\\\"'`\u2018\u2019\u201c\u201d", exclude_categories=["Cs"])
)
names = st.text("abcdefgh_", min_size=1, max_size=8).filter(lambda name: name.strip("_"))
quotes = st.sampled_from(['"', "'", ""])
prefixes = st.sampled_from(["", "ns:", "x", "a.b:"])


def tool_with(*fields: str) -> Contract:
    properties = {name: {"type": "string"} for name in fields}
    return compile_json_schema({"type": "object", "properties": properties}, anything)


@given(
    fields=st.lists(names, min_size=2, max_size=4, unique_by=lambda name: name.replace("_", "")),
    before=words, value=words, quote=quotes, prefix=prefixes, data=st.data(),
)  # fmt: skip
def test_a_tag_of_an_unsent_field_is_always_refused_and_never_of_a_sent_one(
    fields: list[str], before: str, value: str, quote: str, prefix: str, data: st.DataObject
):
    host, swallowed, *others = fields
    tool = tool_with(*fields)
    tag = data.draw(
        st.sampled_from(
            [
                f"<{prefix}parameter name={quote}{swallowed}{quote}>",
                f"</{host}>\n<{prefix}parameter name={quote}{swallowed}{quote}>",
                f"</{host}>\n<{swallowed}>",
                f"</parameter><{swallowed}>",
            ]
        )
    )
    marked = f"S3CRET{value}"
    arguments = {host: f"{before}{tag}{marked}", **dict.fromkeys(others, "x")}
    result = handle_arguments(tool, arguments)
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], swallowed in problem["message"]) == ("swallowed-argument", True)
    assert "S3CRET" not in json.dumps(result)
    assert "corrected" not in result["_meta"]["toolbooth"]
    assert not handle_arguments(tool, {**arguments, swallowed: value})["isError"]


pieces = st.sampled_from([*"<>/ abc\n", "</", "<a>", "</a>", "<b", "parameter", "name=", '"zz"'])


@given(st.lists(pieces))
def test_a_text_without_the_name_of_an_unsent_field_passes(parts: list[str]):
    text = "".join(parts)
    assert not handle_arguments(tool_with("a", "zzz"), {"a": text})["isError"]


@pytest.mark.parametrize(
    "text",
    [
        "<" * 1_000_000,
        "</content><x>" * 80_000,
        "<content>" * 100_000,
        "</x>" * 250_000,
        "</x>" * 250_000 + '<parameter name="tags">',
        "< " * 500_000,
        "<parameter name=" * 60_000,
        '<parameter name="tags">' * 40_000,
        "<" + " " * 1_000_000,
        "</" + "a" * 1_000_000,
        "<parameter" + " " * 1_000_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_takes_linear_time(text: str):
    tool = tool_with("content", "tags")
    start = time.process_time()
    handle_arguments(tool, {"content": text})
    assert time.process_time() - start < 2
