"""A call through a dispatcher is the call itself: the same result, the same permissions, the same
record.
"""

import json
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import transaction
from django.test import Client

from odd import views
from odd.models import Log, Secret, Site
from sales.models import Company, Contact
from toolbooth.django.describe.catalogue import catalogue

BASIC = {"ann": "Basic YW5uOnB3", "bob": "Basic Ym9iOnB3"}
DISPATCH = {
    "resource": "resource",
    "app": "app",
    "groups": {"sales": ["contacts", "companies", "deals"], "everything_else": ["*"]},
}


@pytest.fixture(autouse=True)
def kept(built_once):
    """Catalogues, from test to test."""


@pytest.fixture(params=DISPATCH)
def dispatched(request, settings_of):
    settings_of(TOOLBOOTH={"DISPATCH": DISPATCH[request.param]})


@pytest.fixture
def bob(db):
    return User.objects.create_user("bob", password="pw")


def leads(tool):
    """The dispatcher of a tool, and the resource and action there."""
    for name, each in catalogue().registry.tools.items():
        for way, sub in each.table.subs() if each.table else ():
            if sub.name == tool:
                return name, way
    raise LookupError(tool)


def shown(name, way):
    """Return how texts name a tool behind a dispatcher."""
    return f"'{name}' ({', '.join(way.values())})"


def listed(user):
    client = Client(headers={"Authorization": BASIC[user]} if user else None)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    return {tool["name"]: tool for tool in reply.json()["result"]["tools"]}


def values(tool, argument):
    return tool["inputSchema"]["properties"][argument].get("enum", [])


# --- results ---


def tried(mcp, name, arguments):
    """Return the reply, and remove all that the call left behind."""
    with transaction.atomic():
        reply = mcp(name, arguments, raw=True)
        transaction.set_rollback(True)
    cache.clear()
    found = (
        reply.json()
        if reply.status_code == 200
        else {"status": reply.status_code, "text": reply.content.decode()}
    )
    told = found.get("result", {}).get("_meta", {}).get("toolbooth", {})
    return found, [told.pop("corrected", None), told.pop("form", None)]


def without_correction(found):
    """Return the result with its text up to the corrected call, or to the form of a call, which is
    another call here; keys and times differ.
    """
    for part in found.get("result", {}).get("content", ()):
        part["text"] = CALL.split(part.get("text", ""))[0]
    return NEW_EACH_TIME.sub("…", json.dumps(found))


CALL = re.compile("\n(?:Send instead|Form): ")
NEW_EACH_TIME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")


SENT = {
    "nothing": {},
    "a row": {"id": 1},
    "fields": {
        "line": "x",
        "name": "N",
        "title": "T",
        "email": "e@example.org",
        "slug": "s",
        "body": "b",
    },
    "an unknown field": {"no_such_field": 1},
    "a wrapper": {"data": {"name": "N"}},
    "a number as text": {"page": "1", "id": "1"},
}


@pytest.mark.parametrize(
    ("way", "sent"),
    [*(("app", sent) for sent in SENT), ("resource", "fields"), ("groups", "a wrapper")],
)
def test_every_tool_gives_the_same_answer_as_in_a_direct_call(mcp, ann, settings_of, way, sent):
    """All 120 tools of the test project, for every kind of answer, except for the names that the
    client sees.
    """
    settings_of(TOOLBOOTH={"DISPATCH": DISPATCH[way]})
    Company.objects.create(pk=1, name="Acme")
    Secret.objects.create(pk=1, owner=ann, body="b")
    Site.objects.create(pk=1, slug="s", name="S", owner=ann)
    different = []
    for tool in catalogue().actions:
        name, way = leads(tool)
        direct, meant = tried(mcp, tool, SENT[sent])
        through, corrected = tried(mcp, name, {**way, **SENT[sent]})
        as_called = without_correction(direct).replace(f"'{tool}'", shown(name, way))
        if without_correction(through) != as_called:
            different.append((tool, direct, through))
        table = catalogue().registry.find(name).table
        if corrected != [each and table.call(way, each) for each in meant]:
            different.append((tool, meant, corrected))
    assert different == []


LISTED = {
    "a page": {"page": 2, "page_size": 2},
    "fields": {"filter_keys": ["email"]},
    "filters": {"filters": {"email__icontains": "3"}},
    "both": {"filters": {"email": "a"}, "email": "a"},
    "a summary": {"mode": "summary"},
    "an unknown filter": {"filters": {"emial": "a"}},
    "unknown fields": {"filter_keys": ["emial"]},
}


def tokenless(found):
    return re.sub(r'"continuation_token": "[^"]*"', "", json.dumps(found))


@pytest.mark.parametrize("how", ["flat", "params", "text"])
def test_protocol_arguments_reach_the_tool(mcp, dispatched, how):
    Contact.objects.bulk_create(Contact(email=f"{number}@example.org") for number in range(5))
    name, way = leads("contacts__list")

    def through(leading, sent):
        return mcp(
            name,
            {
                **leading,
                **{"flat": sent, "params": {"params": sent}, "text": {"params": json.dumps(sent)}}[
                    how
                ],
            },
        )

    for sent in LISTED.values():
        direct, found = mcp("contacts__list", sent), through(way, sent)
        assert tokenless(found.get("structuredContent")) == tokenless(
            direct.get("structuredContent")
        )
        codes = [
            [
                each["code"]
                for each in told.get("_meta", {}).get("toolbooth", {}).get("problems", ())
            ]
            for told in (found, direct)
        ]
        assert codes[0] == codes[1]
    name, way = leads("contacts__create")
    made = through(way, {"email": "new@example.org", "verify": True})["structuredContent"]
    assert (made["email"], made["subscribed"]) == ("new@example.org", False)
    many = through(way, {"objects": [{"email": "x@example.org"}, {"email": "y@example.org"}]})[
        "structuredContent"
    ]
    assert (many["created"], Contact.objects.count()) == (2, 8)
    refused = through(
        way, {"objects": [{"email": "z@example.org"}, {"data": {"email": "w@example.org"}}]}
    )
    assert (refused["isError"], Contact.objects.count()) == (True, 8)


def test_a_result_is_continued_through_the_dispatcher_and_by_the_tool_itself(
    mcp, dispatched, settings_of
):
    chosen = catalogue().configuration.dispatch
    settings_of(TOOLBOOTH={"DISPATCH": chosen, "MAX_RESULT": 4000})
    notes = "n" * 500
    Contact.objects.bulk_create(
        Contact(email=f"{number:02}@example.org", notes=notes) for number in range(20)
    )
    name, way = leads("contacts__list")
    seen, sent = [], {}
    for call in (name, "contacts__list", name, name):
        told = mcp(call, {**way, **sent} if call == name else sent)["structuredContent"]
        seen += [each["email"] for each in told["results"]]
        sent = {"continuation_token": told["continuation"].get("continuation_token")}
        if sent["continuation_token"] is None:
            break
        token = sent
    assert seen == [f"{number:02}@example.org" for number in range(20)]
    other, elsewhere = leads("companies__list")
    assert mcp(other, {**elsewhere, **token})["isError"] is True


def test_a_tool_behind_a_dispatcher_can_still_be_called_by_its_own_name(mcp, dispatched):
    assert "contacts__create" not in listed("ann")
    assert mcp("contacts__create", {"email": "a@example.org"})["isError"] is False
    assert Contact.objects.get().email == "a@example.org"


def test_observers_see_the_tool_behind_the_dispatcher(mcp, dispatched, monkeypatch):
    seen = []
    monkeypatch.setattr(catalogue().registry, "observers", [(seen.append, "whole")])
    name, way = leads("contacts__create")
    mcp(name, {**way, "email": "a@example.org"})
    mcp(name, {**way, "data": {"email": "a@example.org"}})
    mcp(name, {**way, "params": '{"email": "b@example.org"}'})
    mcp("contacts__create", {"email": "c@example.org"})
    assert [
        (each.tool, each.dispatcher, each.outcome, json.loads(each.arguments)) for each in seen
    ] == [
        ("contacts__create", name, "passed", {"email": "a@example.org"}),
        ("contacts__create", name, "refused", {"data": {"email": "a@example.org"}}),
        ("contacts__create", name, "passed", {"email": "b@example.org"}),
        ("contacts__create", None, "passed", {"email": "c@example.org"}),
    ]


OWN = {"params": {"a": "1"}, "help": True, "data": [1], "name": "n", "page": 3}


def test_fields_named_like_dispatcher_arguments_go_into_params(mcp, dispatched):
    name, way = leads("protocol__post")
    assert mcp(name, {**way, "params": OWN})["structuredContent"] == {"read": OWN}
    told = mcp(name, {**way, "params": {**OWN, "page": "x"}})["_meta"]["toolbooth"]
    assert [each["path"] for each in told["problems"]] == ["$.params.page"]
    asked = {key: each for key, each in way.items() if key != "action"} | {"action": "help"}
    note = mcp(name, {**asked, "params": {"action": way["action"]}})["structuredContent"]["note"]
    assert note == 'Send the fields "params", "help" inside "params".'


# --- who may call ---


WRITING = ["create", "update", "partial_update", "destroy"]


def test_callers_do_not_see_actions_that_they_may_not_call(mcp_as, bob, dispatched):
    """DjangoModelPermissions lets every known user read, and only those with the permission write."""
    name, way = leads("permitted__create")
    resource = {key: each for key, each in way.items() if key != "action"}
    ask = mcp_as("bob")
    told = ask(name, {**resource, "action": "help"})["structuredContent"]
    assert list(told["actions"]) == ["list", "retrieve"]
    if resource:
        tree = ask(name, {"action": "help"})["structuredContent"]["resources"]
        assert tree["permitted"] == ["list(page?)", "retrieve(id)"]
    else:
        assert values(listed("bob")[name], "action") == ["list", "retrieve"]
        assert listed("bob")[name]["description"].endswith(" list(page?), retrieve(id).")
    for action in ("creat", "destroi"):
        (problem,) = ask(name, {**resource, "action": action})["_meta"]["toolbooth"]["problems"]
        assert not any(word in problem["message"] for word in WRITING)
    bob.user_permissions.add(Permission.objects.get(codename="add_log"))
    told = ask(name, {**resource, "action": "help"})["structuredContent"]
    assert list(told["actions"]) == ["list", "create", "retrieve"]
    (problem,) = ask(name, {**resource, "action": "creat"})["_meta"]["toolbooth"]["problems"]
    assert 'did you mean "create"?' in problem["message"]


@pytest.mark.parametrize(
    "sent",
    [
        {"line": "x"},
        {"params": {"line": "x"}},
        {"data": {"line": "x"}},
        {"lyne": "x"},
        {"help": True},
    ],
    ids=repr,
)
def test_denied_dispatched_call_gets_the_refusal_of_the_tool(mcp_as, bob, dispatched, sent):
    name, way = leads("permitted__create")
    denied = mcp_as("bob")("permitted__create", {"line": "x"})
    words = denied["content"][0]["text"]
    assert words.startswith("Tool 'permitted__create' failed: You do not have permission to")
    asked = {**way, "help": "help"} if "help" in sent else way
    denied["content"][0]["text"] = words.replace("'permitted__create'", shown(name, asked))
    assert mcp_as("bob")(name, {**way, **sent}) == denied
    assert Log.objects.count() == 0


def test_help_on_a_hidden_action_reveals_no_field(mcp_as, bob, dispatched):
    name, way = leads("permitted__create")
    resource = {key: each for key, each in way.items() if key != "action"}
    told = mcp_as("bob")(name, {**resource, "action": "help", "params": {"action": "create"}})
    assert (told["isError"], "line" in json.dumps(told)) == (True, False)


def test_a_dispatcher_without_permitted_actions_is_not_listed(mcp_as, bob, settings_of):
    settings_of(
        TOOLBOOTH={
            "DISPATCH": {"staff": ["staff"], "open": ["open"], "people": ["contacts"]},
            "INCLUDE": KEPT,
        }
    )
    assert set(listed("bob")) == {"open", "people"}
    assert set(listed(None)) == {"open"}
    assert values(listed(None)["open"], "action") == ["list", "create"]
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    assert set(listed("bob")) == {"open", "people", "staff"}
    assert mcp_as(None)("peple")["error"]["message"] == "there is no tool 'peple'"
    assert (
        mcp_as("bob")("peple")["error"]["message"]
        == "there is no tool 'peple'; did you mean 'people'?"
    )


KEPT = ["staff__*", "open__*", "contacts__*"]


def test_dispatcher_lists_each_caller_only_their_resources(bob, settings_of):
    settings_of(TOOLBOOTH={"DISPATCH": {"all": ["*"]}, "INCLUDE": KEPT})
    assert values(listed("bob")["all"], "resource") == ["contacts", "open"]
    # An anonymous caller sees one resource; the argument stays, because calls name their resource
    # in it.
    assert values(listed(None)["all"], "resource") == ["open"]
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    assert values(listed("bob")["all"], "resource") == ["contacts", "open", "staff"]


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "create", "email": "a@example.org"},
        {"action": "help"},
        {"action": "creat"},
        {"action": "create", "help": True},
    ],
    ids=repr,
)
def test_anonymous_dispatcher_calls_get_401(mcp_as, settings_of, sent):
    settings_of(TOOLBOOTH={"DISPATCH": {"people": ["contacts", "companies"], "notes": ["notes"]}})
    for name, way in [("people", {"resource": "contacts"}), ("notes", {})]:
        reply = mcp_as(None)(name, {**way, **sent}, raw=True)
        assert (reply.status_code, reply.headers["WWW-Authenticate"]) == (401, 'Basic realm="api"')
    assert Contact.objects.count() == 0


def test_caller_without_any_permitted_action_is_denied_by_the_dispatcher(mcp, settings_of):
    settings_of(TOOLBOOTH={"DISPATCH": {"staff": ["staff"]}})
    words = mcp("staff__get", {})["content"][0]["text"]
    assert words.startswith("Tool 'staff__get' failed: You do not have permission to")
    told = words.replace("'staff__get'", "'staff'")
    for sent in (
        {"action": "help"},
        {"action": "gett"},
        {"action": "get", "help": True},
        {},
    ):
        assert mcp("staff", sent)["content"][0]["text"] == told
    called = mcp("staff", {"action": "get"})["content"][0]["text"]
    assert called == told.replace("'staff'", "'staff' (get)")


def test_a_password_is_checked_once_in_a_dispatched_call(mcp, settings_of, monkeypatch):
    settings_of(
        TOOLBOOTH={"DISPATCH": "resource", "INCLUDE": ["counted__*"]},
        AUTHENTICATION_BACKENDS=["odd.views.CountingBackend"],
    )
    monkeypatch.setattr(views.CountingBackend, "checked", 0)
    assert mcp("counted", {"action": "create", "label": "x"})["isError"] is False
    assert views.CountingBackend.checked == 1


def test_throttles_count_calls_and_not_help(mcp, dispatched):
    name, way = leads("throttled__list")
    resource = {key: each for key, each in way.items() if key != "action"}
    for _ in range(5):
        mcp(name, {**resource, "action": "help"})
        mcp(name, {**way, "help": True})
        mcp(name, {**way, "no_such_filter": 1})
    assert [mcp(name, way)["isError"] for _ in range(4)] == [False, False, False, True]


def test_writes_of_a_refused_dispatched_call_are_rolled_back(mcp, dispatched):
    name, way = leads("writes__then_refuses")
    assert mcp(name, way)["isError"] is True
    assert Log.objects.count() == 0
