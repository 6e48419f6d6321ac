"""The endpoint itself: the rules of HTTP, who must send credentials, and that other views are not
affected.
"""

import json
from io import BytesIO

import django
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import include, path
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import SessionAuthentication
from rest_framework.routers import SimpleRouter

from odd.models import Log
from sales.models import Contact

RIGHT, WRONG = {"Authorization": "Basic YW5uOnB3"}, {"Authorization": "Basic YW5uOndyb25n"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


def call(name, **arguments):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def post(message, headers=None, at="/mcp/", client=None, content_type="application/json", **extra):
    body = message if isinstance(message, bytes | str) else json.dumps(message)
    client = client or Client()
    return client.post(at, body, content_type=content_type, headers=headers, **extra)


# --- rules of HTTP only ---


@pytest.mark.parametrize("method", ["get", "put", "delete", "options", "head"])
def test_other_methods_than_post_are_refused(db, method):
    reply = getattr(Client(), method)("/mcp/")
    assert (reply.status_code, reply["Allow"]) == (405, "POST")


def test_other_content_types_than_json_are_refused(ann):
    assert post("a=b", RIGHT, content_type="application/x-www-form-urlencoded").status_code == 415
    assert post(LIST, RIGHT, content_type="application/json; charset=utf-8").status_code == 200


def test_a_host_that_is_not_served_is_refused_by_django(ann):
    assert post(LIST, {**RIGHT, "Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example//testserver", 403),
        ("http://testserver@evil.example", 403),
        ("http://testserver/evil", 403),
        (None, 200),
        ("http://testserver", 200),
        ("http://localhost:3000", 200),
        ("https://app.example", 200),
        ("http://evil.example", 403),
        ("http://testserver.evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_requests_from_pages_of_another_origin_are_refused(ann, settings_of, origin, status):
    settings_of(TOOLBOOTH={"ORIGINS": ["https://app.example"]})
    assert post(LIST, {**RIGHT, **({"Origin": origin} if origin else {})}).status_code == status


def test_if_every_host_is_allowed_origins_must_be_configured(ann, settings_of):
    settings_of(ALLOWED_HOSTS=["*"], TOOLBOOTH={"ORIGINS": ["https://app.example"]})
    assert post(LIST, {**RIGHT, "Origin": "http://testserver"}).status_code == 403
    assert post(LIST, {**RIGHT, "Origin": "https://app.example"}).status_code == 200


def test_a_body_over_the_limit_is_refused(ann, settings_of):
    settings_of(TOOLBOOTH={"MAX_BODY": 500})
    reply = post(call("open__create", line="x" * 600), RIGHT)
    assert (reply.status_code, reply.content) == (413, b"a request may have at most 500 bytes")
    settings_of(DATA_UPLOAD_MAX_MEMORY_SIZE=100)
    assert post(call("open__create", line="x" * 200), RIGHT).status_code == 413


def chunked(message, *, is_terminated):
    """The input that a WSGI server passes on for a chunked request; tests/django/test_servers.py
    has real ones.
    """
    body = BytesIO(json.dumps(message).encode())
    return {
        "CONTENT_LENGTH": "",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": body,
        "wsgi.input_terminated": is_terminated,
    }


def test_a_chunked_body_is_refused_if_the_server_does_not_mark_its_end(ann):
    reply = post(b" ", RIGHT, **chunked(LIST, is_terminated=False))
    told = b"send Content-Length; this server cannot read a chunked request"
    assert (reply.status_code, reply.content) == (411, told)


class Broken(BytesIO):
    def read(self, *_):
        raise ValueError("bad chunk")


def test_a_chunked_body_that_is_too_long_or_broken_is_refused(ann, settings_of):
    settings_of(TOOLBOOTH={"MAX_BODY": 500})
    sent = chunked(call("open__create", line="x" * 600), is_terminated=True)
    reply = post(b" ", RIGHT, **sent)
    assert (reply.status_code, reply.content) == (413, b"a request may have at most 500 bytes")
    assert sent["wsgi.input"].read() == b""  # the client can read the answer
    reply = post(b" ", RIGHT, **{**sent, "wsgi.input": Broken()})
    assert (reply.status_code, reply.content) == (400, b"the request could not be read")
    assert Log.objects.count() == 0


def reading_the_body(get_response):
    def middleware(request):
        request.read_by_middleware = request.body
        return get_response(request)

    return middleware


def test_a_chunked_body_is_read_even_if_middleware_has_read_it(ann, settings_of):
    settings_of(MIDDLEWARE=[*settings.MIDDLEWARE, f"{__name__}.reading_the_body"])
    sent = call("open__create", line="in chunks")
    reply = post(b" ", RIGHT, **chunked(sent, is_terminated=True))
    assert (reply.status_code, reply.json()["result"]["isError"]) == (200, False)
    assert [each.line for each in Log.objects.all()] == ["in chunks"]


@pytest.mark.parametrize("body", [b" ", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff"])
def test_invalid_message_gets_400_and_a_protocol_error(ann, body):
    reply = post(body, RIGHT)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] in (-32700, -32600)


def test_a_notification_is_accepted(ann):
    reply = post({"jsonrpc": "2.0", "method": "notifications/initialized"}, RIGHT)
    assert (reply.status_code, reply.content, "Content-Type" in reply) == (202, b"", False)


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(
    ("route", "served", "not_served"),
    [("mcp/", ["/mcp/"], "/mcp"), ("mcp", ["/mcp", "/mcp/"], "/mcpx"), ("", ["/"], "/x")],
)
def test_endpoint_answers_only_at_its_route(ann, settings_of, debug, route, served, not_served):
    settings_of(ROOT_URLCONF=urlconf(path(route, include("toolbooth.django.urls"))), DEBUG=debug)
    for address in served:
        assert post(HELLO, RIGHT, at=address).status_code == 200
    assert post(HELLO, RIGHT, at=not_served).status_code == 404


def urlconf(*patterns):
    """A URLconf made on the spot."""
    return type("Urls", (), {"urlpatterns": list(patterns)})


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_handshake_names_the_server_and_its_instructions(ann, settings_of, revision):
    settings_of(TOOLBOOTH={"NAME": "crm", "INSTRUCTIONS": "Be kind.", "EXPLAIN_ARGUMENTS": False})
    hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": revision}}
    assert post(hello, RIGHT).json()["result"] == {
        "protocolVersion": revision,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "crm", "version": "0.1.0"},
        "instructions": "Be kind.",
    }


def test_the_instructions_explain_the_protocol_arguments_once(ann, settings_of):
    arguments = {"help": "explain", "mode": None}
    settings_of(TOOLBOOTH={"ARGUMENTS": arguments, "INSTRUCTIONS": "Be kind."})
    told = post(HELLO, RIGHT).json()["result"]["instructions"]
    assert told.startswith(
        "Be kind.\n\nArguments that many tools take: explain: true returns what the tool takes"
    )
    assert " verify: true returns the whole row" in told
    assert " objects: Many rows in one call" in told
    assert "mode:" not in told


# --- who must send credentials ---


class ClosedViewSet(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = type(
        "ClosedSerializer",
        (serializers.ModelSerializer,),
        {"Meta": type("Meta", (), {"model": Log, "fields": ["line"]})},
    )


class OpenViewSet(ClosedViewSet):
    permission_classes = [permissions.AllowAny]


class SessionViewSet(ClosedViewSet):
    authentication_classes = [SessionAuthentication]


def served(**views):
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    return urlconf(path("mcp/", include("toolbooth.django.urls")), *router.urls)


CHALLENGE = 'Basic realm="api"'


@pytest.mark.parametrize(
    "message",
    [HELLO, LIST, {**LIST, "method": "ping"}, call("closed__list")],
    ids=lambda m: m["method"],
)
def test_anonymous_caller_gets_401_when_every_view_needs_a_login(ann, settings_of, message):
    settings_of(ROOT_URLCONF=served(closed=ClosedViewSet))
    reply = post(message)
    assert (reply.status_code, reply["WWW-Authenticate"]) == (401, CHALLENGE)
    assert post(message, RIGHT).status_code == 200


def test_anonymous_refused_call_gets_401_without_field_names(ann, settings_of):
    settings_of(ROOT_URLCONF=served(closed=ClosedViewSet))
    reply = post(call("closed__create", data={"line": "x"}))
    assert (reply.status_code, reply["WWW-Authenticate"]) == (401, CHALLENGE)
    assert b"line" not in reply.content


def test_anonymous_caller_is_served_the_open_views(ann, settings_of):
    settings_of(ROOT_URLCONF=served(closed=ClosedViewSet, open=OpenViewSet))
    assert post(HELLO).status_code == 200
    assert {tool["name"].partition("__")[0] for tool in post(LIST).json()["result"]["tools"]} == {
        "open"
    }
    assert post(call("open__create", line="hello")).json()["result"]["isError"] is False
    assert post(call("closed__list")).status_code == 401


@pytest.mark.parametrize("message", [HELLO, LIST, call("open__list")], ids=lambda m: m["method"])
def test_login_required_makes_every_anonymous_request_401(ann, settings_of, message):
    settings_of(ROOT_URLCONF=served(open=OpenViewSet), TOOLBOOTH={"LOGIN_REQUIRED": True})
    assert (post(message).status_code, post(message, RIGHT).status_code) == (401, 200)


def test_without_login_required_only_the_view_asks_for_a_login(ann, settings_of):
    settings_of(ROOT_URLCONF=served(closed=ClosedViewSet), TOOLBOOTH={"LOGIN_REQUIRED": False})
    assert post(HELLO).status_code == 200
    assert post(LIST).json()["result"]["tools"] == []
    assert post(call("closed__list")).status_code == 401


@pytest.mark.parametrize("login", [True, False, None])
@pytest.mark.parametrize("message", [HELLO, LIST, call("open__list")], ids=lambda m: m["method"])
def test_wrong_credentials_are_always_refused(ann, settings_of, login, message):
    settings_of(ROOT_URLCONF=served(open=OpenViewSet), TOOLBOOTH={"LOGIN_REQUIRED": login})
    reply = post(message, WRONG)
    assert (reply.status_code, reply["WWW-Authenticate"]) == (401, CHALLENGE)


def test_anonymous_request_gets_403_without_an_authenticate_header(ann, settings_of):
    settings_of(ROOT_URLCONF=served(session=SessionViewSet))
    assert post(LIST).status_code == 403
    assert "WWW-Authenticate" not in post(LIST)


# --- sessions ---


def logged_in():
    client = Client(enforce_csrf_checks=True)
    client.login(username="ann", password="pw")
    return client


def test_a_session_reads_without_a_csrf_token_and_writes_only_with_one(ann, settings_of):
    settings_of(ROOT_URLCONF=served(session=SessionViewSet))
    client = logged_in()
    assert post(call("session__list"), client=client).json()["result"]["isError"] is False
    refused = post(call("session__create", line="x"), client=client).json()["result"]
    assert refused["content"][0]["text"] == (
        "Tool 'session__create' failed: CSRF Failed: CSRF cookie not set."
        " Use other credentials, or ask your user."
    )
    assert Log.objects.count() == 0
    client.cookies["csrftoken"] = "a" * 32
    sent = post(call("session__create", line="x"), {"X-CSRFToken": "a" * 32}, client=client).json()[
        "result"
    ]
    assert sent["isError"] is False
    assert Log.objects.count() == 1


def test_session_is_shown_writing_tools_only_with_a_csrf_token(ann, settings_of):
    settings_of(ROOT_URLCONF=served(session=SessionViewSet))
    client = logged_in()
    shown = {tool["name"] for tool in post(LIST, client=client).json()["result"]["tools"]}
    assert shown == {"session__list", "session__retrieve"}
    client.cookies["csrftoken"] = "a" * 32
    shown = {
        tool["name"]
        for tool in post(LIST, {"X-CSRFToken": "a" * 32}, client=client).json()["result"]["tools"]
    }
    assert len(shown) == 6


# --- the host ---


def test_attributes_set_by_middleware_reach_the_view(ann, settings_of):
    settings_of(MIDDLEWARE=[*settings.MIDDLEWARE, "odd.views.marking"])
    reply = post(call("who__get"), {**RIGHT, "Accept-Language": "de", "Mcp-Method": "tools/call"})
    told = reply.json()["result"]["structuredContent"]
    assert (told["language"], told["mcp"], told["marked"]) == ("de", [], "by middleware")


def test_rest_api_is_unchanged_by_the_endpoint(ann, rest):
    post(LIST, RIGHT)
    reply = rest.post("/api/contacts/", {"email": "a@example.com"}, content_type="application/json")
    assert (reply.status_code, Contact.objects.count()) == (201, 1)
    assert rest.get("/api/").status_code == 200


@pytest.mark.skipif(django.VERSION < (5, 1), reason="LoginRequiredMiddleware is new in Django 5.1")
def test_a_login_that_middleware_requires_is_left_to_the_views(ann, settings_of):
    middleware = ["django.contrib.sessions.middleware.SessionMiddleware"]
    middleware += ["django.contrib.auth.middleware.AuthenticationMiddleware"]
    settings_of(MIDDLEWARE=[*middleware, "django.contrib.auth.middleware.LoginRequiredMiddleware"])
    assert post(call("open__list")).json()["result"]["isError"] is False


def test_errors_can_be_sent_as_protocol_errors(ann, settings_of):
    settings_of(TOOLBOOTH={"ERRORS": "protocol"})
    error = post(call("contacts__create", data={"email": "a@example.com"}), RIGHT).json()["error"]
    assert error["code"] == -32602
    assert error["data"]["toolbooth"]["corrected"] == {"email": "a@example.com"}
    error = post(call("contacts__create", email="nope"), RIGHT).json()["error"]
    assert (error["code"], error["data"]["toolbooth"]["problems"][0]["path"]) == (-32602, "$.email")


def test_include_and_exclude_limit_the_published_tools(ann, settings_of):
    settings_of(TOOLBOOTH={"INCLUDE": ["contacts__*", "tags__list"], "EXCLUDE": ["*__destroy"]})
    shown = {tool["name"] for tool in post(LIST, RIGHT).json()["result"]["tools"]}
    assert shown == {
        f"contacts__{name}" for name in ("list", "create", "retrieve", "update", "partial_update")
    } | {"tags__list"}
    assert post(call("contacts__destroy", id="x"), RIGHT).json()["error"]["code"] == -32602


def test_requests_of_two_users_on_one_connection_keep_their_users(ann):
    User.objects.create_user("bob", password="pw")
    client = Client()
    for header, name in [
        (RIGHT, "ann"),
        ({"Authorization": "Basic Ym9iOnB3"}, "bob"),
        (RIGHT, "ann"),
    ]:
        told = post(call("who__get"), header, client=client).json()["result"]["structuredContent"]
        assert told["user"] == name
