"""Names are matched by spelling: when a declared name is certainly meant, and when not."""

import pytest

from toolbooth import spelling
from toolbooth.spelling import Match, certain_match, is_word

FIELDS = [
    "first_name",
    "address",
    "tags",
    "website_url",
    "line2_text",
    "category",
    "starts_at",
    "q",
]


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("firstName", "first_name"),
        ("FIRST-NAME", "first_name"),
        ("first.name", "first_name"),
        ("name_first", "first_name"),
        ("at_starts", "starts_at"),
        ("adress", "address"),
        ("adderss", "address"),
        ("adddress", "address"),
        ("afdress", "address"),
        ("fisrtname", "first_name"),
        ("wbesiteUrl", "website_url"),
        ("catgeory", "category"),
        ("categoryy", "category"),
        ("websiteeUrl", "website_url"),  # the end of a word
        ("websitUrl", "website_url"),
    ],
)
def test_misspelt_name_with_one_candidate_is_matched(sent: str, name: str):
    assert certain_match(sent, FIELDS) == Match(name)


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("tag", "tags"),
        ("categories", "category"),
        ("addresses", "address"),
        ("website_urls", "website_url"),
    ],
)
def test_singular_or_plural_is_matched_by_number(sent: str, name: str):
    assert certain_match(sent, FIELDS) == Match(name, by_number=True)


@pytest.mark.parametrize(
    "sent",
    [
        "firstNmae",  # a word of four letters
        "firstname2",  # a digit more
        "line_text",  # a digit less
        "line3_text",  # another digit
        "line2_etxts",
        "adrss",
        "dress",  # two letters
        "url_website_x",
        "frist_nmae",  # two words
        "address_s",  # a word more
        "addresssLine",
        "firsntame",  # swapped over the end of a word
        "{address",
        "qs2",
        "",
        "-",
        "ööö",
    ],
)
def test_distant_or_ambiguous_name_is_not_matched(sent: str):
    assert certain_match(sent, FIELDS) is None


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        ("userId", ["user_id", "userID"]),
        ("reveiw", ["review", "reveiws"]),
    ],
)
def test_name_close_to_two_fields_is_not_matched(sent: str, names: list[str]):
    assert certain_match(sent, names) is None


def test_a_name_is_not_corrected_to_the_opposite_direction():
    assert certain_match("from_date", ["date_from"]) is None
    assert certain_match("date_from", ["date_from2"]) is None


def test_word_used_by_the_tool_itself_is_not_corrected():
    assert certain_match("flavr", ["flavor"]) == Match("flavor")
    assert certain_match("flavr", ["flavor"], frozenset({"flavr_code"})) is None


def test_a_slip_that_spells_another_word_is_not_corrected():
    assert certain_match("contract", ["contact"]) is None
    assert certain_match("assigner", ["assignee"]) is None
    assert certain_match("callee_ids", ["caller_ids"]) is None
    assert certain_match("muter", ["muted"]) is None
    assert certain_match("calleed", ["callee_x"]) is None
    assert certain_match("serfer", ["server"]) == Match("server")
    assert certain_match("qwyxer", ["qwyxed"]) == Match("qwyxed")


@pytest.mark.parametrize(
    "word", ["contract", "employer", "assigner", "entires", "addressee", "sorted"]
)
def test_dictionary_words_and_their_inflected_forms_are_recognised(word: str):
    assert is_word(word)


@pytest.mark.parametrize(
    "slip",
    ["adress", "employes", "addresss", "descripton", "recieve", "serfer", "shiping", "fileds"],
)
def test_misspellings_are_not_in_the_word_list(slip: str):
    assert not is_word(slip)


def test_a_long_name_is_split_into_words_and_not_cached():
    before = spelling._kept_parts.cache_info().currsize
    assert spelling.parts("first_Name2_" * 100) == ("first", "name", "2") * 100
    assert spelling._kept_parts.cache_info().currsize == before


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        ("weight__lts", ["weight__lt", "weight__lte"]),
        ("view__nies", ["view__nie", "view__niew"]),
        ("map", ["maps", "mao"]),
    ],
)
def test_a_plural_that_may_be_a_slip_in_another_name_is_ambiguous(sent: str, names: list[str]):
    assert certain_match(sent, names) is None
    assert certain_match(sent, names[:1]) == Match(names[0], by_number=True)


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        ("descriptionn", ["description__n", "description"]),
        ("descriptio__n", ["description", "description__n"]),
        ("descriptionn__ic", ["description__nic", "description__ic"]),
    ],
)
def test_a_letter_that_may_belong_to_either_word_is_ambiguous(sent: str, names: list[str]):
    assert certain_match(sent, names) is None
    assert certain_match(sent, names[:1]) == Match(names[0])


def test_an_abbreviation_that_ends_in_a_vowel_has_no_plural():
    assert certain_match("name__ies", ["name__ie", "name__iew"]) is None
    assert certain_match("ip", ["ips"]) == Match("ips", by_number=True)
