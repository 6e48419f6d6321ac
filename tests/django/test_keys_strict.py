"""Clients that hold the model to the listed schema: why `idempotency_key` is not listed."""

import base64
import json

import jsonschema
import pytest
from django.test import Client

from sales.models import Company
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.testing.client.strict import fill_keys


def listed():
    """Return the schema of a create, without `preview`, for which such a client sends null too."""
    schema = catalogue().registry.tools["companies__create"].listing()["inputSchema"]
    properties = {name: each for name, each in schema["properties"].items() if name != "preview"}
    return {**schema, "properties": properties, "additionalProperties": False}


def with_key(schema):
    return {**schema, "properties": {**schema["properties"], "idempotency_key": {"type": "string"}}}


def test_the_idempotency_key_is_not_listed(mcp):
    schema = listed()
    assert "idempotency_key" not in schema["properties"]
    sent = {"name": "Acme", "idempotency_key": "k"}
    assert not jsonschema.Draft202012Validator(schema).is_valid(sent)


@pytest.mark.parametrize(("listing", "rows"), [(listed, 1), (lambda: with_key(listed()), 0)])
def test_openai_strict_can_write_only_because_the_key_is_not_listed(mcp, listing, rows):
    """In this mode the model writes every argument, with null for those that are optional."""
    mcp("companies__create", fill_keys({"name": "Acme"}, listing()))
    assert Company.objects.count() == rows


def test_the_code_of_a_strict_client_can_send_the_key_in_meta(mcp):
    client = Client(headers={"Authorization": "Basic " + base64.b64encode(b"ann:pw").decode()})
    params = {
        "name": "companies__create",
        "arguments": fill_keys({"name": "Acme"}, listed()),
        "_meta": {"toolbooth": {"idempotency_key": "k"}},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    replies = [
        client.post("/mcp/", json.dumps(message), content_type="application/json").json()
        for _ in range(2)
    ]
    repeated = [each["result"]["structuredContent"].get("repeated") for each in replies]
    assert (repeated, Company.objects.count()) == ([None, True], 1)
