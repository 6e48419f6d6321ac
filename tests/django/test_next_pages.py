"""A page of a list has the arguments for the next one, in the names that its tool takes."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pages_api import TOOLS, Numbers, companies, names_on, rows_of_view, serving
from sales.models import Company

FEW = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

LINKED = [tool for tool in TOOLS if tool.partition("__")[0] not in ("own", "clamped", "hidden")]
"""Lists whose responses show that there is another page."""


@pytest.fixture
def serve(settings_of, ann, monkeypatch, built_once):
    monkeypatch.setitem(rows_of_view, "rows", 5)
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


def pages_as_told(call, tool: str, most: int = 60, **sent) -> list[dict]:
    """Every page of a list, each requested with the arguments that the page before it names."""
    pages = []
    while len(pages) < most:
        reply = call(tool, **sent)
        assert not reply.is_error, reply.text
        pages.append(reply.value)
        told = reply.value.get("continuation", {})
        if "next_page" in told:
            sent |= told["next_page"]
        elif "continuation_token" in told:
            in_tool = {name: sent[name] for name in ("resource", "action") if name in sent}
            sent = {**in_tool, "continuation_token": told["continuation_token"]}
        else:
            return pages
    raise AssertionError(pages[-1])


def names_of(pages: list[dict]) -> list[str]:
    return [name for page in pages for name in names_on(page)]


@pytest.mark.parametrize("tool", LINKED)
@given(count=st.integers(0, 23), rows=st.integers(1, 9))
@FEW
def test_next_page_leads_to_every_row_once(call, tool, count, rows):
    rows_of_view["rows"] = rows
    names = companies(count)
    assert names_of(pages_as_told(call, tool)) == names


@pytest.mark.parametrize("tool", LINKED)
def test_next_page_leads_to_every_row_once_through_a_dispatcher(serve, tool):
    call = serve(DISPATCH="resource")
    names = companies(23)
    resource, _, action = tool.partition("__")
    assert names_of(pages_as_told(call, resource, action=action)) == names


@pytest.mark.parametrize(
    ("tool", "sent", "told"),
    [
        ("numbers__list", {}, {"page": 2}),
        ("numbers__list", {"page": 2}, {"page": 3}),
        ("numbers__list", {"page": 5}, None),
        ("numbers__list", {"search": "nothing"}, None),
        ("names__list", {"per": 6}, {"p": 2}),
        ("words__list", {}, {"page": 2}),
        ("zero__list", {}, {"page": 1}),
        ("offsets__list", {}, {"offset": 5}),
        ("offsets__list", {"limit": 7, "offset": 7}, {"offset": 14}),
        ("offsets__list", {"limit": 7, "offset": 21}, None),
        ("if_asked__list", {"limit": 20}, {"offset": 20}),
        ("if_asked__list", {}, None),
        ("nested__list", {}, {"page": 2}),
        ("header__list", {}, {"page": 2}),
        # The link has a parameter that is not declared, so the gateway counts the pages.
        ("keyset__list", {}, {"page": 2}),
        ("actions__undeclared", {}, {"page": 2}),
        ("reports__list", {"page": 3}, {"offset": 5}),
        ("unpaged__list", {}, None),
        # It is not known whether there are more pages.
        ("own__list", {}, None),
        ("unknown__list", {}, None),
        ("actions__one", {}, None),
    ],
    ids=str,
)
def test_next_page_names_arguments_of_the_tool(call, tool, sent, told):
    companies(23)
    continuation = call(tool, **sent).value.get("continuation")
    assert continuation == (None if told is None else {"next_page": told})


def test_next_page_of_a_cursor_is_the_cursor(call, rest):
    companies(12)
    link = rest.get("/api/cursors/").json()["next"]
    told = call("cursors__list").value["continuation"]["next_page"]
    assert told == {"cursor": link.partition("cursor=")[2].replace("%3D", "=")}


def test_filters_columns_and_sizes_hold_on_next_pages(serve):
    for dispatch in (None, "resource"):
        call = serve(DISPATCH=dispatch)
        names = [name for name in companies(60) if "1" in name]
        for resource, size in (
            ("names", {"per": 4}),
            ("offsets", {"limit": 4}),
            ("sized", {"size": 4}),
        ):
            tool, sent = (resource, {"action": "list"}) if dispatch else (f"{resource}__list", {})
            sent |= {**size, "filters": {"search": "1"}, "filter_keys": ["name"]}
            pages = pages_as_told(call, tool, **sent)
            assert names_of(pages) == names
            assert len(pages) == -(-len(names) // 4)
            assert pages[0]["results"][0] == {"name": names[0]}


def test_next_page_has_a_key_that_the_view_does_not_use(call, monkeypatch):
    companies(12)
    original = Numbers.get_paginated_response

    def get_paginated_response(self, data):
        answer = original(self, data)
        answer.data["continuation"] = "own"
        return answer

    monkeypatch.setattr(Numbers, "get_paginated_response", get_paginated_response)
    page = call("numbers__list").value
    assert page["continuation"] == "own"
    assert page["continuation_2"] == {"next_page": {"page": 2}}


def test_row_that_mentions_a_continuation_does_not_rename_the_key(call):
    companies(6)
    Company.objects.filter(id=1).update(name='"continuation"')
    assert call("numbers__list").value["continuation"] == {"next_page": {"page": 2}}


def test_page_that_is_cut_because_of_its_length_says_both(serve):
    rows_of_view["rows"] = 60
    names = companies(100)
    call = serve(MAX_RESULT=4_000)
    first = call("numbers__list").value["continuation"]
    last = call("numbers__list", continuation_token=first["continuation_token"]).value
    assert last["continuation"]["note"] == (
        "All rows of this answer. There is more: for the next page, send the same arguments with"
        " page=2."
    )
    pages = pages_as_told(call, "numbers__list", page=2)
    assert names_of(pages) == names[60:]
    # With the arguments for the next page, a result of the greatest size would be too long.
    size = len(call("numbers__list", mode="full").text)
    for most in (size - 1, size):
        shown = serve(MAX_RESULT=most)("numbers__list")
        assert len(shown.text) <= most
