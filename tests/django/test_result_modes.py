"""The modes of a result: a summary, a page, or all of it, and refused tokens."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results_api import MOST, answer, companies, joined, pages_of, serving
from sales.models import Company


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


def test_summary_contains_counts_fields_and_a_sample(call):
    companies(200)
    told = call("companies__list", mode="summary").value
    token = told["continuation"].pop("continuation_token")
    assert told == {
        "rows": "results",
        "count": 200,
        "size": len(call("companies__list", mode="full").text),
        "fields": ["id", "name", "website", "employees"],
        "sample": {
            "id": 1,
            "name": "company 0000",
            "website": "https://example.org/",
            "employees": 0,
        },
        "continuation": {
            "note": "Only a summary. For the result, call the same tool with only continuation_token."
        },
    }
    pages = pages_of(call, "companies__list", call("companies__list", continuation_token=token))
    assert joined(pages) == call("companies__list", mode="full").text


def test_summary_shows_other_keys_and_cuts_long_values(call):
    companies(70)
    Company.objects.filter(name="company 0000").update(website="https://" + "x" * 1_000)
    told = call("numbered__list", mode="summary").value
    assert told["beside"]["count"] == 70
    assert told["count"] == 50
    assert len(told["sample"]["website"]) == 100


def test_a_summary_of_many_fields_is_short(call):
    answer["value"] = {f"field {number}": {"x": ["y" * 500]} for number in range(1_000)}
    told = call("anything__get", mode="summary")
    assert (len(told.value["fields"]), told.value["more_fields"]) == (100, 900)
    assert len(told.text) < 20_000


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], {"rows": "results", "count": 0, "size": 14, "sample": None}),
        (["a", "b"], {"rows": "results", "count": 2, "size": 21, "sample": "a"}),
        ({"a": 1}, {"size": 7, "fields": ["a"], "sample": {"a": 1}}),
        ("words", {"size": 17, "fields": ["value"], "sample": {"value": "words"}}),
    ],
    ids=["no-rows", "no-fields", "one-object", "text"],
)
def test_summary_of_a_small_result_has_only_the_parts_that_exist(call, value, told):
    answer["value"] = value
    summary = call("anything__get", mode="summary").value
    del summary["continuation"]
    assert summary == told


def test_page_mode_adds_paging_facts_to_a_short_list(call):
    companies(3)
    page = call("companies__list", mode="page").value
    assert len(page["results"]) == 3
    told = page["continuation"]
    assert (told["from"], told["to"], told["count"], told["note"]) == (1, 3, 3, "The last page.")


def test_full_beside_a_token_returns_all_remaining_rows(call):
    companies(300)
    first = call("companies__list").value
    rest = call(
        "companies__list",
        continuation_token=first["continuation"]["continuation_token"],
        mode="full",
    ).value
    assert rest["continuation"]["from"] == first["continuation"]["to"] + 1
    assert rest["continuation"]["to"] == 300
    assert len(first["results"]) + len(rest["results"]) == 300


def test_another_mode_is_refused(call):
    for arguments in ({"mode": "all"}, {"mode": "all", "continuation_token": "x"}):
        told = call("companies__list", arguments)
        assert "must be one of summary, page, full" in told.text


def test_rows_of_a_view_without_pages_can_be_asked_for_by_page(call):
    companies(25)
    page = call("companies__list", page=3, page_size=10).value
    assert [row["employees"] for row in page["results"]] == [20, 21, 22, 23, 24]
    assert page["continuation"]["note"] == "The last page."
    first = call("companies__list", page_size=2).value
    assert [row["employees"] for row in first["results"]] == [0, 1]
    token = first["continuation"]["continuation_token"]
    second = call("companies__list", continuation_token=token, page_size=3).value
    assert [row["employees"] for row in second["results"]] == [2, 3, 4]
    fifth = call("companies__list", continuation_token=token, page=5, page_size=3).value
    assert [row["employees"] for row in fifth["results"]] == [12, 13, 14]


def test_default_page_has_one_hundred_rows(serve):
    companies(250)
    call = serve(MAX_RESULT=40_000)
    assert "$.page: has no effect" in call("companies__list", page=1, mode="summary").text
    assert "$.page_size: has no effect" in call("companies__list", page_size=1, mode="summary").text
    assert [len(call("companies__list", page=number).value["results"]) for number in (1, 2, 3)] == [
        100,
        100,
        50,
    ]
    assert (
        len(serve(MAX_RESULT=40_000, MAX_PAGE_SIZE=20)("companies__list", page=1).value["results"])
        == 20
    )


def test_page_with_more_rows_than_fit_has_a_note(call):
    companies(200)
    told = call("companies__list", page=1, page_size=150).value["continuation"]
    assert told["to"] < 150
    assert told["note"].startswith(
        f"150 rows are longer than 4,000 bytes: these are the first {told['to']}. "
    )
    whole = call("companies__list", page=1, page_size=150, mode="full").value
    assert len(whole["results"]) == 150


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(min_size=1, max_size=40), size=st.integers(1, 1_000), more=st.booleans())
def test_a_page_never_exceeds_the_size_limit(call, text, size, more):
    answer["value"] = [{"text": text, "number": number} for number in range(300)]
    first = call("anything__get", mode="page")
    assert len(first.text.encode()) <= MOST
    first = call("lines__list", page_size=size)
    assert len(first.text.encode()) <= MOST
    token = first.value["continuation"].get("continuation_token")
    if more and token:
        assert (
            len(call("lines__list", continuation_token=token, page_size=size).text.encode()) <= MOST
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"page": 4, "page_size": 10},
            "$.page: the last page is 3: the list has 25 rows, at most 10 to a page",
        ),
        ({"page_size": 1001}, "$.page_size: must be 1 to 1000"),
        ({"page": 0}, "$.page: must be 1 or more"),
    ],
)
def test_an_impossible_page_is_refused(call, arguments, words):
    companies(25)
    assert f"- {words}" in call("companies__list", arguments).text


def test_the_first_page_of_an_empty_list_is_empty(call):
    assert call("companies__list", page=1).value["results"] == []
    assert "the list has 0 rows" in call("companies__list", page=2).text


def test_too_large_row_blocks_only_its_own_page(call):
    companies(5)
    Company.objects.filter(employees=2).update(website="https://" + "x" * 10_000)

    def asked(**arguments):
        return [
            row["employees"]
            for row in call("companies__list", page_size=2, **arguments).value["results"]
        ]

    assert [asked(page=1), asked(page=3)] == [[0, 1], [4]]
    told = call("companies__list", page=2, page_size=2)
    assert told.text.endswith(
        "- $.page: row 3 is too large for a page; send filter_keys without its large fields, "
        'or mode "full", or no page and no page_size, or ask for other rows'
    )
    assert asked(page=2, filter_keys=["employees"]) == [2, 3]
    assert asked(page=2, mode="full") == [2, 3]
    token = call("companies__list", page=1, page_size=1).value["continuation"]["continuation_token"]
    assert (
        "$.page_size: row 3 is too large"
        in call("companies__list", continuation_token=token, page_size=2).text
    )
    assert asked(continuation_token=token, page=3) == [4]
    page = call("companies__list", continuation_token=token).value
    assert [row["employees"] for row in page["results"]] == [1]
    text = call("companies__list").value["continuation"]["continuation_token"]
    assert asked(continuation_token=text, page=3) == [4]
    told = call("companies__list", continuation_token=text, page_size=2)
    assert "$.page_size: the token continues a text; send it alone" in told.text


def test_an_answer_without_rows_has_no_pages(call):
    assert "$.page: the answer has no rows" in call("nameless__list", page=1).text


def test_continuation_before_a_too_large_row_starts_again(call):
    companies(5)
    Company.objects.create(name="long", website="https://" + "x" * 10_000)
    page = call("companies__list", page=1, page_size=5).value
    assert len(page["results"]) == 5
    anew = call("companies__list", continuation_token=page["continuation"]["continuation_token"])
    assert "changed" not in anew.value["continuation"]["note"]
    assert (
        joined(pages_of(call, "companies__list", anew)) == call("companies__list", mode="full").text
    )


def test_beside_a_token_the_pages_of_a_view_are_refused(call):
    companies(70)
    token = call("numbered__list").value["continuation"]["continuation_token"]
    told = call("numbered__list", continuation_token=token, page=2, page_size=5)
    assert {problem.where for problem in told.problems} == {"$.page", "$.page_size"}
    assert "cannot be sent with continuation_token" in told.text
    assert told.corrected == {"continuation_token": token}
    assert not call("numbered__list", told.corrected).is_error


def test_rows_contain_only_the_requested_fields(call):
    companies(300)
    first = call("companies__list", filter_keys=["name"])
    assert first.value["results"][0] == {"name": "company 0000"}
    pages = pages_of(call, "companies__list", first)
    assert {tuple(row) for page in pages for row in page["results"]} == {("name",)}
    assert joined(pages) == call("companies__list", filter_keys=["name"], mode="full").text


def test_other_filter_keys_may_be_sent_beside_a_token(call):
    companies(300)
    token = call("companies__list").value["continuation"]["continuation_token"]
    page = call(
        "companies__list", continuation_token=token, filter_keys=["employees", "name"]
    ).value
    assert list(page["results"][0]) == ["name", "employees"]
    assert "changed" not in page["continuation"]["note"]
    token = page["continuation"]["continuation_token"]
    assert list(call("companies__list", continuation_token=token).value["results"][0]) == [
        "name",
        "employees",
    ]
    told = call("companies__list", continuation_token=token, filter_keys=["Employees"])
    assert 'did you mean "employees"?' in told.text
    assert told.corrected == {"continuation_token": token, "filter_keys": ["employees"]}


def test_new_filter_keys_on_a_text_continuation_start_again(call):
    companies(3)
    Company.objects.create(name="long", website="https://" + "x" * 9_000)
    token = call("companies__list").value["continuation"]["continuation_token"]
    page = call("companies__list", continuation_token=token, filter_keys=["name"])
    assert [row["name"] for row in page.value["results"]] == [
        *(f"company {n:04}" for n in range(3)),
        "long",
    ]
    assert (
        page.value["continuation"]["note"]
        == "Paging starts again: this is the beginning. The last page."
    )


def test_filter_keys_apply_to_a_single_row(call):
    companies(1)
    row = Company.objects.get()
    assert call("companies__retrieve", id=row.pk, filter_keys=["name"]).value == {
        "name": "company 0000"
    }
    assert call("custom__list", filter_keys=["name"]).value == {
        "total": 1,
        "tags": ["a", "b"],
        "items": [{"name": "company 0000"}],
        "continuation": "mine",
    }


def test_filter_keys_that_match_fields_outside_the_rows_are_reported(call):
    companies(1)
    told = call("features__list", filter_keys=["name"])
    assert (
        "$.filter_keys: none of these are fields of the answer; it has type, properties"
        in told.text
    )
    assert (
        "$.filter_keys: the answer has no rows" in call("nameless__list", filter_keys=["name"]).text
    )
