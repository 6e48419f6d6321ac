"""Form data, as Django's own parser reads it back."""

import io

import pytest
from django.http.multipartparser import MultiPartParser

from toolbooth.django.call.bodies import MULTIPART, body_of


def read_back(value):
    """Return the fields that Django finds in a multipart body, and the names of its files."""
    body, content_type = body_of(value, MULTIPART)
    meta = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body))}
    fields, files = MultiPartParser(meta, io.BytesIO(body), [], "utf-8").parse()
    return dict(fields.lists()), list(files)


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ('a"; filename="evil.sh', "a%22; filename=%22evil.sh"),
        ('a"\r\n\r\nvalue\r\n--x', "a%22%0D%0A%0D%0Avalue%0D%0A--x"),
        ("a\nContent-Type: text/html", "a%0AContent-Type: text/html"),
        ("ä", "ä"),
    ],
)
def test_no_name_can_add_a_field_or_a_file(name, quoted):
    assert read_back({name: "v", "other": "w"}) == ({quoted: ["v"], "other": ["w"]}, [])


def test_values_are_read_exactly_as_sent():
    hostile = '\r\n--boundary\r\nContent-Disposition: form-data; name="admin"\r\n\r\ntrue\r\n'
    sent = {"text": hostile, "words": ["ä", "", "b"], "flag": True, "none": None, "number": 1.5}
    assert read_back(sent) == (
        {
            "text": [hostile],
            "words": ["ä", "", "b"],
            "flag": ["true"],
            "none": [""],
            "number": ["1.5"],
        },
        [],
    )
    assert read_back({}) == ({}, [])


def test_nested_values_have_the_names_that_rest_framework_reads():
    sent = {"address": {"city": "x"}, "lines": [{"price": 1, "tags": ["a", "b"]}], "grid": [[1]]}
    assert read_back(sent)[0] == {
        "address.city": ["x"],
        "lines[0]price": ["1"],
        "lines[0]tags": ["a", "b"],
        "grid[0]": ["1"],
    }


def test_the_boundary_is_new_for_each_body():
    """So no agent can know it and send it in a value."""
    first, second = (body_of({"a": "b"}, MULTIPART)[1] for _ in range(2))
    assert first != second
    assert len(first.partition("boundary=")[2]) == 32
