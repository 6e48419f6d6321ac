"""Swallowed arguments in the gateway, down to the row, and the arguments that a project accepts
exactly as sent.
"""

import json

import pytest
from django.core import checks

from doctor_report import words_of_doctor
from sales.models import Note
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue

SWALLOWED = 'Call Ann.</body>\n<parameter name="title">S3CRET</parameter>\n<pinned>true'
TAIL = "Call Ann.</body>\n</invoke>"


def codes(result):
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


@pytest.fixture
def chosen(settings_of, monkeypatch):
    """Serve the example with these settings, without hand-written tools."""
    monkeypatch.setattr(decorators, "declared", {})
    return lambda **settings: settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH=settings)


@pytest.mark.parametrize("dispatch", [None, "resource"])
def test_a_swallowed_argument_creates_no_row(chosen, mcp, dispatch):
    chosen(DISPATCH=dispatch)
    if dispatch:
        result = mcp("notes", {"action": "create", "body": SWALLOWED})
    else:
        result = mcp("notes__create", {"body": SWALLOWED})
    assert codes(result) == [("swallowed-argument", "$.body")]
    assert "S3CRET" not in json.dumps(result)
    assert not Note.objects.exists()


def test_verbatim_field_with_call_tags_is_stored_with_a_note(chosen, mcp):
    chosen()
    result = mcp("notes__create", {"body": TAIL})
    assert result["_meta"]["toolbooth"] == {"notes": [{"code": "call-tags", "path": "$.body"}]}
    assert Note.objects.get().body == TAIL


@pytest.mark.parametrize("dispatch", [None, "resource"])
def test_an_argument_in_verbatim_is_stored_as_sent(chosen, mcp, dispatch):
    chosen(VERBATIM=["notes__create.body"], DISPATCH=dispatch)
    call = ("notes", {"action": "create"}) if dispatch else ("notes__create", {})
    result = mcp(call[0], {**call[1], "body": SWALLOWED})
    assert (result["isError"], "_meta" in result) == (False, False)
    assert Note.objects.get().body == SWALLOWED
    # Only this argument, and only of this tool.
    title = 'x<parameter name="body">y'
    assert codes(mcp(call[0], {**call[1], "title": title})) == [("swallowed-argument", "$.title")]
    pk = Note.objects.get().pk
    update = ("notes", {"action": "partial_update"}) if dispatch else ("notes__partial_update", {})
    assert codes(mcp(update[0], {**update[1], "id": pk, "body": SWALLOWED})) == [
        ("swallowed-argument", "$.body")
    ]


def test_null_and_empty_text_are_stored_as_sent_too(chosen, mcp):
    arguments = {"body": "x", "pinned": None}
    chosen()
    result = mcp("notes__create", arguments)
    assert result["_meta"]["toolbooth"]["repairs"] == [
        {"code": "null-optional", "path": "$.pinned"}
    ]
    chosen(VERBATIM=["notes__create.pinned"])
    assert codes(mcp("notes__create", arguments)) == [("wrong-type", "$.pinned")]
    assert codes(mcp("notes__create", {"body": "x", "pinned": ""})) == [("wrong-type", "$.pinned")]


def test_verbatim_works_for_an_argument_of_a_hand_written_tool(chosen, mcp, monkeypatch):
    received = []
    monkeypatch.setattr(decorators, "declared", {})

    @mcp_tool(name="remember.it")
    def remember(content: str, tags: str = "") -> str:
        received.append((content, tags))
        return "saved"

    declared = dict(decorators.declared)
    text = 'x<parameter name="tags">y'
    for verbatim, outcome in ((["remember.it.content"], [(text, "")]), ([], [])):
        chosen(VERBATIM=verbatim)
        monkeypatch.setattr(decorators, "declared", declared)
        assert [
            each
            for each in checks.run_checks(include_deployment_checks=True)
            if each.id == "toolbooth.E004"
        ] == []
        assert mcp("remember.it", {"content": text})["isError"] is not bool(outcome)
        assert received == outcome
        received.clear()


NAMES_NOTHING = {
    "notes__crate.body": "there is no tool 'notes__crate'; did you mean 'notes__create'?",
    "notes__create.bdy": "'notes__create' has no argument 'bdy'; did you mean 'body'?",
    "notes__create.zzz": "'notes__create' has no argument 'zzz'",
    "notes__create": "name an argument of the tool, as 'notes__create.argument'",
    "zzz": "there is no tool 'zzz'",
}


def test_unknown_verbatim_name_is_an_error_with_the_nearest_name(chosen):
    chosen(VERBATIM=["notes__create.body", *NAMES_NOTHING])
    found = [
        each
        for each in checks.run_checks(include_deployment_checks=True)
        if each.id == "toolbooth.E004"
    ]
    assert [each.msg for each in found] == [
        f"TOOLBOOTH['VERBATIM']: {name!r}: {why}." for name, why in NAMES_NOTHING.items()
    ]
    assert all(each.level == checks.ERROR for each in found)


def test_doctor_reports_an_unknown_verbatim_name(chosen):
    chosen(VERBATIM=["notes__create.bdy"])
    message = f"TOOLBOOTH['VERBATIM']: 'notes__create.bdy': {NAMES_NOTHING['notes__create.bdy']}."
    printed, code = words_of_doctor()
    assert (code, f"{message} (toolbooth.E004)" in printed) == (1, True)


def test_naming_a_tool_that_is_left_out_is_not_an_error(chosen):
    chosen(VERBATIM=["notes__create.body", "notes__destroy.body"], EXCLUDE=["notes__*"])
    assert catalogue().wrong_entries == ()
