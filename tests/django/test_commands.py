"""`manage.py mcp_…`, and the example's `blank_rows`, as people run them."""

import io
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import django
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.urls import include, path
from rest_framework import permissions, serializers
from rest_framework.authentication import (
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.routers import SimpleRouter

from odd.models import Device, Log, Site, Thing
from sales.management.commands.blank_rows import blank_rows
from sales.models import Company, Contact, Deal, Line, Note, Tag
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet
from toolbooth.django.management.commands.mcp_config import CLIENTS

CRM = Path(__file__).resolve().parents[2] / "examples" / "crm" / "manage.py"


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


def urls(*patterns, mcp=True, **views):
    """Return a URLconf with these view sets, by name."""
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    endpoint = [path("mcp", include("toolbooth.django.urls"))] if mcp else []
    return type(
        "Urls", (), {"urlpatterns": [path("api/", include(router.urls)), *patterns, *endpoint]}
    )


@pytest.fixture
def crm(settings_of, ann):
    settings_of(
        ROOT_URLCONF=urls(
            contacts=ContactViewSet, companies=CompanyViewSet, deals=DealViewSet, notes=NoteViewSet
        )
    )


def run(command, *arguments, **options):
    """Return the output of a command, and its exit code."""
    out = io.StringIO()
    try:
        call_command(command, *arguments, stdout=out, stderr=out, no_color=True, **options)
    except SystemExit as end:
        return out.getvalue(), end.code
    except CommandError as error:
        return out.getvalue() + str(error), error.returncode
    return out.getvalue(), 0


# --- blank_rows ---


def test_the_blank_rows_of_the_incident_are_listed_and_then_deleted(crm):
    ids = [
        uuid.UUID(f"{start}-0000-4000-8000-000000000000")
        for start in ("6b7e67eb", "c123f361", "b1b58efa")
    ]
    for each in ids:
        Contact.objects.create(pk=each)
    kept = [
        Contact.objects.create(email="ann@x.io"),
        Contact.objects.create(subscribed=True),
        Contact.objects.create(profile={"a": 1}),
        Contact.objects.create(company=Company.objects.create(name="Acme")),
        Contact.objects.create(),
    ]
    kept[-1].tags.add(Tag.objects.create(slug="vip", title="V"))
    listed = (
        "sales.Contact: 3 rows with nothing in email, first_name, last_name, company, tags, notes, profile, "
        "subscribed\n" + "".join(f"  {each}\n" for each in sorted(ids))
    )
    told = "To delete: manage.py blank_rows sales.Contact --delete\n"
    assert run("blank_rows", "contact") == (listed + told, 0)
    assert Contact.objects.count() == 8
    assert run("blank_rows", "sales.Contact", "--delete") == (listed + "Deleted 3 rows.\n", 0)
    assert set(Contact.objects.all()) == set(kept)
    assert run("blank_rows", "sales.Contact", "--delete")[0].startswith("sales.Contact: 0 rows")


def test_columns_set_by_the_project_do_not_make_a_row_non_blank(crm, ann):
    note = Note.objects.create(owner=ann)
    Note.objects.create(owner=ann, pinned=True)
    assert run("blank_rows", "note") == (
        "sales.Note: 1 row with nothing in title, body, pinned\n"
        f"  {note.pk}  written {note.written}\n"
        "To delete: manage.py blank_rows sales.Note --delete\n",
        0,
    )


def test_a_row_that_others_refer_to_is_reported_as_in_use(crm):
    blank = Company.objects.create(name="")
    assert run("blank_rows", "company")[0].startswith("sales.Company: 1 row with")
    Contact.objects.create(company=blank)
    assert run("blank_rows", "company")[0].startswith("sales.Company: 0 rows with")
    deal = Deal.objects.create(title="", company=blank)
    Line.objects.create(deal=deal, product="tea", price=1)
    assert "0 rows" in run("blank_rows", "deal")[0]


def test_a_model_without_tools_is_checked_by_its_own_fields(crm):
    site = Site.objects.create(slug="", name="")
    Site.objects.create(slug="hq", name="")
    assert run("blank_rows", "site")[0].splitlines()[:2] == [
        "odd.Site: 1 row with nothing in slug, name, owner",
        f"  {site.pk}",
    ]
    device = Device.objects.create()
    Device.objects.create(label="d")
    assert list(blank_rows(Device, ["serial", "label", "site", "twin", "parts"])) == [device]
    assert list(blank_rows(Thing, ["title", "kind", "size", "rank"])) == []
    thing = Thing.objects.create(title="")
    assert list(blank_rows(Thing, ["title", "kind", "size", "rank", "document"])) == [thing]
    assert run("blank_rows", "part")[0].startswith("odd.Part: 0 rows")


@pytest.mark.skipif(django.VERSION < (5, 0), reason="db_default is new in Django 5.0")
def test_database_defaults_count_as_defaults(crm):
    class Row(models.Model):
        word = models.CharField(db_default="none", max_length=9)
        made = models.DateTimeField(db_default=models.functions.Now())

        class Meta:
            app_label = "odd"

    with connection.schema_editor() as editor:
        editor.create_model(Row)
    try:
        blank, _ = Row.objects.create(), Row.objects.create(word="x")
        assert list(blank_rows(Row, ["word", "made"])) == [blank]
        assert run("blank_rows", "odd.Row")[0].startswith(
            "odd.Row: 1 row with nothing in word, made"
        )
        with pytest.raises(
            CommandError, match=r"no field of odd\.Row distinguishes a blank row from another"
        ):
            blank_rows(Row, ["made"])
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(Row)
        del Row._meta.apps.all_models["odd"]["row"]
        Row._meta.apps.clear_cache()


def test_an_unknown_model_is_a_mistake(crm):
    assert run("blank_rows", "nope") == ("there is no model 'nope'", 2)
    assert run("blank_rows", "sales.Nope") == ("App 'sales' doesn't have a 'Nope' model.", 2)
    assert run("blank_rows", "a.b.c")[1] == 2


# --- mcp_tools ---


def test_mcp_tools_prints_a_tree_with_the_token_cost(crm):
    printed, code = run("mcp_tools")
    lines = printed.splitlines()
    assert code == 0
    assert [line.split()[-1] for line in lines if "──" not in line][:-1] == [
        "companies",
        "contacts",
        "deals",
        "notes",
    ]
    closing = next(line for line in lines if "close" in line)
    assert closing.split()[1:3] == ["└──", "close"]
    whole = json.loads(run("mcp_tools", "--json")[0])
    cost = sum(
        len(json.dumps(each, separators=(",", ":"), ensure_ascii=False).encode()) // 4
        for each in whole
    )
    assert lines[-1] == f"{cost:>8,}  tokens for 25 tools (bytes / 4)"


def test_mcp_tools_lists_the_tools_of_a_user_and_one_tool_in_full(settings_of, ann):
    class Guarded(CompanyViewSet):
        permission_classes = [permissions.DjangoModelPermissions]

    settings_of(ROOT_URLCONF=urls(guarded=Guarded, companies=CompanyViewSet))
    assert "guarded" in run("mcp_tools")[0]
    mine = run("mcp_tools", "--as", "ann")[0]
    assert "── create" in mine
    assert "12 tools" in run("mcp_tools")[0]
    assert "8 tools" in mine, "DjangoModelPermissions lets everybody read"
    assert json.loads(run("mcp_tools", "companies__retrieve")[0])["name"] == "companies__retrieve"
    assert run("mcp_tools", "nope") == (
        "there is no tool 'nope'; `manage.py mcp_tools` lists them all",
        2,
    )
    assert run("mcp_tools", "--as", "bob") == (
        "there is no user 'bob'; `manage.py createsuperuser` creates one",
        2,
    )


def test_as_option_without_an_endpoint_exits_with_2(settings_of, ann):
    settings_of(ROOT_URLCONF=urls(mcp=False))
    assert run("mcp_tools", "--as", "ann") == (
        'the project has no MCP endpoint; add path("mcp", include("toolbooth.django.urls")) to its urlpatterns',
        2,
    )


def test_dispatchers_are_listed_with_the_tools_behind_them(settings_of, ann):
    class Guarded(CompanyViewSet):
        permission_classes = [permissions.DjangoModelPermissions]

    settings_of(
        ROOT_URLCONF=urls(guarded=Guarded, companies=CompanyViewSet, notes=NoteViewSet),
        TOOLBOOTH={
            "DISPATCH": {"work": ["guarded", "companies"], "own": ["notes"]},
            "EXCLUDE": ["notes__*e"],
        },
    )
    crud = "list, create, retrieve, update, partial_update, destroy"

    def tree(*arguments):
        printed, code = run("mcp_tools", *arguments)
        assert code == 0
        return [
            " ".join(line.split()[1:] if line.split()[0].isdecimal() else line.split())
            for line in printed.splitlines()
        ]

    assert tree() == [
        "work",
        f"├── companies: {crud}",
        f"└── guarded: {crud}",
        "own",
        "└── list, destroy",
        "tokens for 2 tools, with 14 more behind (bytes / 4)",
    ]
    assert tree("--as", "ann")[2] == "└── guarded: list, retrieve"
    assert json.loads(run("mcp_tools", "own")[0])["name"] == "own"
    assert json.loads(run("mcp_tools", "guarded__create")[0])["name"] == "guarded__create"
    assert run("mcp_tools", "guarded__create", "--as", "ann")[1] == 2


# --- mcp_call ---


def test_a_dispatcher_is_called_like_any_tool(crm, settings_of):
    settings_of(TOOLBOOTH={"DISPATCH": "app"})
    sent = '{"resource": "contacts", "action": "create", "email": "a@x.io"}'
    assert run("mcp_call", "sales", sent, "--as", "ann")[1] == 0
    assert Contact.objects.get().email == "a@x.io"
    printed, code = run(
        "mcp_call", "sales", '{"resource": "contact", "action": "create"}', "--as", "ann"
    )
    assert (code, 'did you mean "contacts"?' in printed) == (1, True)
    assert run("mcp_call", "contacts__create", '{"email": "no"}', "--as", "ann")[1] == 1
    assert run("mcp_call", "sale", "--as", "ann")[1] == 2


def test_a_call_runs_as_the_user_through_the_boundary(crm, ann):
    printed, code = run("mcp_call", "notes__create", '{"title": "t"}', "--as", "ann")
    assert (code, json.loads(printed)["set"]) == (0, ["title"])
    assert Note.objects.get().owner == ann
    printed, code = run(
        "mcp_call", "contacts__create", '{"data": {"email": "a@x.io"}}', "--as", "ann", "--meta"
    )
    text, _, meta = printed.partition("\n{")
    assert (code, text.splitlines()[-1]) == (1, 'Send instead: {"email":"a@x.io"}')
    assert json.loads("{" + meta)["toolbooth"]["corrected"] == {"email": "a@x.io"}
    assert Contact.objects.count() == 0


def test_an_anonymous_call_that_a_view_denies_shows_how_to_act_as_a_user(settings_of, ann):
    class ByLogin(ContactViewSet):
        authentication_classes = [SessionAuthentication, BasicAuthentication]
        permission_classes = [permissions.IsAuthenticated]

    settings_of(ROOT_URLCONF=urls(contacts=ByLogin))
    assert run("mcp_call", "contacts__create", '{"email": "a@x.io"}') == (
        "Tool 'contacts__create' failed: Authentication credentials were not provided.\n"
        "This call was anonymous; --as USERNAME calls as a user.\n",
        1,
    )


def test_exit_code_of_mcp_call_shows_the_outcome(crm, settings_of):
    assert run("mcp_call", "contacts__create", '{"email": "a@x.io"}') == (
        "authentication required: send the same credentials as for the REST API\n"
        "This call was anonymous; --as USERNAME calls as a user.\n",
        1,
    )
    assert run("mcp_call", "contacts__create", '{"email": "no"}', "--as", "ann")[1] == 1
    printed, code = run("mcp_call", "contacts__create", "{no", "--as", "ann")
    assert (code, printed.startswith("ARGUMENTS: not valid JSON: ")) == (2, True)
    printed, code = run(
        "mcp_call", "contacts__create", '{"email": "a", "email": "b"}', "--as", "ann"
    )
    assert (code, "the same key is sent twice" in printed) == (1, True)
    assert run("mcp_call", "contacts__creat", "--as", "ann") == (
        "there is no tool 'contacts__creat'; did you mean 'contacts__create'? `manage.py mcp_tools` lists them all",
        2,
    )
    assert run("mcp_call", "contacts__create", "--as", "bob")[1] == 2
    settings_of(TOOLBOOTH={"ERRORS": "protocol"})
    printed, code = run(
        "mcp_call", "contacts__create", '{"data": {"email": "a@x.io"}}', "--as", "ann", "--meta"
    )
    assert (code, '"corrected"' in printed) == (1, True)


def test_arguments_from_standard_input_and_the_codes_of_the_process(tmp_path):
    env = {
        **os.environ,
        "CRM_DATABASE": str(tmp_path / "crm.sqlite3"),
        "DJANGO_SETTINGS_MODULE": "crm.settings",
    }

    def manage(*arguments, sent=b""):
        command = [sys.executable, str(CRM), *arguments]
        return subprocess.run(command, env=env, input=sent, capture_output=True, check=False)

    manage("migrate", "-v0")
    manage("createsuperuser", "--noinput", "--username", "ann", "--email", "ann@x.io")
    made = manage("mcp_call", "companies__create", "-", "--as", "ann", sent=b'{"name": "Acme"}')
    assert (made.returncode, made.stderr) == (0, b"")
    assert json.loads(made.stdout) == {
        "id": 1,
        "name": "Acme",
        "set": ["name"],
        "defaulted": ["website", "employees"],
    }
    refused = manage("mcp_call", "companies__create", "-", "--as", "ann", sent=b'{"name": "Acme"}')
    assert (refused.returncode, refused.stderr) == (1, b"")


# --- mcp_config ---


def configured(*arguments):
    printed, code = run("mcp_config", *arguments)
    assert code == 0, printed
    lines = printed.splitlines()
    notes = [line for line in lines if line.startswith("# ")]
    return notes, json.loads("\n".join(lines[len(notes) :]))


def test_every_client_gets_its_own_configuration_format(crm):
    at = "http://localhost:8000/mcp"
    headers = {"Authorization": "Bearer s3"}
    bridge = ["-y", "mcp-remote", at, "--allow-http", "--header", "Authorization:${AUTHORIZATION}"]
    expected = {
        "claude-code": {"mcpServers": {"api": {"type": "http", "url": at, "headers": headers}}},
        "claude-desktop": {
            "mcpServers": {
                "api": {"command": "npx", "args": bridge, "env": {"AUTHORIZATION": "Bearer s3"}}
            }
        },
        "cursor": {"mcpServers": {"api": {"url": at, "headers": headers}}},
        "vscode": {"servers": {"api": {"type": "http", "url": at, "headers": headers}}},
        "windsurf": {"mcpServers": {"api": {"serverUrl": at, "headers": headers}}},
        "gemini-cli": {"mcpServers": {"api": {"httpUrl": at, "headers": headers}}},
        "zed": {"context_servers": {"api": {"url": at, "headers": headers}}},
        "generic": {"mcpServers": {"api": {"type": "http", "url": at, "headers": headers}}},
    }
    assert {name: configured("--client", name, "--token", "s3")[1] for name in CLIENTS} == expected
    assert configured("--client", "cursor", "--token", "s3")[0] == ["# for .cursor/mcp.json"]


def test_mcp_config_uses_the_given_url_name_and_credentials(crm, settings_of):
    settings_of(TOOLBOOTH={"NAME": "sales"})
    assert configured("--client", "cursor", "--url", "https://crm.example/")[1] == {
        "mcpServers": {"sales": {"url": "https://crm.example/mcp"}}
    }
    given = ("--url", "https://crm.example/a/mcp", "--token", "Basic YW5uOnB3", "--name", "mine")
    assert configured("--client", "cursor", *given)[1] == {
        "mcpServers": {
            "mine": {
                "url": "https://crm.example/a/mcp",
                "headers": {"Authorization": "Basic YW5uOnB3"},
            }
        }
    }
    assert configured("--client", "claude-desktop", "--url", "https://crm.example")[1][
        "mcpServers"
    ]["sales"] == {
        "command": "npx",
        "args": ["-y", "mcp-remote", "https://crm.example/mcp"],
    }
    assert run("mcp_config", "--url", "crm.example") == (
        "--url should begin with http:// or https://, not 'crm.example'",
        2,
    )


def test_a_token_gets_the_keyword_that_the_views_expect(settings_of, ann):
    class ByToken(CompanyViewSet):
        authentication_classes = [SessionAuthentication, TokenAuthentication]

    settings_of(ROOT_URLCONF=urls(companies=ByToken))
    assert '"Token s3"' in run("mcp_config", "--token", "s3")[0]
    settings_of(ROOT_URLCONF=urls(companies=ByToken, mcp=False))
    assert run("mcp_config")[1] == 2


def test_the_keyword_is_found_if_the_request_chooses_the_authenticators(settings_of, ann):
    class ByRequest(CompanyViewSet):
        def get_authenticators(self):
            return [TokenAuthentication()] if self.request.method == "POST" else []

    settings_of(ROOT_URLCONF=urls(companies=ByRequest))
    printed, code = run("mcp_config", "--token", "s3")
    assert (code, '"Token s3"' in printed) == (0, True), printed
