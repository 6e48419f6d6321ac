"""The log `toolbooth.audit`: one line per write, with names and keys and no other values."""

import json
import logging
import uuid

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import include, path
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import Throttled
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from odd.models import Log, Site
from odd.serializers import LogSerializer
from sales.models import Company, Contact, Deal, Tag
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, TagViewSet
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool

STANDARD = {
    "credential": "BasicAuthentication",
    "codes": [],
    "row": None,
    "count": None,
    "rows": None,
    "fields": [],
    "request_id": 1,
    "x_request_id": None,
}
FACTS = (
    "user",
    "credential",
    "tool",
    "outcome",
    "codes",
    "row",
    "count",
    "rows",
    "fields",
    "request_id",
    "x_request_id",
)


class Lines(logging.Handler):
    """Keeps the facts of each line, and the written line."""

    def __init__(self):
        super().__init__()
        self.facts, self.texts, self.kept = [], [], []

    def emit(self, record):
        self.facts.append({name: getattr(record, name) for name in FACTS})
        self.texts.append(record.getMessage())
        self.kept.append((Company.objects.count(), connection.in_atomic_block))
        assert (record.name, record.levelno) == ("toolbooth.audit", logging.INFO)


@pytest.fixture
def lines():
    logger, handler = logging.getLogger("toolbooth.audit"), Lines()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def line(ann, tool, outcome, **others):
    facts = {name: STANDARD.get(name) for name in FACTS}
    return {**facts, "user": ann.pk, "tool": tool, "outcome": outcome, **others}


def urls(*patterns, **views):
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    endpoint = path("mcp/", include("toolbooth.django.urls"))
    return type("Urls", (), {"urlpatterns": [endpoint, *router.urls, *patterns]})


@pytest.fixture
def crm(settings_of, lines):
    settings_of(
        ROOT_URLCONF=urls(
            companies=CompanyViewSet, contacts=ContactViewSet, deals=DealViewSet, tags=TagViewSet
        )
    )
    return lines


# --- calls that succeeded ---


def test_a_create_an_update_and_a_delete_are_one_line_each(crm, mcp, ann):
    mcp("companies__create", {"name": "Acme", "employees": "12"})
    key = Company.objects.get().pk
    mcp("companies__partial_update", {"id": key, "employees": 13})
    mcp("companies__update", {"id": key, "name": "Acme", "website": "https://acme.example"})
    mcp("companies__destroy", {"id": key})
    assert crm.facts == [
        line(ann, "companies__create", "created", row=key, fields=["name", "employees"]),
        line(ann, "companies__partial_update", "changed", row=key, fields=["employees"]),
        line(ann, "companies__update", "changed", row=key, fields=["name", "website"]),
        line(ann, "companies__destroy", "deleted", row=key),
    ]
    who = f"user {ann.pk} by BasicAuthentication"
    assert crm.texts == [
        f"companies__create created; {who}; row {key}; fields name, employees; request 1",
        f"companies__partial_update changed; {who}; row {key}; fields employees; request 1",
        f"companies__update changed; {who}; row {key}; fields name, website; request 1",
        f"companies__destroy deleted; {who}; row {key}; request 1",
    ]
    assert not Company.objects.exists()


def test_audit_line_is_the_same_with_verify(crm, mcp, ann):
    mcp("companies__create", {"name": "Acme", "verify": True})
    made = Company.objects.get().pk
    assert crm.facts == [line(ann, "companies__create", "created", row=made, fields=["name"])]


def test_an_action_is_logged_with_the_row_of_its_url(crm, mcp, ann):
    deal = Deal.objects.create(title="Tea", company=Company.objects.create(name="Acme"))
    mcp("deals__close", {"id": deal.pk, "won": True})
    assert crm.facts == [line(ann, "deals__close", "done", row=deal.pk, fields=["won"])]
    assert Deal.objects.get().stage == "won"


def test_keys_that_are_not_numbers_are_written_as_text(crm, mcp, ann):
    mcp("contacts__create", {"email": "ann@example.org"})
    mcp("tags__create", {"slug": "vip", "title": "Friends"})
    key = str(Contact.objects.get().pk)
    assert uuid.UUID(key)
    assert crm.facts == [
        line(ann, "contacts__create", "created", row=key, fields=["email"]),
        line(ann, "tags__create", "created", row="vip", fields=["slug", "title"]),
    ]


def test_many_rows_are_one_line_with_their_number_and_ten_keys(crm, mcp, ann):
    rows = [{"name": f"c{number}"} for number in range(11)] + [{"name": "last", "employees": 1}]
    mcp("companies__create", {"objects": rows})
    keys = list(Company.objects.order_by("id").values_list("pk", flat=True))
    facts = {"count": 12, "rows": keys[:10], "fields": ["name", "employees"]}
    assert crm.facts == [line(ann, "companies__create", "created", **facts)]
    assert crm.texts[0].startswith(
        f"companies__create created; user {ann.pk} by BasicAuthentication; "
        f"12 rows {', '.join(map(str, keys[:10]))}; fields name, employees;"
    )


def test_refused_bulk_create_is_one_audit_line_without_rows(crm, mcp, ann):
    Company.objects.create(name="Acme")
    mcp("companies__create", {"objects": [{"name": "North"}, {"name": "Acme"}]})
    facts = {"codes": ["invalid"], "count": 2, "rows": [], "fields": ["name"]}
    assert crm.facts == [line(ann, "companies__create", "refused", **facts)]
    assert Company.objects.count() == 1


def test_reads_are_not_logged(crm, mcp):
    mcp("companies__create", {"name": "Acme"})
    for tool, sent in [
        ("companies__list", {}),
        ("companies__retrieve", {"id": Company.objects.get().pk}),
        ("companies__create", {"help": True}),
        ("companies__list", {"nope": 1}),
        ("nothing__create", {"name": "x"}),
    ]:
        mcp(tool, sent)
    assert [each["tool"] for each in crm.facts] == ["companies__create"]


def test_a_call_through_a_dispatcher_is_a_line_of_the_tool_behind_it(crm, mcp, settings_of, ann):
    settings_of(TOOLBOOTH={"DISPATCH": "app"})
    base = {"resource": "companies", "action": "create"}
    mcp("sales", {**base, "name": "Acme"})
    mcp("sales", {**base, "params": {"name": "Bolt", "emploees": 3}})
    mcp("sales", {"resource": "companies", "action": "creat", "name": "Bolt"})
    made = Company.objects.get().pk
    assert crm.facts == [
        line(ann, "companies__create", "created", row=made, fields=["name"]),
        line(ann, "companies__create", "refused", codes=["unknown-key"], fields=["name"]),
    ]


# --- calls that were refused, or failed ---


@pytest.mark.parametrize(
    ("sent", "codes", "fields"),
    [
        ({"data": {"name": "Bolt"}}, ["nested-wrapper"], ["name"]),
        ({"name": "Bolt", "employees": "many"}, ["wrong-type"], ["name", "employees"]),
        ({"objects": [{"nam": "Bolt"}, {"name": 1}]}, None, ["name"]),
        ('{"name": "Bolt", "x": 1}', ["unknown-key"], ["name"]),
        ("Bolt", None, []),
        ([1], None, []),
        ({"name": "Acme"}, ["invalid"], ["name"]),
        ({}, ["missing"], []),
    ],
    ids=["wrapper", "type", "rows", "text", "no object", "array", "taken", "nothing"],
)
def test_a_refused_write_is_a_line_with_the_codes(crm, mcp, ann, sent, codes, fields):
    Company.objects.create(name="Acme")
    mcp("companies__create", sent)
    [found] = crm.facts
    expected = line(ann, "companies__create", "refused", fields=fields)
    codes = found["codes"] if codes is None else codes
    assert found == {**expected, "codes": codes}
    assert codes
    assert Company.objects.count() == 1


def test_an_unreadable_call_is_logged_with_its_id(crm, ann):
    body = b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": '
    body += b'"companies__create", "arguments": {"name": "Bolt", "name": "Acme"}}}'
    Client(headers={"Authorization": "Basic YW5uOnB3"}).post(
        "/mcp/", body, content_type="application/json"
    )
    found = line(ann, "companies__create", "refused", codes=["duplicate-key"], request_id=5)
    assert crm.facts == [found]


def test_missing_rows_and_rows_of_refused_calls_are_logged(crm, mcp, ann):
    mcp("companies__destroy", {"id": 99})
    mcp("companies__partial_update", {"id": 98, "nam": "x"})
    assert crm.facts == [
        line(ann, "companies__destroy", "refused", codes=["404"], row=99),
        line(ann, "companies__partial_update", "refused", codes=["unknown-key"], row=98),
    ]


def test_callers_without_permission_to_write_are_logged_by_name(settings_of, lines, mcp, ann):
    class Guarded(CompanyViewSet):
        permission_classes = [permissions.DjangoModelPermissions]

    settings_of(ROOT_URLCONF=urls(guarded=Guarded))
    mcp("guarded__create", {"name": "Acme"})
    mcp("guarded__create", {"data": {"name": "Acme"}})
    facts = {"codes": ["403"], "fields": ["name"]}
    assert lines.facts == [line(ann, "guarded__create", "refused", **facts)] * 2
    ann.user_permissions.add(Permission.objects.get(codename="add_company"))
    mcp("guarded__create", {"name": "Acme"})
    assert lines.facts[2]["outcome"] == "created"


@pytest.mark.parametrize("login", [None, True])
def test_anonymous_and_wrong_credentials_are_refused_with_401(settings_of, lines, ann, login):
    settings_of(ROOT_URLCONF=urls(companies=CompanyViewSet), TOOLBOOTH={"LOGIN_REQUIRED": login})
    params = {"name": "companies__create", "arguments": {"name": "Acme"}}
    message = {"jsonrpc": "2.0", "id": "a1", "method": "tools/call", "params": params}
    for headers in ({}, {"Authorization": "Basic YW5uOndyb25n"}):
        reply = Client(headers=headers).post(
            "/mcp/", json.dumps(message), content_type="application/json"
        )
        assert reply.status_code == 401
    nobody = {"user": None, "credential": None, "request_id": "a1", "fields": ["name"]}
    assert lines.facts == [line(ann, "companies__create", "refused", codes=["401"], **nobody)] * 2
    assert "anonymous; " in lines.texts[0]
    assert "YW5u" not in str(lines.texts)


class Failing(viewsets.GenericViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer

    def create(self, request):
        Log.objects.create(line=request.data["line"])
        if request.data["line"] == "raise":
            raise RuntimeError("secret words")
        if request.data["line"] == "throttle":
            raise Throttled(7)
        if request.data["line"] == "answer 500":
            return Response({"detail": "secret words"}, status=500)
        return Response({"line": object()}, status=201)


@pytest.mark.parametrize(
    ("sent", "outcome", "codes", "kept"),
    [
        ("raise", "failed", [], 0),
        ("throttle", "refused", ["429"], 0),
        ("answer 500", "failed", [], 1),
        ("no JSON", "created", [], 1),
    ],
)
def test_audit_line_separates_failed_calls_from_unreadable_responses(
    settings_of, lines, mcp, ann, sent, outcome, codes, kept
):
    settings_of(ROOT_URLCONF=urls(failing=Failing))
    assert mcp("failing__create", {"line": sent})["isError"] is True
    found = line(ann, "failing__create", outcome, codes=codes, fields=["line"])
    assert lines.facts == [found]
    assert Log.objects.count() == kept
    assert "secret" not in lines.texts[0]


def test_a_bulk_create_that_fails_in_the_middle_is_logged_without_rows(
    settings_of, lines, mcp, ann
):
    class FailsLate(CompanyViewSet):
        def perform_create(self, serializer):
            super().perform_create(serializer)
            if serializer.instance.name == "c1":
                raise RuntimeError("late")

    settings_of(ROOT_URLCONF=urls(companies=FailsLate))
    mcp("companies__create", {"objects": [{"name": "c0"}, {"name": "c1"}]})
    facts = {"count": 2, "rows": [], "fields": ["name"]}
    assert lines.facts == [line(ann, "companies__create", "failed", **facts)]
    assert Company.objects.count() == 0


def test_the_line_is_written_after_the_commit(crm, mcp):
    mcp("companies__create", {"name": "Acme"})
    mcp("companies__create", {"objects": [{"name": "Bolt"}]})
    assert crm.kept == [(1, False), (2, False)]


def test_a_commit_that_fails_is_logged_as_a_failure(settings_of, lines, mcp, ann):
    class FailsOnCommit(CompanyViewSet):
        def perform_create(self, serializer):
            super().perform_create(serializer)
            # The database checks this only when the transaction ends.
            Deal.objects.create(title="x", company_id=999_999)

    settings_of(ROOT_URLCONF=urls(companies=FailsOnCommit))
    mcp("companies__create", {"name": "Acme"})
    assert lines.facts == [line(ann, "companies__create", "failed", fields=["name"])]
    assert (Company.objects.count(), Deal.objects.count()) == (0, 0)


# --- callers, and no values ---


def test_the_logged_kind_of_credentials_is_the_authenticator_that_accepted_the_caller(
    settings_of, lines, ann
):
    class Companies(CompanyViewSet):
        authentication_classes = [SessionAuthentication, TokenAuthentication]

    settings_of(ROOT_URLCONF=urls(companies=Companies))
    token = Token.objects.create(user=ann)
    params = {"name": "companies__create", "arguments": {"name": "Acme"}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    headers = {"Authorization": f"Token {token.key}", "X-Request-ID": "r-1\nforged line"}
    Client(headers=headers).post("/mcp/", json.dumps(message), content_type="application/json")
    params["arguments"]["name"] = "Bolt"
    client = Client()
    client.force_login(ann)
    client.post("/mcp/", json.dumps(message), content_type="application/json")
    keys = list(Company.objects.order_by("id").values_list("pk", flat=True))
    common = {"request_id": 7, "fields": ["name"]}
    by_token = {"credential": "TokenAuthentication", "x_request_id": "r-1\nforged line"}
    by_session = {"credential": "SessionAuthentication"}
    assert lines.facts == [
        line(ann, "companies__create", "created", row=keys[0], **by_token, **common),
        line(ann, "companies__create", "created", row=keys[1], **by_session, **common),
    ]
    assert "\n" not in "".join(lines.texts)
    assert token.key not in "".join(lines.texts)


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["username", "first_name"]


class Users(viewsets.ModelViewSet):
    queryset = User.objects.order_by("id")
    serializer_class = UserSerializer
    lookup_field = "username"
    lookup_value_regex = "[^/]+"


class BySlug(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    lookup_field = "slug"
    serializer_class = type(
        "SiteSerializer",
        (serializers.ModelSerializer,),
        {"Meta": type("Meta", (), {"model": Site, "fields": ["slug", "name"]})},
    )


def test_rows_are_not_logged_if_the_url_contains_an_email_address(settings_of, lines, mcp, ann):
    settings_of(ROOT_URLCONF=urls(users=Users, sites=BySlug))
    bob = User.objects.create_user("bob@example.org")
    site = Site.objects.create(slug="hq", name="HQ")
    mcp("users__partial_update", {"username_in_path": bob.username, "first_name": "B"})
    mcp("users__destroy", {"username": bob.username})
    mcp("sites__partial_update", {"slug_in_path": "hq", "name": "Head"})
    mcp("sites__destroy", {"slug": "hq"})
    assert lines.facts == [
        line(ann, "users__partial_update", "changed", row=bob.pk, fields=["first_name"]),
        line(ann, "users__destroy", "deleted", row="[hidden]"),
        line(ann, "sites__partial_update", "changed", row=site.pk, fields=["name"]),
        line(ann, "sites__destroy", "deleted", row="hq"),
    ]
    assert not User.objects.filter(pk=bob.pk).exists()


class Plain(APIView):
    def delete(self, request, secret_token, number):
        return Response(status=204)


class Kept(APIView):
    def delete(self, request, number, api_key):
        return Response(status=204)


def test_the_last_value_of_a_url_is_the_row_unless_it_is_a_secret(settings_of, lines, mcp):
    routes = [
        path("plain/<slug:secret_token>/<int:number>/", Plain.as_view(), name="plain"),
        path("kept/<int:number>/<slug:api_key>/", Kept.as_view(), name="kept"),
    ]
    settings_of(ROOT_URLCONF=urls(*routes))
    mcp("plain__delete", {"secret_token": "hunter2", "number": 5})
    mcp("kept__delete", {"number": 5, "api_key": "hunter2"})
    assert [each["row"] for each in lines.facts] == [5, "[hidden]"]
    assert "hunter2" not in str(lines.texts)


def test_function_is_audited_as_a_write_unless_marked_read_only(
    settings_of, lines, mcp, ann, monkeypatch
):
    monkeypatch.setattr(decorators, "declared", {})

    @mcp_tool
    def merge(first: int, second: int = 0) -> str:
        """Merge two."""
        return "merged"

    @mcp_tool(annotations={"readOnlyHint": True})
    def look(first: int) -> str:
        """Look."""
        return "seen"

    settings_of(ROOT_URLCONF=urls(companies=CompanyViewSet))
    mcp("merge", {"first": 1})
    mcp("merge", {"first": "one"})
    mcp("look", {"first": 1})
    assert lines.facts == [
        line(ann, "merge", "done", fields=["first"]),
        line(ann, "merge", "refused", codes=["wrong-type"], fields=["first"]),
    ]


def test_no_line_is_built_if_the_logger_is_disabled(settings_of, mcp, lines):
    settings_of(ROOT_URLCONF=urls(companies=CompanyViewSet))
    logging.getLogger("toolbooth.audit").setLevel(logging.WARNING)
    mcp("companies__create", {"name": "Acme"})
    logging.getLogger("toolbooth.audit").setLevel(logging.INFO)
    mcp("companies__create", {"name": "Bolt"})
    mcp("companies__create", {"name": "Coil"})
    logging.getLogger("toolbooth.audit").setLevel(logging.WARNING)
    mcp("companies__create", {"name": "Dial"})
    assert len(lines.facts) == 2


MARK = "zq7"
VALUES = st.recursive(
    st.sampled_from([f"{MARK}@x.io", f"{MARK}/1", f"1{MARK}"])
    | st.text("abc\n ", max_size=8).map(lambda text: f"{MARK}{text}"),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "data", f"{MARK}key"]), inner, max_size=2)
    ),
    max_leaves=6,
)
SENT = VALUES | st.dictionaries(
    st.sampled_from(["name", "website", "employees", "data", "objects", "id", f"{MARK}x"]),
    VALUES,
    max_size=4,
)


def test_random_calls_are_one_audit_line_each_without_values(crm, mcp):
    @settings(deadline=None)
    @given(tool=st.sampled_from(["companies__create", "companies__partial_update"]), sent=SENT)
    def holds(tool, sent):
        before = len(crm.facts)
        mcp(tool, sent)
        assert len(crm.facts) == before + 1
        assert MARK not in crm.texts[-1]
        assert MARK not in json.dumps(crm.facts[-1])
        assert "\n" not in crm.texts[-1]

    holds()


def test_tags_named_by_slug_are_logged_by_their_key(crm, mcp, ann):
    Tag.objects.create(slug="vip", title="V")
    mcp("tags__destroy", {"slug": "vip"})
    assert crm.facts == [line(ann, "tags__destroy", "deleted", row="vip")]
