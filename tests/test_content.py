"""Content: the pieces of a result, as plain data in and as MCP content out."""

from typing import Any

import pytest

from toolbooth import compile_function, handle_bytes
from toolbooth.content import Audio, Image, Resource, Text

PNG, WAV = b"\x89PNG", b"RIFF"
TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        pytest.param(Text(text="hello"), [TEXT], id="text"),
        pytest.param(Image(data=PNG), [IMAGE], id="image"),
        pytest.param(
            Audio(data=WAV, mime_type="audio/mpeg"),
            [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/mpeg"}],
            id="audio",
        ),
        pytest.param(
            Resource(uri="file:///a.txt", content="a"),
            [
                {
                    "type": "resource",
                    "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "a"},
                }
            ],
            id="file-of-text",
        ),
        pytest.param(
            Resource(uri="file:///a.png", content=PNG, mime_type="image/png"),
            [
                {
                    "type": "resource",
                    "resource": {
                        "uri": "file:///a.png",
                        "mimeType": "image/png",
                        "blob": "iVBORw==",
                    },
                }
            ],
            id="file-of-bytes",
        ),
        pytest.param([Text(text="hello"), Image(data=PNG)], [TEXT, IMAGE], id="several-pieces"),
        pytest.param([], [{"type": "text", "text": "[]"}], id="an-empty-list-is-a-value"),
    ],
)
def test_pieces_of_content_are_the_content_of_the_result(returned, content):
    def tool() -> Any:
        return returned

    assert handle_bytes(compile_function(tool), b"{}") == {"content": content, "isError": False}


def pieces_of(value: Any) -> list[dict[str, Any]]:
    def tool(): ...

    return handle_bytes(compile_function(tool), b"{}", lambda: value)["content"]


def test_content_objects_become_content_and_other_values_text():
    assert pieces_of(Image(data=b"\x89")) == [
        {"type": "image", "data": "iQ==", "mimeType": "image/png"}
    ]
    assert pieces_of(["see", {"a": 1}, Text(text="t"), Audio(data=b"R")]) == [
        {"type": "text", "text": "see"},
        {"type": "text", "text": '{"a":1}'},
        {"type": "text", "text": "t"},
        {"type": "audio", "data": "Ug==", "mimeType": "audio/wav"},
    ]
    assert pieces_of([Resource(uri="f:/a", content="a"), Resource(uri="f:/b", content=b"b")]) == [
        {"type": "resource", "resource": {"uri": "f:/a", "mimeType": "text/plain", "text": "a"}},
        {"type": "resource", "resource": {"uri": "f:/b", "mimeType": "text/plain", "blob": "Yg=="}},
    ]
