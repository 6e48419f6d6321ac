"""The protocol arguments `filters`, `page`, `page_size` and `filter_keys`."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odd.models import Thing
from protocol_api import MORE, Urls, names, problems
from sales.models import Company, Contact
from toolbooth.django.testing import acting_as


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


@pytest.fixture
def companies(db):
    return [
        Company.objects.create(name=name) for name in ("Acme", "Bolt", "Cog", "Dynamo", "Engine")
    ]


@pytest.fixture
def things(db):
    for title, kind, size, active in (
        ("anvil", "large", 9, False),
        ("bolt", "small", 2, True),
        ("cog", "small", 1, True),
    ):
        Thing.objects.create(title=title, kind=kind, size=size, active=active)


# --- filters ---


FILTERS = {
    "title__icontains": st.sampled_from(["o", "anvil", "zz"]),
    "active": st.booleans(),
    "size_min": st.integers(1, 10),
    "size_max": st.integers(-1, 10),
    "kind": st.lists(st.sampled_from(["small", "large", "huge"]), min_size=1, max_size=2),
    "ordering": st.sampled_from(["title", "-size", "-title,size", "price"]),
    "search": st.sampled_from(["bo", "x"]),
    "code": st.sampled_from(["6b7e67eb-0000-4000-8000-000000000001", "no code"]),
}


@given(
    filters=st.fixed_dictionaries({}, optional=FILTERS),
    inside=st.sets(st.sampled_from(list(FILTERS))),
    as_text=st.booleans(),
    page=st.fixed_dictionaries({}, optional={"limit": st.integers(1, 3)}),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_filters_in_one_object_have_the_same_result_as_single_ones(
    call, things, filters, inside, as_text, page
):
    flat = call("things__list", {**filters, **page})
    inner = {name: each for name, each in filters.items() if name in inside}
    beside = {name: each for name, each in filters.items() if name not in inside}
    sent = {**beside, **page, "filters": json.dumps(inner) if as_text else inner}
    found = call("things__list", sent)
    assert found.is_error == flat.is_error
    if flat.is_error:
        moved = [
            (
                code,
                where.replace("$.", "$.filters.", 1)
                if where.partition(".")[2].partition("[")[0] in inner
                else where,
                said,
            )
            for code, where, said in problems(flat)
        ]
        assert sorted(problems(found)) == sorted(moved)
    else:
        assert found.value == flat.value


@pytest.mark.parametrize(
    ("sent", "code", "where"),
    [
        ({"filters": {"emial": "x"}}, "unknown-key", "$.filters.emial"),
        ({"filters": {"page": 1}}, "unknown-key", "$.filters.page"),
        ({"filters": {"filters": {"email": "x"}}}, "nested-wrapper", "$.filters.filters"),
        ({"filters": {"data": {"email": "x"}}}, "nested-wrapper", "$.filters.data"),
        ({"filters": {"subscribed": "yes"}}, "wrong-type", "$.filters.subscribed"),
        ({"filters": {"company": 10**6}}, "invalid", "$.filters.company"),
        ({"filters": {"email": "x"}, "email": "y"}, "conflicting-keys", "$.filters.email"),
        ({"filters": {"email": "x"}, "email": "x"}, "conflicting-keys", "$.filters.email"),
        ({"filters": "email=x"}, "wrong-type", "$.filters"),
        ({"filters": [{"email": "x"}]}, "wrong-type", "$.filters"),
        ({"filter": {"email": "x"}}, "nested-wrapper", "$.filter"),
    ],
    ids=json.dumps,
)
def test_invalid_filter_is_refused_at_its_path(call, sent, code, where):
    Contact.objects.create(email="a@x.io")
    refused = call("contacts__list", sent)
    assert [(each.code, each.where) for each in refused.problems] == [(code, where)]


def test_misspelt_filter_gets_a_suggestion(call):
    refused = call("contacts__list", filters={"emial__icontains": "x"})
    assert 'did you mean "email__icontains"?' in refused.text


def test_empty_filters_do_not_limit_the_list(call, companies):
    for empty in ({}, None, "", {"search": None}, {"ordering": None}):
        assert len(names(call("companies__list", filters=empty))) == 5


EMPTY = "is empty, and the API would ignore it: leave it out"


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("contacts__list", {"search": ""}),
        ("contacts__list", {"search": " \t"}),
        ("contacts__list", {"search": " , ,"}),
        ("contacts__list", {"search": '""'}),
        ("contacts__list", {"email": ""}),
        ("contacts__list", {"email": " "}),
        ("companies__list", {"ordering": ""}),
        ("companies__list", {"ordering": []}),
        ("things__list", {"search": ""}),
        ("things__list", {"kind": []}),
        ("things__list", {"kind": [""]}),
        ("things__list", {"rank__in": []}),
        ("asked__list", {"show": ""}),
    ],
    ids=json.dumps,
)
def test_an_empty_filter_does_not_return_the_whole_table(settings_of, ann, tool, sent):
    settings_of(
        ROOT_URLCONF=type(
            "More", (), {"urlpatterns": [*Urls.urlpatterns, path("t/", include(MORE.urls))]}
        )
    )
    call = acting_as(ann).call
    for arguments, where in ((sent, "$"), ({"filters": sent}, "$.filters")):
        with CaptureQueriesContext(connection) as queries:
            told = problems(call(tool, arguments))
        assert [(code, path, said.partition(";")[0]) for code, path, said in told] == [
            ("invalid", f"{where}.{name}", EMPTY) for name in sent
        ]
        assert not [
            each for each in queries if 'FROM "sales_' in each["sql"] or 'FROM "odd_' in each["sql"]
        ]


def test_an_empty_number_counts_as_not_sent(settings_of, ann, things):
    settings_of(
        ROOT_URLCONF=type(
            "More", (), {"urlpatterns": [*Urls.urlpatterns, path("t/", include(MORE.urls))]}
        )
    )
    told = acting_as(ann).call("things__list", size_min="", active="")
    assert [(each.code, each.where) for each in told.repairs] == [
        ("empty-optional", "$.size_min"),
        ("empty-optional", "$.active"),
    ]
    assert len(told.value["results"]) == 3


def test_single_comma_is_searched_for_literally(call):
    assert call("contacts__list", email__icontains=",").value["count"] == 0


def test_required_query_parameter_may_be_empty(call, companies):
    assert len(names(call("regional__list", region=""))) == 5


@pytest.mark.parametrize(
    ("ordering", "said"),
    [
        ("nam", 'must be one of name, -name, employees, -employees; got "nam"'),
        (
            "name,nam",
            "must be one of name, -name, employees, -employees, not 'nam'; got \"name,nam\"",
        ),
        (["name", "nam"], "must be one of name, -name, employees, -employees, not 'nam'"),
    ],
    ids=str,
)
def test_invalid_ordering_is_reported_once(call, ordering, said):
    assert problems(call("companies__list", ordering=ordering)) == [("invalid", "$.ordering", said)]


def test_required_parameter_is_refused_inside_filters(call, companies):
    assert [each.where for each in call("regional__list", filters={"region": "A"}).problems] == [
        "$.filters.region"
    ]
    assert names(call("regional__list", region="B", filters={"search": "o"})) == ["Bolt"]


# --- pages ---


@pytest.mark.parametrize(
    ("tool", "sent", "where", "said"),
    [
        ("numbers__list", {"page_size": 4}, "$.page_size", "must be 1 to 3; got 4"),
        ("numbers__list", {"page_size": 0}, "$.page_size", "must be 1 to 3; got 0"),
        ("numbers__list", {"page_size": -1}, "$.page_size", "must be 1 to 3; got -1"),
        ("limits__list", {"limit": 4}, "$.limit", "must be 1 to 3; got 4"),
        ("limits__list", {"limit": 0}, "$.limit", "must be 1 to 3; got 0"),
        ("limits__list", {"limit": 1, "offset": -1}, "$.offset", "must be 0 or more; got -1"),
        (
            "limits__list",
            {"offset": 1},
            "$.offset",
            "has no effect without limit: send both; got 1",
        ),
        ("cursor__list", {"size": 4}, "$.size", "must be 1 to 3; got 4"),
        ("sizes__list", {"per": 0}, "$.per", "must be 1 or more; got 0"),
        ("sizes__list", {"page": 2}, "$.page", "has no effect without per: send both; got 2"),
        ("whole__list", {"page": 0}, "$.page", "must be 1 or more; got 0"),
        ("whole__list", {"page_size": 1001}, "$.page_size", "must be 1 to 1000; got 1001"),
        ("nevers__list", {"page_size": 0}, "$.page_size", "must be 1 to 1000; got 0"),
        (
            "whole__list",
            {"mode": "filtered"},
            "$.mode",
            'must be one of summary, page, full; got "filtered"',
        ),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_page_that_would_be_clamped_or_ignored_is_refused_with_the_limit(
    call, companies, tool, sent, where, said
):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        refused = call(tool, sent)
    assert problems(refused) == [("invalid", where, said)]
    assert not [each for each in queries if "sales_company" in each["sql"]]


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [("numbers", "page_size"), ("limits", "limit"), ("cursor", "size"), ("own", "limit")],
)
@given(size=st.integers(-(2**40), 2**40) | st.integers(-1, 7))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_page_has_the_requested_number_of_rows_or_is_refused(
    call, companies, tool, parameter, size
):
    found = call(f"{tool}__list", {parameter: size})
    own = tool == "own"  # the project's own code defines the meaning of its limits
    assert found.is_error == (not own and not 1 <= size <= 3)
    if not found.is_error and not own:
        assert len(names(found)) == size


def test_a_paginator_that_reads_its_limit_itself_is_not_checked(call, companies):
    assert len(names(call("own__list", limit=0))) == 5


def test_a_view_without_pages_is_paged_by_the_gateway(call, companies):
    assert names(call("whole__list", page=2, page_size=2)) == ["Cog", "Dynamo"]
    assert names(call("nevers__list", page=3, page_size=2)) == ["Engine"]
    assert names(call("sizes__list", page=2, per=2)) == ["Cog", "Dynamo"]
    assert names(call("sizes__list", page=2, page_size=2)) == ["Cog", "Dynamo"]
    assert names(call("limits__list", page=2, page_size=2)) == ["Cog", "Dynamo"]
    assert names(call("cursor__list", page=2, page_size=4)) == ["Engine"]
    assert names(call("own__list", page_size=4)) == ["Acme", "Bolt", "Cog", "Dynamo"]


# --- filter_keys ---


@pytest.fixture
def people(db):
    Contact.objects.create(email="a@x.io", first_name="Ann", notes="tall")
    Contact.objects.create(email="b@x.io", first_name="Bob", notes="short")


def test_rows_have_only_the_requested_fields(call, people):
    found = call("people__list", filter_keys=["email"]).value
    assert (found["count"], found["results"]) == (2, [{"email": "a@x.io"}, {"email": "b@x.io"}])
    key = str(Contact.objects.get(email="a@x.io").pk)
    assert call("people__retrieve", id=key, filter_keys=["first_name", "id"]).value == {
        "id": key,
        "first_name": "Ann",
    }


@pytest.mark.parametrize("action", ["list", "retrieve"])
def test_unknown_fields_are_refused_before_the_view_runs(call, people, action):
    sent = {"id": str(Contact.objects.first().pk)} if action == "retrieve" else {}
    with CaptureQueriesContext(connection) as queries:
        refused = call(
            f"people__{action}",
            {**sent, "filter_keys": ["email", "fist_name", "notes", "password"]},
        )
    assert refused.text == (
        f"Refused: 3 problems in the arguments of 'people__{action}'. Nothing was done.\n"
        '- $.filter_keys[1]: there is no field "fist_name"; did you mean "first_name"?\n'
        '- $.filter_keys[2]: there is no field "notes"\n'
        '- $.filter_keys[3]: there is no field "password"\n'
        'Declared fields of $.filter_keys: "id" (field of the result), "email" (field of the result), "first_name" (field of the result).'
    )
    assert not [each for each in queries if "sales_contact" in each["sql"]]


def test_the_fields_are_those_of_the_callers_own_serializer(call, people, ann):
    assert call("people__list", filter_keys=["notes"]).is_error
    ann.is_staff = True
    ann.save()
    assert acting_as(ann).call("people__list", filter_keys=["notes"]).value["results"] == [
        {"notes": "tall"},
        {"notes": "short"},
    ]
    assert call("asked__list", show="email", filter_keys=["first_name"]).is_error
    assert call("asked__list", filters={"show": "email"}, filter_keys=["email"]).value["count"] == 2


def test_miscased_filter_keys_get_a_corrected_call(call, people):
    sent = {"filters": {"search": "a"}, "filter_keys": ["Email", "id", "firstName", "email"]}
    told = call("contacts__list", sent)
    assert told.corrected == {
        "filters": {"search": "a"},
        "filter_keys": ["email", "id", "first_name"],
    }
    assert list(call("contacts__list", told.corrected).value["results"][0]) == [
        "id",
        "email",
        "first_name",
    ]
    assert call("contacts__list", filter_keys=["Email", "quux"]).corrected is None
    assert call("contacts__list", filter_keys=[]).corrected is None
    similar = call("contacts__list", filter_keys=["emial"])
    assert ('did you mean "email"?' in similar.text, similar.corrected) == (True, None)
    assert call("asked__list", filter_keys=["Email"]).corrected == {"filter_keys": ["email"]}
    told = call("asked__list", filter_keys=["Email"], key="hush")
    assert (told.corrected, "hush" in told.text) == (None, False)


def test_an_empty_list_of_fields_is_refused(call):
    assert problems(call("people__list", filter_keys=[])) == [
        ("invalid", "$.filter_keys", "names no field; leave it out to get all fields")
    ]


def test_callers_without_permission_are_not_shown_field_names(call, settings_of):
    told = call("forstaff__list", filter_keys=["nope"])
    assert (told.is_error, "name" in told.text.replace("permission", "")) == (True, False)
