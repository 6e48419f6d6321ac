"""Content: pieces of a result, as plain data."""

from toolbooth.content import Audio, Image, Resource, Text


def test_pieces_are_plain_data_with_the_usual_media_types():
    assert Text(text="hello").text == "hello"
    assert (Image(data=b"\x89").mime_type, Audio(data=b"R").mime_type) == ("image/png", "audio/wav")
    assert Resource(uri="file:///a.txt", content="a") == Resource(
        uri="file:///a.txt", content="a", mime_type="text/plain"
    )
