"""The words for rows in descriptions and receipts."""

import pytest

from odd.models import Annex, Log
from sales.models import Company
from toolbooth.django.describe.model_words import joined, plural, singular, with_article


@pytest.mark.parametrize(
    ("noun", "words"),
    [
        ("company", "a company"),
        ("estate", "an estate"),
        ("user", "a user"),
        ("unit", "a unit"),
        ("URL", "a URL"),
        ("uncle", "an uncle"),
        ("hour", "an hour"),
        ("IP address", "an IP address"),
        ("SLA", "an SLA"),
        ("VLAN", "a VLAN"),
        ("one-time code", "a one-time code"),
    ],
)
def test_a_noun_gets_its_article(noun, words):
    assert with_article(noun) == words


def test_a_model_without_a_plural_name_gets_an_english_one():
    assert (singular(Company), plural(Company)) == ("company", "companies")
    assert plural(Annex) == "annexes"
    assert plural(Log) == "logs"


@pytest.mark.parametrize(
    ("nouns", "words"), [(("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_nouns_are_joined_with_commas_and_and(nouns, words):
    assert joined(nouns) == words
