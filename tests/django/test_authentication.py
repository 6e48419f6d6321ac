"""A view that runs authenticates its own inner request: its path, its method and its URL kwargs."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import include, path
from rest_framework import exceptions, generics, permissions, serializers, viewsets
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    SessionAuthentication,
)
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log, Secret
from odd.serializers import LogSerializer
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool

HOLDERS = {"t-ann": "ann", "t-bob": "bob", "t-delete": "ann"}


class ScopedAuth(BaseAuthentication):
    """A token is good for one tenant, and deleting needs a token of its own."""

    def authenticate(self, request):
        token = request.headers.get("X-Tok")
        if not token:
            return None
        if request.method == "DELETE" and token != "t-delete":
            raise exceptions.AuthenticationFailed("this token may not delete")
        kwargs = (request.parser_context or {}).get("kwargs") or {}
        if "tenant" in kwargs and token != f"t-{kwargs['tenant']}":
            raise exceptions.AuthenticationFailed("this token is for another tenant")
        return User.objects.get(username=HOLDERS[token]), token

    def authenticate_header(self, request):
        return "Token"


class SecretSerializer(serializers.ModelSerializer):
    salary = serializers.CharField(source="body")

    class Meta:
        model = Secret
        fields = ["id", "salary"]


class TenantNotes(viewsets.ModelViewSet):
    serializer_class = SecretSerializer
    authentication_classes = [ScopedAuth]
    pagination_class = None

    def get_queryset(self):
        return Secret.objects.filter(owner__username=self.kwargs["tenant"])


class Scoped(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    authentication_classes = [ScopedAuth]


class KeyAuth(BaseAuthentication):
    """Takes the key of one area."""

    def __init__(self, area):
        self.area = area

    def authenticate(self, request):
        key = request.headers.get("X-Tok")
        if not key:
            return None
        if key != f"key-{self.area}":
            raise exceptions.AuthenticationFailed(f"this is not the key of {self.area}")
        return User.objects.get(username="ann"), key

    def authenticate_header(self, request):
        return "Key"


def area(name):
    class Area(generics.CreateAPIView):
        queryset = Log.objects.order_by("id")
        serializer_class = LogSerializer

        def get_authenticators(self):
            return [KeyAuth(name)]

    return Area


class StrictPathAuth(ScopedAuth):
    """Fails without the URL kwargs."""

    def authenticate(self, request):
        tenant = request.parser_context["kwargs"]["tenant"]
        return (
            (User.objects.get(username=tenant), tenant)
            if request.headers.get("X-Tok") == f"t-{tenant}"
            else None
        )


class StrictNotes(TenantNotes):
    authentication_classes = [StrictPathAuth]


router = SimpleRouter()
router.register("t/(?P<tenant>[a-z]+)/notes", TenantNotes, basename="tenantnote")
router.register("strict/(?P<tenant>[a-z]+)/notes", StrictNotes, basename="strictnote")
router.register("scoped", Scoped, basename="scoped")

urlpatterns = [
    path("mcp/", include("toolbooth.django.urls")),
    path("api/", include(router.urls)),
    path("areas/a/", area("a").as_view(), name="areaa"),
    path("areas/b/", area("b").as_view(), name="areab"),
]


@pytest.fixture
def users(db):
    people = {name: User.objects.create_user(name, password="pw") for name in ("ann", "bob")}
    for name, user in people.items():
        Secret.objects.create(owner=user, body=f"salary of {name}")
    return people


@pytest.fixture(params=[None, True, False], ids=lambda login: f"LOGIN_REQUIRED={login}")
def project(request, users, settings_of):
    settings_of(ROOT_URLCONF=__name__, TOOLBOOTH={"LOGIN_REQUIRED": request.param})


METHODS = ["tools/call", "tools\\/call", "\\u0074ools/call", "tools/\\u0063all"]


@pytest.fixture(params=METHODS)
def call(request, project):
    """Call a tool with a token, with the method written in this way. Returns the HTTP response."""

    def send(token, tool, arguments):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "METHOD",
            "params": {"name": tool, "arguments": arguments},
        }
        body = json.dumps(message).replace("METHOD", request.param)
        return Client(headers={"X-Tok": token} if token else {}).post(
            "/mcp/", body, content_type="application/json"
        )

    return send


def is_refused(reply):
    return reply.status_code in (401, 403) or reply.json()["result"]["isError"] is True


@pytest.mark.parametrize(
    "asked", [{}, {"filter_keys": ["salary"]}, {"filter_keys": ["salary"], "mode": "full"}]
)
def test_a_token_reads_only_its_own_tenant(call, asked):
    other = call("t-ann", "tenantnote__list", {"tenant": "bob", **asked})
    assert is_refused(other)
    assert b"salary of bob" not in other.content
    assert b"salary of ann" in call("t-ann", "tenantnote__list", {"tenant": "ann", **asked}).content


def test_a_token_writes_only_for_its_own_tenant(call, users):
    secret = Secret.objects.get(owner=users["bob"])
    for tool, arguments in [
        ("tenantnote__create", {"salary": "more"}),
        ("tenantnote__update", {"id": secret.pk, "salary": "more"}),
        ("tenantnote__partial_update", {"id": secret.pk, "salary": "more"}),
        ("tenantnote__destroy", {"id": secret.pk}),
    ]:
        assert is_refused(call("t-ann", tool, {"tenant": "bob", **arguments}))
    assert set(Secret.objects.values_list("owner__username", "body")) == {
        ("ann", "salary of ann"),
        ("bob", "salary of bob"),
    }


def test_a_token_without_the_delete_scope_deletes_nothing(call):
    row = Log.objects.create(line="x")
    assert is_refused(call("t-ann", "scoped__destroy", {"id": row.pk}))
    assert Log.objects.count() == 1
    assert not is_refused(call("t-delete", "scoped__destroy", {"id": row.pk}))
    assert Log.objects.count() == 0


def test_api_key_of_one_area_is_refused_in_another(call):
    assert is_refused(call("key-a", "areab__create", {"line": "x"}))
    assert is_refused(call("key-b", "areaa__create", {"line": "x"}))
    assert is_refused(call(None, "areaa__create", {"line": "x"}))
    assert Log.objects.count() == 0
    assert not is_refused(call("key-b", "areab__create", {"line": "x"}))
    assert Log.objects.count() == 1


def test_an_authenticator_that_needs_the_url_kwargs_decides_in_the_call(call):
    assert b"salary of ann" in call("t-ann", "strictnote__list", {"tenant": "ann"}).content
    other = call("t-ann", "strictnote__list", {"tenant": "bob"})
    assert is_refused(other)
    assert b"salary of bob" not in other.content


def test_refusal_is_explained_with_an_authenticator_that_reads_url_kwargs(call):
    reply = call("t-ann", "strictnote__list", {"tenant": "ann", "tennant": "ann"})
    assert 'there is no field "tennant"' in reply.json()["result"]["content"][0]["text"]


def test_long_list_can_be_paged_if_an_authenticator_reads_url_kwargs(users, settings_of):
    settings_of(ROOT_URLCONF=__name__, TOOLBOOTH={"MAX_RESULT": 500})
    Secret.objects.bulk_create(
        [Secret(owner=users["ann"], body=f"row {number}") for number in range(100)]
    )
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": "strictnote__list", "arguments": {"tenant": "ann"}}
    client = Client(headers={"X-Tok": "t-ann"})
    result = client.post("/mcp/", body, content_type="application/json").json()["result"]
    assert len(result["structuredContent"]["results"]) == 101
    body["params"]["arguments"] = {"continuation_token": "forged"}
    result = client.post("/mcp/", body, content_type="application/json").json()["result"]
    assert result["isError"] is True
    assert "continuation_token" in result["content"][0]["text"]


# --- lists ---


def listed(**headers):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = Client(headers=headers).post("/mcp/", message, content_type="application/json")
    assert reply.status_code == 200, reply.content
    return {tool["name"] for tool in reply.json()["result"]["tools"]}


def test_the_key_of_one_area_lists_no_tool_of_another(project):
    for key, own, other in [
        ("key-a", "areaa__create", "areab__create"),
        ("key-b", "areab__create", "areaa__create"),
    ]:
        assert own in listed(**{"X-Tok": key})
        assert other not in listed(**{"X-Tok": key})


def test_a_token_without_the_delete_scope_lists_no_tool_that_deletes(project):
    assert "scoped__destroy" not in listed(**{"X-Tok": "t-ann"})
    assert "scoped__destroy" in listed(**{"X-Tok": "t-delete"})


def test_a_tool_whose_authenticator_needs_the_url_kwargs_is_listed(project):
    assert "strictnote__list" in listed(**{"X-Tok": "t-ann"})


# --- one message does not leak an identity from one view to another ---


class ByToken(BaseAuthentication):
    def authenticate(self, request):
        return (
            (User.objects.get(username="bob"), "token")
            if request.headers.get("X-Tok") == "bob"
            else None
        )

    def authenticate_header(self, request):
        return "Token"


class OnlyByToken(generics.ListAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    authentication_classes = [ByToken]


class OnlyBySession(OnlyByToken):
    authentication_classes = [SessionAuthentication]


def test_the_user_of_a_token_is_not_confused_with_the_user_of_a_session(users, settings_of):
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("a/", OnlyByToken.as_view(), name="token"),
        path("b/", OnlyBySession.as_view(), name="session"),
        path("c/", OnlyByToken.as_view(), name="tokentoo"),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    assert listed(**{"X-Tok": "bob"}) == {"token__list", "tokentoo__list"}


# --- tools that are written by hand ---


class NotHere(BaseAuthentication):
    """Looks at the path, which for a hand-written tool is the endpoint's."""

    seen: list[tuple[str, str]] = []

    def authenticate(self, request):
        self.seen.append((request.method, request.path))
        return User.objects.get(username="ann"), None


def test_own_tool_is_authenticated_by_the_endpoint(users, settings_of, monkeypatch):
    monkeypatch.setattr(decorators, "declared", {})
    monkeypatch.setattr(NotHere, "seen", [])

    @mcp_tool(authentication_classes=[NotHere], permission_classes=[permissions.IsAuthenticated])
    def greet() -> str:
        """Greet."""
        return "hello"

    settings_of(ROOT_URLCONF=__name__)
    assert "greet" in listed()
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "greet"}}
    assert (
        Client().post("/mcp/", body, content_type="application/json").json()["result"]["isError"]
        is False
    )
    assert set(NotHere.seen) == {("POST", "/mcp/")}


# --- identities found beforehand are not passed to the view that runs ---


class Traced(BasicAuthentication):
    """Records which request it was asked about."""

    asked: list[str] = []

    def authenticate(self, request):
        self.asked.append(request.path)
        return super().authenticate(request)


class TracedView(generics.RetrieveAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    authentication_classes = [Traced]

    def retrieve(self, request, *args, **kwargs):
        held = {"_user", "_auth", "_authenticator"} & vars(request._request).keys()
        return Response({"id": kwargs["pk"], "line": f"{request.user.username} {sorted(held)}"})


@pytest.mark.parametrize("login", [None, True, False])
def test_the_request_of_a_view_has_no_identity_before_it_authenticates(
    users, settings_of, monkeypatch, login
):
    row = Log.objects.create(line="x")
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("logs/<int:pk>/", TracedView.as_view(), name="log"),
    ]
    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
        TOOLBOOTH={"LOGIN_REQUIRED": login},
    )
    monkeypatch.setattr(Traced, "asked", [])
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    for asked in ({}, {"filter_keys": ["line"]}):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body["params"] = {"name": "log__retrieve", "arguments": {"id": row.pk, **asked}}
        result = client.post("/mcp/", body, content_type="application/json").json()["result"]
        assert result["structuredContent"]["line"] == "ann []"
        assert Traced.asked[-1] == f"/logs/{row.pk}/"
