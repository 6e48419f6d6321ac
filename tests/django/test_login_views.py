"""Views that log users in or issue tokens are not tools, unless the project enables them."""

import json
import sys
import types

import pytest
from django.test import Client
from django.urls import include, path
from rest_framework import permissions, serializers, viewsets
from rest_framework.authtoken.models import Token
from rest_framework.authtoken.views import ObtainAuthToken, obtain_auth_token
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from doctor_report import words_of_doctor
from odd.models import Log
from odd.serializers import LogSerializer
from toolbooth.django.describe.login_views import LOGIN_VIEWS, is_login_view
from toolbooth.django.testing import acting_as

REASON = "it is a login or token view, and an agent should not handle passwords or tokens"
REMEDY = "to publish it, set TOOLBOOTH['LOGIN_VIEWS'] = True"


class Logs(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer


@pytest.fixture
def serving(settings_of, ann):
    def serve(*patterns, **settings):
        router = SimpleRouter()
        router.register("logs", Logs, "logs")
        endpoint = path("mcp", include("toolbooth.django.urls"))
        urls = type("Urls", (), {"urlpatterns": [endpoint, *router.urls, *patterns]})
        settings_of(ROOT_URLCONF=urls, TOOLBOOTH=settings)
        return list(acting_as(ann).tools())

    return serve


LOGS = [
    f"logs__{name}"
    for name in ("list", "create", "retrieve", "update", "partial_update", "destroy")
]


class OwnLogin(ObtainAuthToken):
    """Derived, as projects do."""


def test_token_view_is_left_out_and_the_doctor_gives_the_reason(serving, ann):
    routes = [path("token/", obtain_auth_token), path("own/", OwnLogin.as_view())]
    assert serving(*routes) == LOGS
    found, code = words_of_doctor()
    assert "note 2 login or token views are left out: agents should not handle passwords" in found
    for line in (f"- POST /token/: {REASON}", f"- POST /own/: {REASON}"):
        assert line in found
    assert (code, "0 errors, 0 warnings" in found) == (0, True)
    params = {"name": "own_login__post", "arguments": {"username": "ann", "password": "pw"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = Client().post("/mcp", json.dumps(message), content_type="application/json")
    assert "own_login__post" in reply.json()["error"]["message"]
    assert Token.objects.count() == 0


def test_the_setting_publishes_token_views_as_tools(serving, ann):
    names = serving(path("own/", OwnLogin.as_view()), LOGIN_VIEWS=True)
    assert names == [*LOGS, "own_login__post"]
    made = acting_as(None).call("own_login__post", username="ann", password="pw")
    assert made.structured == {"token": Token.objects.get(user=ann).key}
    assert "ok every view and every field is published" in words_of_doctor()[0]


@pytest.mark.parametrize("dotted", sorted(LOGIN_VIEWS))
@pytest.mark.parametrize("is_derived", [False, True], ids=["itself", "derived"])
def test_every_view_of_the_list_is_left_out(serving, monkeypatch, dotted, is_derived):
    module, _, name = dotted.rpartition(".")
    if module not in sys.modules:
        monkeypatch.setitem(sys.modules, module, types.ModuleType(module))

    def post(self, request):
        return Response({})

    attributes = {"__module__": module, "__qualname__": name, "post": post}
    view = type(name, (APIView,), attributes)
    if is_derived:
        view = type("Own", (permissions.BasePermission, type("Between", (view,), {})), {})
    assert serving(path("enter/", view.as_view())) == LOGS
    assert f"POST /enter/: {REASON} -> {REMEDY}" in words_of_doctor()[0]


def test_a_view_that_only_has_the_name_of_a_login_view_is_a_tool(serving):
    class LoginView(APIView):
        def post(self, request):
            return Response({})

    assert not is_login_view(LoginView)
    names = serving(path("enter/", LoginView.as_view(), name="enter"))
    assert names == ["enter__post", *LOGS]


def test_the_setting_must_be_true_or_false(serving):
    serving(LOGIN_VIEWS="yes")
    printed, code = words_of_doctor()
    assert code == 1
    assert "TOOLBOOTH['LOGIN_VIEWS']: must be True or False, not 'yes'." in printed


# --- passwords in other views ---


class UserSerializer(serializers.Serializer):
    name = serializers.CharField()
    password = serializers.CharField(write_only=True, max_length=4)


class Users(APIView):
    serializer_class = UserSerializer
    taken: list[dict] = []

    def post(self, request):
        reader = UserSerializer(data=request.data)
        reader.is_valid(raise_exception=True)
        self.taken.append(dict(reader.validated_data))
        return Response(reader.data)


def test_a_password_field_of_another_view_is_kept_and_never_repeated(serving, ann, caplog):
    caplog.set_level("INFO")
    assert "users__post" in serving(path("users/", Users.as_view(), name="users"))
    listed = acting_as(ann).tools()["users__post"]["inputSchema"]
    assert listed["properties"]["password"]["description"] == "password"
    assert listed["required"] == ["name", "password"]
    Users.taken.clear()
    agent = acting_as(ann)
    answers = [
        agent.call("users__post", name="bob", password="hun2"),
        agent.call("users__post", name="bob", password="hunter2"),
        agent.call("users__post", {"data": {"name": "bob", "password": "hunter2"}}),
        agent.call("users__post", {"name": "bob", "pasword": "hunter2"}),
        agent.call("users__post", {"name": "bob", "password": {"is": "hunter2"}}),
    ]
    assert [each.is_error for each in answers] == [False, True, True, True, True]
    assert Users.taken == [{"name": "bob", "password": "hun2"}]
    assert "hun" not in json.dumps([each.raw for each in answers])
    assert "hun" not in caplog.text
