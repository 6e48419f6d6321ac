"""Continuation tokens: when the result changes, under other names, and sent in other ways."""

import json

import pytest

from results_api import companies, joined, pages_of, serving
from sales.models import Company


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


# --- results that change ---


def test_continuation_notes_a_result_that_changed_between_pages(call):
    companies(200)
    token = call("companies__list").value["continuation"]["continuation_token"]
    Company.objects.get(name="company 0000").delete()
    page = call("companies__list", continuation_token=token).value
    assert page["continuation"]["note"].startswith("The result has changed since the previous page")
    assert page["continuation"]["count"] == 199
    token = page["continuation"]["continuation_token"]
    again = call("companies__list", continuation_token=token).value
    assert "changed" not in again["continuation"]["note"]


def test_a_result_that_has_become_shorter_ends_without_an_error(call):
    companies(200)
    token = call("companies__list").value["continuation"]["continuation_token"]
    Company.objects.filter(employees__gte=10).delete()
    page = call("companies__list", continuation_token=token).value
    assert page["results"] == []
    assert page["continuation"]["note"].startswith("The result has changed")
    assert page["continuation"]["note"].endswith("The last page.")
    assert list(page["continuation"]) == ["count", "size", "note"]
    assert page["continuation"]["count"] == 10


def test_rows_continuation_starts_again_as_text_after_a_too_large_row(call):
    companies(100)
    first = call("companies__list").value["continuation"]
    Company.objects.create(name="zzz", website="https://" + "x" * 10_000)
    second = call("companies__list", continuation_token=first["continuation_token"]).value[
        "continuation"
    ]
    third = call("companies__list", continuation_token=second["continuation_token"]).value[
        "continuation"
    ]
    assert (second["from"], third["from"], third["to"]) == (first["to"] + 1, second["to"] + 1, 100)
    page = call("companies__list", continuation_token=third["continuation_token"])
    assert page.value["continuation"]["from"] == 1
    assert "this is the beginning" in page.value["continuation"]["note"]
    assert (
        joined(pages_of(call, "companies__list", page)) == call("companies__list", mode="full").text
    )


def test_text_continuation_stays_text_after_the_large_row_is_gone(call):
    companies(200)
    Company.objects.create(name="zzz", website="https://" + "x" * 10_000)
    first = call("companies__list")
    Company.objects.get(name="zzz").delete()
    page = call(
        "companies__list", continuation_token=first.value["continuation"]["continuation_token"]
    ).value
    assert list(page) == ["text", "continuation"]
    assert page["continuation"]["from"] == first.value["continuation"]["to"] + 1


# --- other names, other ways ---


def test_the_token_argument_can_be_renamed(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": "more", "mode": "how"})
    first = call("companies__list").value["continuation"]
    assert "call the same tool with only more" in first["note"]
    assert (
        call("companies__list", more=first["more"], how="full").value["continuation"]["to"] == 200
    )
    assert "$.more: is not a token" in call("companies__list", more="x").text


def test_without_tokens_results_are_sent_whole(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": None})
    assert len(call("companies__list").value["results"]) == 200
    assert len(call("runs__run", mode="page").value["lines"]) == 1000
    page = call("companies__list", mode="page").value["continuation"]
    assert (page["count"], page["note"]) == (200, f"{200 - page['to']} more in results.")
    assert call("companies__list", mode="summary").value["count"] == 200
    made = call(
        "contacts__create", objects=[{"email": f"{number}@x.io"} for number in range(150)]
    ).value
    assert len(made["ids"]) == 150


def test_a_hosts_own_argument_is_not_treated_as_a_token(call):
    companies(200)
    assert (
        call("own__list", continuation_token="company 0007").value["results"][0]["employees"] == 7
    )
    assert len(call("own__list").value["results"]) == 200


def test_a_token_is_sent_through_a_dispatcher(serve):
    companies(200)
    call = serve(DISPATCH="resource")
    first = call("companies", action="list").value["continuation"]
    page = call("companies", action="list", continuation_token=first["continuation_token"]).value
    assert page["continuation"]["from"] == first["to"] + 1
    page = call(
        "companies", action="list", params={"continuation_token": first["continuation_token"]}
    ).value
    assert page["continuation"]["from"] == first["to"] + 1


def test_a_token_works_in_arguments_sent_as_text(call):
    companies(200)
    first = call("companies__list").value["continuation"]
    page = call(
        "companies__list", json.dumps({"continuation_token": first["continuation_token"]})
    ).value
    assert page["continuation"]["from"] == first["to"] + 1


def test_a_null_token_makes_an_ordinary_call(call):
    companies(3)
    assert len(call("companies__list", continuation_token=None).value["results"]) == 3
