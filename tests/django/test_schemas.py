"""The published schemas: every field that can be sent, in the words of JSON Schema, without
redundant keywords.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client
from inline_snapshot import snapshot

from toolbooth.django.conf import Configuration
from toolbooth.django.describe.catalogue import build, catalogue


@pytest.fixture(scope="session")
def tools(_database):
    return {name: tool.listing() for name, tool in catalogue().registry.tools.items()}


def properties(tools, name):
    return tools[name]["inputSchema"]["properties"]


ANSWER = {
    "filter_keys": {"type": "array", "items": {"type": "string"}, "examples": [["id"]]},
    "continuation_token": {"type": "string"},
}
"""The arguments that choose the form of an answer."""
DECIMAL = {
    "anyOf": [
        {"type": "number", "format": "decimal"},
        {"type": "string", "description": "decimal"},
    ]
}


NULL = {"description": "or null"}


def test_every_kind_of_field_has_its_schema(tools):
    made = tools["things__create"]["inputSchema"]
    assert made["required"] == ["title"]
    assert {
        name: each
        for name, each in made["properties"].items()
        if name not in ("help", "verify", "preview")
    } == {
        "title": {"type": "string", "maxLength": 40},
        "kind": {"type": "string", "enum": ["small", "large"], "default": "small"},
        "mood": {"type": "string", "enum": ["ok", ""]},
        "rank": {"type": "integer", "enum": [1, 2], "description": "1 = Low, 2 = High, or null"},
        "size": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "big": {"type": "integer", **NULL},
        "ratio": {"type": "number", **NULL},
        "price": {**DECIMAL, "description": "decimal, or null"},
        "active": {"type": "boolean", **NULL},
        "day": {"type": "string", "description": "YYYY-MM-DD, or null"},
        "moment": {"type": "string", "format": "date-time", **NULL},
        "hour": {"type": "string", "description": "HH:MM:SS, or null"},
        "span": {"type": "string", **NULL},
        "mail": {"type": "string", "description": "email address"},
        "site": {"type": "string", "description": "URL"},
        "code": {"type": "string", "description": "UUID, or null"},
        "handle": {"type": "string", "maxLength": 50},
        "address": {"type": "string", **NULL},
        "document": {"type": "string", "description": "JSON text, or null"},
    }


def test_defaults_are_listed_only_for_create(tools):
    assert "default" not in properties(tools, "things__update")["kind"]
    assert "default" not in properties(tools, "things__partial_update")["kind"]
    assert properties(tools, "fancy__post")["points"]["items"]["properties"]["y"] == {
        "type": "integer",
        "default": 7,
    }


def test_a_patch_requires_only_its_key(tools):
    assert tools["things__partial_update"]["inputSchema"]["required"] == ["id"]
    assert "required" not in properties(tools, "deals__partial_update")["lines"]["items"]


def test_fields_without_a_model_have_their_schemas(tools):
    made = properties(tools, "fancy__post")
    assert {
        name: made[name]
        for name in ("words", "scores", "loose", "flavours", "camelCase", "direction")
    } == {
        "words": {
            "type": "array",
            "maxItems": 3,
            "items": {"type": "string", "maxLength": 5},
        },
        "scores": {"type": "object", "additionalProperties": {"type": "integer"}},
        "loose": {"type": "object", "description": "any keys"},
        "flavours": {"type": "array", "items": {"type": "string", "enum": ["mint", "rose"]}},
        "camelCase": {"type": "string"},
        "direction": {"type": "string", "enum": ["north", "south"]},
    }
    assert made["passphrase"] == {"type": "string", "description": "password"}
    assert {"shown", "kept", "nested_file"} & made.keys() == set()


def test_filters_ordering_search_and_pages_have_their_schemas(tools):
    assert properties(tools, "things__list") == {
        "title": {"type": "string"},
        "title__icontains": {"type": "string"},
        "active": {"type": "boolean"},
        "price__gte": {"type": "number"},
        "code": {"type": "string", "description": "UUID"},
        "size_min": {"type": "integer", "minimum": 1, "maximum": 10},
        "size_max": {"type": "integer", "minimum": 1, "maximum": 10},
        "day_after": {"type": "string", "description": "YYYY-MM-DD"},
        "day_before": {"type": "string", "description": "YYYY-MM-DD"},
        "kind": {"type": "array", "items": {"type": "string", "enum": ["large", "small"]}},
        "rank__in": {"type": "array", "items": {"type": "integer", "enum": [1, 2]}},
        "by": {
            "type": "array",
            "items": {"type": "string", "enum": ["-size", "-title", "size", "title"]},
        },
        "ordering": {"type": "string", "enum": ["title", "-title", "size", "-size"]},
        "search": {"type": "string", "description": "in title, handle"},
        "limit": {"type": "integer"},
        "offset": {"type": "integer", "minimum": 0},
        "help": {"type": "boolean"},
        **ANSWER,
    }
    assert properties(tools, "cursor__list") == {
        "cursor": {"type": "string"},
        "page_size": {"type": "integer", "maximum": 1000},
        "help": {"type": "boolean"},
        **ANSWER,
    }
    assert properties(tools, "tags__list") == {
        "page": {"type": "integer"},
        "page_size": {"type": "integer", "maximum": 1000},
        "help": {"type": "boolean"},
        **ANSWER,
        "filter_keys": {**ANSWER["filter_keys"], "examples": [["slug"]]},
    }


def test_path_arguments_are_listed_separately_from_body_fields(tools):
    assert tools["site__update"]["inputSchema"] == {
        "type": "object",
        "properties": {
            "slug_in_path": {"type": "string", "description": "the row's current slug"},
            "slug": {"type": "string", "maxLength": 50, "pattern": "^[-a-zA-Z0-9_]+$"},
            "name": {"type": "string", "maxLength": 40},
            "help": {"type": "boolean"},
            "preview": {"type": "boolean"},
        },
        "required": ["slug_in_path", "slug", "name"],
    }
    assert properties(tools, "sitedevices__retrieve") == {
        "site_pk": {"type": "integer"},
        "serial": {"type": "string", "description": "UUID"},
    }


def key_or(key, description, **fields):
    """Return the schema of a relation: by its key, or by an object with these fields."""
    named = {"type": "object", "properties": fields}
    return {"anyOf": [key, named], "description": description}


def test_relations_are_listed_by_key_and_by_object(tools):
    text = {"type": "string"}
    uuid = {"type": "string", "description": "UUID"}
    made = properties(tools, "devices__create")
    assert (made["site"], made["twin"], made["parts"]) == (
        key_or(
            {"type": "integer"},
            'id of an existing site, or {"slug": …} to look it up, or null',
            slug=text,
        ),
        key_or(uuid, "serial of an existing device, or null", serial=uuid),
        {"type": "array", "items": key_or(text, "number of an existing part", number=text)},
    )
    linked = properties(tools, "linked__create")
    assert linked["site"] == key_or(
        {"type": "string", "description": "URL"},
        'URL of an existing site, or {"slug": …} to look it up',
        slug=text,
    )
    # The key is the token, which is a secret; the number is another way to name the row.
    words = 'token of an existing part, or {"number": …} to look it up'
    assert linked["parts"]["items"] == key_or(text, words, number=text)


def test_tools_have_descriptions_and_annotations(tools):
    told = {
        name: (tool["description"].partition(". Many")[0], tool.get("annotations"))
        for name, tool in tools.items()
        if name
        in (
            "contacts__list",
            "contacts__destroy",
            "deals__close",
            "tags__update",
            "described__post",
        )
    }
    # Hints equal to a client's defaults are omitted: not read-only, destructive, not idempotent.
    assert told == snapshot(
        {
            "contacts__list": ("List contacts. People to write to.", {"readOnlyHint": True}),
            "contacts__destroy": ("Delete a contact.", {"idempotentHint": True}),
            "deals__close": ("Close a deal, as won or lost.", {"destructiveHint": False}),
            "described__post": ("Described by hand.", {"destructiveHint": False}),
            "tags__update": (
                "Replace a tag. Send all required fields.",
                {"idempotentHint": True},
            ),
        }
    )
    assert not any("title" in tool for tool in tools.values())
    assert all("outputSchema" not in tool for tool in tools.values())


def test_tools_left_out_are_reported_with_a_reason(db):
    told = {(each.what, each.why) for each in build(Configuration()).left_out}
    assert told >= {
        ("/odd/hidden/", "its author set schema = None"),
        ("POST /odd/ignored/", "@mcp_ignore"),
        ("POST /odd/partly/", "@mcp_ignore"),
        ("POST /odd/partly/wipe/", "@mcp_ignore"),
        ("fancy__post", "'nested_file' takes a file, which is not sent over MCP"),
        ("things__create", "'scan' takes a file, which is not sent over MCP"),
        (
            "needsuser__create",
            "finding its serializer failed (''); give it one, or describe it with @extend_schema",
        ),
    }
    assert "needsuser__create" not in catalogue().actions
    assert {"unknown__get", "partly__keep", "partly__update"} <= catalogue().actions.keys()


def test_a_view_without_a_serializer_is_called_without_a_body(db, mcp):
    """Like an extra action that declares no body."""
    names = {"undescribed__post", "unknown__post"}
    assert names <= set(catalogue().undeclared_bodies)
    assert mcp("undescribed__post", {})["isError"] is False
    assert 'there is no field "name"' in mcp("unknown__post", {"name": "x"})["content"][0]["text"]


def test_serializer_chosen_by_caller_accepts_only_its_own_fields(mcp, ann):
    assert mcp("staffnotes__create", {"text": "x"})["structuredContent"] == {"text": "x"}
    refused = mcp("staffnotes__create", {"text": "x", "internal": "y"})
    assert refused["content"][0]["text"] == (
        "Refused: 1 problem in the arguments of 'staffnotes__create'. Nothing was done.\n"
        "- $.internal: is not a field that you may send\n"
        'Declared fields: "text" (text, required).'
    )
    ann.is_staff = True
    ann.save()
    both = {"text": "x", "internal": "y"}
    assert mcp("staffnotes__create", both)["structuredContent"] == both


SCHEMA_CLASSES = [
    "drf_spectacular.openapi.AutoSchema",
    "rest_framework.schemas.openapi.AutoSchema",
    "odd.schema.OwnSchema",
]


@pytest.mark.parametrize("schema_class", SCHEMA_CLASSES)
def test_extend_schema_works_with_every_schema_class(tools, schema_class):
    program = f"""
import json, os, sys
sys.path[:0] = {sys.path!r}
os.environ["DJANGO_SETTINGS_MODULE"] = "gateway_settings"
from django.conf import settings
settings.REST_FRAMEWORK["DEFAULT_SCHEMA_CLASS"] = {schema_class!r}
import django
django.setup()
from toolbooth.django.describe.catalogue import catalogue
print(json.dumps({{name: tool.listing() for name, tool in catalogue().registry.tools.items()}}))
"""
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120
    )
    assert json.loads(told.stdout) == json.loads(json.dumps(tools))
    assert told.stderr == ""


def test_the_example_needs_few_tokens(tools):
    """The strongest gateway needs about 240 tokens a tool (`docs/project/evidence/gateways.md`)."""
    crm = [
        tool
        for name, tool in tools.items()
        if name.partition("__")[0] in ("contacts", "companies", "deals")
    ]
    assert len(json.dumps(crm)) / len(crm) < 700


def test_schemas_contain_no_paths_of_the_project(tools):
    assert str(Path(__file__).parent) not in json.dumps(tools)


def test_tools_list_over_http_equals_the_compiled_tools(tools, ann):
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    told = client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
        "result"
    ]["tools"]
    hidden = {name for name in tools if name.startswith(("staff__", "key__", "permitted__"))} - {
        "permitted__list",
        "permitted__retrieve",
    }
    assert [tool["name"] for tool in told] == [name for name in tools if name not in hidden]
