"""The protocol argument `help`: a tool's description of itself, without running it."""

import json
from typing import Annotated

import pytest
from pydantic import BaseModel
from wrapper_sentences import wrapper

from protocol_api import Urls
from sales.models import Company, Contact
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as
from toolbooth.markers import Unpack
from toolbooth.server.controls import CONTROL_ARGUMENTS


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


def test_help_describes_all_fields_and_does_not_call_the_tool(call):
    told = call("contacts__create", help=True).value
    assert (told["tool"], told["required"]) == ("contacts__create", [])
    assert told["fields"]["email"] == {
        "type": "string",
        "description": "email address",
        "maxLength": 254,
    }
    assert (
        told["bulk"]
        == 'Send {"objects": [{…}, …]} to make up to 1,000 at once: all are made, or none.'
    )
    assert told["relations"] == {
        "company": {"by": "key, or an object with any of these", "names": ["id", "name", "pk"]},
        "tags[]": {"by": "key, or an object with any of these", "names": ["slug", "pk"]},
    }
    by_key, by_object = told["fields"]["company"]["anyOf"]
    assert by_key == {"type": "integer"}
    assert by_object == {
        "type": "object",
        "minProperties": 1,
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "pk": {"type": "integer"},
        },
    }
    assert told["protocol"] == {
        name: CONTROL_ARGUMENTS[name].meaning
        for name in ("help", "verify", "preview", "idempotency_key")
    }
    assert "called" not in told
    assert Contact.objects.count() == 0


def test_help_lists_all_filters(call):
    told = call("contacts__list", help=True).value
    flat = ["company", "subscribed", "email", "email__icontains", "search"]
    assert told["filters"] == flat
    assert told["fields"]["filters"]["properties"] == {name: told["fields"][name] for name in flat}


@pytest.mark.parametrize(
    "sent",
    [
        {"help": True, "email": "a@x.io"},
        {"help": True, "objects": [{"email": "a@x.io"}]},
        {"help": "true", "email": "a@x.io"},
        '{"help": true, "email": "a@x.io"}',
    ],
    ids=json.dumps,
)
def test_arguments_beside_help_are_not_used_and_the_result_notes_it(call, sent):
    told = call("contacts__create", sent)
    assert (told.is_error, told.value["called"]) == (False, "nothing: help was requested")
    assert Contact.objects.count() == 0


@pytest.mark.parametrize("tool", ["contacts__create", "contacts__list"])
def test_help_notes_that_a_wrapper_beside_it_was_ignored(call, tool):
    told = call(tool, help=True, data={"email": "a@x.io", "nonsense": 1}).value
    assert told["called"] == 'nothing: help was requested, so "data" was ignored'
    advice = wrapper("data", send=["email"], undeclared=["nonsense"])
    assert told["ignored"] == {"$.data": advice}
    assert Contact.objects.count() == 0


@pytest.mark.parametrize("value", [False, None, "", "false"])
def test_help_false_makes_an_ordinary_call(call, value):
    assert call("contacts__create", email="a@x.io", help=value).value["set"] == ["email"]
    assert Contact.objects.get().email == "a@x.io"


def test_help_that_is_neither_true_nor_false_is_refused(call):
    for value in (1, "yes", [True], {"email": "a@x.io"}):
        assert [
            each.where for each in call("contacts__create", email="a@x.io", help=value).problems
        ] == ["$.help"]
    assert Contact.objects.count() == 0


def test_help_in_malformed_json_text_is_refused(call):
    assert [each.code for each in call("contacts__create", '{"help": true').problems] == [
        "not-json"
    ]


def test_help_is_denied_to_callers_without_permission(call, ann):
    told = call("forstaff__create", help=True)
    assert (told.is_error, "website" in told.text) == (True, False)
    ann.is_staff = True
    ann.save()
    assert acting_as(ann).call("forstaff__create", help=True).value["required"] == ["name"]


@pytest.fixture
def written(settings_of, ann, monkeypatch):
    """Call hand-written tools, which are forgotten afterwards."""
    monkeypatch.setattr(decorators, "declared", dict(decorators.declared))
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


def test_help_describes_own_tools(written):
    ran = []

    @mcp_tool
    def note(text: str, loud: bool = False) -> dict:
        """Write something down."""
        ran.append((text, loud))
        return {"written": text}

    told = written("note", help=True, text=5).value
    assert (told["description"], told["required"], told["called"]) == (
        "Write something down.",
        ["text"],
        "nothing: help was requested",
    )
    assert told["fields"]["loud"] == {"type": "boolean", "default": False}
    assert ran == []
    assert written("note", text="a", help=False).value == {"written": "a"}
    assert written("note", '{"text": "b", "help": null}').value == {"written": "b"}
    assert [each.where for each in written("note", text="c", help=5).problems] == ["$.help"]
    assert [each.where for each in written("note", help=False).problems] == ["$.text"]
    assert ran == [("a", False), ("b", False)]


def test_help_of_an_own_tool_lists_the_protocol_arguments_for_results(written):
    @mcp_tool(annotations={"readOnlyHint": True})
    def everything() -> dict:
        return {"rows": ["x" * 100] * 1000}

    told = written("everything", help=True).value
    assert told["protocol"] == {
        name: CONTROL_ARGUMENTS[name].meaning for name in ("help", "mode", "continuation_token")
    }
    token = written("everything", help=False).value["continuation"]["continuation_token"]
    # With help declined, a token belongs to the same call as without it.
    assert [
        each.where for each in written("everything", help=False, continuation_token=token).problems
    ] == ["$.help"]


def test_help_describes_bulk_tools(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"BULK_TOOLS": True})
    told = (
        acting_as(ann).call("companies__bulk_create", help=True, objects=[{"name": "Acme"}]).value
    )
    assert (told["tool"], told["required"], told["called"]) == (
        "companies__bulk_create",
        ["objects"],
        "nothing: help was requested",
    )
    assert Company.objects.count() == 0
    made = (
        acting_as(ann).call("companies__bulk_create", help=False, objects=[{"name": "Acme"}]).value
    )
    assert made == {"created": 1, "ids": [Company.objects.get().pk]}


def test_a_hand_written_tool_keeps_an_argument_called_help(written):
    @mcp_tool
    def wanted(help: bool) -> dict:
        return {"help": help}

    class Words(BaseModel, extra="allow"):
        pass

    @mcp_tool
    def open_to_all(words: Annotated[Words, Unpack()]) -> dict:
        return words.model_dump()

    assert written("wanted", help=True).value == {"help": True}
    assert written("open_to_all", help=True).value == {"help": True}
    clashes = [each.what for each in catalogue().clashes if each.why == "help"]
    assert [name for name in ("wanted", "open_to_all") if name in clashes] == [
        "wanted",
        "open_to_all",
    ]


def test_help_of_a_tool_with_an_output_schema_is_sent_as_an_error(written):
    """A client refuses an answer that does not match the declared schema, and shows the agent no
    part of it.
    """

    @mcp_tool
    def count() -> dict[str, int]:
        return {"rows": 1}

    told = written("count", help=True)
    assert (told.is_error, json.loads(told.text)["tool"]) == (True, "count")
