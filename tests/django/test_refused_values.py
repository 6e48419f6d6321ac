"""The call that a reply suggests after a view has refused a value."""

from typing import Any

import pytest

from sales.models import Company, Deal


def told(result: dict[str, Any]) -> dict[str, Any]:
    assert result["isError"] is True
    return result["_meta"]["toolbooth"]


@pytest.mark.parametrize("word", ["N/A", "None", "undefined"])
def test_placeholder_text_is_left_out_of_a_create(mcp, word):
    assert told(mcp("companies__create", {"name": "Acme", "employees": word}))["corrected"] == {
        "name": "Acme"
    }
    rows = [{"name": "Acme", "employees": word}, {"name": "Bolt"}]
    assert told(mcp("companies__create", {"objects": rows}))["corrected"] == {
        "objects": [{"name": "Acme"}, {"name": "Bolt"}]
    }


@pytest.mark.parametrize("word", ["", "N/A", "None"])
def test_placeholder_text_that_only_the_view_refuses_is_left_out_of_a_create(mcp, word):
    company = Company.objects.create(name="Acme")
    sent = {"title": "Mill", "company": company.pk, "closes_on": word}
    result = mcp("deals__create", sent)
    corrected = told(result)["corrected"]
    assert corrected == {"title": "Mill", "company": company.pk}
    assert f'Left out: $.closes_on ("{word}" means no value).' in result["content"][0]["text"]
    assert Deal.objects.count() == 0
    assert mcp("deals__create", corrected)["isError"] is False


def test_a_date_that_only_the_view_refuses_is_corrected(mcp):
    company = Company.objects.create(name="Acme")
    sent = {"title": "Mill", "company": company.pk, "closes_on": "2026/12/31"}
    corrected = told(mcp("deals__create", sent))["corrected"]
    assert corrected == {**sent, "closes_on": "2026-12-31"}
    assert mcp("deals__create", corrected)["isError"] is False


@pytest.mark.parametrize("action", ["update", "partial_update"])
def test_placeholder_text_on_an_update_suggests_leaving_it_out_or_null(mcp, action):
    company = Company.objects.create(name="Acme", employees=5)
    sent = {"id": company.pk, "name": "Acme", "employees": "N/A"}
    result = told(mcp(f"companies__{action}", sent))
    assert "corrected" not in result
    assert [each["message"] for each in result["problems"]] == [
        'must be an integer, got text "N/A"; leave it out to keep it, null to clear it'
    ]


def test_integer_refusal_on_create_mentions_no_stored_value(mcp):
    result = told(mcp("companies__create", {"name": "Acme", "employees": "unknown"}))
    assert [each["message"] for each in result["problems"]] == [
        'must be an integer, got text "unknown"; leave it out if unknown'
    ]


def test_a_call_without_arguments_gets_the_form(mcp):
    result = mcp("companies__create", {})
    assert told(result)["form"] == {"name": "<text>"}
    assert result["content"][0]["text"].splitlines()[-2:] == [
        'Form: {"name": "<text>"}',
        "No arguments arrived. Some clients drop all of them when one is empty text: "
        "leave that one out.",
    ]
