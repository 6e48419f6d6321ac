"""`TOOLBOOTH["PROFILE"]` chooses how the gateway writes input schemas."""

import json

import pytest
from django.core import checks
from django.test import Client
from nullable_profile import NullableProfile

from toolbooth.django.conf import Configuration, configuration

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


def listed(client, name):
    reply = client.post("/mcp/", LIST, content_type="application/json").json()
    [schema] = [tool["inputSchema"] for tool in reply["result"]["tools"] if tool["name"] == name]
    return schema


@pytest.mark.parametrize("profile", [NullableProfile, NullableProfile()], ids=["class", "instance"])
def test_custom_profile_is_used_in_the_list(settings_of, rest: Client, profile):
    settings_of(TOOLBOOTH={"PROFILE": profile})
    assert listed(rest, "contacts__create") == {
        "type": "object",
        "properties": {
            "email": {"type": "string"},
            "first_name": {"type": "string", "maxLength": 60},
            "last_name": {"type": "string", "maxLength": 60},
            "company": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "object", "properties": {"name": {"type": "string"}}},
                ],
                "description": 'id of an existing company, or {"name": …} to look it up, or null',
                "nullable": True,
            },
            "tags": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "object", "properties": {"slug": {"type": "string"}}},
                    ],
                    "description": "slug of an existing tag",
                },
                "description": 'e.g. ["vip"]',
            },
            "notes": {"type": "string"},
            "profile": {"type": "string", "description": 'JSON text: e.g. {"language": "nl"}'},
            "subscribed": {"type": "boolean"},
            "help": {"type": "boolean"},
            "preview": {"type": "boolean"},
        },
    }


def test_a_profile_is_chosen_by_name(settings_of, rest: Client):
    settings_of(TOOLBOOTH={"PROFILE": "exact"})
    assert listed(rest, "contacts__destroy") == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "help": {"type": "boolean"},
            "preview": {"type": "boolean"},
            "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 128},
        },
        "required": ["id"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("given", ["gemini", None, True, ["exact"], dict], ids=repr)
def test_an_unknown_profile_is_reported_and_ignored(settings_of, given):
    settings_of(TOOLBOOTH={"PROFILE": given})
    found = [each for each in checks.run_checks() if each.id == "toolbooth.E002"]
    assert [each.msg for each in found] == [
        f"TOOLBOOTH['PROFILE']: must be 'portable', 'exact' or a Profile, not {given!r}."
    ]
    assert configuration() == Configuration()
