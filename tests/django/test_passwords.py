"""A password is hashed once per message, for any number of authentications in the call."""

import base64
import json

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import Permission, User
from django.http import HttpResponse
from django.test import Client
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.authentication import BasicAuthentication
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.routers import SimpleRouter

from odd.models import Device, Log, Site
from odd.serializers import LogSerializer
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool


def credentials(name, password="pw"):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class CountingHasher(MD5PasswordHasher):
    verified = 0

    def verify(self, password, encoded):
        type(self).verified += 1
        return super().verify(password, encoded)


class DeviceSerializer(serializers.ModelSerializer):
    site = serializers.SlugRelatedField(slug_field="slug", queryset=Site.objects.all())

    class Meta:
        model = Device
        fields = ["serial", "label", "site"]


class Devices(viewsets.ModelViewSet):
    queryset = Device.objects.order_by("serial")
    serializer_class = DeviceSerializer


class Logs(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer


router = SimpleRouter()
router.register("devices", Devices, basename="devices")
router.register("logs", Logs, basename="logs")
router.register("areas/(?P<area>[a-z]+)/logs", Logs, basename="area_logs")
urlpatterns = [
    path("mcp/", include("toolbooth.django.urls")),
    path("api/", include(router.urls)),
]


def with_routes(*routes):
    return type("Urls", (), {"urlpatterns": [*urlpatterns, *routes]})


@pytest.fixture
def hashed(settings_of, monkeypatch):
    """Return how often a password was hashed since the last call of this."""
    settings_of(PASSWORD_HASHERS=[f"{__name__}.CountingHasher"], ROOT_URLCONF=__name__)
    monkeypatch.setattr(CountingHasher, "verified", 0)
    User.objects.create_user("ann", password="pw")

    def count():
        found, CountingHasher.verified = CountingHasher.verified, 0
        return found

    return count


def send(method, params=None, password="pw"):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    client = Client(headers={"Authorization": credentials("ann", password)})
    return client.post("/mcp/", json.dumps(message), content_type="application/json")


def call(tool, arguments=None):
    reply = send("tools/call", {"name": tool, "arguments": arguments or {}})
    assert reply.status_code == 200, reply.content
    return reply.json()["result"]


@pytest.fixture
def rows(hashed):
    site = Site.objects.create(slug="here", name="Here")
    device = Device.objects.create(label="old", site=site)
    for number in range(30):
        Log.objects.create(pk=number + 1, line=f"line {number} {'x' * 190}")
    return {"serial": str(device.pk)}


LINES = [{"line": f"new {number}"} for number in range(4)]


@pytest.mark.parametrize("login", [None, True, False])
@pytest.mark.parametrize(
    ("tool", "sent", "is_error"),
    [
        ("logs__retrieve", {"id": 1}, False),
        ("logs__list", {}, False),
        ("logs__list", {"filter_keys": ["line"]}, False),
        ("logs__list", {"page_size": 3}, False),
        ("logs__create", {"line": "new"}, False),
        ("logs__create", {"line": "new", "verify": True}, False),
        ("logs__update", {"id": 1, "line": "new"}, False),
        ("logs__partial_update", {"id": 1, "line": "new"}, False),
        ("logs__destroy", {"id": 1}, False),
        ("logs__destroy", {"id": 99}, True),
        ("logs__create", {"objects": LINES}, False),
        ("logs__create", {"objects": [*LINES, {"line": None}]}, True),
        ("area_logs__create", {"area": "north", "objects": LINES}, False),
        ("area_logs__update", {"area": "north", "id": 1, "line": "new"}, False),
        ("devices__create", {"label": "a", "site": "here"}, False),
        ("devices__create", {"label": "a", "site": {"slug": "here"}}, False),
        ("devices__partial_update", {"site": {"slug": "here"}}, False),
        ("devices__create", {"objects": [{"site": {"slug": "here"}}] * 3}, False),
        ("logs__create", {"help": True}, False),
        ("area_logs__create", {"help": True, "area": "north"}, False),
        ("logs__create", {"lin": "new"}, True),
        ("logs__create", {"data": {"line": "new"}}, True),
        ("logs__create", '{"line": "new"}', False),
        ("logs__none", {}, True),
    ],
)
def test_a_call_hashes_its_password_once(settings_of, hashed, rows, login, tool, sent, is_error):
    settings_of(TOOLBOOTH={"LOGIN_REQUIRED": login})
    if tool == "devices__partial_update":
        sent = {**rows, **sent}
    hashed()
    reply = send("tools/call", {"name": tool, "arguments": sent})
    assert reply.status_code == 200, reply.content
    found = reply.json()
    assert found.get("result", {"isError": True})["isError"] is is_error, found
    # Without a view the caller is not authenticated, unless a login is required.
    is_asked = tool != "logs__none" or login is True
    assert hashed() == (1 if is_asked else 0)


@pytest.mark.parametrize("method", ["tools/list", "ping", "initialize"])
def test_a_list_hashes_the_password_once(rows, hashed, method):
    hashed()
    assert send(method).status_code == 200
    assert hashed() == 1


def test_each_page_of_a_result_hashes_the_password_once(settings_of, rows, hashed):
    settings_of(TOOLBOOTH={"MAX_RESULT": 4_000})
    for sent in ({}, {"area": "north"}):
        tool = "area_logs__list" if sent else "logs__list"
        hashed()
        page = call(tool, sent)["structuredContent"]
        assert hashed() == 1
        token = page["continuation"]["continuation_token"]
        assert call(tool, {"continuation_token": token})["isError"] is False
        assert hashed() == 1


def test_a_call_through_a_dispatcher_hashes_the_password_once(settings_of, rows, hashed):
    settings_of(TOOLBOOTH={"DISPATCH": "resource"})
    hashed()
    for sent in (
        {"action": "update", "id": 1, "line": "new"},
        {"action": "update", "params": {"id": 1, "line": "new"}},
        {"action": "create", "objects": LINES},
        {"action": "create", "help": True},
        {"action": "help"},
    ):
        assert call("logs", sent)["isError"] is False
        assert hashed() == 1, sent


def test_a_tool_that_is_written_by_hand_hashes_the_password_once(settings_of, hashed, monkeypatch):
    monkeypatch.setattr(decorators, "declared", {})

    @mcp_tool
    def greet(name: str) -> str:
        """Greet."""
        return f"hello {name}"

    for login in (None, True):
        settings_of(TOOLBOOTH={"LOGIN_REQUIRED": login})
        hashed()
        assert call("greet", {"name": "you"})["content"][0]["text"] == "hello you"
        assert hashed() == 1


# --- the caller is never confused with another one ---


def test_a_wrong_password_is_refused_by_every_method_and_tool(settings_of, rows, hashed):
    for login in (None, True, False):
        settings_of(TOOLBOOTH={"LOGIN_REQUIRED": login})
        for tool, sent in [
            ("logs__create", {"line": "new"}),
            ("logs__create", {"objects": LINES}),
            ("logs__update", {"id": 1, "line": "new"}),
            ("logs__create", {"help": True}),
        ]:
            reply = send("tools/call", {"name": tool, "arguments": sent}, password="no")
            assert reply.status_code == 401
            assert reply["WWW-Authenticate"].startswith("Basic")
    assert Log.objects.count() == 30
    assert not Log.objects.filter(line__startswith="new").exists()


def decorated(view, change):
    def run(request, *args, **kwargs):
        changed = change(request)
        return view(request, *args, **kwargs) if changed is None else changed

    run.__dict__.update(vars(view))
    return run


def as_nobody(request):
    request.META["HTTP_AUTHORIZATION"] = ""


def as_bob(request):
    request.META["HTTP_AUTHORIZATION"] = credentials("bob")


def for_sessions(request):
    return None if request.user.is_authenticated else HttpResponse(status=403)


@pytest.mark.parametrize(
    ("change", "status"), [(as_nobody, 401), (as_bob, 403), (for_sessions, 403)]
)
def test_decorator_that_changes_the_request_still_decides_permissions(
    settings_of, rows, change, status
):
    class Guarded(Logs):
        permission_classes = [DjangoModelPermissions]

    User.objects.create_user("bob", password="pw")
    User.objects.get(username="ann").user_permissions.add(
        Permission.objects.get(codename="change_log")
    )
    guarded = decorated(Guarded.as_view({"put": "update"}), change)
    settings_of(ROOT_URLCONF=with_routes(path("guarded/<int:pk>/", guarded, name="guarded")))
    client = Client(headers={"Authorization": credentials("ann")})
    put = client.put("/guarded/1/", {"line": "new"}, content_type="application/json")
    assert put.status_code == status
    reply = send("tools/call", {"name": "guarded__update", "arguments": {"id": 1, "line": "new"}})
    if reply.status_code == 200:
        assert reply.json()["result"]["structuredContent"]["details"]["status"] == status
    else:
        assert reply.status_code == status
    assert not Log.objects.filter(line="new").exists()


class AtOnePath(ModelBackend):
    """Takes passwords at one path."""

    def authenticate(self, request, username=None, password=None, **kwargs):
        if request.path != "/api/logs/1/":
            return None
        return super().authenticate(request, username, password, **kwargs)


def test_a_password_accepted_at_one_path_is_not_accepted_at_another(settings_of, rows):
    settings_of(AUTHENTICATION_BACKENDS=[f"{__name__}.AtOnePath"])
    assert call("logs__update", {"id": 1, "line": "new"})["isError"] is False
    for tool, sent in [
        ("logs__update", {"id": 2, "line": "new"}),
        ("logs__create", {"objects": LINES}),
        ("area_logs__update", {"area": "north", "id": 1, "line": "new"}),
    ]:
        assert send("tools/call", {"name": tool, "arguments": sent}).status_code == 401
    assert Log.objects.filter(line__startswith="new").count() == 1


class OwnBasic(BasicAuthentication):
    """Not REST framework's own class."""


class Kept(Logs):
    authentication_classes = [OwnBasic]


def test_a_custom_authenticator_is_asked_by_every_view_that_runs(settings_of, hashed, rows):
    routes = SimpleRouter()
    routes.register("kept", Kept, basename="kept")
    settings_of(ROOT_URLCONF=with_routes(path("own/", include(routes.urls))))
    hashed()
    assert call("kept__create", {"objects": LINES})["isError"] is False
    assert hashed() == len(LINES) + 1
    assert call("kept__update", {"id": 1, "line": "new"})["isError"] is False
    assert hashed() == 2


def test_attributes_set_on_the_user_are_not_shared_between_two_rows(settings_of, hashed):
    noted = []

    class Noting(Logs):
        def perform_create(self, serializer):
            noted.append(hasattr(self.request.user, "is_noted"))
            self.request.user.is_noted = True
            super().perform_create(serializer)

    view = Noting.as_view({"post": "create"})
    settings_of(ROOT_URLCONF=with_routes(path("noting/", view, name="noting")))
    assert call("noting__create", {"objects": LINES})["isError"] is False
    assert noted == [False] * len(LINES)
