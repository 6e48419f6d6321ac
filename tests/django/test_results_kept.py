"""Results of calls that cannot be repeated are stored, and receipts of many rows are short."""

import json
from hashlib import sha256

import pytest
from django.core.cache import cache

from odd.models import Log
from results_api import answer, companies, joined, pages_of, serving
from sales.models import Company, Contact


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    return serving(settings_of, ann, monkeypatch)


@pytest.fixture
def call(serve):
    return serve()


# --- results of calls that cannot be repeated ---


def test_result_of_a_post_action_is_kept_and_not_run_again(call):
    first = call("runs__run")
    pages = pages_of(call, "runs__run", first)
    assert len(pages) > 1
    whole = {"ran": 1, "lines": [f"line {number}" for number in range(1000)]}
    assert json.loads(joined(pages)) == whole
    assert Log.objects.count() == 1


def test_summary_of_a_post_action_can_be_continued(call):
    told = call("runs__run", mode="summary").value
    assert (told["rows"], told["count"], told["beside"]) == ("lines", 1000, {"ran": 1})
    token = told["continuation"]["continuation_token"]
    assert call("runs__run", continuation_token=token).value["lines"][0] == "line 0"
    assert len(call("runs__run", continuation_token=token, mode="full").value["lines"]) == 1000
    assert Log.objects.count() == 1


@pytest.mark.parametrize(
    "backend", ["django.core.cache.backends.dummy.DummyCache", "broken_cache.Broken"]
)
def test_without_a_working_cache_the_result_is_sent_whole(serve, settings_of, caplog, backend):
    default = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    settings_of(CACHES={"default": default, "kept": {"BACKEND": backend}})
    call = serve(CACHE="kept")
    assert len(call("runs__run").value["lines"]) == 1000
    for mode in ("summary", "page"):
        whole = call("runs__run", mode=mode).value
        assert len(whole["lines"]) == 1000
        assert whole["continuation"] == {
            "note": "The whole result: this server cannot keep it, so it cannot return it in pages."
        }
    assert list(call("runs__run", mode="full").value) == ["ran", "lines"]
    made = call(
        "contacts__create", objects=[{"email": f"{number}@x.io"} for number in range(150)]
    ).value
    assert len(made["ids"]) == made["created"] == 150
    assert list(made) == ["created", "order", "ids"]
    companies(200)
    assert "continuation" in call("companies__list").value
    assert ("nobody answers" in caplog.text) == (backend == "broken_cache.Broken")


LONG = "".join(sha256(str(number).encode()).hexdigest() for number in range(100))
"""More than fits in a token."""


def test_query_with_very_long_arguments_runs_again_for_the_next_page(serve):
    companies(200)
    call = serve(ARGUMENTS={"continuation_token": "more"})
    first = call("own__list", why=LONG, filter_keys=["id", "name", "website"]).value
    token = first["continuation"]["more"]
    assert len(token) < 500
    Company.objects.filter(name="company 0199").update(name="zzz")
    second = call("own__list", more=token).value
    assert second["results"][0].keys() == {"id", "name", "website"}
    assert second["continuation"]["from"] == first["continuation"]["to"] + 1
    assert second["continuation"]["note"].startswith(
        "The result has changed since the previous page"
    )
    rest = call(
        "own__list", more=second["continuation"]["more"], mode="full", filter_keys=["name"]
    ).value
    assert rest["results"][-1] == {"name": "zzz"}


def test_the_pages_of_a_query_with_very_long_arguments_add_up_to_the_whole(call):
    answer["value"] = list(range(3_000))
    pages = pages_of(call, "anything__get", call("anything__get", why=LONG))
    assert len(pages) > 2
    assert json.loads(joined(pages)) == {"results": list(range(3_000))}


def test_expired_long_arguments_must_be_sent_again(call):
    answer["value"] = list(range(3_000))
    token = call("anything__get", why=LONG).value["continuation"]["continuation_token"]
    cache.clear()
    assert call("anything__get", continuation_token=token).text.endswith(
        "- $.continuation_token: continues a call whose arguments are no longer kept; "
        "call anything__get again with the arguments of the first call"
    )


# --- many rows ---


def test_the_receipt_of_many_rows_stays_short(serve):
    call = serve(MAX_RESULT=5_000)
    rows = [{"email": f"{number}@x.io"} for number in range(1000)]
    made = call("contacts__create", objects=rows)
    assert made.value["created"] == 1000
    assert len(made.value["ids"]) == 100
    assert len(made.text) < 4_500
    assert made.value["continuation"]["note"].startswith("900 more in ids.")
    pages = pages_of(call, "contacts__create", made, most=5_000)
    shown = [key for page in pages for key in page["ids"]]
    assert shown == [str(Contact.objects.get(email=row["email"]).pk) for row in rows]
    assert Contact.objects.count() == 1000


def test_the_receipt_of_sixty_rows_lists_their_keys(serve):
    made = serve(MAX_RESULT=40_000)(
        "contacts__create", objects=[{"email": f"{n}@x.io"} for n in range(60)]
    )
    assert list(made.value) == ["created", "order", "ids"]
    assert len(made.text) - len(json.dumps(made.value["ids"], separators=(",", ":"))) <= 120


def test_rows_without_keys_are_returned_in_pages(call):
    made = call("keyless__create", objects=[{"email": f"{number}@x.io"} for number in range(300)])
    pages = pages_of(call, "keyless__create", made)
    assert [row["email"] for page in pages for row in page["results"]] == [
        f"{n}@x.io" for n in range(300)
    ]


def test_all_rows_are_returned_on_request(call):
    made = call(
        "contacts__create",
        objects=[{"email": f"{number}@x.io"} for number in range(150)],
        verify=True,
    )
    assert len(made.value["results"]) == 150


def test_result_of_a_bulk_tool_can_be_continued(serve):
    call = serve(BULK_TOOLS=True, MAX_RESULT=5_000)
    made = call(
        "contacts__bulk_create", objects=[{"email": f"{number}@x.io"} for number in range(150)]
    )
    token = made.value["continuation"]["continuation_token"]
    assert len(call("contacts__bulk_create", continuation_token=token).value["ids"]) == 50
    assert (
        "belongs to contacts__bulk_create"
        in call("contacts__create", continuation_token=token).text
    )
