"""Generated authenticators: REST and MCP admit the same callers, and leave the same rows, in every
spelling of a call.
"""

import base64
import json
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.db import transaction
from django.test import Client, override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import generated_auth
from generated_auth import Chosen, Rule
from odd.models import Device, Site
from toolbooth.django.describe.catalogue import forget

KEYS = [f"6b7e67eb-0000-4000-8000-00000000000{number}" for number in range(3)]
ACTIONS = {
    "list": ("GET", ""),
    "create": ("POST", ""),
    "retrieve": ("GET", "{serial}/"),
    "update": ("PUT", "{serial}/"),
    "partial_update": ("PATCH", "{serial}/"),
    "destroy": ("DELETE", "{serial}/"),
    "mark": ("POST", "{serial}/mark/"),
    "recent": ("GET", "recent/"),
}
WRITTEN = ("create", "update", "partial_update")
VALUES = {
    "path": ["devices", "recent", "mark", *KEYS],
    "kwarg": ["north", "south", None],
    "method": ["GET", "POST", "PUT", "PATCH", "DELETE"],
    "header": ["a", None],
    "parameter": ["parameter"],
    "object": ["ann", "bob", None],
}


class Call(NamedTuple):
    base: str
    area: str
    action: str
    serial: str
    body: dict[str, Any]

    @property
    def method(self) -> str:
        return ACTIONS[self.action][0]

    @property
    def path(self) -> str:
        start = f"areas/{self.area}/devices" if self.base == "areas" else self.base
        return f"/api/{start}/{ACTIONS[self.action][1].format(serial=self.serial)}"

    @property
    def in_path(self) -> dict[str, str]:
        area = {"area": self.area} if self.base == "areas" else {}
        return area | ({"serial": self.serial} if "{serial}" in ACTIONS[self.action][1] else {})


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    by = draw(st.sampled_from(sorted(VALUES)))
    return Rule(
        by=by,
        taken=draw(st.frozensets(st.sampled_from(VALUES[by]))),
        otherwise=draw(st.sampled_from(["pass", "fail", "deny"])),
        strict=draw(st.booleans()),
        has_header=draw(st.booleans()),
    )


several = st.lists(rules(), min_size=1, max_size=2).map(tuple)
chosen = st.builds(
    Chosen,
    reading=several,
    writing=several,
    is_open=st.sampled_from([False, False, True]),
    owners=st.just(dict(zip(KEYS, ["ann", "bob"], strict=False))),
)
bodies = st.fixed_dictionaries(
    {"label": st.sampled_from(["new", ""])},
    optional={"site": st.sampled_from(["here", {"slug": "here"}])},
)


@st.composite
def calls(draw: st.DrawFn, bases=("devices", "areas")) -> Call:
    action = draw(st.sampled_from(sorted(ACTIONS)))
    return Call(
        base=draw(st.sampled_from(bases)),
        area=draw(st.sampled_from(["north", "south"])),
        action=action,
        serial=draw(st.sampled_from(KEYS)),
        body=draw(bodies) if action in WRITTEN else {},
    )


tokens = st.sampled_from([None, "ann", "ann", "bob", "nobody"])
scopes = st.sampled_from([None, "a"])


@st.composite
def headers(draw: st.DrawFn) -> dict[str, str]:
    found = {"X-Tok": draw(tokens), "X-Scope": draw(scopes)}
    return {name: each for name, each in found.items() if each is not None}


# --- REST and MCP ---


class Undo(Exception):
    """Ends a transaction without keeping it."""


def undone(act):
    """Return the outcome, and the rows after it; then restore all rows."""
    found = None
    try:
        with transaction.atomic():
            found = (act(), rows())
            raise Undo
    except Undo:
        return found


def rows():
    every = json.loads(serializers.serialize("json", Device.objects.order_by("serial")))
    known = [{**each, "pk": each["pk"] if each["pk"] in KEYS else "new"} for each in every]
    return sorted(known, key=json.dumps)


class Verdict(NamedTuple):
    status: int
    value: Any = None


def over_rest(client: Client, call: Call) -> Verdict:
    body = {name: "here" if name == "site" else each for name, each in call.body.items()}
    sent = json.dumps(body) if call.action in WRITTEN else ""
    reply = client.generic(call.method, call.path, sent, content_type="application/json")
    status = 200 if reply.status_code < 300 else reply.status_code
    is_shown = status == 200 and call.method == "GET"
    return Verdict(status, reply.json() if is_shown else None)


SPELLINGS = {
    "exact": lambda sent: sent,
    "text": json.dumps,
    "text of text": lambda sent: json.dumps(json.dumps(sent)),
    "wrapped": lambda sent: {"data": sent},
    "wrapped text": lambda sent: {"arguments": json.dumps(sent)},
    "one more": lambda sent: {**sent, "unknownKey": 1},
    "camel case": lambda sent: {"Label" if key == "label" else key: sent[key] for key in sent},
}
REFUSED = ("wrapped", "wrapped text", "one more")
METHODS = ("tools/call", "tools\\/call", "\\u0074ools/call")


class Sent(NamedTuple):
    """One message over MCP."""

    spelling: str
    method: str
    dispatch: str | None

    def post(self, client: Client, call: Call, arguments: dict[str, Any]) -> Any:
        written = SPELLINGS[self.spelling](arguments)
        tool = f"{call.base}__{call.action}"
        if self.dispatch is not None:
            tool, written = call.base, {"action": call.action, **_as_object(written)}
        params = {"name": tool, "arguments": written}
        message = {"jsonrpc": "2.0", "id": 1, "method": "METHOD", "params": params}
        body = json.dumps(message).replace("METHOD", self.method)
        return client.post("/mcp/", body, content_type="application/json")


def _as_object(written: Any) -> dict[str, Any]:
    """Return arguments beside the action of a dispatcher: text goes into `params`."""
    return written if isinstance(written, dict) else {"params": written}


def verdict(reply: Any) -> Verdict:
    if reply.status_code != 200:
        return Verdict(reply.status_code)
    result = reply.json()["result"]
    if not result["isError"]:
        return Verdict(200, result.get("structuredContent"))
    details = result.get("structuredContent", {}).get("details", {})
    return Verdict(details.get("status", 400))


messages = st.builds(
    Sent,
    spelling=st.sampled_from(sorted(SPELLINGS)),
    method=st.sampled_from(METHODS),
    dispatch=st.sampled_from([None, "resource"]),
)


@pytest.fixture
def project(db, built_once):
    users = {name: User.objects.create_user(name, password="pw") for name in ("ann", "bob")}
    site = Site.objects.create(slug="here", name="Here")
    for key in KEYS[:2]:
        Device.objects.create(serial=key, label="old", site=site)
    return users


class Serving:
    """The project with these settings, and newly generated authenticators."""

    def __init__(self, found: Chosen, login: bool | None, dispatch: str | None) -> None:
        self._found = found
        given = {"LOGIN_REQUIRED": login, "MAX_RESULT": 4_000}
        if dispatch is not None:
            given["DISPATCH"] = dispatch
        self._settings = override_settings(ROOT_URLCONF="generated_auth", TOOLBOOTH=given)

    def __enter__(self) -> None:
        self._before = replace(generated_auth.chosen)
        vars(generated_auth.chosen).update(vars(self._found))
        self._settings.enable()
        forget()

    def __exit__(self, *_: Any) -> None:
        self._settings.disable()
        vars(generated_auth.chosen).update(vars(self._before))
        forget()


def refused_alike(found: Verdict) -> Verdict:
    """Return the outcome with 401 for 403: the endpoint with LOGIN_REQUIRED, and a dispatcher
    without visible actions, do not answer for one view.
    """
    return found._replace(status=401) if found.status == 403 else found


many = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@many
@given(
    found=chosen,
    call=calls(),
    headers=headers(),
    sent=messages,
    login=st.sampled_from([None, True]),
)
def test_a_call_is_admitted_exactly_as_over_rest(project, found, call, headers, sent, login):
    if found.is_open:
        login = None  # else the endpoint asks for more than the view
    with Serving(found, login, sent.dispatch):
        rest, kept = undone(lambda: over_rest(Client(headers=headers), call))
        arguments = {**call.in_path, **call.body}
        reply, there = undone(lambda: verdict(sent.post(Client(headers=headers), call, arguments)))
        before = rows()
    if login:
        rest, reply = refused_alike(rest), refused_alike(reply)
    is_misspelt = sent.spelling in REFUSED or (
        sent.spelling == "camel case" and "label" in call.body
    )
    if not is_misspelt:
        assert (reply.status, there) == (rest.status, kept)
        if call.method == "GET" and rest.status == 200:
            assert reply.value == rest.value
        return
    assert there == before
    expected = rest.status if rest.status in (401, 403) else 400
    assert reply.status == expected


@many
@given(found=chosen, call=calls(), headers=headers(), dispatch=st.sampled_from([None, "resource"]))
def test_help_is_given_exactly_to_callers_that_rest_admits(project, found, call, headers, dispatch):
    if call.in_path:
        dispatch = None  # help through a dispatcher has no URL
    with Serving(found, None, dispatch):
        rest, _ = undone(lambda: over_rest(Client(headers=headers), call))
        sent = Sent("exact", "tools/call", dispatch)
        reply = verdict(sent.post(Client(headers=headers), call, {"help": True, **call.in_path}))
    if dispatch is not None:
        rest, reply = refused_alike(rest), refused_alike(reply)
    expected = rest.status if rest.status in (401, 403) else 200
    assert reply.status == expected


@many
@given(
    found=chosen,
    call=calls().map(lambda call: call._replace(action="create")),
    bodies=st.lists(bodies, min_size=1, max_size=3),
    headers=headers(),
    sent=messages,
    key=st.sampled_from(["objects", "items"]),
)
def test_bulk_creates_are_made_exactly_for_callers_that_rest_admits(
    project, found, call, bodies, headers, sent, key
):
    def one_by_one():
        client = Client(headers=headers)
        statuses = {over_rest(client, call._replace(body=body)).status for body in bodies}
        (status,) = statuses
        return status

    arguments = {**call.in_path, key: bodies}
    with Serving(found, None, sent.dispatch):
        rest, kept = undone(one_by_one)
        reply, there = undone(lambda: verdict(sent.post(Client(headers=headers), call, arguments)))
        before = rows()
    if sent.spelling not in REFUSED:
        assert (reply.status, there) == (rest, kept)
        return
    assert there == before
    assert reply.status == (rest if rest in (401, 403) else 400)


@many
@given(found=chosen, call=calls(), first=headers(), second=headers())
def test_a_result_is_continued_only_by_callers_that_rest_admits(
    project, found, call, first, second
):
    call = call._replace(action="list", body={})
    sent = Sent("exact", "tools/call", None)
    with Serving(found, None, None), transaction.atomic():
        Device.objects.bulk_create(
            Device(label=f"{number} {'x' * 60}"[:40]) for number in range(60)
        )
        whole = over_rest(Client(headers=first), call)
        page = verdict(sent.post(Client(headers=first), call, call.in_path))
        assert page.status == whole.status
        if whole.status == 200:
            token = page.value["continuation"]["continuation_token"]
            other = over_rest(Client(headers=second), call)
            following = verdict(
                sent.post(Client(headers=second), call, {"continuation_token": token})
            )
            shown = page.value["results"]
            assert shown == whole.value["results"][: len(shown)]
            who = [_who(found, Client(headers=each), call) for each in (first, second)]
            if other.status != 200:
                assert following.status == other.status
            elif who[0] == who[1]:
                assert following.value["results"][0] == whole.value["results"][len(shown)]
            else:
                assert following.status == 400
        transaction.set_rollback(True)


def _who(found: Chosen, client: Client, call: Call) -> str:
    """Return the user that the view recognises."""
    seen = client.generic(call.method, call.path).wsgi_request
    return str(seen.user.pk)


# --- sessions and passwords ---


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


CALLERS = {
    "nobody": {},
    "password": {"Authorization": basic("ann", "pw")},
    "wrong password": {"Authorization": basic("ann", "no")},
    "session": {},
    "session and token": {"X-CSRFToken": "a" * 32},
    "session and password": {"Authorization": basic("bob", "pw")},
}


def client_of(caller: str, users: dict[str, User]) -> Client:
    client = Client(enforce_csrf_checks=True, headers=CALLERS[caller])
    if caller.startswith("session"):
        client.force_login(users["ann"])
    if "X-CSRFToken" in CALLERS[caller]:
        client.cookies["csrftoken"] = "a" * 32
    return client


@many
@given(
    call=calls(bases=("stock",)),
    caller=st.sampled_from(sorted(CALLERS)),
    sent=messages,
    is_open=st.booleans(),
)
def test_sessions_and_passwords_are_accepted_as_over_rest(project, call, caller, sent, is_open):
    with Serving(Chosen(is_open=is_open), None, sent.dispatch):
        client = client_of(caller, project)
        rest, kept = undone(lambda: over_rest(client, call))
        arguments = {**call.in_path, **call.body}
        reply, there = undone(lambda: verdict(sent.post(client, call, arguments)))
        before = rows()
    is_misspelt = sent.spelling in REFUSED or (
        sent.spelling == "camel case" and "label" in call.body
    )
    if not is_misspelt:
        assert (reply.status, there) == (rest.status, kept)
        return
    assert there == before
    assert reply.status == (rest.status if rest.status in (401, 403) else 400)
