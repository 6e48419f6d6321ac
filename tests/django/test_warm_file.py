"""`manage.py mcp_warm` and the file that it writes, from which `tools/list` is answered."""

import base64
import io
import json
import logging
from contextlib import contextmanager

import orjson
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.test.utils import override_settings
from django.urls import include, path, set_urlconf
from rest_framework import viewsets
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer

from odd.models import Log
from toolbooth.django.describe import catalogue as catalogues
from toolbooth.django.describe import warm_key
from toolbooth.django.describe.warm_file import _signature
from toolbooth.django.management.examinations import EXAMINATIONS

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


class LogSerializer(ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class Logs(viewsets.ModelViewSet):
    """Lines of a log."""

    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [AllowAny]


class Notes(Logs):
    permission_classes = [IsAdminUser]


def urls(**views):
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
    return type("Urls", (), {"urlpatterns": patterns})


@pytest.fixture
def serve(settings_of, tmp_path):
    settings_of(BASE_DIR=tmp_path)

    def served(views, **toolbooth):
        toolbooth = {"WARM_FILE": "tools.json", **toolbooth}
        settings_of(ROOT_URLCONF=urls(**views), TOOLBOOTH=toolbooth)

    return served


@pytest.fixture
def root(db):
    User.objects.create_superuser("root", password="pw")
    return Client(headers={"Authorization": "Basic " + base64.b64encode(b"root:pw").decode()})


@contextmanager
def other_urlconf(chosen):
    set_urlconf(chosen)
    try:
        yield
    finally:
        set_urlconf(None)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tools.json"


def warm() -> str:
    printed = io.StringIO()
    call_command("mcp_warm", stdout=printed)
    catalogues.forget()  # as in a new process
    return printed.getvalue()


def listed(client=None):
    """Return all tools of a caller, over all pages."""
    found, params = [], {}
    while params is not None:
        body = json.dumps({**LIST, "params": params})
        reply = (client or Client()).post("/mcp/", body, content_type="application/json")
        result = reply.json()["result"]
        found += result["tools"]
        cursor = result.get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}
    return found


def is_described() -> bool:
    return catalogues.started_catalogue().registry.promised.is_listed


def nothing_is_described() -> bool:
    found = catalogues.started_catalogue()
    return list(found.registry.promised) == list(found.actions)


def doctor():
    return [(each.level, each.what) for each in EXAMINATIONS["Warm file"]()]


def rewrite(file, change, *, sign=True):
    """Change the contents of the file, and sign it as the command does."""
    content = orjson.loads(file.read_bytes())["content"]
    change(content)
    written = orjson.dumps(content)
    signature = _signature(written) if sign else "0" * 64
    document = {"signature": signature, "content": orjson.Fragment(written)}
    file.write_bytes(orjson.dumps(document))


# --- used ---


def test_the_list_comes_from_the_file_and_no_action_is_described(serve, file):
    serve({"logs": Logs, "notes": Notes})
    whole = json.loads(catalogues.catalogue().registry.page(0, None)[0])
    assert warm() == f"{file} written: 12 tools, {file.stat().st_size / 1000:,.0f} kB\n"
    assert [each["name"] for each in listed()] == [f"logs__{each}" for each in ACTIONS]
    assert nothing_is_described()
    assert json.loads(catalogues.started_catalogue().registry.page(0, None)[0]) == whole
    assert nothing_is_described()


ACTIONS = ("list", "create", "retrieve", "update", "partial_update", "destroy")


def test_each_caller_is_shown_their_own_tools(serve, root, ann):
    serve({"logs": Logs, "notes": Notes})
    without_file = [listed(), listed(root)]
    warm()
    assert [listed(), listed(root)] == without_file
    assert len(without_file[1]) == 12
    assert nothing_is_described()


@pytest.mark.parametrize("dispatch", ["resource", "app", {"both": ["*"]}])
def test_dispatchers_from_the_warm_file_list_the_tools_of_each_caller(serve, root, dispatch):
    serve({"logs": Logs, "notes": Notes}, DISPATCH=dispatch)
    without_file = [listed(), listed(root)]
    warm()
    assert listed(root) == without_file[1]
    assert not is_described()
    assert listed() == without_file[0]


def test_the_pages_of_the_file_equal_those_of_the_tools(serve, root):
    views = {f"logs{number}": Logs for number in range(60)}
    views |= {f"notes{number}": Notes for number in range(60)}
    serve(views)
    without_file = [listed(), listed(root)]
    warm()
    assert [listed(), listed(root)] == without_file
    assert [len(each) for each in without_file] == [360, 720]
    assert nothing_is_described()


def test_a_cursor_of_the_file_is_valid_for_the_tools(serve):
    """Another process, or this one a moment later, may have described everything."""
    serve({f"logs{number}": Logs for number in range(100)})
    warm()
    registry = catalogues.started_catalogue().registry
    first, following = registry.page(0, None)
    registry.complete()
    assert registry.page(0, None) == (first, following)
    assert following == 500
    assert len(json.loads(registry.page(following, None)[0])) == 100


@pytest.mark.parametrize("start", [-1, 7])
def test_a_cursor_beyond_the_file_is_refused(serve, start):
    serve({"logs": Logs})
    warm()
    cursor = base64.urlsafe_b64encode(str(start).encode()).decode()
    body = json.dumps({**LIST, "params": {"cursor": cursor}})
    reply = Client().post("/mcp/", body, content_type="application/json").json()
    assert reply["error"]["code"] == -32602


def test_call_describes_its_action_despite_a_wrong_warm_file(serve, mcp, file, caplog):
    serve({"logs": Logs})
    warm()

    def rename_field(content):
        properties = content["tools"][1]["listing"]["inputSchema"]["properties"]
        properties["text"] = properties.pop("line")

    rewrite(file, rename_field)
    assert "text" in listed()[1]["inputSchema"]["properties"]
    with caplog.at_level(logging.WARNING, "toolbooth.django"):
        assert not mcp("logs__create", {"line": "a"}).get("isError")
    words = "its entry for logs__create is out of date; run manage.py mcp_warm"
    assert caplog.messages == [f"{file} is not used: {words}"]
    # From now on the list is that of the project.
    assert "line" in listed()[1]["inputSchema"]["properties"]
    assert is_described()


def test_doctor_reports_that_the_warm_file_is_used(serve, file):
    serve({"logs": Logs})
    warm()
    assert doctor() == [("ok", f"tools/list comes from {file}: 6 tools")]


# --- not used ---


def is_ignored(caplog, file, reason) -> None:
    """Check that the file is not used: one line in the log gives the reason, and so does the
    doctor.
    """
    with caplog.at_level(logging.WARNING, "toolbooth.django"):
        found = [listed(), listed()]
    assert caplog.messages == [f"{file} is not used: {reason}; run manage.py mcp_warm"]
    assert is_described()
    assert doctor() == [("note", f"{file} is not used: {reason}")]
    assert found[0] == found[1] == [tool.listing() for tool in tools_of_project()]


def tools_of_project():
    return catalogues.build(catalogues.configuration()).registry.tools.values()


def test_missing_warm_file_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    is_ignored(caplog, file, "there is no such file")


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"content": {}}',
        b"[" * 100_000,
    ],
    ids=["empty", "cut", "array", "null", "binary", "unsigned", "deep"],
)
def test_a_broken_file_is_ignored(serve, file, caplog, written):
    serve({"logs": Logs})
    file.write_bytes(written)
    is_ignored(caplog, file, "it is broken")


def test_a_file_that_cannot_be_read_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    file.mkdir()
    is_ignored(caplog, file, "it cannot be read: Is a directory")


def test_truncated_warm_file_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    file.write_bytes(file.read_bytes()[:-1000])
    is_ignored(caplog, file, "it is broken")


def test_a_file_that_was_changed_by_hand_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    rewrite(file, lambda content: content["tools"].append(content["tools"][0]), sign=False)
    is_ignored(caplog, file, "it was changed, or written with another SECRET_KEY")


@pytest.mark.parametrize("signature", [b"null", b"5", b'"\xc3\xa9"'])
def test_file_with_an_invalid_signature_is_ignored(serve, file, caplog, signature):
    serve({"logs": Logs})
    file.write_bytes(b'{"content": {}, "signature": %b}' % signature)
    is_ignored(caplog, file, "it was changed, or written with another SECRET_KEY")


def test_a_file_of_another_secret_key_is_ignored(serve, file, caplog, settings_of):
    serve({"logs": Logs})
    with override_settings(SECRET_KEY="another"):
        warm()
    is_ignored(caplog, file, "it was changed, or written with another SECRET_KEY")


def test_a_file_of_other_versions_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    rewrite(file, lambda content: content["key"]["versions"].update(Django="0.96"))
    is_ignored(caplog, file, "it was written with different versions: Django")


def test_a_file_of_another_urlconf_is_ignored(serve, file, caplog):
    serve({"logs": Logs, "notes": Logs})
    warm()
    serve({"logs": Logs})
    reason = "notes__list, notes__create, notes__retrieve and 3 more"
    is_ignored(caplog, file, f"it was written with different routes: {reason}")


def test_a_file_of_another_view_at_the_same_route_is_ignored(serve, file, caplog):
    class Others(Logs):
        pass

    serve({"logs": Logs})
    warm()
    serve({"logs": Others})
    reason = "logs__list, logs__create, logs__retrieve and 3 more"
    is_ignored(caplog, file, f"it was written with different routes: {reason}")


@pytest.mark.parametrize(
    "changed",
    [
        {"TOOLBOOTH": {"WARM_FILE": "tools.json", "EXCLUDE": ["*__destroy"]}},
        {"REST_FRAMEWORK": {"PAGE_SIZE": 7}},
        {"SPECTACULAR_SETTINGS": {"ENUM_NAME_OVERRIDES": {"a": [1, 2]}}},
        {"LANGUAGES": [("en", "English")]},
        {"PROJECTS_OWN": {"a set", "in any order"}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_file_of_other_settings_is_ignored(serve, file, caplog, settings_of, changed):
    serve({"logs": Logs})
    warm()
    settings_of(**changed)
    is_ignored(caplog, file, f"it was written with different settings: {next(iter(changed))}")


def test_a_file_of_another_language_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    rewrite(file, lambda content: content["key"].update(language={"nl": ""}))
    is_ignored(caplog, file, "it was written with different language: nl, en-us")


def test_a_file_of_other_code_is_ignored(serve, file, caplog, tmp_path, monkeypatch):
    module = tmp_path / "shop_serializers.py"
    module.write_text("FIELDS = ['id', 'line']\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("shop_serializers")
    serve({"logs": Logs})
    warm()
    module.write_text("FIELDS = ['id']\n", encoding="utf-8")
    is_ignored(caplog, file, "it was written with different code: shop_serializers")


def test_a_file_that_depends_on_removed_code_is_ignored(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    rewrite(file, lambda content: content["code"].update(gone=["gone.py", "0"]))
    is_ignored(caplog, file, "it was written with different code: gone")


def test_a_tool_that_the_project_does_not_have_is_never_listed(serve, file, caplog):
    serve({"logs": Logs})
    warm()

    def add_tool(content):
        first = content["tools"][0]
        other = {**first["listing"], "name": "safe__open"}
        content["tools"].append({**first, "listing": other})

    rewrite(file, add_tool)
    is_ignored(caplog, file, "it was written with different tools: safe__open")


def test_a_further_urlconf_has_its_own_list(serve, file, caplog):
    serve({"logs": Logs})
    warm()
    with caplog.at_level(logging.WARNING, "toolbooth.django"), other_urlconf(urls(notes=Logs)):
        found = json.loads(catalogues.started_catalogue().registry.page(0, None)[0])
    assert [each["name"] for each in found] == [f"notes__{each}" for each in ACTIONS]
    assert caplog.messages == []


# --- written ---


def test_the_command_needs_the_setting(serve, settings_of):
    serve({"logs": Logs}, WARM_FILE="")
    with pytest.raises(CommandError, match=r"Set TOOLBOOTH\['WARM_FILE'\]") as refused:
        warm()
    assert refused.value.returncode == 2
    assert doctor() == []


def test_a_failed_write_keeps_the_old_file(serve, tmp_path):
    serve({"logs": Logs}, WARM_FILE="folder/tools.json")
    with pytest.raises(CommandError, match=r"cannot be written: No such file or directory"):
        warm()
    (tmp_path / "folder" / "tools.json").mkdir(parents=True)
    with pytest.raises(CommandError, match=r"cannot be written: Is a directory"):
        warm()
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["tools.json"]


def test_the_file_is_replaced_atomically(serve, file, tmp_path):
    serve({"logs": Logs})
    file.write_bytes(b"old")
    with file.open("rb") as reader:
        warm()
        assert reader.read() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["tools.json"]


def test_the_file_contains_no_values_of_settings(serve, file, settings_of):
    settings_of(PAYMENT_TOKEN="sk_live_4242")
    serve({"logs": Logs})
    warm()
    assert b"sk_live_4242" not in file.read_bytes()
    assert b"SECRET_KEY" not in file.read_bytes()


class Plain:
    pass


class Holder:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (Plain(), Plain(), True),
        (Holder(1), Holder(1), True),
        (Holder(1), Holder(2), False),
        ({"b", "a"}, {"a", "b"}, True),
        ((1, 2), [1, 2], True),
        ([1, 2], [2, 1], False),
        (1, "1", False),
        (Plain, Holder, False),
        (len, max, False),
    ],
)
def test_settings_are_compared_by_value(first, second, is_same):
    assert (warm_key._text(first) == warm_key._text(second)) is is_same


def test_a_recursive_setting_can_be_compared():
    loop = []
    loop.append(loop)
    assert "…" in warm_key._text(loop)
