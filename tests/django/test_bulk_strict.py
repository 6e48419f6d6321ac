"""Which clients that hold a model to the listed schema can send many rows, by the form in which the
schema lists them.
"""

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest

from sales.models import Company
from toolbooth.django.testing import acting_as
from toolbooth.testing.client.strict import fill_keys

FILE = Path(__file__).parents[2] / "bench" / "bulk_forms.py"
_spec = importlib.util.spec_from_file_location("bulk_forms", FILE)
bulk_forms = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bulk_forms)

ROWS = [{"name": "Acme", "employees": 3}, {"name": "Bolt"}]


def closed(schema):
    """No keys but those that are declared, at any depth."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(each) for key, each in schema.items()}
    return {**made, "additionalProperties": False} if made.get("type") == "object" else made


def all_required(schema):
    """Every key must be sent, and those that could be left out may be null."""
    if isinstance(schema, list):
        return [all_required(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: all_required(each) for key, each in schema.items()}
    if "properties" not in made:
        return made
    needed = schema.get("required", ())
    properties = {
        name: each if name in needed else {"anyOf": [each, {"type": "null"}]}
        for name, each in made["properties"].items()
    }
    return {**made, "properties": properties, "required": list(properties)}


def validating(schema, arguments):
    """A client that validates the arguments against the listed schema."""
    return schema, arguments


def anthropic_strict(schema, arguments):
    """Objects are closed. The API refuses alternatives at the root."""
    return None if "anyOf" in schema else closed(schema), arguments


def openai_strict(schema, arguments):
    """Objects are closed, and the model writes every key. The API refuses alternatives at the root.
    Null for `preview` would be refused, and the refusal would ask the model for true or false.
    """
    if "anyOf" in schema:
        return None, arguments
    return closed(all_required(schema)), {**fill_keys(arguments, schema), "preview": False}


CLIENTS = {
    "validates": validating,
    "Anthropic strict": anthropic_strict,
    "OpenAI strict": openai_strict,
}


def sent(agent, tools, client):
    """Return whether the client can send the rows by one of the tools, and they are created."""
    for name in ("companies__bulk_create", "companies__create"):
        for objects in (ROWS, json.dumps(ROWS)):
            if name not in tools:
                continue
            schema, arguments = client(tools[name]["inputSchema"], {"objects": objects})
            if schema is None or not jsonschema.Draft202012Validator(schema).is_valid(arguments):
                continue
            agent.call(name, arguments)
            return sorted(Company.objects.values_list("name", "employees"))
    return []


@pytest.fixture
def lists(settings_of, ann):
    """The list with sentences, and the one with bulk tools."""
    settings_of(TOOLBOOTH={"BULK_TOOLS": True})
    separate = acting_as(ann).tools()
    settings_of(TOOLBOOTH={})
    return acting_as(ann).tools(), separate


MADE = [("Acme", 3), ("Bolt", None)]

EXPECTED = {
    "a sentence in each create": set(),
    "BULK_TOOLS": {"validates", "Anthropic strict", "OpenAI strict"},
    "BULK_TOOLS, rows as JSON text": {"validates", "Anthropic strict", "OpenAI strict"},
    "anyOf of two forms": {"validates"},
    "objects optional, nothing required": {"validates", "Anthropic strict"},
    "objects optional as JSON text, nothing required": {"validates", "Anthropic strict"},
}
"""The same table is in docs/guides/django.md."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("form", bulk_forms.FORMS)
def test_strict_clients_can_send_many_rows_as_documented(lists, settings_of, ann, form, client):
    tools = bulk_forms.FORMS[form](*lists)
    settings_of(TOOLBOOTH={"BULK_TOOLS": "BULK_TOOLS" in form})
    made = sent(acting_as(ann), tools, CLIENTS[client])
    assert made == (MADE if client in EXPECTED[form] else [])
