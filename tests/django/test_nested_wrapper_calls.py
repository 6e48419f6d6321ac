"""The calls of the nested-wrapper decision (docs/project/evidence/nested-wrapper.md) on the gateway,
with whole results and rows: its two wrapped calls, its test cases and its protocol arguments.

`test_wrappers.py` tries the same with every name, form and dispatcher.
"""

import pytest

from odd.models import Device, Site
from sales.models import Contact, Tag

FLAT = {"email": "agent@example.com", "first_name": "Agent"}
CALLS = {
    "half": ({**FLAT, "data": {"notes": "nested field"}}, {**FLAT, "notes": "nested field"}),
    "all": ({"data": FLAT}, FLAT),
}
"""The wrapped calls of the report, and the intended call."""


def rows():
    return list(Contact.objects.order_by("email").values_list("email", "first_name", "notes"))


def test_flat_arguments_create_the_row(mcp):
    result = mcp("contacts__create", FLAT)
    contact = Contact.objects.get()
    defaulted = ["last_name", "company", "tags", "notes", "profile", "subscribed"]
    receipt = {"id": str(contact.pk), "set": [*FLAT], "defaulted": defaulted}
    assert result["structuredContent"] == receipt
    assert (result["isError"], "_meta" in result) == (False, False)
    assert rows() == [("agent@example.com", "Agent", "")]


@pytest.mark.parametrize("dispatch", [None, "app"], ids=["direct", "dispatcher"])
@pytest.mark.parametrize("errors", ["result", "protocol"])
@pytest.mark.parametrize("call", CALLS)
def test_a_wrapped_create_creates_no_row_and_its_correction_the_right_one(
    mcp, settings_of, call, errors, dispatch
):
    settings_of(TOOLBOOTH={"ERRORS": errors, "DISPATCH": dispatch})
    tool = "sales" if dispatch else "contacts__create"
    target = {"action": "create", "resource": "contacts"} if dispatch else {}
    arguments, corrected = CALLS[call]

    reply = mcp(tool, {**target, **arguments})
    if errors == "protocol":
        assert reply["error"]["code"] == -32602
        text, data = reply["error"]["message"], reply["error"]["data"]["toolbooth"]
    else:
        assert reply["isError"] is True
        text, data = reply["content"][0]["text"], reply["_meta"]["toolbooth"]
    assert data["code"] == -32602
    assert [(each["code"], each["path"]) for each in data["problems"]] == [
        ("nested-wrapper", "$.data")
    ]
    assert data["corrected"] == {**target, **corrected}
    for name in ("data", "nested object", *arguments["data"], "Declared fields"):
        assert name in text
    assert rows() == []

    assert mcp(tool, data["corrected"])["isError"] is False
    assert rows() == [("agent@example.com", "Agent", corrected.get("notes", ""))]


@pytest.mark.parametrize(
    "settings",
    [
        {"PROFILE": "exact"},
        {"BULK_TOOLS": True},
        {"VERBATIM": ["contacts__create.notes"]},
        {"ARGUMENTS": {"help": None, "verify": None}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_no_setting_of_the_gateway_turns_the_guard_off(mcp, settings_of, settings):
    settings_of(TOOLBOOTH=settings)
    for arguments, corrected in CALLS.values():
        reply = mcp("contacts__create", arguments)
        assert reply["_meta"]["toolbooth"]["corrected"] == corrected
        assert rows() == []


def test_a_bulk_create_under_objects_makes_every_row(mcp):
    result = mcp("contacts__create", {"objects": [FLAT, {"email": "bo@example.com"}]})
    ids = [str(Contact.objects.get(email=each).pk) for each in (FLAT["email"], "bo@example.com")]
    assert result["structuredContent"] == {"created": 2, "order": "as sent", "ids": ids}
    assert result["isError"] is False
    assert rows() == [("agent@example.com", "Agent", ""), ("bo@example.com", "", "")]


def test_declared_relations_are_accepted_as_objects(mcp):
    hq = Site.objects.create(slug="hq-1", name="hq-1")
    assert mcp("devices__create", {"label": "switch", "site": {"name": "hq-1"}})["isError"] is False
    assert [(each.label, each.site) for each in Device.objects.all()] == [("switch", hq)]

    vip = Tag.objects.create(slug="vip", title="Friends")
    assert mcp("contacts__create", {**FLAT, "tags": [{"slug": "vip"}]})["isError"] is False
    assert list(Contact.objects.get().tags.all()) == [vip]


PROTOCOL_ARGUMENTS = {
    "help": {"help": True},
    "mode": {"mode": "summary"},
    "page": {"page": 1},
    "filter_keys": {"filter_keys": ["email"]},
    "filters": {"filters": {"email": "c1@example.com"}},
}


@pytest.mark.parametrize("argument", PROTOCOL_ARGUMENTS)
def test_a_protocol_argument_is_neither_a_field_nor_a_wrapper(mcp, argument):
    for number in range(3):
        Contact.objects.create(email=f"c{number}@example.com")
    result = mcp("contacts__list", PROTOCOL_ARGUMENTS[argument])
    assert (result["isError"], "_meta" in result) == (False, False)
    answer = result["structuredContent"]
    emails = [row["email"] for row in answer.get("results", [])]
    everyone = ["c0@example.com", "c1@example.com", "c2@example.com"]
    expected = {"page": everyone, "filter_keys": everyone, "filters": ["c1@example.com"]}
    assert emails == expected.get(argument, [])
    if argument == "filter_keys":
        assert answer["results"] == [{"email": each} for each in everyone]


def test_a_continuation_token_returns_the_remaining_rows(mcp, settings_of):
    settings_of(TOOLBOOTH={"MAX_RESULT": 4000})
    for number in range(7):
        Contact.objects.create(email=f"c{number}@example.com", notes="n" * 1000)
    pages, token = [], None
    while not pages or token:
        arguments = {"continuation_token": token} if token else {}
        answer = mcp("contacts__list", arguments)["structuredContent"]
        pages.append([row["email"] for row in answer["results"]])
        token = answer["continuation"].get("continuation_token")
    assert len(pages) > 1
    emails = [email for page in pages for email in page]
    assert emails == [f"c{number}@example.com" for number in range(7)]
