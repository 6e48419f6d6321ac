"""A project as `startproject` creates it, with REST framework's own first example, one app and one
line more.
"""

import json
import os
import subprocess
import sys

import pytest

URLS = """
from django.contrib.auth.models import Group, User
from django.urls import include, path
from rest_framework import permissions, routers, serializers, viewsets

class UserSerializer(serializers.HyperlinkedModelSerializer):
    class Meta:
        model = User
        fields = ["url", "username", "email", "groups"]

class GroupSerializer(serializers.HyperlinkedModelSerializer):
    class Meta:
        model = Group
        fields = ["url", "name"]

class UserViewSet(viewsets.ModelViewSet):
    queryset = User.objects.all().order_by("-date_joined")
    serializer_class = UserSerializer
    permission_classes = [permissions.IsAuthenticated]

class GroupViewSet(viewsets.ModelViewSet):
    queryset = Group.objects.all().order_by("name")
    serializer_class = GroupSerializer
    permission_classes = [permissions.IsAuthenticated]

router = routers.DefaultRouter()
router.register("users", UserViewSet)
router.register("groups", GroupViewSet)
urlpatterns = [
    path("", include(router.urls)),
    path("mcp/", include("toolbooth.django.urls")),
]
"""

VISIT = """
import json
from django.contrib.auth.models import User
from django.test import Client

User.objects.create_user("ann", password="pw")
told = []
def post(path, method, headers, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    client = Client(headers={"Host": "localhost", **headers}, raise_request_exception=False)
    reply = client.post(path, json.dumps(message), content_type="application/json")
    body = reply.json()["result"] if reply.headers.get("Content-Type") == "application/json" else None
    told.append((reply.status_code, reply.headers.get("WWW-Authenticate"), body))

ANN = {"Authorization": "Basic YW5uOnB3"}
post("/mcp/", "tools/list", {})
post("/mcp", "tools/list", ANN)
post("/mcp/", "tools/list", ANN)
post("/mcp/", "tools/call", ANN, name="group__create", arguments={"name": "staff"})
post("/mcp/", "tools/call", ANN, name="user__create", arguments={"username": "bob", "groups": [{"name": "staff"}]})
post("/mcp/", "tools/call", ANN, name="user__list", arguments={})
print(json.dumps(told))
"""


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    environment = {
        key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"
    }

    def run(*command, stdin=None, **extra):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**environment, **extra},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "django", "startproject", "stock", ".")
    settings = folder / "stock" / "settings.py"
    lines = [
        settings.read_text(),
        'INSTALLED_APPS += ["rest_framework", "toolbooth.django"]',
        'import os; DEBUG = os.environ["STOCK_DEBUG"] == "1"',
        'ALLOWED_HOSTS = [] if DEBUG else ["localhost"]',
        'DATABASES["default"]["NAME"] = BASE_DIR / f"{DEBUG}.sqlite3"',
    ]
    settings.write_text("\n".join(lines))
    (folder / "stock" / "urls.py").write_text(URLS)
    return run


@pytest.mark.parametrize("debug", ["1", "0"], ids=["debug", "not-debug"])
def test_a_stock_project_is_served(project, debug):
    project("manage.py", "check", "--fail-level", "WARNING", STOCK_DEBUG=debug)
    project("manage.py", "migrate", "--verbosity", "0", STOCK_DEBUG=debug)
    stranger, slashless, listed, group, user, found = json.loads(
        project("manage.py", "shell", "--no-imports", stdin=VISIT, STOCK_DEBUG=debug).splitlines()[
            -1
        ]
    )
    assert stranger == [401, 'Basic realm="api"', None]
    assert slashless[0] == 404
    names = [tool["name"] for tool in listed[2]["tools"]]
    actions = ("list", "create", "retrieve", "update", "partial_update", "destroy")
    assert sorted(names) == sorted(
        f"{base}__{action}" for base in ("user", "group") for action in actions
    )
    assert (group[2]["isError"], user[2]["isError"]) == (False, False)
    users = found[2]["structuredContent"]
    assert [(each["username"], each["groups"]) for each in users["results"]] == [
        ("bob", ["http://localhost/groups/1/"]),
        ("ann", []),
    ]
