"""Help behind dispatchers of the gateway: signatures, one meaning of `help`, placeholders for keys,
and only names of tools that the client has.
"""

import json
import re

import pytest

from odd.models import Log
from sales.models import Company, Contact, Deal, Note, Tag
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as

MODELS = (Company, Contact, Deal, Note, Tag, Log)


@pytest.fixture(autouse=True)
def kept(built_once):
    """Catalogues, from test to test."""


@pytest.fixture
def sales(settings_of, ann):
    """The example's API behind one tool, and a row of each kind."""
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"DISPATCH": "app"})
    company = Company.objects.create(name="Acme")
    Contact.objects.create(email="a@example.org", company=company)
    Deal.objects.create(title="Blades", company=company)
    Note.objects.create(owner=ann, title="Call")
    Tag.objects.create(slug="vip", title="Important")
    return acting_as(ann).call


def rows():
    return [list(model.objects.order_by("pk").values()) for model in MODELS]


def test_the_first_page_of_help_has_a_line_for_each_action_of_each_resource(sales):
    assert sales("sales", help=True).value == {
        "resources": {
            "companies": [
                "list(search?, ordering?, page?)",
                "create(name, website?, employees?)",
                "retrieve(id)",
                "update(id, name, website?, employees?)",
                "partial_update(id, name?, website?, employees?)",
                "destroy(id)",
            ],
            "contacts": [
                "list(company?, subscribed?, email?, email__icontains?, search?, page?)",
                "create(email?, first_name?, last_name?, company?, tags?, notes?, profile?, "
                "subscribed?)",
                "retrieve(id)",
                "update(id, email?, first_name?, last_name?, company?, tags?, notes?, profile?, "
                "subscribed?)",
                "partial_update(id, email?, first_name?, last_name?, company?, tags?, notes?, "
                "profile?, subscribed?)",
                "destroy(id)",
            ],
            "deals": [
                "list(company?, stage?, page?)",
                "create(title, company, closes_on?, lines?)",
                "retrieve(id)",
                "update(id, title, company, closes_on?, lines?)",
                "partial_update(id, title?, company?, closes_on?, lines?)",
                "destroy(id)",
                "close(id, won, reason?)",
            ],
            "notes": [
                "list(page?)",
                "create(title?, body?, pinned?)",
                "retrieve(id)",
                "update(id, title?, body?, pinned?)",
                "partial_update(id, title?, body?, pinned?)",
                "destroy(id)",
            ],
            "tags": [
                "list(page?)",
                "create(slug, title)",
                "retrieve(slug)",
                "update(slug_in_path, slug, title)",
                "partial_update(slug_in_path, slug?, title?)",
                "destroy(slug)",
            ],
        },
        "next_step": '{"resource": "…", "help": true} '
        "lists the actions and fields of one resource.",
    }


def test_help_on_an_action_lists_the_resources_that_have_it(sales):
    assert sales("sales", help=True, action="close").value == {
        "resources": {"deals": ["close(id, won, reason?)"]},
        "next_step": '{"resource": "…", "action": "close", "help": true} '
        "returns the types of one action's fields, with an example.",
    }


def test_help_on_a_resource_describes_each_action(sales):
    assert sales("sales", help=True, resource="tags").value == {
        "resource": "tags",
        "actions": {
            "list": {"signature": "list(page?)", "description": "List tags. Labels for contacts."},
            "create": {
                "signature": "create(slug, title)",
                "description": 'Create a tag. Many: {"objects": [{…}]}, all or none.',
            },
            "retrieve": {"signature": "retrieve(slug)", "description": "Get a tag."},
            "update": {
                "signature": "update(slug_in_path, slug, title)",
                "description": "Replace a tag. Send all required fields.",
            },
            "partial_update": {
                "signature": "partial_update(slug_in_path, slug?, title?)",
                "description": "Change some fields of a tag.",
            },
            "destroy": {"signature": "destroy(slug)", "description": "Delete a tag."},
        },
        "next_step": '{"resource": "tags", "action": "…", "help": true} '
        "returns the types of one action's fields, with an example.",
    }


def test_both_spellings_of_help_get_the_same_answer_and_call_nothing(sales):
    before = rows()
    table = catalogue().registry.tools["sales"].table
    targets = [{}, *({"resource": resource} for resource in table.resources)]
    targets += [target for target, _ in table.subs()]
    assert len(targets) == 1 + 5 + 31
    for target in targets:
        params = {"params": {"action": target["action"]}} if "action" in target else {}
        as_action = {**target, "action": "help", **params}
        found = sales("sales", {**target, "help": True})
        assert (found.is_error, sales("sales", as_action).value) == (False, found.value)
    assert rows() == before


# --- keys in examples ---


def test_an_example_of_a_call_for_one_row_has_a_placeholder_for_its_key(sales):
    def example(**named):
        return sales("sales", help=True, **named).value["example"]

    for action in ("retrieve", "destroy", "partial_update"):
        assert example(resource="notes", action=action) == {
            "resource": "notes",
            "action": action,
            "id": "<id>",
        }
    assert example(resource="tags", action="destroy")["slug"] == "<slug>"
    assert example(resource="tags", action="update") == {
        "resource": "tags",
        "action": "update",
        "slug_in_path": "<slug_in_path>",
        "slug": "text",
        "title": "text",
    }
    assert example(resource="deals", action="create") == {
        "resource": "deals",
        "action": "create",
        "title": "text",
        "company": "<id>",
    }
    assert sales("notes__destroy", help=True).value["example"] == {"id": "<id>"}


def test_no_example_has_a_key_in_the_url_that_a_row_may_have(settings_of, ann):
    settings_of(TOOLBOOTH={})
    keys = 0
    for tool, action in catalogue().actions.items():
        told = acting_as(ann).call(tool, help=True)
        example = {} if told.is_error else told.value.get("example", {})
        in_path = re.findall(r"{\w+}", action.path)
        found = [each for each in example.values() if re.fullmatch(r"<\w+>", str(each))]
        assert len(found) >= (len(in_path) if example else 0), (tool, example)
        keys += len(found)
    assert keys > 50


def test_an_example_of_many_rows_has_placeholders_too(settings_of, ann):
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"BULK_TOOLS": True})
    example = acting_as(ann).call("deals__bulk_create", help=True).value["example"]
    assert example == {"objects": [{"title": "text", "company": "<id>"}]}


SENT_LITERALLY = {
    "companies": '$.id: must be an integer, got text "<id>"',
    "contacts": '$.id: is a placeholder from an example; send the key of a row; got "<id>"',
    "tags": '$.slug: is a placeholder from an example; send the key of a row; got "<slug>"',
}


@pytest.mark.parametrize("action", ["retrieve", "destroy"])
@pytest.mark.parametrize(("resource", "problem"), SENT_LITERALLY.items(), ids=SENT_LITERALLY)
def test_a_placeholder_for_a_key_in_the_url_is_refused(sales, resource, problem, action):
    Tag.objects.create(slug="<slug>", title="A row that has it")
    before = rows()
    example = sales("sales", resource=resource, action=action, help=True).value["example"]
    assert sales("sales", example).text == (
        f"Refused: 1 problem in the arguments of 'sales' ({resource}, {action}). "
        f"Nothing was done.\n- {problem}"
    )
    assert rows() == before


def test_a_placeholder_for_a_key_in_a_relation_is_looked_up_if_it_is_a_text(sales):
    before = rows()
    number = sales("sales", resource="deals", action="create", title="T", company="<id>")
    text = sales("sales", resource="contacts", action="create", tags=["<slug>"])
    assert (number.is_error, text.is_error, rows()) == (True, True, before)
    assert '- $.tags: no tag "<slug>"; existing: ' in text.text
    Tag.objects.create(slug="<slug>", title="A row that has it")
    assert not sales("sales", resource="contacts", action="create", tags=["<slug>"]).is_error


def test_missing_row_error_uses_the_dispatcher_names(sales):
    missing = sales("sales", resource="tags", action="destroy", slug="nosuch")
    assert missing.text == (
        "Tool 'sales' (tags, destroy) failed: No Tag matches the given query. "
        "It does not exist, or you may not see it; 'sales' (tags, list) lists what you can see."
    )


# --- names ---

WRONG = {
    "nothing": {},
    "a row": {"id": 1, "slug": "x"},
    "an unknown field": {"no_such_field": 1},
    "a missing row": {"company": 999, "tags": ["x"], "title": "T", "name": "N"},
}


@pytest.mark.parametrize("sent", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("way", ["app", "resource"])
def test_no_text_names_a_tool_that_is_not_listed(settings_of, ann, way, sent):
    settings_of(TOOLBOOTH={"DISPATCH": way})
    known = catalogue().registry
    calls = [
        (name, target) for name, tool in known.tools.items() for target, _ in tool.table.subs()
    ]
    wrong = []
    for name, target in calls:
        texts = (
            acting_as(ann).call(name, {**target, **more}).text for more in (sent, {"help": True})
        )
        for text in texts:
            named = {each for each in re.findall(r"\w+__\w+", text) if each in known.hidden}
            wrong += [(name, target, named)] if named else []
    assert (len(calls) > 100, wrong) == (True, [])


def test_unknown_tool_error_suggests_the_dispatcher_call(settings_of, ann, mcp_as):
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"DISPATCH": "app"})
    said = mcp_as("ann")("deals__creat")["error"]["message"]
    assert said == "there is no tool 'deals__creat'; did you mean 'sales' (deals, create)?"


def test_listing_names_the_actions_that_few_resources_have(sales, ann):
    (listed,) = acting_as(ann).tools()
    description = catalogue().registry.tools["sales"].listing()["description"]
    assert (listed, description) == (
        "sales",
        "Fields go beside action, or in params; help=true lists them. close: only deals.",
    )
    assert "destroy" in json.dumps(catalogue().registry.tools["sales"].listing())
