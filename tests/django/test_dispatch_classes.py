"""Hand-written dispatchers: a class is one tool, and each of its actions runs as a view of REST
framework does.
"""

import asyncio
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.request import Request

from odd.models import Log
from sales.models import Contact
from toolbooth import ContractError
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_action, mcp_dispatcher, mcp_tool
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture(autouse=True)
def declared(settings_of, monkeypatch):
    """Remove all hand-written tools except those of the test."""
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={})


@pytest.fixture
def leads():
    """The dispatcher of `docs/project/evidence/gateways.md`: its action creates a row from any
    arguments.
    """

    @mcp_dispatcher
    class Leads:
        """People who may become customers."""

        @mcp_action
        def create(self, email: str = "", first_name: str = "") -> dict[str, object]:
            """Write a lead down."""
            made = Contact.objects.create(email=email, first_name=first_name)
            return {"created": True, "id": str(made.pk)}

        @mcp_action(name="find", annotations={"readOnlyHint": True})
        def search(self, text: str) -> list[str]:
            """Find leads by their address."""
            return list(
                Contact.objects.filter(email__contains=text).values_list("email", flat=True)
            )

        def unmarked(self) -> None:
            """No action."""


def listed(user=None):
    headers = (
        {"Authorization": {"ann": "Basic YW5uOnB3", "bob": "Basic Ym9iOnB3"}[user]}
        if user
        else None
    )
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = Client(headers=headers).post(
        "/mcp/", json.dumps(message), content_type="application/json"
    )
    return {tool["name"]: tool for tool in reply.json()["result"]["tools"]}


def actions(tool):
    return tool["inputSchema"]["properties"]["action"]["enum"]


def test_dispatcher_class_is_listed_as_one_tool(ann, leads):
    tools = listed("ann")
    assert [name for name in tools if name.startswith("leads")] == ["leads"]
    assert tools["leads"]["description"].startswith("People who may become customers.")
    assert actions(tools["leads"]) == ["create", "find"]


def test_its_actions_are_called_through_it_and_by_their_own_names(mcp, leads):
    made = mcp("leads", {"action": "create", "email": "ann@example.org", "first_name": "Ann"})
    assert made["structuredContent"]["created"] is True
    mcp("leads", {"action": "create", "params": {"email": "bob@example.org"}})
    mcp("leads__create", {"email": "cy@example.org"})
    assert set(Contact.objects.values_list("email", "first_name")) == {
        ("ann@example.org", "Ann"),
        ("bob@example.org", ""),
        ("cy@example.org", ""),
    }
    assert mcp("leads", {"action": "find", "text": "b@"})["content"] == [
        {"type": "text", "text": '["bob@example.org"]'}
    ]


# --- docs/project/evidence/gateways.md: each of these made a blank or partial row, and was answered "created" ---

LOST = {
    "a wrapper": {"action": "create", "data": {"email": "a@x.io"}},
    "a wrapper in params": {"action": "create", "params": {"data": {"email": "a@x.io"}}},
    "another case in params": {"action": "create", "params": {"Email": "a@x.io"}},
    "a wrapper of JSON text": {"action": "create", "data": '{"email":"a@x.io"}'},
    "a wrapper beside params": {
        "action": "create",
        "params": {"email": "a@x.io"},
        "data": {"first_name": "LOST"},
    },
    "a wrapper beside empty params": {
        "action": "create",
        "params": {},
        "data": {"email": "a@x.io"},
    },
    "a wrapper of another name": {"action": "create", "lead": {"email": "a@x.io"}},
    "params in params": {"action": "create", "params": {"params": {"email": "a@x.io"}}},
}


@pytest.mark.parametrize("sent", LOST.values(), ids=list(LOST))
def test_arguments_outside_params_are_refused_with_a_correct_call(mcp, leads, sent):
    refused = mcp("leads", sent)
    assert (refused["isError"], Contact.objects.count()) == (True, 0)
    corrected = refused["_meta"]["toolbooth"]["corrected"]
    expected = {"action": "create", "email": "a@x.io"}
    assert corrected == ({**expected, "first_name": "LOST"} if "LOST" in str(sent) else expected)
    assert mcp("leads", corrected)["isError"] is False
    assert list(Contact.objects.values_list("email", "first_name")) == [
        ("a@x.io", corrected.get("first_name", ""))
    ]


def test_a_typo_in_params_is_refused_with_the_call_to_send(mcp, leads):
    refused = mcp("leads", {"action": "create", "params": {"emial": "a@x.io"}})
    assert (refused["isError"], Contact.objects.count()) == (True, 0)
    assert 'there is no field "emial"; did you mean "email"?' in refused["content"][0]["text"]
    corrected = refused["_meta"]["toolbooth"]["corrected"]
    assert mcp("leads", corrected)["isError"] is False
    assert Contact.objects.get().email == "a@x.io"


def test_arguments_beside_params_are_kept(mcp, leads):
    assert (
        mcp("leads", {"action": "create", "params": {"email": "a@x.io"}, "first_name": "KEPT"})[
            "isError"
        ]
        is False
    )
    assert list(Contact.objects.values_list("email", "first_name")) == [("a@x.io", "KEPT")]


@pytest.mark.parametrize("sent", [{"data": {"email": "a@x.io"}}, {"emial": "a@x.io"}])
def test_a_single_function_has_the_same_guard(mcp, sent):
    @mcp_tool(name="lead_create")
    def create(email: str = "") -> dict[str, bool]:
        """Write a lead down."""
        Contact.objects.create(email=email)
        return {"created": True}

    assert (mcp("lead_create", sent)["isError"], Contact.objects.count()) == (True, 0)


# --- as a view ---


def test_an_action_has_its_caller_may_be_async_and_is_rolled_back(mcp):
    @mcp_dispatcher(name="journal", title="Journal", description="Lines.")
    class Lines:
        @mcp_action
        async def who(self, request: Request) -> str:
            """Who calls."""
            await asyncio.sleep(0)
            return request.user.username

        @mcp_action
        def write(self, line: str) -> str:
            """Write a line, and fail."""
            Log.objects.create(line=line)
            raise ValidationError({"line": ["too dull"]})

    assert listed("ann")["journal"]["title"] == "Journal"
    assert mcp("journal", {"action": "who"})["content"][0]["text"] == "ann"
    told = mcp("journal", {"action": "write", "line": "x"})
    assert told["_meta"]["toolbooth"]["problems"] == [
        {"code": "invalid", "path": "$.line", "message": "too dull"}
    ]
    assert Log.objects.count() == 0


@pytest.fixture
def guarded():
    @mcp_dispatcher(permission_classes=[IsAdminUser])
    class Vault:
        """What only few may do."""

        @mcp_action
        def wipe(self, confirm: bool) -> str:
            """Wipe."""
            return "wiped"

        @mcp_action(permission_classes=[AllowAny])
        def knock(self) -> str:
            """Knock."""
            return "who is there?"

    @mcp_dispatcher(permission_classes=[IsAdminUser])
    class Cellar:
        """Nobody sees it."""

        @mcp_action
        def enter(self) -> str:
            """Enter."""
            return "dark"


def test_class_permissions_apply_unless_the_action_has_its_own(mcp, ann, guarded):
    assert actions(listed("ann")["vault"]) == ["knock"]
    assert "cellar" not in listed("ann")
    denied = mcp("vault__wipe", {"confirm": True})
    words = denied["content"][0]["text"]
    assert words.startswith("Tool 'vault__wipe' failed: You do not have permission to")
    denied["content"][0]["text"] = words.replace("'vault__wipe'", "'vault' (wipe)")
    for sent in (
        {"confirm": True},
        {"params": {"confirm": True}},
        {"data": {"confirm": True}},
        {"no_such": 1},
    ):
        assert mcp("vault", {"action": "wipe", **sent}) == denied
    assert mcp("vault", {"action": "knock"})["content"][0]["text"] == "who is there?"
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    assert actions(listed("ann")["vault"]) == ["wipe", "knock"]
    assert mcp("vault", {"action": "wipe", "confirm": True})["content"][0]["text"] == "wiped"


def test_actions_are_included_and_left_out_by_name(ann, leads, settings_of):
    settings_of(TOOLBOOTH={"INCLUDE": ["leads__*"], "EXCLUDE": ["*__create"]})
    assert actions(listed("ann")["leads"]) == ["find"]
    settings_of(TOOLBOOTH={"EXCLUDE": ["leads__*"]})
    assert "leads" not in catalogue().registry.tools


@pytest.mark.parametrize("chosen", ["resource", "app", {"leads": ["leads"]}])
def test_dispatcher_class_stays_separate_under_every_dispatch_setting(
    ann, leads, settings_of, chosen
):
    settings_of(TOOLBOOTH={"DISPATCH": chosen})
    assert actions(listed("ann")["leads"]) == ["create", "find"]


def test_inherited_action_counts_and_an_unmarked_override_does_not(ann):
    class Base:
        @mcp_action
        def first(self) -> str:
            """First."""
            return "first"

        @mcp_action
        def second(self) -> str:
            """Second."""
            return "second"

    @mcp_dispatcher
    class OpenCases(Base):
        """Cases."""

        @mcp_action
        def third(self) -> str:
            """Third."""
            return "third"

        def second(self) -> str:
            return "no action"

    assert actions(listed("ann")["open_cases"]) == ["first", "third"]


# --- mistakes ---


def test_all_mistakes_in_a_dispatcher_class_are_reported_at_once():
    with pytest.raises(ContractError) as told:

        @mcp_dispatcher
        class Wrong:
            @mcp_action
            def one(self, **anything: str) -> str:
                """One."""
                return ""

            @mcp_action
            def two(self, *more: str) -> str:
                """Two."""
                return ""

            @mcp_action(name="one")
            def three(self) -> str:
                """Three."""
                return ""

    assert [each.split(":")[0] for each in told.value.mistakes] == [
        "2 actions are named 'one'; pass name=",
        "one",
        "two",
    ]
    with pytest.raises(ContractError, match="mcp_action"):

        @mcp_dispatcher
        class Empty:
            """No actions."""


@pytest.mark.parametrize("decorator", [mcp_tool, mcp_action, mcp_dispatcher])
def test_a_misspelt_option_is_a_mistake(decorator):
    with pytest.raises(TypeError, match="permision_classes"):
        decorator(permision_classes=[IsAdminUser])
