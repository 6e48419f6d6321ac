"""`manage.py mcp_config`: credentials in its output, or how to add them."""

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, modify_settings
from django.urls import include, path
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.authtoken.models import Token
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.routers import SimpleRouter

from doctor_report import doctor
from knox.auth import TokenAuthentication as KnoxAuthentication
from knox.models import AuthToken
from sales.models import Company
from sales.views import CompanyViewSet

TOKEN_APPS = ["rest_framework.authtoken", "knox"]


@pytest.fixture
def taking(settings_of, ann):
    """Serve companies with views that accept these credentials."""

    def serve(*authenticators, permission=IsAuthenticated):
        view = type(
            "Companies",
            (CompanyViewSet,),
            {"authentication_classes": authenticators, "permission_classes": [permission]},
        )
        router = SimpleRouter()
        router.register("companies", view, "companies")
        patterns = [path("mcp", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))

    return serve


def printed(*arguments):
    """The notes, and the header in the JSON."""
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp_config", *arguments, stdout=out, stderr=err, no_color=True)
    server = json.loads(out.getvalue())["mcpServers"]["api"]
    assert server.pop("type") == "http"
    assert server.pop("url") == "http://localhost:8000/mcp"
    notes = [line.removeprefix("# ") for line in err.getvalue().splitlines()]
    assert notes.pop(0) == "for the configuration of the client"
    return notes, server


def refused(*arguments):
    with pytest.raises(CommandError) as error:
        printed(*arguments)
    assert error.value.returncode == 2
    return str(error.value)


def creates(header, name):
    """Create a company over MCP with this header."""
    params = {"name": "companies__create", "arguments": {"name": name}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"Authorization": header})
    reply = client.post("/mcp", json.dumps(message), content_type="application/json")
    assert reply.status_code == 200, reply.content
    assert Company.objects.get().name == name


# --- tokens of rest_framework.authtoken ---


@pytest.mark.parametrize(
    ("authenticator", "option"),
    [(TokenAuthentication, " --as ann"), (BasicAuthentication, "")],
    ids=["token", "basic"],
)
def test_the_doctor_proposes_a_token_only_where_one_can_be_made(authenticator, option, taking):
    taking(authenticator)
    report, _ = doctor("--as", "ann")
    assert f"Connect a client: manage.py mcp_config --client claude-code{option}\n" in report


def test_a_drf_token_is_created_once_and_used_again(taking, ann):
    taking(SessionAuthentication, TokenAuthentication)
    notes, server = printed("--as", "ann")
    token = Token.objects.get()
    assert (token.user, server) == (ann, {"headers": {"Authorization": f"Token {token.key}"}})
    revoke = "It does not expire; `drf_create_token -r ann` replaces it."
    assert notes == [f"A token was created for 'ann'. {revoke}"]
    assert printed("--as", "ann") == ([f"It has the token of 'ann'. {revoke}"], server)
    assert Token.objects.get() == token
    creates(server["headers"]["Authorization"], "Acme")


def test_the_keyword_of_a_derived_class_is_used(taking, ann):
    taking(type("ByBearer", (TokenAuthentication,), {"keyword": "Bearer"}))
    header = printed("--as", "ann")[1]["headers"]["Authorization"]
    assert header == f"Bearer {Token.objects.get().key}"
    creates(header, "Acme")
    assert printed("--token", "s3") == ([], {"headers": {"Authorization": "Bearer s3"}})


def test_a_superusers_token_is_printed_with_a_warning(taking):
    taking(TokenAuthentication)
    User.objects.create_superuser("root", password="pw")
    assert printed("--as", "root")[0][1:] == [
        "This user is a superuser: give an agent a user of its own, with few permissions."
    ]


def test_tokens_of_a_projects_own_model_are_not_created(taking):
    class OwnToken(TokenAuthentication):
        model = AuthToken

    taking(OwnToken)
    assert refused("--as", "ann") == (
        "knox is installed, but no view takes its tokens; "
        "add 'knox.auth.TokenAuthentication' to DEFAULT_AUTHENTICATION_CLASSES; "
        "the REST API takes OwnToken"
    )
    assert (Token.objects.count(), AuthToken.objects.count()) == (0, 0)


# --- tokens of knox ---


def test_a_new_knox_token_is_created_each_time(taking, ann):
    taking(KnoxAuthentication)
    notes, server = printed("--as", "ann")
    row = AuthToken.objects.get()
    assert notes == [
        f"A new knox token was created for 'ann'. It expires at {row.expiry:%Y-%m-%d %H:%M} UTC. "
        "knox stores only its hash, so it cannot be shown again: each run creates another one."
    ]
    assert row.user == ann
    creates(server["headers"]["Authorization"], "Acme")
    assert printed("--as", "ann")[1] != server
    assert AuthToken.objects.count() == 2
    assert printed("--token", "s3") == ([], {"headers": {"Authorization": "Token s3"}})


def test_token_app_of_the_accepted_authenticator_is_used(taking):
    taking(BasicAuthentication, KnoxAuthentication)
    printed("--as", "ann")
    taking(BasicAuthentication, TokenAuthentication)
    printed("--as", "ann")
    assert (Token.objects.count(), AuthToken.objects.count()) == (1, 1)


# --- refusals ---


def test_token_user_must_exist_and_be_active(taking, ann):
    taking(TokenAuthentication)
    assert (
        refused("--as", "bob") == "there is no user 'bob'; `manage.py createsuperuser` creates one"
    )
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert refused("--as", "ann") == (
        "the user 'ann' is not active, so no view would take their token"
    )
    assert Token.objects.count() == 0


def test_a_user_and_a_token_are_not_given_together(taking):
    taking(TokenAuthentication)
    assert refused("--as", "ann", "--token", "s3") == "give --as or --token, not both"


def test_without_a_token_app_the_other_credentials_are_named(taking):
    class ByHeader(BaseAuthentication):
        def authenticate(self, request):
            return None

    taking(BasicAuthentication, SessionAuthentication, ByHeader)
    with modify_settings(INSTALLED_APPS={"remove": TOKEN_APPS}):
        assert refused("--as", "ann") == (
            "no token can be made: neither rest_framework.authtoken nor knox is in INSTALLED_APPS. "
            'For tokens, add "rest_framework.authtoken" there, run migrate, and add '
            "TokenAuthentication to DEFAULT_AUTHENTICATION_CLASSES. Or add --token: the REST API "
            "takes a user's name and password (--token 'Basic ' and the base64 of NAME:PASSWORD), session cookies "
            "(agents have none), ByHeader"
        )


@pytest.mark.parametrize(
    ("authenticator", "app"),
    [(TokenAuthentication, "rest_framework.authtoken"), (KnoxAuthentication, "knox")],
    ids=["authtoken", "knox"],
)
def test_a_missing_app_whose_tokens_are_accepted_is_named(taking, authenticator, app):
    taking(authenticator)
    with modify_settings(INSTALLED_APPS={"remove": TOKEN_APPS}):
        assert refused("--as", "ann") == (
            f"the API takes tokens of {app}; add {app!r} to INSTALLED_APPS and run migrate"
        )


def test_tokens_that_no_view_accepts_are_not_created(taking):
    taking(SessionAuthentication)
    assert refused("--as", "ann") == (
        "rest_framework.authtoken is installed, but no view takes its tokens; "
        "add 'rest_framework.authentication.TokenAuthentication' to "
        "DEFAULT_AUTHENTICATION_CLASSES; the REST API takes session cookies (agents have none)"
    )
    assert Token.objects.count() == 0


def test_a_missing_table_is_reported(taking):
    taking(TokenAuthentication)
    with connection.schema_editor() as editor:
        editor.delete_model(Token)
    try:
        assert refused("--as", "ann") == (
            "the token could not be stored (no such table: authtoken_token); "
            "has `manage.py migrate` been run?"
        )
    finally:
        with connection.schema_editor() as editor:
            editor.create_model(Token)


# --- without credentials ---


def test_client_command_without_credentials_explains_how_to_add_them(taking):
    taking(TokenAuthentication)
    missing = "There are no credentials in it, so the API will refuse what needs a login."
    assert printed() == (
        [missing, "Add --as USERNAME for a token of that user, or --token TOKEN."],
        {},
    )
    taking(BasicAuthentication)
    assert printed() == (
        [
            missing,
            "Add --token: the REST API takes a user's name and password "
            "(--token 'Basic ' and the base64 of NAME:PASSWORD)",
        ],
        {},
    )


def test_an_open_api_needs_no_credentials(taking):
    taking(permission=AllowAny)
    assert printed() == ([], {})


def at(dotted):
    """A class that replaces the one of a package."""
    module, _, name = dotted.rpartition(".")
    attributes = {
        "__module__": module,
        "__qualname__": name,
        "authenticate": lambda *_: None,
        "authenticate_header": lambda *_: 'JWT realm="api"',
    }
    return type(name, (BaseAuthentication,), attributes)


def test_jwt_and_oauth_are_named_also_for_derived_classes(taking):
    jwt = at("rest_framework_simplejwt.authentication.JWTAuthentication")
    oauth = at("oauth2_provider.contrib.rest_framework.authentication.OAuth2Authentication")
    taking(type("Own", (jwt,), {}), oauth)
    assert printed()[0][1] == (
        "Add --token: the REST API takes a JWT (--token JWT), an OAuth access token (--token TOKEN)"
    )
    taking(oauth)
    assert printed("--token", "s3") == ([], {"headers": {"Authorization": "Bearer s3"}})


def test_a_jwt_gets_the_keyword_that_its_authenticator_expects(taking):
    taking(TokenAuthentication, at("rest_framework_simplejwt.authentication.JWTAuthentication"))
    assert printed("--token", "eyJh.e.s") == ([], {"headers": {"Authorization": "JWT eyJh.e.s"}})
    assert printed("--token", "s3") == ([], {"headers": {"Authorization": "Token s3"}})
