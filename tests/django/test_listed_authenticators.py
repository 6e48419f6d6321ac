"""For a listing, an authenticator is asked once for all views only if its class is on the list in
the code.
"""

import json
import sys
import types

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from rest_framework import permissions, viewsets
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.routers import SimpleRouter

from odd.models import Log
from odd.serializers import LogSerializer
from toolbooth.django.call.authenticators import LISTED, answer_alike

ACTIONS = ("list", "create", "retrieve", "update", "partial_update", "destroy")
asked = []
"""The method and the path of each question."""


class ByHeader(BaseAuthentication):
    def authenticate(self, request):
        asked.append((request.method, request.path))
        name = request.headers.get("X-User")
        return (User.objects.get(username=name), None) if name else None

    def authenticate_header(self, request):
        return "Own"


def at(dotted, **attributes):
    """Return a class that replaces the one of a package, and can be imported from there."""
    module, _, name = dotted.rpartition(".")
    return type(name, (ByHeader,), {"__module__": module, "__qualname__": name, **attributes})


@pytest.fixture
def installed(monkeypatch):
    """Install a class under its name."""

    def install(dotted, **attributes):
        made = at(dotted, **attributes)
        module, _, name = dotted.rpartition(".")
        if module not in sys.modules:
            monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
        monkeypatch.setattr(sys.modules[module], name, made, raising=False)
        return made

    return install


@pytest.fixture
def listed(settings_of, db):
    """Return the tools that a caller is shown, of two view sets with these authenticators."""
    asked.clear()
    User.objects.create_user("ann", password="pw")

    def names(*classes, permission=permissions.IsAuthenticated, **headers):
        attributes = {
            "queryset": Log.objects.order_by("id"),
            "serializer_class": LogSerializer,
            "authentication_classes": classes,
            "permission_classes": [permission],
        }
        router = SimpleRouter()
        for name in ("one", "two"):
            view = type(name.title(), (viewsets.ModelViewSet,), attributes)
            router.register(name, view, basename=name)
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        client = Client(headers={"X-User": "ann", **headers})
        reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
        assert reply.status_code == 200, reply.content
        return {tool["name"] for tool in reply.json()["result"]["tools"]}

    return names


ALL = {f"{view}__{action}" for view in ("one", "two") for action in ACTIONS}
EACH = {
    (method, place)
    for view in ("one", "two")
    for place, methods in (
        (f"/{view}/", ("GET", "POST")),
        (f"/{view}/{{pk}}/", ("GET", "PUT", "PATCH", "DELETE")),
    )
    for method in methods
}
"""The questions if every view is asked itself."""


@pytest.mark.parametrize("dotted", sorted(LISTED))
def test_a_listed_class_is_asked_once(installed, listed, dotted):
    assert listed(installed(dotted)) == ALL
    # Two of them may require a CSRF token for writing.
    assert len(asked) == (2 if "jwt" in dotted or "Session" in dotted else 1)


@pytest.mark.parametrize("dotted", sorted(LISTED))
def test_a_subclass_of_a_listed_class_is_asked_by_each_view(installed, listed, dotted):
    assert listed(type("Own", (installed(dotted),), {})) == ALL
    assert set(asked) == EACH


@pytest.mark.parametrize("dotted", sorted(LISTED))
def test_a_listed_class_with_a_parameter_is_asked_by_each_view(installed, listed, dotted):
    def init(self):
        self.realm = "a"

    assert listed(installed(dotted, __init__=init)) == ALL
    assert set(asked) == EACH


@pytest.mark.parametrize("dotted", sorted(LISTED))
def test_a_class_with_only_the_name_of_a_listed_one_is_asked_by_each_view(listed, dotted):
    assert listed(at(dotted)) == ALL
    assert set(asked) == EACH


JWT = "rest_framework_simplejwt.authentication.JWTAuthentication"


def with_attributes(**attributes):
    def init(self):
        vars(self).update(attributes)

    return init


@pytest.mark.parametrize(
    ("attributes", "times"),
    [
        ({"user_model": User}, 2),
        ({"user_model": Permission}, len(EACH) + 1),
        ({"user_model": User, "realm": "a"}, len(EACH) + 1),
        ({"realm": "a"}, len(EACH) + 1),
    ],
    ids=str,
)
def test_simplejwt_may_hold_the_user_model_of_the_project_and_nothing_else(
    installed, listed, attributes, times
):
    assert get_user_model() is User
    assert listed(installed(JWT, __init__=with_attributes(**attributes))) == ALL
    assert len(asked) == times


def test_the_user_model_is_a_parameter_of_every_other_class(installed, listed):
    keep = with_attributes(user_model=User)
    assert listed(installed("knox.auth.TokenAuthentication", __init__=keep)) == ALL
    assert set(asked) == EACH


def test_oauth2_is_asked_by_each_view_if_it_binds_tokens_to_urls(installed, listed, monkeypatch):
    settings = types.ModuleType("oauth2_provider.settings")
    settings.DEFAULTS = {"RESOURCE_SERVER_TOKEN_RESOURCE_VALIDATOR": "any"}
    monkeypatch.setitem(sys.modules, "oauth2_provider.settings", settings)
    (dotted,) = (each for each in LISTED if "OAuth2" in each)
    assert listed(installed(dotted)) == ALL
    assert set(asked) == EACH


class ByKey(TokenAuthentication):
    """Looks up the key in a table of its own, as many projects do."""

    keyword = "Key"

    def authenticate_credentials(self, key):
        asked.append(key)
        return self.user_of(key), key

    def user_of(self, key):
        return User.objects.get(username=key)


class ByKeyAndPath(ByKey):
    def authenticate(self, request):
        asked.append((request.method, request.path))
        return super().authenticate(request)


class ByStoredRequest(ByKey):
    """Sees each request by other means than the arguments of a method."""

    def __getattribute__(self, name):
        asked.append(name)
        return super().__getattribute__(name)


def test_a_subclass_that_only_looks_up_keys_is_asked_once(listed):
    assert listed(ByKey, Authorization="Key ann") == ALL
    assert asked == ["ann"]


def test_a_subclass_that_sees_the_request_is_asked_by_each_view(listed):
    assert listed(ByKeyAndPath, Authorization="Key ann") == ALL
    assert set(asked) == {*EACH, "ann"}


def test_a_subclass_with_special_methods_is_asked_by_each_view(listed):
    assert listed(ByStoredRequest, Authorization="Key ann") == ALL
    assert asked.count("ann") > len(EACH)


def test_own_authenticator_beside_a_listed_one_is_called_for_each_view(listed):
    assert listed(TokenAuthentication, ByHeader) == ALL
    assert set(asked) == EACH


def test_an_empty_list_of_authenticators_answers_alike():
    assert answer_alike([]) is True


class Csrf(SessionAuthentication):
    """A session, as a class of one's own."""


@pytest.mark.parametrize("cls", [SessionAuthentication, Csrf])
@pytest.mark.parametrize("has_token", [True, False])
def test_session_without_csrf_token_is_listed_only_reading_tools(
    settings_of, listed, cls, has_token
):
    listed(cls, permission=permissions.IsAuthenticatedOrReadOnly)
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="ann"))
    headers = {}
    if has_token:
        client.cookies["csrftoken"] = "a" * 32
        headers["X-CSRFToken"] = "a" * 32
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = client.post(
        "/mcp/", json.dumps(message), content_type="application/json", headers=headers
    )
    names = {tool["name"] for tool in reply.json()["result"]["tools"]}
    reading = {name for name in ALL if name.endswith(("__list", "__retrieve"))}
    assert names == (ALL if has_token else reading)


# --- permissions in a list ---


class Scoped(ByHeader):
    """Notes on the user at which path they were recognised."""

    def authenticate(self, request):
        user, auth = super().authenticate(request)
        user.scope = "write" if request.path.startswith("/one/") else "read"
        return user, auth


class ModelPermissions(permissions.DjangoModelPermissions):
    authenticated_users_only = True


def test_the_permissions_of_a_user_are_read_once_for_a_list(listed):
    eve = User.objects.create_user("eve")
    eve.user_permissions.set(Permission.objects.filter(codename__in=["add_log", "change_log"]))
    with CaptureQueriesContext(connection) as queries:
        names = listed(ByHeader, permission=ModelPermissions, **{"X-User": "eve"})
    assert names == {name for name in ALL if not name.endswith("__destroy")}
    about_permissions = [each for each in queries if "auth_permission" in each["sql"]]
    assert len(about_permissions) == 2


class ByScope(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.user.scope == "write"


def test_attribute_set_by_an_authenticator_counts_only_for_its_own_view(listed):
    assert listed(Scoped, permission=ByScope) == {name for name in ALL if name.startswith("one")}
