"""`mcp_clean`, the lines of `mcp_doctor` about idempotency keys, and keys of hand-written tools."""

import base64
import inspect
import io
import json
import types
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client, override_settings
from django.urls import include, path
from rest_framework import mixins, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.routers import SimpleRouter

import keyed_api
from doctor_report import doctor, words_of_doctor
from keyed_api import Urls
from odd.models import Log
from odd.serializers import LogSerializer
from toolbooth.content import Image
from toolbooth.django import decorators
from toolbooth.django.call import key_limits, messages
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import forget
from toolbooth.django.management.doctor.report import MOST_LINES
from toolbooth.django.models import UsedKey


class Plain:
    """Writes that all take keys."""

    router = SimpleRouter()
    router.register("lines", keyed_api.Lines, "lines")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]


def printed(command, **options):
    out = io.StringIO()
    call_command(command, stdout=out, no_color=True, **options)
    return out.getvalue()


def keys(count, expires):
    rows = [
        UsedKey(claim=f"{expires} {n}", tool="t", arguments="", created=expires, expires=expires)
        for n in range(count)
    ]
    UsedKey.objects.bulk_create(rows)


@pytest.fixture
def no_table(db):
    with connection.schema_editor() as editor:
        editor.delete_model(UsedKey)
    yield
    with connection.schema_editor() as editor:
        editor.create_model(UsedKey)


# --- mcp_clean ---


def test_mcp_clean_removes_the_keys_that_have_expired(db):
    now = datetime.now(UTC)
    keys(5, now - timedelta(seconds=1))
    keys(2, now + timedelta(hours=1))
    assert printed("mcp_clean", batch=2) == "Removed 5 expired idempotency keys.\n"
    assert UsedKey.objects.count() == 2
    assert printed("mcp_clean") == "Removed 0 expired idempotency keys.\n"
    keys(1, now)
    assert printed("mcp_clean") == "Removed 1 expired idempotency key.\n"


def test_mcp_clean_without_its_table_asks_to_migrate(no_table):
    with pytest.raises(CommandError, match=r"run manage\.py migrate"):
        call_command("mcp_clean")


def test_mcp_clean_requires_a_positive_batch_size(db):
    with pytest.raises(CommandError, match="has to be 1 or more"):
        call_command("mcp_clean", batch=0)


def test_there_is_a_migration_for_every_field():
    call_command("makemigrations", "toolbooth", check=True, dry_run=True, verbosity=0)


# --- mcp_doctor ---


def test_the_doctor_lists_the_tools_that_accept_no_key(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    groups = groups_of_keys()
    assert [(each["code"], each["level"], each["what"], each["cure"]) for each in groups] == [
        (
            "key-durable",
            "note",
            "2 writes take no idempotency key: their views use atomic(durable=True)",
            "write atomic() without durable=True, if these blocks can be part of a transaction",
        ),
        (
            "key-non-atomic",
            "note",
            "4 writes take no idempotency key: their views have non_atomic_requests",
            "remove non_atomic_requests, if these views can run in a transaction",
        ),
    ]
    durable, free = groups
    assert free["places"] == [
        {
            "place": f"keyed_api.Free: {tool}",
            "what": f"{tool} (keyed_api.Free): an idempotency key {messages.NON_ATOMIC}",
            "cure": free["cure"],
        }
        for tool in ("free__create", "free__update", "free__partial_update", "free__destroy")
    ]
    # The line of the method with the block, below its decorators.
    lines = {
        "durable__create": line_of(keyed_api.Durable.create),
        "durableinside__create": line_of(keyed_api.DurableInside.perform_create),
    }
    assert durable["places"] == [
        {
            "place": f"{line}: {tool}",
            "what": f"{tool} ({line}): an idempotency key {messages.DURABLE}",
            "cure": durable["cure"],
        }
        for tool, line in lines.items()
    ]


def groups_of_keys():
    printed, _ = doctor("--json")
    found = json.loads(printed)["findings"]
    return [each for each in found if each["code"].startswith("key-")]


def line_of(method):
    """The line that an editor opens, from the source file."""
    file = Path(keyed_api.__file__)
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{shown}:{inspect.getsourcelines(inspect.unwrap(method))[1]}"


def router_to(alias):
    class Router:
        def db_for_write(self, model, **hints):
            return alias if model is Log else None

    return Router()


def test_doctor_has_one_group_for_writes_to_other_databases(settings_of, ann, tmp_path):
    settings_of(ROOT_URLCONF=Plain)
    with override_settings(DATABASE_ROUTERS=[router_to("second {count}")]):
        [group] = groups_of_keys()
    assert (group["code"], group["count"]) == ("key-other-database", 4)
    assert group["what"] == "4 writes take no idempotency key: they are not to the keys' database"
    assert group["places"][0] == {
        "place": "keyed_api.Lines: lines__create",
        "what": "lines__create (keyed_api.Lines): an idempotency key cannot be used here: the view "
        'writes to the database "second {count}", and keys are kept in "default"',
        "cure": "let a router (DATABASE_ROUTERS) send toolbooth.UsedKey to the database of most",
    }


def test_doctor_names_a_write_whose_callers_are_all_anonymous(settings_of, ann):
    class Anyone(mixins.CreateModelMixin, viewsets.GenericViewSet):
        queryset = Log.objects.all()
        serializer_class = LogSerializer
        authentication_classes = []
        permission_classes = []

    settings_of(ROOT_URLCONF=urls_of({"anyone": Anyone}))
    place = f"{Anyone.__module__}.{Anyone.__qualname__}"
    [group] = groups_of_keys()
    assert group == {
        "level": "note",
        "code": "key-without-login",
        "what": f"anyone__create ({place}): an idempotency key {messages.ANONYMOUS}",
        "cure": "set authentication_classes on the views: a key belongs to one caller",
        "count": 1,
        "places": [
            {
                "place": f"{place}: anyone__create",
                "what": f"anyone__create ({place}): an idempotency key {messages.ANONYMOUS}",
                "cure": "set authentication_classes on the views: a key belongs to one caller",
            }
        ],
    }


def test_doctor_names_the_view_if_its_durable_method_has_no_line(settings_of, ann):
    class Callable:
        """A method without code of its own, as some decorators leave it."""

        def __init__(self):
            self.__closure__ = (cell_of(transaction.atomic(durable=True)),)

        def __call__(self, serializer):
            serializer.save()

    class Odd(mixins.CreateModelMixin, viewsets.GenericViewSet):
        queryset = Log.objects.all()
        serializer_class = LogSerializer
        perform_create = Callable()

    settings_of(ROOT_URLCONF=urls_of({"odd": Odd}))
    [group] = groups_of_keys()
    [place] = group["places"]
    assert place["place"] == f"{Odd.__module__}.{Odd.__qualname__}: odd__create"


def test_the_keyless_tools_of_a_large_project_fit_on_a_screen(settings_of, ann):
    views = {
        f"{kind.__name__.lower()}{number}": type(f"{kind.__name__}{number}", (kind,), {})
        for kind in (keyed_api.Free, keyed_api.Durable, keyed_api.DurableInside)
        for number in range(50)
    }
    settings_of(ROOT_URLCONF=urls_of(views))
    printed, code = doctor()
    lines = printed.splitlines()
    assert code == 0
    assert len(lines) <= MOST_LINES
    titles = [line for line in lines if "writes take no idempotency key" in line]
    assert titles == [
        "     note  100 writes take no idempotency key: their views use atomic(durable=True)",
        "     note  200 writes take no idempotency key: their views have non_atomic_requests",
    ]
    assert [each["count"] for each in groups_of_keys()] == [100, 200]
    everything, _ = doctor(verbosity=2)
    assert everything.count("an idempotency key") == 300


def urls_of(views):
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    patterns = [path("api/", include(router.urls)), path("mcp/", include("toolbooth.django.urls"))]
    return type("Urls", (), {"urlpatterns": patterns})


# --- what the code of a view shows ---


def cell_of(value):
    return types.CellType(value)


def closing_over(*cells):
    """A method with these cells in its closure."""

    def method(self):
        return values

    values = None
    code = method.__code__.replace(co_freevars=tuple(f"v{n}" for n in range(len(cells))))
    return types.FunctionType(code, {}, "method", None, cells)


def test_a_name_that_is_not_set_yet_is_no_durable_block():
    empty = types.CellType()
    assert key_limits._is_durable(closing_over(empty)) is False
    block = cell_of(transaction.atomic(durable=True))
    assert key_limits._is_durable(closing_over(empty, block)) is True


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT 1", True),
        (" (SELECT 1) UNION (SELECT 2)", True),
        ("/* traced */ select 1", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a", False),
        ("SAVEPOINT x", True),
        ("INSERT INTO a VALUES (1)", False),
        ("CREATE TABLE a (b int)", False),
        ("CALL change()", False),
    ],
)
def test_reading_and_writing_statements_are_distinguished(sql, reads):
    assert bool(key_limits._READS.match(sql)) is reads


def test_doctor_reports_that_every_write_takes_a_key(settings_of, ann):
    settings_of(ROOT_URLCONF=Plain)
    assert "ok every write takes an idempotency key" in words_of_doctor()[0]


def test_doctor_reports_that_keys_are_switched_off(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": {"idempotency_key": None}})
    assert "ok idempotency keys are switched off (TOOLBOOTH['ARGUMENTS'])" in words_of_doctor()[0]
    assert groups_of_keys() == []


def test_doctor_warns_that_the_key_table_is_missing(settings_of, ann, no_table):
    settings_of(ROOT_URLCONF=Urls)
    told, _ = words_of_doctor()
    assert "warning the table of idempotency keys is missing -> run manage.py migrate" in told


# --- hand-written tools ---


@pytest.fixture
def hand_written(monkeypatch, ann):
    monkeypatch.setattr(decorators, "declared", dict(decorators.declared))

    @mcp_tool(idempotency_key=True)
    def note_line(line: str, fail: bool = False) -> dict:
        made = Log.objects.create(line=line)
        if fail:
            raise ValueError
        return {"row": made.pk}

    @mcp_tool(idempotency_key=True, throttle_classes=[keyed_api.FewADay])
    def guess(code: str) -> dict:
        if code != "right":
            raise ValidationError({"code": ["wrong"]})
        return {"row": Log.objects.create(line=code).pk}

    @mcp_tool(idempotency_key=True)
    def note_words(line: str) -> str:
        Log.objects.create(line=line)
        return "noted"

    @mcp_tool(idempotency_key=True)
    def draw(line: str) -> Image:
        Log.objects.create(line=line)
        return Image(data=b"png", mime_type="image/png")

    @mcp_tool(idempotent=True)
    def ensure_line(line: str) -> dict:
        return {"row": Log.objects.get_or_create(line=line)[0].pk}

    @mcp_tool(annotations={"readOnlyHint": True})
    def count_lines() -> dict:
        return {"count": Log.objects.count()}

    forget()
    yield
    forget()


def call(tool, arguments, meta=None):
    params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"Authorization": "Basic " + base64.b64encode(b"ann:pw").decode()})
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    return reply.json()["result"]


def test_a_function_runs_once_for_each_key(hand_written):
    sent = {"line": "a", "idempotency_key": "k"}
    first = call("note_line", sent)["structuredContent"]
    assert first == {"row": Log.objects.get().pk, "retry_until": first["retry_until"]}
    assert call("note_line", sent)["structuredContent"] == {**first, "repeated": True}
    reused = call("note_line", {**sent, "line": "b"})
    assert reused["_meta"]["toolbooth"]["problems"][0]["code"] == "key-reused"
    assert [call("note_words", sent)["content"][0]["text"] for _ in range(2)] == ["noted"] * 2
    assert Log.objects.count() == 2


def test_a_function_that_fails_is_rolled_back_with_its_key(hand_written, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    assert call("note_line", {"line": "a", "fail": True, "idempotency_key": "k"})["isError"] is True
    assert call("draw", {"line": "a", "idempotency_key": "k"})["isError"] is True
    assert (Log.objects.count(), UsedKey.objects.count()) == (0, 0)
    assert call("draw", {"line": "a"})["content"][0]["type"] == "image"


def test_a_function_that_refuses_a_call_with_a_key_counts_it_for_throttles(
    hand_written, settings_of
):
    """Also if the throttle counts in the database, where the count of the call is rolled back."""
    backend = "django.core.cache.backends.db.DatabaseCache"
    settings_of(CACHES={"default": {"BACKEND": backend, "LOCATION": "cache_table"}})
    call_command("createcachetable")
    try:
        for number in range(3):
            assert call("guess", {"code": "wrong", "idempotency_key": f"{number}"})["isError"]
        throttled = call("guess", {"code": "right", "idempotency_key": "4"})
    finally:
        caches["default"].clear()
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE cache_table")
    assert "throttled" in throttled["content"][0]["text"]
    assert Log.objects.count() == 0


def test_a_function_that_accepts_no_key_refuses_one_in_meta(hand_written):
    meta = {"toolbooth": {"idempotency_key": "k"}}
    refused = call("ensure_line", {"line": "a"}, meta)
    assert refused["_meta"]["toolbooth"]["problems"] == [
        {
            "code": "invalid",
            "path": "$._meta.toolbooth.idempotency_key",
            "message": "is not accepted by this tool",
        }
    ]
    assert call("count_lines", {}, meta)["structuredContent"] == {"count": 0}
    assert call("note_line", {"line": "a"}, meta)["isError"] is False
    assert User.objects.get().username == "ann"
