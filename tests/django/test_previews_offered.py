"""Which writes can be previewed. If one cannot, `preview: true` is refused and the call is not
made.
"""

import json
from base64 import b64encode
from functools import wraps
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.test import Client
from django.urls import include, path

from odd.models import Part, Thing, Vendor
from preview_api import HOOKS, Calm, Others, Touching, counted
from sales.models import Company, Contact, Deal, Line, Tag
from sales.views import CompanyViewSet
from toolbooth.django.decorators import mcp_preview
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as

BECAUSE = "this tool cannot be previewed, because "


@pytest.fixture
def call(settings_of: Any, ann: User, built_once: None) -> Any:
    settings_of(ROOT_URLCONF=Others)
    HOOKS.clear()
    return acting_as(ann).call


def takes_preview(tool: str) -> bool:
    found = catalogue().registry.find(tool)
    return "preview" in found.listing()["inputSchema"]["properties"]


def problems(result: Any) -> list[tuple[str, str, str]]:
    return [(each.code, each.where, each.message) for each in result.problems]


COMPANY = {"name": "New"}
VENDOR = {"name": "new", "code": "1"}


@pytest.mark.parametrize(
    ("tool", "sent", "reason"),
    [
        ("ownperform__create", COMPANY, "its view has its own perform_create()"),
        ("owncreate__create", COMPANY, "its view has its own create()"),
        ("owndispatch__create", COMPANY, "its view has its own dispatch()"),
        ("decorated__create", COMPANY, "its view has its own dispatch()"),
        ("ownserializer__create", COMPANY, "its serializer has its own save()"),
        ("nomodel__create", COMPANY, "its rows are not written by a model serializer"),
        ("ownmodel__create", VENDOR, "its model has its own save()"),
        ("ownmanager__create", VENDOR, "its manager has its own create()"),
        ("filed__create", {"title": "x"}, "it can write files"),
        ("promised__drop", {"id": 1}, "it is a custom action"),
    ],
)
def test_a_write_with_project_code_has_no_preview(
    call: Any, tool: str, sent: dict[str, Any], reason: str
) -> None:
    result = call(tool, **sent, preview=True)
    message = f'there is no field "preview"; {BECAUSE}{reason}'
    assert problems(result) == [("unknown-key", "$.preview", message)]
    assert not takes_preview(tool)
    assert not Company.objects.exists()
    assert not Vendor.objects.exists()
    assert not Thing.objects.exists()
    assert HOOKS == []


def test_a_query_has_no_preview(call: Any) -> None:
    [problem] = call("companies__list", preview=True).problems
    assert problem.message == (
        'there is no field "preview"; this tool writes nothing, so there is nothing to preview'
    )


def test_standard_actions_of_a_view_with_own_code_accept_a_preview(call: Any) -> None:
    own = ("ownperform__partial_update", "owncreate__destroy", "ownserializer__destroy")
    assert all(map(takes_preview, own))


def test_a_view_wrapped_by_a_decorator_in_the_urls_has_no_preview(
    settings_of: Any, ann: User
) -> None:
    view = CompanyViewSet.as_view({"post": "create"})
    wrapped = wraps(view)(counted(view))
    patterns = [
        path("plain/", view, name="plain"),
        path("wrapped/", wrapped, name="wrapped"),
        path("mcp/", include("toolbooth.django.urls")),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    call = acting_as(ann).call
    assert takes_preview("plain__create")
    [problem] = call("wrapped__create", name="New", preview=True).problems
    assert problem.message.endswith("its view has a custom decorator")
    assert Company.objects.count() == 0


# --- signals ---


def noting(**_: Any) -> None:
    HOOKS.append("received")


@pytest.mark.parametrize(
    ("signal", "sender", "tool", "sent"),
    [
        (pre_save, Calm, "receiving__create", VENDOR),
        (post_save, Calm, "receiving__create", VENDOR),
        (post_save, None, "receiving__create", VENDOR),
        (m2m_changed, Contact.tags.through, "contacts__create", {"tags": ["vip"]}),
        (m2m_changed, None, "contacts__create", {"email": "a@x.io"}),
        (pre_delete, Company, "companies__destroy", {"id": 1}),
        (post_delete, Deal, "companies__destroy", {"id": 1}),
        (pre_delete, Line, "companies__destroy", {"id": 1}),
        (post_delete, None, "companies__destroy", {"id": 1}),
    ],
    ids=[
        "before a save",
        "after a save",
        "after any save",
        "links of a model",
        "any links",
        "before a delete",
        "after a delete in the cascade",
        "before a delete below the cascade",
        "after any delete",
    ],
)
def test_own_signal_receiver_prevents_previews_even_when_connected_later(
    call: Any, signal: Any, sender: Any, tool: str, sent: dict[str, Any]
) -> None:
    Tag.objects.create(slug="vip", title="VIP")
    Company.objects.create(pk=1, name="Acme")
    assert takes_preview(tool)
    signal.connect(noting, sender=sender, dispatch_uid="test")
    try:
        result = call(tool, **sent, preview=True)
    finally:
        signal.disconnect(sender=sender, dispatch_uid="test")
    message = f"{BECAUSE}receivers of signals run when its rows are written"
    assert problems(result) == [("invalid", "$.preview", message)]
    assert HOOKS == []
    assert Company.objects.count() == 1
    assert not Vendor.objects.exists()
    assert not Contact.objects.exists()
    assert not call(tool, **sent, preview=True).is_error


def test_a_receiver_connected_from_the_start_removes_the_argument(
    settings_of: Any, ann: User
) -> None:
    post_save.connect(noting, sender=Calm, dispatch_uid="test")
    try:
        settings_of(ROOT_URLCONF=Others)
        assert not takes_preview("receiving__create")
        assert takes_preview("receiving__destroy")
    finally:
        post_save.disconnect(sender=Calm, dispatch_uid="test")


def test_receivers_of_other_models_and_of_other_signals_do_not_matter(call: Any) -> None:
    Company.objects.create(pk=1, name="Acme")
    pairs = [(post_save, Part), (pre_delete, Part), (post_save, Contact), (post_delete, Contact)]
    for signal, sender in pairs:
        signal.connect(noting, sender=sender, dispatch_uid="test")
    try:
        for tool, sent in (("companies__create", COMPANY), ("companies__destroy", {"id": 1})):
            assert not call(tool, **sent, preview=True).is_error
    finally:
        for signal, sender in pairs:
            signal.disconnect(sender=sender, dispatch_uid="test")
    assert HOOKS == []


# --- middleware ---


def test_middleware_prevents_previews_unless_named_as_harmless(settings_of: Any, ann: User) -> None:
    inner = {"INNER_MIDDLEWARE": ["django.middleware.locale.LocaleMiddleware"]}
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH=inner)
    [problem] = acting_as(ann).call("companies__create", **COMPANY, preview=True).problems
    assert problem.message.endswith("middleware of the project runs around it")
    assert Company.objects.count() == 0
    assert takes_preview("promised__create")

    named = {"PREVIEW_MIDDLEWARE": inner["INNER_MIDDLEWARE"]}
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH={**inner, **named})
    result = acting_as(ann).call("companies__create", **COMPANY, preview=True)
    assert result.value["preview"] is True
    assert Company.objects.count() == 0


# --- promises ---


def test_view_declared_as_database_only_accepts_a_preview(call: Any) -> None:
    Company.objects.create(pk=1, name="Acme")
    sent = {"title": "Deal", "company": 1, "lines": [{"product": "p", "price": 1}]}
    value = call("promised__create", **sent, preview=True).value
    assert value["preview"] is True
    assert value["set"] == ["title", "company", "lines"]
    assert (Deal.objects.count(), Line.objects.count(), HOOKS) == (0, 0, [])
    call("promised__create", **sent)
    assert (Deal.objects.count(), Line.objects.count()) == (1, 1)
    assert HOOKS == ["hook", "robust", "inner"]


def test_an_action_of_the_projects_own_can_be_promised(call: Any) -> None:
    deal = Deal.objects.create(title="Deal", company=Company.objects.create(name="Acme"))
    value = call("promised__double", id=deal.pk, preview=True).value
    assert value == {"preview": True, "written": "nothing", "deals": 2}
    assert Deal.objects.count() == 1


def test_a_subclass_does_not_inherit_the_promise_of_a_class(settings_of: Any, ann: User) -> None:
    marked = mcp_preview(type("Marked", (Touching,), {}))
    patterns = [
        path("marked/", marked.as_view(), name="marked"),
        path("further/", type("Further", (marked,), {}).as_view(), name="further"),
        path("mcp/", include("toolbooth.django.urls")),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    assert takes_preview("marked__post")
    assert not takes_preview("further__post")


# --- the argument ---


@pytest.mark.parametrize("value", [None, "", "true", "false", 1, 0, [True], {"preview": True}])
def test_preview_values_other_than_true_and_false_are_refused(call: Any, value: Any) -> None:
    for sent in (COMPANY, {"objects": [COMPANY]}):
        result = call("companies__create", **sent, preview=value)
        assert result.is_error
        assert [each.where for each in result.problems] == ["$.preview"]
    assert Company.objects.count() == 0


@pytest.mark.parametrize("name", ["dry_run", "dryRun", "validate_only", "previw", "Preview"])
def test_names_similar_to_preview_are_refused(call: Any, name: str) -> None:
    for sent in (COMPANY, {"objects": [COMPANY]}):
        [problem] = call("companies__create", **sent, **{name: True}).problems
        assert problem.message == f'there is no field "{name}"; did you mean "preview"?'
    assert Company.objects.count() == 0


def test_preview_inside_a_row_is_an_unknown_key(call: Any) -> None:
    result = call("companies__create", objects=[{**COMPANY, "preview": True}])
    assert [each.where for each in result.problems] == ["$.objects[0].preview"]
    assert Company.objects.count() == 0


@pytest.mark.parametrize("tool", ["companies__create", "ownperform__create"])
def test_preview_inside_meta_is_refused(call: Any, tool: str) -> None:
    for key in ("preview", "dry_run"):
        assert call(tool, **COMPANY, _meta={key: True}).is_error
    assert Company.objects.count() == 0


def test_preview_in_the_message_meta_is_refused(call: Any) -> None:
    client = Client(headers={"Authorization": "Basic " + b64encode(b"ann:pw").decode()})
    for own in ({"preview": True}, {"dryRun": True}, {"idempotencyKey": "k"}):
        params = {"name": "companies__create", "arguments": COMPANY, "_meta": {"toolbooth": own}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
        [content] = reply.json()["result"]["content"]
        [name] = own
        assert content["text"].startswith("Refused: 1 problem")
        assert f'"{name}"' in content["text"]
    assert Company.objects.count() == 0


def test_preview_of_a_dispatched_call_is_sent_flat_or_in_params(
    settings_of: Any, ann: User
) -> None:
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH={"DISPATCH": "resource"})
    call = acting_as(ann).call
    flat = {"action": "create", **COMPANY}
    for sent in (
        {**flat, "preview": True},
        {"action": "create", "params": {**COMPANY, "preview": True}},
        {"action": "create", "params": COMPANY, "preview": True},
        {"action": "create", "objects": [COMPANY], "preview": True},
    ):
        assert call("companies", **sent).value["preview"] is True
    for wrong in (
        {**flat, "preview": "true"},
        {**flat, "dry_run": True},
        {"action": "create", "params": {**COMPANY, "preview": None}},
        {"action": "create", "params": {**COMPANY, "Preview": True}},
        {"action": "create", "params": {"objects": [COMPANY], "preview": 1}},
    ):
        assert call("companies", **wrong).is_error
    assert call("ownperform", **flat, preview=True).is_error
    assert Company.objects.count() == 0


def test_preview_argument_can_be_renamed_and_switched_off(settings_of: Any, ann: User) -> None:
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH={"ARGUMENTS": {"preview": "rehearse"}})
    call = acting_as(ann).call
    assert call("companies__create", **COMPANY, rehearse=True).value["preview"] is True
    assert call("companies__create", **COMPANY, rehearse="true").is_error
    assert call("companies__create", **COMPANY, preview=True).is_error
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH={"ARGUMENTS": {"preview": None}})
    assert acting_as(ann).call("companies__create", **COMPANY, preview=True).is_error
    assert Company.objects.count() == 0


def test_a_database_without_transactions_has_no_preview(
    settings_of: Any, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_of(ROOT_URLCONF=Others)
    call = acting_as(ann).call
    assert takes_preview("companies__create")
    monkeypatch.setattr(type(connection.features), "supports_transactions", False)
    [problem] = call("companies__create", **COMPANY, preview=True).problems
    assert problem.message == (
        "this call cannot be previewed: the database 'default' has no transaction"
    )
    settings_of(ROOT_URLCONF=Others)
    assert not takes_preview("promised__create")
    assert Company.objects.count() == 0
