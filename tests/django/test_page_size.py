"""`page` and `page_size` on lists with every kind of paginator: the rows of the REST API, in its
order, none of them twice, none of them lost.
"""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.views import APIView

from pages_api import TOOLS, VIEWS, companies, names_on, rows_of_view, serving
from sales.models import Company
from toolbooth.django.conf import configuration, mistakes

FEW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def serve(settings_of, ann, monkeypatch, built_once):
    monkeypatch.setitem(rows_of_view, "rows", 5)
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


def pages_after(call, tool: str, reply, most: int = 200) -> list[dict]:
    """Return every page of a list, by its tokens."""
    pages = []
    while True:
        assert not reply.is_error, reply.text
        pages.append(reply.value)
        assert len(pages) <= most
        token = reply.value["continuation"].get("continuation_token")
        if token is None:
            return pages
        reply = call(tool, continuation_token=token)


# --- the law ---


@pytest.mark.parametrize("tool", TOOLS)
@given(count=st.integers(0, 23), rows=st.integers(1, 9), size=st.integers(1, 26))
@FEW
def test_continuation_tokens_return_every_row_once(call, tool, count, rows, size):
    rows_of_view["rows"] = rows
    names = companies(count)
    pages = pages_after(call, tool, call(tool, page_size=size))
    shown = [names_on(page) for page in pages]
    assert [name for page in shown for name in page] == names
    assert [len(page) for page in shown[:-1]] == [size] * (len(shown) - 1)
    assert len(shown) == max(1, -(-count // size))


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "zero__list"])
@given(count=st.integers(1, 23), rows=st.integers(1, 9), size=st.integers(1, 26))
@FEW
def test_page_numbers_return_every_row_once(call, tool, count, rows, size):
    rows_of_view["rows"] = rows
    names = companies(count)
    last = -(-count // size)
    for number in range(1, last + 1):
        page = call(tool, page=number, page_size=size)
        assert not page.is_error, page.text
        first = (number - 1) * size
        assert names_on(page.value) == names[first : first + size]
        told = page.value["continuation"]
        assert (told["from"], told["to"]) == (first + 1, min(first + size, count))
    beyond = call(tool, page=last + 1, page_size=size)
    assert beyond.is_error


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "same__list"])
@given(
    lengths=st.lists(st.integers(0, 1_500), max_size=12),
    rows=st.integers(1, 5),
    size=st.integers(1, 12),
)
@FEW
def test_long_rows_are_returned_on_later_pages(serve, tool, lengths, rows, size):
    call = serve(MAX_RESULT=4_000)
    rows_of_view["rows"] = rows
    names = companies(len(lengths))
    for number, length in enumerate(lengths):
        Company.objects.filter(id=number + 1).update(website="https://" + "x" * length)
    pages = pages_after(call, tool, call(tool, page_size=size))
    assert [name for page in pages for name in names_on(page)] == names
    assert all(len(names_on(page)) <= size for page in pages)


@pytest.mark.parametrize("tool", ["leaving__list", "leaving_offsets__list"])
@given(rows=st.integers(1, 7), size=st.integers(1, 20))
@FEW
def test_views_may_leave_out_rows_of_their_pages(call, tool, rows, size):
    rows_of_view["rows"] = rows
    names = [name for number, name in enumerate(companies(23)) if number % 3 != 1]
    pages = pages_after(call, tool, call(tool, page_size=size))
    assert [name for page in pages for name in names_on(page)] == names


def test_omitted_rows_are_not_counted_if_that_can_be_seen(call):
    names = [name for number, name in enumerate(companies(23)) if number % 3 != 1]
    for tool in ("leaving__list", "leaving_offsets__list"):
        for number in (1, 2, 3, 4):
            page = call(tool, page=number, page_size=4).value
            assert names_on(page) == names[(number - 1) * 4 : number * 4]


@given(first=st.integers(1, 9), more=st.lists(st.integers(1, 9), max_size=6))
@FEW
def test_the_size_may_change_with_every_token(call, first, more):
    names = companies(23)
    reply = call("numbers__list", page_size=first)
    shown = names_on(reply.value)
    for size in more:
        token = reply.value["continuation"].get("continuation_token")
        if token is None:
            break
        reply = call("numbers__list", continuation_token=token, page_size=size)
        shown += names_on(reply.value)
    assert shown == names[: min(23, first + sum(more))]


# --- the number of pages read from the view ---


@pytest.fixture
def read(monkeypatch):
    """Return the queries that the views received."""
    found = []
    finish = APIView.finalize_response

    def finalize_response(self, request, response, *args, **kwargs):
        found.append(request.META["QUERY_STRING"])
        return finish(self, request, response, *args, **kwargs)

    monkeypatch.setattr(APIView, "finalize_response", finalize_response)
    return found


@pytest.mark.parametrize(
    ("tool", "sent", "queries"),
    [
        ("numbers", {}, [""]),
        ("numbers", {"page": 2}, ["page=2"]),
        ("numbers", {"page_size": 2}, [""]),
        ("numbers", {"page_size": 5}, [""]),
        ("numbers", {"page_size": 12}, ["", "page=2", "page=3"]),
        ("numbers", {"page": 2, "page_size": 5}, ["page=2"]),
        ("numbers", {"page": 4, "page_size": 2}, ["page=2"]),
        ("numbers", {"page": 2, "page_size": 8}, ["page=2", "page=3", "page=4"]),
        ("numbers", {"page": 9, "page_size": 8}, ["page=13", ""]),
        ("names", {"page_size": 6}, ["per=6"]),
        ("names", {"page": 3, "page_size": 6}, ["per=6&p=3"]),
        ("names", {"page_size": 12}, ["per=7", "per=7&p=2"]),
        ("offsets", {"page_size": 6}, ["limit=6"]),
        ("offsets", {"page": 3, "page_size": 6}, ["limit=6&offset=12"]),
        ("offsets", {"offset": 3, "page_size": 12}, ["offset=3&limit=7", "offset=10&limit=7"]),
        ("if_asked", {"page_size": 12}, ["limit=12"]),
        ("sized", {"page_size": 6}, ["size=6"]),
        ("unpaged", {"page": 3, "page_size": 6}, [""]),
        ("words", {"page_size": 12}, ["", "page=2", "page=3"]),
    ],
    ids=str,
)
def test_only_pages_of_the_view_with_requested_rows_are_read(
    settings_of, ann, monkeypatch, read, tool, sent, queries
):
    monkeypatch.setitem(rows_of_view, "rows", 5)
    companies(23)
    serving(settings_of, ann, monkeypatch)(INCLUDE=[f"{tool}__list"])(f"{tool}__list", sent)
    assert read == queries


def test_only_the_pages_that_fit_are_read(serve, read):
    companies(100)
    page = serve(MAX_RESULT=4_000)("numbers__list", page_size=100).value
    assert len(read) < 12
    told = page["continuation"]
    assert told["note"].startswith(
        f"100 rows are longer than 4,000 bytes: these are the first {told['to']}. "
    )


def test_a_list_without_page_size_makes_the_queries_of_rest(call, rest):
    companies(23)
    with CaptureQueriesContext(connection) as over_rest:
        answer = rest.get("/api/numbers/").json()
    with CaptureQueriesContext(connection) as over_mcp:
        page = call("numbers__list").value
    assert page == {**answer, "continuation": {"next_page": {"page": 2}}}
    of_rows = [each["sql"] for each in over_mcp if "sales_company" in each["sql"]]
    assert of_rows == [each["sql"] for each in over_rest if "sales_company" in each["sql"]]


def test_filters_apply_to_every_page_of_the_view(call):
    names = companies(40)
    # The link of this view forgets the filters.
    for tool in ("numbers__list", "keyset__list", "cursors__list"):
        pages = pages_after(call, tool, call(tool, page_size=8, search="001"))
        shown = [name for page in pages for name in names_on(page)]
        assert shown == [name for name in names if "001" in name]


def test_permissions_apply_to_every_page_of_the_view(serve, monkeypatch):
    companies(12)
    asked = []

    def check_permissions(self, request):
        asked.append(request.query_params.get("page"))
        if request.query_params.get("page") == "3":
            self.permission_denied(request, message="not that far")

    monkeypatch.setattr(VIEWS["numbers"], "check_permissions", check_permissions)
    call = serve()
    assert names_on(call("numbers__list", page_size=10).value)[-1] == "company 0009"
    refused = call("numbers__list", page_size=11)
    assert refused.is_error
    assert "not that far" in refused.text
    assert asked[-1] == "3"


def test_throttles_count_every_page_of_the_view(call):
    names = companies(23)
    assert names_on(call("throttled__list", page_size=15).value) == names[:15]
    refused = call("throttled__list", page_size=5)
    assert refused.is_error
    assert "throttled" in refused.text


def test_answers_from_a_cache_are_paged_too(call):
    names = companies(23)
    for _ in range(2):
        pages = pages_after(call, "cached__list", call("cached__list", page_size=7))
        assert [name for page in pages for name in names_on(page)] == names


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("unknown__list", "There may be more: send sheet for other pages."),
        ("unknown_hidden__list", "There may be more, but the API does not say how to get it."),
    ],
)
def test_page_note_of_an_unknown_paginator_mentions_other_pages(call, tool, said):
    names = companies(23)
    page = call(tool, page_size=12).value
    assert names_on(page) == names[:5]
    assert page["continuation"]["note"] == f"All rows of this answer. {said}"
    pages = pages_after(call, tool, call(tool, page_size=2))
    assert [name for page in pages for name in names_on(page)] == names[:5]
    refused = call(tool, page=3, page_size=3)
    assert "the list ends before page 3 of 3 rows" in refused.text
    # The paginator's own parameters still work.
    if tool == "unknown__list":
        assert names_on(call(tool, sheet=2, page_size=3).value) == names[5:8]


# --- refusals ---


@pytest.mark.parametrize(
    ("tool", "sent", "where", "said"),
    [
        ("numbers", {"page_size": 0}, "$.page_size", "must be 1 to 1000; got 0"),
        ("numbers", {"page_size": -1}, "$.page_size", "must be 1 to 1000; got -1"),
        ("numbers", {"page_size": 1001}, "$.page_size", "must be 1 to 1000; got 1001"),
        ("numbers", {"page_size": True}, "$.page_size", "must be an integer, got true"),
        ("numbers", {"page_size": 2.5}, "$.page_size", "must be an integer, got a number 2.5"),
        ("numbers", {"page_size": "two"}, "$.page_size", 'must be an integer, got text "two"'),
        ("numbers", {"page": 0}, "$.page", "must be 1 or more; got 0"),
        ("numbers", {"page": -1, "page_size": 2}, "$.page", "must be 1 or more; got -1"),
        ("numbers", {"page": "last"}, "$.page", 'must be an integer, got text "last"'),
        (
            "numbers",
            {"page": 6},
            "$.page",
            "the last page is 5: the list has 23 rows, at most 5 to a page",
        ),
        (
            "orphans",
            {"page": 6},
            "$.page",
            "the last page is 5: the list has 23 rows, at most 5 to a page",
        ),
        (
            "names",
            {"p": 9, "per": 6},
            "$.p",
            "the last page is 4: the list has 23 rows, at most 6 to a page",
        ),
        (
            "numbers",
            {"page": 13, "page_size": 2},
            "$.page",
            "the last page is 12: the list has 23 rows, at most 2 to a page",
        ),
        (
            "numbers",
            {"page": 10**30, "page_size": 2},
            "$.page",
            "the last page is 12: the list has 23 rows, at most 2 to a page",
        ),
        (
            "cursors",
            {"page": 4, "page_size": 8},
            "$.page",
            "the last page is 3: the list has 23 rows, at most 8 to a page",
        ),
        (
            "uncounted",
            {"page": 4, "page_size": 8},
            "$.page",
            "the list ends before page 4 of 8 rows; begin with page 1",
        ),
        (
            "offsets",
            {"limit": 2, "page_size": 2},
            "$.page_size",
            "has the same meaning as limit; send one of them",
        ),
        ("offsets", {"limit": 10**30}, "$.limit", f"must be 1 to 7; got {10**30}"),
        ("if_asked", {"limit": 10**30}, "$.limit", f"must be 1 to {2**31 - 1}; got {10**30}"),
        (
            "offsets",
            {"offset": 2, "page": 2},
            "$.page",
            "has the same meaning as offset; send one of them",
        ),
        (
            "cursors",
            {"cursor": "x", "page": 2},
            "$.page",
            "has the same meaning as cursor; send one of them",
        ),
        ("own", {"page": 0, "page_size": 2}, "$.page", "must be 1 or more"),
        (
            "zero",
            {"page": 1, "page_size": 2},
            "$.page",
            "counts the view's own pages, and cannot be combined with page_size; send one of them",
        ),
    ],
    ids=str,
)
def test_an_impossible_page_is_refused_with_the_limit(call, tool, sent, where, said):
    companies(23)
    refused = call(f"{tool}__list", sent)
    is_type = "must be an integer, got" in said
    told = f"{said}; e.g. 2; leave it out if unknown" if is_type else said
    assert [(each.where, each.message) for each in refused.problems] == [(where, told)]


def test_a_page_beyond_the_rows_that_one_call_reads_is_refused(call):
    rows_of_view["rows"] = 1
    companies(60)
    assert len(names_on(call("numbers__list", page_size=50).value)) == 50
    [problem] = call("numbers__list", page_size=51).problems
    assert (problem.where, problem.message) == (
        "$.page_size",
        "must be 1 to 50 here: the view makes pages of 1, and one call reads 50 of them",
    )
    companies(50)
    assert len(names_on(call("numbers__list", page_size=51).value)) == 50
    rows_of_view["rows"] = 20
    companies(1_050)
    page = call("numbers__list", page_size=1000, mode="full", filter_keys=["name"]).value
    assert len(names_on(page)) == 1000


def test_reading_a_forward_only_list_is_limited(call):
    rows_of_view["rows"] = 1
    names = companies(80)
    assert names_on(call("cursors__list", page=40, page_size=1).value) == [names[39]]
    [problem] = call("cursors__list", page=70, page_size=1).problems
    assert (problem.where, problem.message) == (
        "$.page",
        "must be 50 or less: this list can only be read forward. To continue, send"
        " continuation_token of an earlier page",
    )


def test_response_without_rows_refuses_page_arguments(call):
    for sent in ({"page_size": 2}, {"page": 2}):
        [problem] = call("actions__one", sent).problems
        assert problem.message.startswith("the answer has no rows")


def test_page_without_a_list_passes_on_the_error_of_the_view(call):
    refused = call("cursors__list", cursor="x", page_size=2)
    assert refused.is_error
    assert "Invalid cursor" in refused.text


# --- tokens ---


def test_a_token_keeps_the_size(call):
    names = companies(23)
    first = call("unpaged__list", page_size=2).value["continuation"]
    for mode in ({}, {"mode": "page"}, {"mode": "full"}):
        page = call("unpaged__list", continuation_token=first["continuation_token"], **mode).value
        assert names_on(page) == names[2:4]
        assert page["continuation"]["from"] == 3
    first = call("unpaged__list", page=1, mode="page").value
    assert len(names_on(first)) == 23


def test_a_size_may_be_sent_beside_the_token_of_a_long_answer(serve):
    rows_of_view["rows"] = 60
    names = companies(100)
    call = serve(MAX_RESULT=4_000)
    first = call("numbers__list").value
    shown = names_on(first)
    assert len(shown) < 60
    token = first["continuation"]["continuation_token"]
    pages = pages_after(
        call, "numbers__list", call("numbers__list", continuation_token=token, page_size=25)
    )
    # It continues beyond the page of the view.
    assert shown + [name for page in pages for name in names_on(page)] == names


def test_other_fields_may_be_sent_beside_a_token(call):
    companies(23)
    first = call("numbers__list", page_size=7).value["continuation"]
    sent = {"continuation_token": first["continuation_token"], "filter_keys": ["employees"]}
    page = call("numbers__list", sent).value
    assert page["results"] == [{"employees": number} for number in range(7, 14)]
    assert "changed" not in page["continuation"]["note"]
    token = page["continuation"]["continuation_token"]
    assert call("numbers__list", continuation_token=token).value["results"][0] == {"employees": 14}


def test_a_summary_may_be_sent_beside_a_token(call):
    names = companies(23)
    token = call("unpaged__list", page_size=7).value["continuation"]["continuation_token"]
    told = call("unpaged__list", continuation_token=token, mode="summary").value
    assert told["count"] == 23
    token = told["continuation"]["continuation_token"]
    assert names_on(call("unpaged__list", continuation_token=token).value) == names[7:14]


def test_pages_note_that_the_list_has_changed(call):
    companies(23)
    changed = "The result has changed since the previous page"
    token = call("numbers__list", page_size=5).value["continuation"]["continuation_token"]
    page = call("numbers__list", continuation_token=token).value
    assert changed not in page["continuation"]["note"]
    Company.objects.get(id=1).delete()
    page = call("numbers__list", continuation_token=token).value
    assert page["continuation"]["note"].startswith(changed)
    token = call("numbers__list", page_size=3).value["continuation"]["continuation_token"]
    Company.objects.filter(id=5).update(employees=99)
    page = call("numbers__list", continuation_token=token).value
    assert page["continuation"]["note"].startswith(changed)


def test_a_list_that_has_become_shorter_ends_without_an_error(call):
    companies(23)
    for tool in ("numbers__list", "offsets__list", "cursors__list", "unpaged__list"):
        companies(23)
        reply = call(tool, page_size=10)
        token = reply.value["continuation"]["continuation_token"]
        Company.objects.filter(id__gt=3).delete()
        page = call(tool, continuation_token=token).value
        assert names_on(page) == []
        assert "continuation_token" not in page["continuation"]
        assert page["continuation"]["note"].endswith("The last page.")


def test_a_row_that_is_too_large_is_sent_as_text(serve):
    call = serve(MAX_RESULT=4_000)
    names = companies(12)
    Company.objects.filter(id=8).update(website="https://" + "x" * 10_000)
    first = call("numbers__list", page_size=4).value
    assert names_on(first) == names[:4]
    second = call(
        "numbers__list", continuation_token=first["continuation"]["continuation_token"]
    ).value
    assert names_on(second) == names[4:7]
    reply = call("numbers__list", continuation_token=second["continuation"]["continuation_token"])
    pages = pages_after(call, "numbers__list", reply)
    text = json.loads("".join(page["text"] for page in pages))
    assert [row["name"] for row in text["results"]] == names[5:10]
    assert "page=3" in pages[-1]["continuation"]["note"]
    refused = call("numbers__list", page=2, page_size=4)
    assert "row 8 is too large for a page" in refused.text


def test_long_arguments_are_stored_for_the_tokens(serve):
    call = serve(MAX_RESULT=4_000)
    names = companies(23)
    words = " ".join(["company"] * 400)
    pages = pages_after(call, "words__list", call("words__list", page_size=7, search=words))
    assert [name for page in pages for name in names_on(page)] == names
    assert len(pages[0]["continuation"]["continuation_token"]) < 600


# --- fields beside the rows ---


def test_previous_and_next_links_match_the_returned_rows(call):
    companies(23)
    page = call("numbers__list", page=2, page_size=10).value
    assert (page["count"], page["next"], page["previous"]) == (
        23,
        "http://testserver/api/numbers/?page=5",
        "http://testserver/api/numbers/?page=2",
    )
    assert page["continuation"]["note"].startswith("Links in it use the API's own pages. ")
    page = call("numbers__list", page=2, page_size=5).value
    assert "links" not in page["continuation"]["note"]


def test_fields_beside_the_rows_of_each_page_are_kept(call):
    companies(23)
    page = call("words__list", page=2, page_size=8).value
    assert list(page) == ["page_number", "tags", "items", "total", "continuation"]
    assert (page["page_number"], page["total"], len(page["tags"])) == (2, 23, 30)
    told = page["continuation"]
    assert told["view_pages"] == [{"page_number": 2}, {"page_number": 3}, {"page_number": 4}]
    assert (told["from"], told["to"], told["count"]) == (9, 16, 23)


def test_rows_may_be_one_level_further_down(call):
    companies(23)
    page = call("nested__list", page=2, page_size=8, filter_keys=["employees"]).value
    told = page.pop("continuation")
    assert page == {
        "status": "ok",
        "page": {
            "number": 2,
            "rows": [{"employees": number} for number in range(8, 16)],
            "next": "http://testserver/api/nested/?page=5",
        },
    }
    assert told["view_pages"] == [{"page.number": 2}, {"page.number": 3}, {"page.number": 4}]
    assert told["note"].startswith("Links in it use the API's own pages. 7 more in page.rows.")


def test_a_single_page_equals_the_rest_response(call, rest):
    companies(23)
    page = call("numbers__list", page=2, page_size=5).value
    told = page.pop("continuation")
    assert page == rest.get("/api/numbers/?page=2").json()
    assert (told["from"], told["to"], told["count"]) == (6, 10, 23)


def test_a_filter_that_is_called_page_stays_a_filter(call):
    names = companies(23)
    pages = pages_after(call, "reports__list", call("reports__list", page=9, page_size=4))
    assert [name for page in pages for name in names_on(page)] == names[9:]


def test_each_paging_argument_works_under_every_alias(call):
    names = companies(23)
    for sent in ({"p": 3, "page_size": 6}, {"page": 3, "page_size": 6}, {"page": 3, "per": 6}):
        assert names_on(call("names__list", sent).value) == names[12:18]
    for sent in ({"limit": 6, "page": 3}, {"offset": 12, "page_size": 6}):
        assert names_on(call("offsets__list", sent).value) == names[12:18]


def test_a_page_without_a_size_has_the_views_page_size(call):
    names = companies(23)
    for tool in ("offsets__list", "cursors__list", "hidden__list", "actions__undeclared"):
        assert names_on(call(tool, page=3).value) == names[10:15]


def test_page_arguments_work_behind_a_dispatcher(serve):
    names = companies(23)
    call = serve(DISPATCH="resource")
    page = call("numbers", action="list", page=2, page_size=12).value
    assert names_on(page) == names[12:]
    page = call("numbers", action="list", params={"page_size": 12}).value
    token = page["continuation"]["continuation_token"]
    assert names_on(call("numbers", action="list", continuation_token=token).value) == names[12:]


def test_the_limit_of_rows_is_a_setting(serve):
    companies(23)
    call = serve(MAX_PAGE_SIZE=4)
    assert len(names_on(call("numbers__list", page_size=4).value)) == 4
    [problem] = call("numbers__list", page_size=5).problems
    assert problem.message == "must be 1 to 4; got 5"


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "10", None], ids=repr)
def test_an_invalid_limit_is_a_mistake_in_the_settings(settings_of, wrong):
    settings_of(TOOLBOOTH={"MAX_PAGE_SIZE": wrong})
    assert list(mistakes()) == [("MAX_PAGE_SIZE", f"must be a positive number, not {wrong!r}")]
    assert configuration().max_page_size == 1000
