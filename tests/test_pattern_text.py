"""Find a text that a pattern matches, for the example in a refusal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbooth.pattern_text import text_matching

FOUND = {
    r"^[A-Z]{2}-\d+$": "AA-1",
    r"^\d{4}-\d{2}$": "1111-11",
    r"^(red|green)$": "red",
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$": "a-a",
    r"^(?P<year>\d{2,4})\.x?$": "11.x",
    r"^[^@\s]+@[^@\s]+$": "a@a",
    r"^v\d+?\b$": "v1",
    r"[]a]": "a",
    r"[\]x]": "]",
    r"a.c": "aac",
}


@pytest.mark.parametrize(("pattern", "text"), FOUND.items())
def test_a_matching_text_is_found(pattern: str, text: str):
    assert text_matching(pattern) == text
    assert re.search(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    ["(?=x)y", "[", "(", "\\", "*", r"^\p{L}+$", r"\1", "x{61}", "(x{9}){9}", "[^\x00-~]"],
)
def test_unsupported_pattern_has_no_text(pattern: str):
    assert text_matching(pattern) is None


@given(st.text(st.sampled_from("ab[]()|*+?{}12,^$\\d.-:<P>"), max_size=12))
def test_every_text_found_matches_its_random_pattern(pattern: str):
    text = text_matching(pattern)
    assert text is None or re.search(pattern, text)
