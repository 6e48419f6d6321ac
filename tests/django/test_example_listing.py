"""The gateway's listing of the example is accepted by every client that lint knows."""

import json
from collections import Counter

import pytest
from django.test import Client

from sales.models import Contact
from toolbooth.django.testing import acting_as
from toolbooth.lint.check import lint
from toolbooth.lint.evidence import ANY, clients

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

CLIENTS = [name for name in clients() if name != ANY]

TEXT = {"type": "string"}

SETTINGS = {
    "flat": {},
    "flat-without-dispatchers": {"DISPATCH": "off"},
    "by-resource": {"DISPATCH": "resource"},
    "by-app": {"DISPATCH": "app"},
    "in-groups": {"DISPATCH": {"people": ["contacts", "companies"], "sales": ["deals", "*s"]}},
    "partial-updates": {"UPDATES": "partial"},
    "bulk-tools": {"BULK_TOOLS": True},
    "bulk-tools-by-resource": {"BULK_TOOLS": True, "DISPATCH": "resource"},
}
"""All of these are for every client, with the default profile."""


@pytest.fixture
def listed(settings_of, rest: Client):
    """Return the tools of the example, as its server lists them with these settings."""

    def listing(**chosen):
        settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"NAME": "crm", **chosen})
        return rest.post("/mcp", LIST, content_type="application/json").json()["result"]["tools"]

    return listing


def complaints(tools, *only):
    """The errors and warnings, by rule."""
    report = lint(tools, server="crm", only=only)
    return Counter(each.rule for each in report.at_least("warning"))


@pytest.mark.parametrize("chosen", SETTINGS.values(), ids=SETTINGS)
def test_lint_finds_no_error_and_no_warning_for_any_client(listed, chosen):
    tools = listed(**chosen)
    hurt = {client for client in CLIENTS if complaints(tools, client)}
    assert hurt == set()


def test_the_exact_profile_has_no_findings_for_clients_without_limits(listed):
    tools = listed(PROFILE="exact")
    unhurt = {client for client in CLIENTS if not complaints(tools, client)}
    # Their claims are about the schema's form. Others need the portable profile.
    assert unhurt == {
        "mcp",
        "anthropic",
        "claude-desktop",
        "openai",
        "openai-strict",
        "vscode",
        "mistral",
        "langchain",
        "others",
    }


def test_dates_email_addresses_and_ids_describe_their_format_in_words(listed):
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed()}
    assert tools["deals__create"]["closes_on"] == {
        "type": "string",
        "description": "YYYY-MM-DD, or null",
    }
    assert tools["companies__create"]["website"] == {"type": "string", "description": "URL"}
    assert tools["contacts__retrieve"]["id"] == {"type": "string", "description": "UUID"}


def test_update_omits_descriptions_present_in_partial_update(listed):
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed()}
    forms = {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"name": TEXT}}]}
    words = 'id of an existing company, or {"name": …} to look it up'
    assert tools["deals__partial_update"]["company"] == {**forms, "description": words}
    assert tools["deals__update"]["company"] == forms
    alone = {
        tool["name"]: tool["inputSchema"]["properties"]
        for tool in listed(EXCLUDE=["*__partial_update"])
    }
    assert alone["deals__update"]["company"] == {**forms, "description": words}


@pytest.mark.parametrize("profile", [{"language": "nl"}, ["a", 1], 3, True])
def test_json_field_is_listed_as_json_text_and_stored_parsed(listed, ann, profile):
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed()}
    words = 'JSON text: e.g. {"language": "nl"}'
    assert tools["contacts__create"]["profile"] == {**TEXT, "description": words}
    agent = acting_as(ann)
    for number, sent in enumerate((json.dumps(profile), profile)):
        made = agent.call("contacts__create", email=f"{number}@example.org", profile=sent)
        assert not made.is_error, made.text
    assert [each.profile for each in Contact.objects.all()] == [profile, profile]
