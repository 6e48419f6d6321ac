"""Continuation tokens: a token gives no more access than a call does, and every worker accepts it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.core import signing
from django.core.cache import cache
from django.test import Client
from django.test.utils import freeze_time
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from pydantic import AfterValidator
from rest_framework import authentication, exceptions, permissions, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from broken_cache import Forgetful
from odd.models import Log
from sales.models import Company
from sales.views import CompanyViewSet, NoteViewSet
from toolbooth.content import Text
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import forget
from toolbooth.django.testing import acting_as

PROJECT = Path(__file__).resolve().parent / "project"
LINES = [f"line {number}" for number in range(1000)]


class MayView(permissions.DjangoModelPermissions):
    perms_map = {
        **permissions.DjangoModelPermissions.perms_map,
        "GET": ["%(app_label)s.view_%(model_name)s"],
    }


class Guarded(CompanyViewSet):
    pagination_class = None
    permission_classes = [MayView]


class Others(Guarded):
    pass


class Jobs(viewsets.GenericViewSet):
    queryset = Company.objects.all()
    permission_classes = [MayView]

    @extend_schema(request=None, responses=dict)
    @action(detail=False, methods=["post"])
    def run(self, request):
        Log.objects.create(line="ran")
        return Response({"lines": LINES})


class Machine:
    """A caller without a row in a table."""

    is_authenticated = True


class Key:
    """A key without any attribute that identifies it."""


class ByKey(authentication.BaseAuthentication):
    def authenticate(self, request):
        key = request.headers.get("X-Key", "")
        if key == "wrong":
            raise exceptions.AuthenticationFailed
        found = {"text": key, "table": {"key": key}, "row": Log(pk=len(key)), "thing": Key()}
        kind = key.partition("-")[0]
        return (
            (AnonymousUser() if kind == "row" else Machine(), found[kind])
            if kind in found
            else None
        )

    def authenticate_header(self, request):
        return "Key"


class Keyed(APIView):
    authentication_classes = [ByKey]
    permission_classes = [permissions.AllowAny]

    @extend_schema(responses=dict)
    def get(self, request):
        return Response(LINES)


class ByNonce(authentication.BasicAuthentication):
    """Accepts its credentials only once."""

    shown: set[str] = set()

    def authenticate(self, request):
        nonce = request.headers.get("X-Nonce")
        if nonce in self.shown:
            raise exceptions.AuthenticationFailed
        self.shown.add(nonce)
        return Machine(), nonce


class Once(Keyed):
    authentication_classes = [ByNonce]


class Urls:
    router = SimpleRouter()
    router.register("companies", Guarded, "companies")
    router.register("others", Others, "others")
    router.register("notes", NoteViewSet, "notes")
    router.register("jobs", Jobs, "jobs")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("keyed/", Keyed.as_view(), name="keyed"),
        path("once/", Once.as_view(), name="once"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


SETTINGS = {
    "MAX_RESULT": 4_000,
    "INCLUDE": ["*__list", "jobs__run", "keyed__get", "once__get", "slow*"],
}


@pytest.fixture(autouse=True)
def served(settings_of, monkeypatch):
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH=SETTINGS)
    Company.objects.bulk_create(Company(name=f"company {number:04}") for number in range(200))


def user(name: str) -> User:
    made = User.objects.create_user(name, password="pw")
    made.user_permissions.set(Permission.objects.filter(content_type__model="company"))
    return made


def token_of(reply) -> str:
    return reply.value["continuation"]["continuation_token"]


TOOLS = pytest.mark.parametrize("tool", ["companies__list", "jobs__run"], ids=["query", "kept"])

INSTEAD = {
    "companies__list": "call companies__list again with the arguments of the first call",
    "jobs__run": "the original call has run: check what it did, do not repeat it",
}
"""The advice for a token that is not valid: a call that is not a query must not be run twice."""


@TOOLS
def test_continuation_token_can_be_used_more_than_once(tool):
    call = acting_as(user("eve")).call
    token = token_of(call(tool))
    pages = [call(tool, continuation_token=token) for _ in range(2)]
    assert not pages[0].is_error
    assert pages[0].value["continuation"]["from"] == pages[1].value["continuation"]["from"] > 1


@TOOLS
def test_a_token_that_was_changed_is_refused(tool):
    call = acting_as(user("eve")).call
    token = token_of(call(tool))
    stem, stamp, seal = token.rsplit(":", 2)
    other = token_of(acting_as(user("bob")).call(tool)).rsplit(":", 2)
    forged = [
        "",
        "x",
        ":::",
        "\ud800",
        token[:-1],
        token + "x",
        f"{stem[:-2]}{'BB' if stem.endswith('AA') else 'AA'}:{stamp}:{seal}",
        f"{other[0]}:{stamp}:{seal}",
        f"{stem}:{other[1]}:{other[2]}",
        f"{stem}:zzzzzz:{seal}",
        signing.dumps(["companies__list"], salt="another"),
        signing.dumps(["companies__list"], salt="toolbooth.django.continuation"),
    ]
    for each in forged:
        told = call(tool, json.dumps({"continuation_token": each}).encode())
        assert told.is_error, each
        assert [problem.where for problem in told.problems] in (["$.continuation_token"], ["$"]), (
            each
        )
    assert told.text == (
        f"Refused: 1 problem in the arguments of {tool!r}. Nothing was done.\n"
        "- $.continuation_token: is not a token of this server, or was changed; send it unchanged"
        f"{', or' if tool == 'companies__list' else ';'} {INSTEAD[tool]}"
    )
    assert Log.objects.count() == (0 if tool == "companies__list" else 2)


def test_a_token_is_signed_with_the_projects_key(settings_of):
    call = acting_as(user("eve")).call
    token = token_of(call("companies__list"))
    settings_of(SECRET_KEY="another")
    assert "is not a token of this server" in call("companies__list", continuation_token=token).text
    settings_of(SECRET_KEY="another", SECRET_KEY_FALLBACKS=["only for tests"])
    assert not call("companies__list", continuation_token=token).is_error
    assert (
        "another caller"
        in acting_as(user("bob")).call("companies__list", continuation_token=token).text
    )


@TOOLS
def test_a_token_of_another_caller_is_refused(tool):
    token = token_of(acting_as(user("eve")).call(tool))
    told = acting_as(user("bob")).call(tool, continuation_token=token)
    assert told.text.endswith(
        f"- $.continuation_token: was given to another caller; {INSTEAD[tool]}"
    )
    assert Log.objects.count() <= 1


@TOOLS
def test_a_token_of_another_tool_is_refused_by_its_name(tool):
    call = acting_as(user("eve")).call
    told = call("others__list", continuation_token=token_of(call(tool)))
    assert told.text.endswith(f"- $.continuation_token: belongs to {tool}; send it there")


def test_a_token_of_another_host_is_refused(settings_of):
    user("eve")

    def call(host, arguments):
        client = Client(headers={"Authorization": "Basic ZXZlOnB3", "Host": host})
        params = {"name": "companies__list", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
            "result"
        ]

    first = call("localhost", {})["structuredContent"]["continuation"]
    again = {"continuation_token": first["continuation_token"]}
    assert "another caller" in call("127.0.0.1", again)["content"][0]["text"]
    assert call("localhost", again)["isError"] is False


@TOOLS
def test_a_token_expires(tool, settings_of):
    call = acting_as(user("eve")).call
    with freeze_time(time.time() - 901):
        old = token_of(call(tool))
    told = call(tool, continuation_token=old)
    assert told.text.endswith(
        f"- $.continuation_token: has expired: a token is valid for 15 minutes; {INSTEAD[tool]}"
    )
    for age, words in ((100, "100 seconds"), (1, "1 second;")):
        settings_of(TOOLBOOTH={**SETTINGS, "TOKEN_AGE": age})
        with freeze_time(time.time() - age - 1):
            old = token_of(call(tool))
        assert f"valid for {words}" in call(tool, continuation_token=old).text


def test_every_page_has_a_new_token_and_renews_the_stored_result():
    call = acting_as(user("eve")).call
    start = time.time()
    with freeze_time(start - 1_500):
        first = token_of(call("jobs__run"))
    with freeze_time(start - 800):
        second = token_of(call("jobs__run", continuation_token=first))
    assert second != first
    assert not call("jobs__run", continuation_token=second).is_error
    assert "has expired" in call("jobs__run", continuation_token=first).text


def test_expired_result_is_refused_and_the_tool_does_not_run_again():
    call = acting_as(user("eve")).call
    token = token_of(call("jobs__run"))
    cache.clear()
    told = call("jobs__run", continuation_token=token)
    assert told.text.endswith(
        f"- $.continuation_token: is for a result that is no longer kept; {INSTEAD['jobs__run']}"
    )
    assert Log.objects.count() == 1


def test_a_failing_cache_is_tried_again_later(settings_of, caplog):
    Forgetful.asked = 0
    settings_of(CACHES={"default": {"BACKEND": "broken_cache.Forgetful"}})
    call = acting_as(user("eve")).call
    told = call("jobs__run", continuation_token=token_of(call("jobs__run")))
    assert told.text.endswith("cannot be reached at the moment; send it again later")
    assert "nobody answers" in caplog.text


@TOOLS
def test_a_token_is_refused_without_the_permission(tool):
    eve = user("eve")
    token = token_of(acting_as(eve).call(tool))
    eve.user_permissions.clear()
    eve = User.objects.get(pk=eve.pk)
    told = acting_as(eve).call(tool, continuation_token=token)
    assert told.text == (
        f"Tool {tool!r} failed: You do not have permission to perform this action."
        " Use other credentials, or ask your user; "
        f"continuation_token can be used once you may call {tool} again"
    )
    # A token also reveals no data to callers without permission.
    assert (
        "You do not have permission" in acting_as(eve).call(tool, continuation_token="forged").text
    )
    told = acting_as(None).call(tool, continuation_token=token)
    assert told.status == 401


def test_rows_that_now_belong_to_another_user_are_not_shown():
    eve, bob = user("eve"), user("bob")
    call = acting_as(eve).call
    for number in range(20):
        eve.note_set.create(title=f"note {number}", body="x" * 500)
    token = token_of(call("notes__list"))
    eve.note_set.update(owner=bob)
    assert call("notes__list", continuation_token=token).value["results"] == []


@pytest.mark.parametrize(
    ("mine", "yours"),
    [
        ("text-a", "text-b"),
        ("table-a", "table-b"),
        ("row-a", "row-aa"),
        ("text-a", "table-a"),
        ("text-a", ""),
    ],
)
def test_tokens_of_callers_without_a_row_depend_on_their_credentials(mine, yours):
    token = keyed(mine)["structuredContent"]["continuation"]["continuation_token"]
    assert keyed(mine, token)["isError"] is False
    assert "another caller" in keyed(yours, token)["content"][0]["text"]


def test_tokens_of_plain_credentials_depend_on_the_authorization_header():
    token = keyed("thing", authorization="one")["structuredContent"]["continuation"][
        "continuation_token"
    ]
    assert keyed("thing", token, authorization="one")["isError"] is False
    assert "another caller" in keyed("thing", token, authorization="two")["content"][0]["text"]


def test_anonymous_token_continues_only_for_anonymous_callers():
    token = keyed("")["structuredContent"]["continuation"]["continuation_token"]
    assert keyed("", token)["structuredContent"]["results"][0] != "line 0"
    assert "another caller" in keyed("text-a", token)["content"][0]["text"]


def keyed(key: str, token: str | None = None, authorization: str = ""):
    client = Client(headers={"X-Key": key, "Authorization": authorization})
    params = {
        "name": "keyed__get",
        "arguments": {} if token is None else {"continuation_token": token},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
        "result"
    ]


def test_caller_with_one_time_credentials_gets_the_whole_result():
    client = Client(headers={"X-Nonce": "1"})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "once__get"}}
    told = client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
        "result"
    ]
    assert told["structuredContent"] == {"results": LINES}


def test_token_contains_no_credentials():
    token = keyed("text-secret")["structuredContent"]["continuation"]["continuation_token"]
    assert "secret" not in str(signing.loads(token, salt="toolbooth.django.continuation"))


# --- any worker ---


def test_new_worker_process_accepts_a_token_of_another():
    call = acting_as(user("eve")).call
    for tool in ("companies__list", "jobs__run"):
        token = token_of(call(tool))
        forget()
        assert call(tool, continuation_token=token).value["continuation"]["from"] > 1


CALL = """
import json, sys, django
django.setup()
from django.test import Client
params = {"name": "numbers__get", "arguments": json.loads(sys.argv[1])}
message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
reply = Client().post("/mcp/", json.dumps(message), content_type="application/json")
sys.stdout.write(json.dumps(reply.json()["result"]["structuredContent"]))
"""


def test_another_process_accepts_a_token(settings_of):
    settings_of(ROOT_URLCONF="number_urls", TOOLBOOTH={})
    call = acting_as(None).call
    first = call("numbers__get", upto=20_000).value
    second = elsewhere({"continuation_token": first["continuation"]["continuation_token"]})
    third = call(
        "numbers__get", continuation_token=second["continuation"]["continuation_token"]
    ).value
    assert first["results"] + second["results"] + third["results"] == list(range(20_000))
    assert "note" in third["continuation"]
    assert "continuation_token" not in third["continuation"]


def elsewhere(arguments):
    """Make a call in a process of its own, with the settings of these tests and another URLconf."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "number_settings",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", CALL, json.dumps(arguments)],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


# --- hand-written tools ---


def test_the_permission_of_a_function_is_checked_for_each_token():
    asked = []

    class Once(permissions.BasePermission):
        def has_permission(self, request, view):
            return len(asked) < 2

    @mcp_tool(permission_classes=[Once], annotations={"readOnlyHint": True})
    def slowly(upto: int):
        asked.append(upto)
        return list(range(upto))

    forget()
    call = acting_as(user("eve")).call
    token = token_of(call("slowly", upto=2_000))
    token = token_of(call("slowly", continuation_token=token))
    assert (
        "can be used once you may call slowly again"
        in call("slowly", continuation_token=token).text
    )
    assert asked == [2_000, 2_000]


def test_continuation_of_a_call_that_is_refused_now_is_refused():
    allowed = [2_000]

    def check(upto: int) -> int:
        if upto not in allowed:
            raise ValueError("no such number")
        return upto

    @mcp_tool(annotations={"readOnlyHint": True})
    def slowly(upto: Annotated[int, AfterValidator(check)]):
        return list(range(upto))

    forget()
    call = acting_as(user("eve")).call
    token = token_of(call("slowly", upto=2_000))
    allowed.clear()
    told = call("slowly", continuation_token=token)
    assert told.text.endswith("continues a call that would now be refused; make that call again")


def test_a_result_that_has_become_content_is_not_continued():
    answers = [list(range(2_000)), Text(text="nothing more")]

    @mcp_tool(annotations={"readOnlyHint": True})
    def slowly():
        return answers.pop(0)

    forget()
    call = acting_as(user("eve")).call
    told = call("slowly", continuation_token=token_of(call("slowly")))
    assert told.text.endswith("is for a result whose form has changed; make the first call again")


def test_a_permission_that_raises_its_own_exception_refuses_the_token():
    asked = []

    class Reads(permissions.BasePermission):
        def has_permission(self, request, view):
            if asked:
                raise exceptions.ValidationError({"upto": ["is too much by now"]})
            return True

    @mcp_tool(permission_classes=[Reads])
    def slowly(upto: int):
        asked.append(upto)
        return list(range(upto))

    forget()
    call = acting_as(user("eve")).call
    told = call("slowly", continuation_token=token_of(call("slowly", upto=2_000)))
    assert "$.upto: is too much by now" in told.text
