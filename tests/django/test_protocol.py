"""Protocol arguments: each works where it applies, is renamed by a setting, and never takes a host's own name."""

import json
import re
from pathlib import Path
from typing import Annotated

import pytest
from django.core import checks
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from rest_framework import mixins, pagination, permissions, serializers, viewsets
from rest_framework.routers import SimpleRouter

from odd.models import Thing
from odd.views import ThingViewSet
from sales.models import Company, Contact
from sales.views import CompanyViewSet, ContactViewSet
from toolbooth.django import decorators
from toolbooth.django.catalogue import catalogue
from toolbooth.django.checks import check_tools
from toolbooth.django.conf import configuration, mistakes
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.protocol import TABLE
from toolbooth.django.testing import acting_as
from toolbooth.markers import Unpack
from toolbooth.publish import input_schema

PAGE = Path(__file__).resolve().parents[2] / "docs" / "django.md"


class Numbered(pagination.PageNumberPagination):
    page_size = 2
    page_size_query_param = "page_size"
    max_page_size = 3


class Sized(pagination.PageNumberPagination):
    """Makes pages only where a size is sent."""

    page_size = None
    page_size_query_param = "per"


class Never(pagination.PageNumberPagination):
    page_size = None


class Offsets(pagination.LimitOffsetPagination):
    default_limit = None
    max_limit = 3


class Cursors(pagination.CursorPagination):
    page_size = 2
    page_size_query_param = "size"
    max_page_size = 3
    ordering = "name"


class OwnSizes(pagination.LimitOffsetPagination):
    """Reads its limit itself: 0 is all of them."""

    default_limit = 2
    max_limit = 3

    def get_limit(self, request):
        asked = request.query_params.get("limit")
        return 100 if asked == "0" else super().get_limit(request)


class Listed(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Companies that can only be listed."""

    queryset = CompanyViewSet.queryset
    serializer_class = CompanyViewSet.serializer_class
    filter_backends = CompanyViewSet.filter_backends
    search_fields = CompanyViewSet.search_fields
    ordering_fields = CompanyViewSet.ordering_fields


class Numbers(Listed):
    pagination_class = Numbered


class Sizes(Listed):
    pagination_class = Sized


class Nevers(Listed):
    pagination_class = Never


class Limits(Listed):
    pagination_class = Offsets


class Cursor(Listed):
    pagination_class = Cursors
    filter_backends = []


class Own(Listed):
    pagination_class = OwnSizes


class Whole(Listed):
    pagination_class = None


class ClashingSerializer(serializers.ModelSerializer):
    """Fields that are called as protocol arguments are."""

    help = serializers.BooleanField(source="subscribed", required=False)
    verify = serializers.CharField(source="notes", required=False)

    class Meta:
        model = Contact
        fields = ["id", "email", "help", "verify"]


@extend_schema_view(
    list=extend_schema(
        parameters=[
            OpenApiParameter(name, str) for name in ("filters", "mode", "page", "page_size", "filter_keys", "help")
        ]
    )
)
class Clashing(viewsets.ModelViewSet):
    queryset = Contact.objects.order_by("email")
    serializer_class = ClashingSerializer
    pagination_class = None


@extend_schema_view(list=extend_schema(parameters=[OpenApiParameter("region", str, required=True)]))
class Regional(Listed):
    """One of its parameters must be sent."""

    def get_queryset(self):
        return super().get_queryset().filter(name__startswith=self.request.query_params.get("region", "?"))


class PersonSerializer(serializers.ModelSerializer):
    """Shows the notes to members of staff, and what was written to nobody."""

    password = serializers.CharField(write_only=True, required=False)

    class Meta:
        model = Contact
        fields = ["id", "email", "first_name", "notes", "password"]

    def get_fields(self):
        fields = super().get_fields()
        if not getattr(self.context["request"].user, "is_staff", False):
            del fields["notes"]
        return fields


class People(viewsets.ReadOnlyModelViewSet):
    queryset = Contact.objects.order_by("email")
    serializer_class = PersonSerializer


SECRET = {"type": "string", "format": "password"}


class Asked(People):
    """Shows only what its own parameter names."""

    class Chosen(PersonSerializer):
        def get_fields(self):
            names = self.context["request"].query_params.get("show", "id,email,first_name").split(",")
            return {name: each for name, each in super().get_fields().items() if name in names}

    serializer_class = Chosen

    @extend_schema(parameters=[OpenApiParameter("show", str), OpenApiParameter("key", SECRET)])
    def list(self, request, *args, **kwargs):
        return super().list(request, *args, **kwargs)


class Personal(People):
    """Has a serializer only for somebody."""

    def get_serializer_class(self):
        return {True: PersonSerializer}[self.request.user.is_authenticated]


class Things(mixins.ListModelMixin, viewsets.GenericViewSet):
    queryset = ThingViewSet.queryset
    serializer_class = ThingViewSet.serializer_class
    pagination_class = ThingViewSet.pagination_class
    filter_backends = ThingViewSet.filter_backends
    filterset_class = ThingViewSet.filterset_class
    ordering_fields = ThingViewSet.ordering_fields
    search_fields = ThingViewSet.search_fields


class ForStaff(CompanyViewSet):
    permission_classes = [permissions.IsAdminUser]


MORE = SimpleRouter()
MORE.register("things", Things, "things")


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", CompanyViewSet, "companies")
    for view in (
        Numbers,
        Sizes,
        Nevers,
        Limits,
        Cursor,
        Own,
        Whole,
        Clashing,
        Regional,
        People,
        Asked,
        Personal,
        ForStaff,
    ):
        router.register(view.__name__.lower(), view, view.__name__.lower())
    urlpatterns = [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


@pytest.fixture
def companies(db):
    return [Company.objects.create(name=name) for name in ("Acme", "Bolt", "Cog", "Dynamo", "Engine")]


@pytest.fixture
def things(db):
    for title, kind, size, active in (
        ("anvil", "large", 9, False),
        ("bolt", "small", 2, True),
        ("cog", "small", 1, True),
    ):
        Thing.objects.create(title=title, kind=kind, size=size, active=active)


def names(result):
    return [row["name"] for row in result.value["results"]]


def problems(result):
    return [(each.code, each.path, each.message) for each in result.problems]


def taken(tool):
    """The protocol arguments of a tool, by the names that help gives them."""
    return list(catalogue().registry.find(tool).about().get("protocol", {}))


# --- where each applies ---


def test_the_table_holds_those_of_seed_000_and_our_own():
    seed = {"help", "continuation_token", "mode", "page", "page_size", "filter_keys", "filters"}
    assert set(TABLE) == {*seed, "verify"}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("companies__list", ["help", "filters", "filter_keys", "mode", "continuation_token"]),
        ("whole__list", ["help", "filters", "filter_keys", "page", "page_size", "mode", "continuation_token"]),
        ("nevers__list", ["help", "filters", "filter_keys", "page", "page_size", "mode", "continuation_token"]),
        ("people__list", ["help", "filter_keys", "mode", "continuation_token"]),
        ("companies__retrieve", ["help", "filter_keys", "mode", "continuation_token"]),
        ("companies__create", ["help", "verify"]),
        ("companies__update", ["help", "verify"]),
        ("companies__partial_update", ["help", "verify"]),
        ("companies__destroy", ["help"]),
        ("personal__list", ["help", "mode", "continuation_token"]),
        ("clashing__list", ["continuation_token"]),
        ("clashing__create", []),
    ],
)
def test_each_is_offered_where_it_applies_and_its_name_is_free(call, tool, expected):
    assert taken(tool) == expected


def test_the_exact_schema_has_every_filter_and_is_closed(call):
    exact = input_schema(catalogue().registry.find("contacts__list").contract, "exact")
    filters = exact["properties"]["filters"]
    assert filters["additionalProperties"] is False
    assert filters["properties"] == {
        name: exact["properties"][name] for name in ("company", "subscribed", "email", "email__icontains", "search")
    }


def test_every_page_parameter_of_a_paginator_is_published_with_its_bounds(call):
    tools = catalogue().registry.tools
    told = {
        name: {
            key: each
            for key, each in tools[f"{name}__list"].listing()["inputSchema"]["properties"].items()
            if key in ("page", "page_size", "per", "limit", "offset", "cursor", "size")
        }
        for name in ("companies", "numbers", "sizes", "nevers", "limits", "cursor", "own")
    }
    number = {"type": "integer"}
    assert told == {
        "companies": {"page": number},
        "numbers": {"page": number, "page_size": {"type": "integer", "minimum": 1, "maximum": 3}},
        "sizes": {"page": number, "per": {"type": "integer", "minimum": 1}},
        "nevers": {
            "page": {"type": "integer", "minimum": 1},
            "page_size": {"type": "integer", "minimum": 1, "maximum": 1000},
        },
        "limits": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 3},
            "offset": {"type": "integer", "minimum": 0},
        },
        "cursor": {"cursor": {"type": "string"}, "size": {"type": "integer", "minimum": 1, "maximum": 3}},
        "own": {"limit": number, "offset": number},
    }


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
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_filters_in_one_object_are_the_same_filters(call, things, filters, inside, as_text, page):
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
                where.replace("$.", "$.filters.", 1) if where.partition(".")[2].partition("[")[0] in inner else where,
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
def test_a_filter_that_is_none_is_refused_where_it_stands(call, sent, code, where):
    Contact.objects.create(email="a@x.io")
    refused = call("contacts__list", sent)
    assert [(each.code, each.path) for each in refused.problems] == [(code, where)]


def test_a_misspelt_filter_is_told_with_the_one_that_is_meant(call):
    refused = call("contacts__list", filters={"emial__icontains": "x"})
    assert 'did you mean "email__icontains"?' in refused.text


def test_filters_that_hold_nothing_filter_nothing(call, companies):
    for empty in ({}, None, "", {"search": None}, {"ordering": None}):
        assert len(names(call("companies__list", filters=empty))) == 5


EMPTY = "is empty, and would be ignored: leave it out"


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
def test_an_empty_filter_does_not_answer_with_the_whole_table(settings_of, ann, tool, sent):
    settings_of(ROOT_URLCONF=type("More", (), {"urlpatterns": [*Urls.urlpatterns, path("t/", include(MORE.urls))]}))
    call = acting_as(ann).call
    for arguments, where in ((sent, "$"), ({"filters": sent}, "$.filters")):
        with CaptureQueriesContext(connection) as queries:
            told = problems(call(tool, arguments))
        assert [(code, path, said.partition(";")[0]) for code, path, said in told] == [
            ("invalid", f"{where}.{name}", EMPTY) for name in sent
        ]
        assert not [each for each in queries if 'FROM "sales_' in each["sql"] or 'FROM "odd_' in each["sql"]]


def test_an_empty_number_is_as_ever_one_that_was_not_sent(settings_of, ann, things):
    settings_of(ROOT_URLCONF=type("More", (), {"urlpatterns": [*Urls.urlpatterns, path("t/", include(MORE.urls))]}))
    told = acting_as(ann).call("things__list", size_min="", active="")
    assert [(each.code, each.path) for each in told.repairs] == [
        ("empty-optional", "$.size_min"),
        ("empty-optional", "$.active"),
    ]
    assert len(told.value["results"]) == 3


def test_a_comma_is_something_to_look_for_where_it_parts_no_words(call):
    assert call("contacts__list", email__icontains=",").value["count"] == 0


def test_what_must_be_sent_may_be_empty(call, companies):
    assert len(names(call("regional__list", region=""))) == 5


@pytest.mark.parametrize(
    ("ordering", "said"),
    [
        ("nam", 'must be one of name, -name, employees, -employees; got "nam"'),
        ("name,nam", "must be one of name, -name, employees, -employees, not 'nam'; got \"name,nam\""),
        (["name", "nam"], "must be one of name, -name, employees, -employees, not 'nam'"),
    ],
    ids=str,
)
def test_what_is_no_choice_is_told_once(call, ordering, said):
    assert problems(call("companies__list", ordering=ordering)) == [("invalid", "$.ordering", said)]


def test_a_parameter_that_must_be_sent_is_no_filter(call, companies):
    assert [each.path for each in call("regional__list", filters={"region": "A"}).problems] == ["$.filters.region"]
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
        ("limits__list", {"offset": 1}, "$.offset", "counts for nothing without limit: send both; got 1"),
        ("cursor__list", {"size": 4}, "$.size", "must be 1 to 3; got 4"),
        ("sizes__list", {"per": 0}, "$.per", "must be 1 or more; got 0"),
        ("sizes__list", {"page": 2}, "$.page", "counts for nothing without per: send both; got 2"),
        ("whole__list", {"page": 0}, "$.page", "must be 1 or more; got 0"),
        ("whole__list", {"page_size": 1001}, "$.page_size", "must be 1 to 1000; got 1001"),
        ("nevers__list", {"page_size": 0}, "$.page_size", "must be 1 to 1000; got 0"),
        ("whole__list", {"mode": "filtered"}, "$.mode", 'must be one of summary, page, full; got "filtered"'),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_page_that_would_be_clamped_or_ignored_is_refused_with_the_limit(call, companies, tool, sent, where, said):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        refused = call(tool, sent)
    assert problems(refused) == [("invalid", where, said)]
    assert not [each for each in queries if "sales_company" in each["sql"]]


@pytest.mark.parametrize(
    ("tool", "parameter"), [("numbers", "page_size"), ("limits", "limit"), ("cursor", "size"), ("own", "limit")]
)
@given(size=st.integers(-(2**40), 2**40) | st.integers(-1, 7))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_page_has_as_many_rows_as_were_asked_for_or_is_refused(call, companies, tool, parameter, size):
    found = call(f"{tool}__list", {parameter: size})
    own = tool == "own"  # the project's own code says what its limits mean
    assert found.is_error == (not own and not 1 <= size <= 3)
    if not found.is_error and not own:
        assert len(names(found)) == size


def test_a_paginator_that_reads_its_limit_itself_is_left_alone(call, companies):
    assert len(names(call("own__list", limit=0))) == 5


def test_pages_of_a_view_without_any_are_made_here(call, companies):
    assert names(call("whole__list", page=2, page_size=2)) == ["Cog", "Dynamo"]
    assert names(call("nevers__list", page=3, page_size=2)) == ["Engine"]
    assert names(call("sizes__list", page=2, per=2)) == ["Cog", "Dynamo"]


# --- filter_keys ---


@pytest.fixture
def people(db):
    Contact.objects.create(email="a@x.io", first_name="Ann", notes="tall")
    Contact.objects.create(email="b@x.io", first_name="Bob", notes="short")


def test_rows_have_the_fields_that_were_asked_for(call, people):
    found = call("people__list", filter_keys=["email"]).value
    assert (found["count"], found["results"]) == (2, [{"email": "a@x.io"}, {"email": "b@x.io"}])
    key = str(Contact.objects.get(email="a@x.io").pk)
    assert call("people__retrieve", id=key, filter_keys=["first_name", "id"]).value == {"id": key, "first_name": "Ann"}


@pytest.mark.parametrize("action", ["list", "retrieve"])
def test_fields_that_there_are_not_are_refused_before_the_view_runs(call, people, action):
    sent = {"id": str(Contact.objects.first().pk)} if action == "retrieve" else {}
    with CaptureQueriesContext(connection) as queries:
        refused = call(f"people__{action}", {**sent, "filter_keys": ["email", "fist_name", "notes", "password"]})
    assert refused.text == (
        f"Refused: 3 problems in the arguments of 'people__{action}'. Nothing was done.\n"
        '- $.filter_keys[1]: there is no field "fist_name"; did you mean "first_name"?\n'
        '- $.filter_keys[2]: there is no field "notes"\n'
        '- $.filter_keys[3]: there is no field "password"\n'
        'Declared fields of $.filter_keys: "id", "email", "first_name".'
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


def test_misspelt_fields_come_with_the_call_that_was_meant(call, people):
    sent = {"filters": {"search": "a"}, "filter_keys": ["emial", "id", "firstName", "email"]}
    told = call("contacts__list", sent)
    assert told.corrected == {"filters": {"search": "a"}, "filter_keys": ["email", "id", "first_name"]}
    assert list(call("contacts__list", told.corrected).value["results"][0]) == ["id", "email", "first_name"]
    assert call("contacts__list", filter_keys=["emial", "quux"]).corrected is None
    assert call("contacts__list", filter_keys=[]).corrected is None
    assert call("asked__list", filter_keys=["emial"]).corrected == {"filter_keys": ["email"]}
    told = call("asked__list", filter_keys=["emial"], key="hush")
    assert (told.corrected, "hush" in told.text) == (None, False)


def test_no_field_at_all_is_refused(call):
    assert problems(call("people__list", filter_keys=[])) == [
        ("invalid", "$.filter_keys", "names no field; leave it out to be shown all")
    ]


def test_who_may_not_call_learns_no_field(call, settings_of):
    told = call("forstaff__list", filter_keys=["nope"])
    assert (told.is_error, "name" in told.text.replace("permission", "")) == (True, False)


# --- help ---


def test_help_tells_all_that_a_tool_takes_and_calls_nothing(call):
    told = call("contacts__create", help=True).value
    assert (told["tool"], told["required"]) == ("contacts__create", [])
    assert told["fields"]["email"] == {"type": "string", "format": "email", "maxLength": 254}
    assert told["bulk"] == 'Send {"objects": [{…}, …]} to make up to 1,000 at once: all are made, or none.'
    assert told["relations"] == {
        "company": {"by": "key, or an object with any of these", "names": ["id", "name", "pk"]},
        "tags[]": {"by": "key, or an object with any of these", "names": ["slug", "pk"]},
    }
    assert told["protocol"] == {name: TABLE[name].meaning for name in ("help", "verify")}
    assert "called" not in told
    assert Contact.objects.count() == 0


def test_help_tells_the_filters_whole(call):
    told = call("contacts__list", help=True).value
    flat = ["company", "subscribed", "email", "email__icontains", "search"]
    assert told["filters"] == flat
    assert told["fields"]["filters"]["properties"] == {name: told["fields"][name] for name in flat}


@pytest.mark.parametrize(
    "sent",
    [
        {"help": True, "email": "a@x.io"},
        {"help": True, "nonsense": {"a": 1}},
        {"help": True, "objects": [{"email": "a@x.io"}]},
        {"help": "true", "email": "a@x.io"},
        '{"help": true, "email": "a@x.io"}',
    ],
    ids=json.dumps,
)
def test_what_stands_beside_help_is_not_called_and_the_answer_says_so(call, sent):
    told = call("contacts__create", sent)
    assert (told.is_error, told.value["called"]) == (False, "nothing: help was asked for")
    assert Contact.objects.count() == 0


@pytest.mark.parametrize("value", [False, None, "", "false"])
def test_no_help_is_an_ordinary_call(call, value):
    assert call("contacts__create", email="a@x.io", help=value).value["set"] == ["email"]
    assert Contact.objects.get().email == "a@x.io"


def test_help_that_is_neither_is_refused(call):
    for value in (1, "yes", [True], {"email": "a@x.io"}):
        assert [each.path for each in call("contacts__create", email="a@x.io", help=value).problems] == ["$.help"]
    assert Contact.objects.count() == 0


def test_help_in_text_that_is_no_json_is_refused(call):
    assert [each.code for each in call("contacts__create", '{"help": true').problems] == ["not-json"]


def test_who_may_not_call_a_tool_is_not_told_of_it(call, ann):
    told = call("forstaff__create", help=True)
    assert (told.is_error, "website" in told.text) == (True, False)
    ann.is_staff = True
    ann.save()
    assert acting_as(ann).call("forstaff__create", help=True).value["required"] == ["name"]


@pytest.fixture
def written(settings_of, ann, monkeypatch):
    """Calls hand-written tools, which are forgotten afterwards."""
    monkeypatch.setattr(decorators, "declared", dict(decorators.declared))
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


def test_hand_written_tools_tell_of_themselves_too(written):
    ran = []

    @mcp_tool
    def note(text: str, loud: bool = False) -> dict:
        """Write something down."""
        ran.append((text, loud))
        return {"written": text}

    told = written("note", help=True, text=5).value
    assert (told["description"], told["required"], told["called"]) == (
        "Write something down.",
        ["text"],
        "nothing: help was asked for",
    )
    assert told["fields"]["loud"] == {"type": "boolean", "default": False}
    assert ran == []
    assert written("note", text="a", help=False).value == {"written": "a"}
    assert written("note", '{"text": "b", "help": null}').value == {"written": "b"}
    assert [each.path for each in written("note", text="c", help=5).problems] == ["$.help"]
    assert [each.path for each in written("note", help=False).problems] == ["$.text"]
    assert ran == [("a", False), ("b", False)]


def test_help_of_a_hand_written_tool_tells_what_can_be_asked_of_its_answer(written):
    @mcp_tool(annotations={"readOnlyHint": True})
    def everything() -> dict:
        return {"rows": ["x" * 100] * 1000}

    told = written("everything", help=True).value
    assert told["protocol"] == {name: TABLE[name].meaning for name in ("help", "mode", "continuation_token")}
    token = written("everything", help=False).value["continuation"]["continuation_token"]
    # Declining help does not make a token another call.
    assert [each.path for each in written("everything", help=False, continuation_token=token).problems] == ["$.help"]


def test_tools_for_many_rows_tell_of_themselves_too(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"BULK_TOOLS": True})
    told = acting_as(ann).call("companies__bulk_create", help=True, objects=[{"name": "Acme"}]).value
    assert (told["tool"], told["required"], told["called"]) == (
        "companies__bulk_create",
        ["objects"],
        "nothing: help was asked for",
    )
    assert Company.objects.count() == 0
    made = acting_as(ann).call("companies__bulk_create", help=False, objects=[{"name": "Acme"}]).value
    assert made == {"created": 1, "ids": [Company.objects.get().pk]}


def test_a_hand_written_tool_keeps_an_argument_called_help(written):
    @mcp_tool
    def wanted(help: bool) -> dict:
        return {"help": help}

    class Words(BaseModel, extra="allow"):
        pass

    @mcp_tool
    def open_to_all(words: Annotated[Words, Unpack()]) -> dict:
        return words.model_dump()

    assert written("wanted", help=True).value == {"help": True}
    assert written("open_to_all", help=True).value == {"help": True}
    clashes = [each.what for each in catalogue().clashes if each.why == "help"]
    assert [name for name in ("wanted", "open_to_all") if name in clashes] == ["wanted", "open_to_all"]


def test_help_of_a_tool_that_declares_its_answer_is_no_such_answer(written):
    """A client refuses an answer that is not of the declared form, and shows the agent nothing of it."""

    @mcp_tool
    def count() -> dict[str, int]:
        return {"rows": 1}

    told = written("count", help=True)
    assert (told.is_error, json.loads(told.text)["tool"]) == (True, "count")


# --- anything at all ---


SCALARS = st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats(allow_nan=False) | st.text(max_size=5)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["search", "name", "x"]), SCALARS)
ODD = st.dictionaries(st.sampled_from([*TABLE, "search", "name"]), VALUES | VALUES.map(json.dumps), max_size=4)


@pytest.mark.parametrize("tool", ["whole__list", "numbers__list", "companies__retrieve", "companies__create"])
@given(sent=ODD)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_they_hold_is_understood_or_refused(call, companies, tool, sent):
    beside = {"id": companies[0].pk} if tool.endswith("retrieve") else {}
    before = Company.objects.count()
    found = call(tool, {**sent, **beside})
    told = found.problems or "Invalid page." in found.text  # the paginator's own words
    assert bool(told) == found.is_error, found
    made = Company.objects.count() - before
    assert made == (tool == "companies__create" and not found.is_error and "tool" not in found.value)
    Company.objects.filter(pk__gt=companies[-1].pk).delete()


# --- names ---


def test_a_field_of_the_hosts_own_is_never_taken(call):
    found = call("clashing__create", email="a@x.io", help=True, verify="yes")
    made = Contact.objects.get()
    assert (made.subscribed, made.notes) == (True, "yes")
    assert found.value["set"] == ["email", "help", "verify"]
    assert call("clashing__list", mode="x", filters="y", page="z", help="w").value["results"][0]["email"] == "a@x.io"


def test_a_check_names_each_clash_and_its_remedy(settings_of):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"INCLUDE": ["clashing__create", "companies__*"]})
    found = [each for each in checks.run_checks() if each.id == "toolbooth.W001"]
    assert [(each.msg, each.hint) for each in found] == [
        (
            f"The protocol argument {name!r} is not offered where the host has an argument {name!r}: "
            "on clashing__create.",
            f"To have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {{{name!r}: 'mcp_{name}'}}.",
        )
        for name in ("help", "verify")
    ]


def test_once_renamed_both_are_there(settings_of, ann):
    renamed = {"help": "mcp_help", "verify": "mcp_verify", "mode": None}
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": renamed})
    call = acting_as(ann).call
    assert not [each for each in checks.run_checks() if each.id == "toolbooth.W001" and "clashing__create" in each.msg]
    assert call("clashing__create", email="a@x.io", help=True, mcp_verify=True).value == {
        "id": str(Contact.objects.get().pk),
        "email": "a@x.io",
        "help": True,
        "verify": "",
    }
    assert call("clashing__create", mcp_help=True).value["protocol"] == {
        "mcp_help": TABLE["help"].meaning,
        "mcp_verify": TABLE["verify"].meaning,
    }
    assert taken("companies__list") == ["mcp_help", "filters", "filter_keys", "continuation_token"]
    assert [each.path for each in call("companies__list", mode="full").problems] == ["$.mode"]
    assert [each.path for each in call("companies__create", name="x", verify=True).problems] == ["$.verify"]
    assert Company.objects.count() == 0


def test_each_can_be_renamed(settings_of, ann, companies):
    renamed = {name: f"x_{name}" for name in TABLE}
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": renamed})
    call = acting_as(ann).call
    found = call(
        "whole__list", x_filters={"search": "o"}, x_filter_keys=["name"], x_page=1, x_page_size=1, x_mode="page"
    )
    assert names(found) == ["Bolt"]
    token = found.value["continuation"]["x_continuation_token"]
    assert names(call("whole__list", x_continuation_token=token)) == ["Cog", "Dynamo"]
    refused = call("whole__list", x_filters={"ordering": "size"}, x_filter_keys=["nam"])
    assert [each.path for each in refused.problems] == ["$.x_filters.ordering"]
    assert [each.path for each in call("whole__list", x_filter_keys=["nam"]).problems] == ["$.x_filter_keys[0]"]
    assert call("companies__create", name="New", x_verify=True).value["website"] == ""


def test_none_of_them_is_an_ordinary_listing(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": dict.fromkeys(TABLE)})
    tools = acting_as(ann).tools()
    assert list(tools["companies__list"]["inputSchema"]["properties"]) == ["search", "ordering", "page"]
    assert tools["companies__destroy"]["inputSchema"]["properties"] == {"id": {"type": "integer"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["mode"], "must be a dict that renames protocol arguments, or switches them off with None, not ['mode']"),
        ({"modus": "x"}, "there is no protocol argument 'modus'; there are " + ", ".join(TABLE)),
        ({"mode": "a b"}, "'mode' must be given a name of letters, digits and _, or None, not 'a b'"),
        ({"mode": True}, "'mode' must be given a name of letters, digits and _, or None, not True"),
        ({"mode": "params"}, "'mode' cannot be called 'params', which means something else"),
        ({"mode": "_meta"}, "'mode' cannot be called '_meta', which means something else"),
        ({"help": "toolCallId"}, "'help' cannot be called 'toolCallId', which means something else"),
        ({"mode": "help"}, "two protocol arguments would be called 'help'"),
        ({"mode": "x", "page": "x"}, "two protocol arguments would be called 'x'"),
    ],
    ids=str,
)
def test_names_that_cannot_be_are_mistakes_of_the_setting(settings_of, given, said):
    settings_of(TOOLBOOTH={"ARGUMENTS": given})
    assert list(mistakes()) == [("ARGUMENTS", said)]
    assert configuration().arguments == {}


def test_names_may_change_places(settings_of):
    settings_of(TOOLBOOTH={"ARGUMENTS": {"page": "page_size", "page_size": "page"}})
    assert list(mistakes()) == []


def test_tools_that_cannot_be_compiled_are_a_warning(settings_of):
    settings_of(ROOT_URLCONF="no.such.module")
    words = "The tools cannot be compiled: ModuleNotFoundError: No module named 'no'"
    assert [(each.id, each.msg) for each in check_tools()] == [("toolbooth.W002", words)]


# --- the page about it ---


def test_the_page_shows_what_calls_are_answered_with(settings_of, ann):
    settings_of(ROOT_URLCONF="crm.urls")
    Contact.objects.create(email="ann@example.org", first_name="Ann", subscribed=True)
    Contact.objects.create(email="bob@example.org", first_name="Bob")
    section = PAGE.read_text(encoding="utf-8").partition("## Protocol arguments")[2].partition("\n## ")[0]
    shown = re.findall(r"```json\n(.*?)\n```.*?```text\n(.*?)\n```", section, re.DOTALL)
    assert [acting_as(ann).call("contacts__list", sent.encode()).text for sent, _ in shown] == [
        answer for _, answer in shown
    ]
    assert [name for name in TABLE if f"`{name}" not in section] == []
