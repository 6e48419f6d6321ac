"""`preview: true`: the receipt of a write that is rolled back, and no other effect."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odd.models import Annex, Badge, Depot, Device, Part, Rack, Site, Vendor
from preview_api import HOOKS, STOCK, Stock
from sales.models import Company, Contact, Deal, Line, Note, Tag
from toolbooth.django.testing import acting_as

GENERATED = "a generated value"


def every_row() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    every = apps.get_models(include_auto_created=True)
    return {
        each._meta.label: sorted(each._base_manager.values_list(), key=repr)
        for each in every
        if not each._meta.proxy
    }


def rows(ann: User) -> dict[str, Any]:
    """Create some rows of each kind, with links between them. Returns the keys of some of them."""
    acme, other = (Company.objects.create(name=name) for name in ("Acme", "Other"))
    vip = Tag.objects.create(slug="vip", title="VIP")
    bob = Contact.objects.create(email="bob@x.io", company=acme)
    bob.tags.add(vip)
    deal = Deal.objects.create(title="Deal", company=acme)
    Line.objects.create(deal=deal, product="p", price=1)
    note = Note.objects.create(owner=ann, title="note")
    site = Site.objects.create(slug="a", name="A", owner=ann)
    depot = Depot.objects.create(slug="d", name="D", doors=2)
    annex = Annex.objects.create(slug="n", name="N", floor=1)
    part = Part.objects.create(number="1", token="t")
    device = Device.objects.create(label="dev", site=site)
    device.parts.add(part)
    twin = Device.objects.create(label="twin", twin=device)
    Badge.objects.create(device=device)
    return {
        **{"acme": acme.pk, "other": other.pk, "bob": str(bob.pk), "deal": deal.pk},
        **{"note": note.pk, "site": site.pk, "depot": depot.pk, "annex": annex.pk},
        **{"device": str(device.pk), "twin": str(twin.pk), "part": part.pk, "ann": ann.pk},
        "rack": str(Rack.objects.create(name="rack").pk),
        "vendor": Vendor.objects.create(name="v", code="1").pk,
    }


Arguments = Callable[[dict[str, Any]], dict[str, Any]]

WRITES: list[tuple[str, Arguments]] = [
    ("companies__create", lambda at: {"name": "New", "employees": 3}),
    ("companies__create", lambda at: {"name": "New", "verify": True}),
    ("companies__create", lambda at: {"objects": [{"name": "B"}, {"name": "C"}]}),
    ("companies__update", lambda at: {"id": at["acme"], "name": "Acme 2"}),
    ("companies__partial_update", lambda at: {"id": at["acme"], "employees": 7}),
    ("companies__partial_update", lambda at: {"id": at["acme"], "name": "Acme"}),
    ("companies__destroy", lambda at: {"id": at["acme"]}),
    ("companies__destroy", lambda at: {"id": at["other"]}),
    ("tags__create", lambda at: {"slug": "new", "title": "New"}),
    ("tags__partial_update", lambda at: {"slug_in_path": "vip", "title": "Very"}),
    ("tags__destroy", lambda at: {"slug": "vip"}),
    ("contacts__create", lambda at: {"email": "eve@x.io", "company": at["acme"]}),
    ("contacts__create", lambda at: {"email": "e@x.io", "tags": ["vip"], "profile": {"a": 1}}),
    ("contacts__create", lambda at: {"objects": [{"email": "1@x.io"}, {"tags": ["vip"]}]}),
    ("contacts__update", lambda at: {"id": at["bob"], "email": "b@x.io", "tags": []}),
    ("contacts__partial_update", lambda at: {"id": at["bob"], "tags": []}),
    ("contacts__partial_update", lambda at: {"id": at["bob"], "company": {"name": "Other"}}),
    ("contacts__destroy", lambda at: {"id": at["bob"]}),
    ("deals__destroy", lambda at: {"id": at["deal"]}),
    ("notes__update", lambda at: {"id": at["note"], "title": "new"}),
    ("notes__partial_update", lambda at: {"id": at["note"], "pinned": True, "verify": True}),
    ("notes__destroy", lambda at: {"id": at["note"]}),
    ("sites__create", lambda at: {"slug": "b", "name": "B", "owner": at["ann"]}),
    ("sites__partial_update", lambda at: {"id": at["site"], "name": "AA"}),
    ("sites__destroy", lambda at: {"id": at["site"]}),
    ("depots__create", lambda at: {"slug": "e", "name": "E", "doors": 1}),
    ("depots__partial_update", lambda at: {"id": at["depot"], "doors": 5}),
    ("depots__destroy", lambda at: {"id": at["depot"]}),
    ("annexes__create", lambda at: {"slug": "m", "name": "M", "floor": 3}),
    ("annexes__partial_update", lambda at: {"id": at["annex"], "name": "NN", "floor": 2}),
    ("annexes__destroy", lambda at: {"id": at["annex"]}),
    ("devices__create", lambda at: {"label": "x", "parts": ["1"], "twin": at["twin"]}),
    ("devices__partial_update", lambda at: {"serial": at["device"], "parts": []}),
    ("devices__destroy", lambda at: {"serial": at["device"]}),
    ("parts__create", lambda at: {"number": "2", "token": "u"}),
    ("parts__destroy", lambda at: {"number": "1"}),
    ("racks__create", lambda at: {"name": "another"}),
    ("racks__partial_update", lambda at: {"id": at["rack"], "name": "renamed"}),
    ("racks__destroy", lambda at: {"id": at["rack"]}),
    ("vendors__update", lambda at: {"id": at["vendor"], "name": "w", "code": "2"}),
    ("vendors__destroy", lambda at: {"id": at["vendor"]}),
    ("badges__create", lambda at: {"device": at["twin"]}),
    ("badges__destroy", lambda at: {"device": at["device"]}),
]


@pytest.fixture
def call(settings_of: Any, ann: User, built_once: None) -> Any:
    settings_of(ROOT_URLCONF=Stock)
    HOOKS.clear()
    return acting_as(ann).call


@pytest.mark.parametrize(("tool", "arguments"), WRITES, ids=lambda each: each)
def test_a_preview_changes_no_row_and_has_the_receipt_of_the_write(
    call: Any, ann: User, tool: str, arguments: Arguments
) -> None:
    sent = arguments(rows(ann))
    before = every_row()
    with a_hook_for_each_write() as (registered, ran):
        previewed = call(tool, **sent, preview=True)
        assert every_row() == before
        assert not previewed.is_error
        # The preview has registered hooks, and none of them ran, not even later.
        assert registered
        assert ran == []
        assert connection.run_on_commit == []
        registered.clear()
        made = call(tool, **sent)
        # Each of them runs after the write itself.
        assert ran == registered != []
    assert not made.is_error
    assert every_row() != before or "unchanged" in made.value
    assert receipt_in(previewed.value) == without_generated(made.value)


@contextmanager
def a_hook_for_each_write() -> Iterator[tuple[list[str], list[str]]]:
    """While this is open, each statement that writes a row registers an `on_commit` hook. What it
    gives are the statements with hooks, and those whose hooks have run. No receiver is needed, with
    which a write would have no preview.
    """
    registered: list[str] = []
    ran: list[str] = []

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            registered.append(sql)
            transaction.on_commit(partial(ran.append, sql))
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield registered, ran


def receipt_in(value: dict[str, Any]) -> Any:
    """Return the answer that a preview would have given, without keys, times and generated values."""
    assert value.pop("preview") is True
    assert value.pop("written") == "nothing"
    return without_generated(value.get("receipt", value))


def without_generated(value: Any, key: str = "") -> Any:
    """Return a receipt without the values that differ for each row: keys and times."""
    if isinstance(value, dict):
        return {name: without_generated(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [without_generated(each, key) for each in value]
    is_key = key in ("id", "ids", "serial") and not isinstance(value, bool)
    is_time = isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value) is not None
    return GENERATED if is_key or is_time else value


def test_enough_writes_are_compared() -> None:
    assert len(WRITES) >= 30
    assert {tool.partition("__")[0] for tool, _ in WRITES} >= STOCK.keys()


# --- property-based ---

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
CONTACTS = st.fixed_dictionaries(
    {},
    optional={
        "email": st.sampled_from(["a@x.io", "", "not an address"]),
        "first_name": NAMES,
        "notes": NAMES,
        "profile": st.dictionaries(NAMES, st.integers() | NAMES, max_size=2),
        "subscribed": st.booleans(),
        "tags": st.lists(st.sampled_from(["vip", "none"]), max_size=2),
        "company": st.sampled_from([{"name": "Acme"}, {"name": "Nobody"}, None]),
    },
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sent=CONTACTS, way=st.sampled_from(["create", "many", "update", "partial_update"]))
def test_random_writes_agree_with_their_previews(
    call: Any, ann: User, sent: dict[str, Any], way: str
) -> None:
    """Also if the write is refused: then the preview is refused with the same message."""
    with transaction.atomic():
        known = rows(ann)
        before = every_row()
        tool = "contacts__create" if way == "many" else f"contacts__{way}"
        if way == "many":
            sent = {"objects": [sent, {**sent, "first_name": "Two"}]}
        elif way != "create":
            sent = {**sent, "id": known["bob"]}
        previewed = call(tool, **sent, preview=True)
        assert every_row() == before
        made = call(tool, **sent)
        assert previewed.is_error is made.is_error
        if made.is_error:
            assert every_row() == before
            assert previewed.text == made.text
        else:
            assert receipt_in(previewed.value) == without_generated(made.value)
        transaction.set_rollback(True)


def test_preview_false_makes_the_write(call: Any) -> None:
    assert "preview" not in call("companies__create", name="New", preview=False).value
    assert Company.objects.count() == 1


def test_a_preview_restores_the_connection(call: Any) -> None:
    call("companies__create", name="New", preview=True)
    assert connection.get_autocommit()
    assert not connection.in_atomic_block
    assert connection.run_on_commit == []


def test_refused_preview_states_that_nothing_was_done(call: Any) -> None:
    text = call("companies__create", name="", preview=True).text
    assert text.startswith(
        "Refused: 1 problem in the arguments of 'companies__create'. Nothing was done."
    )


def test_a_preview_of_a_missing_row_is_refused_like_the_write(call: Any) -> None:
    for tool in ("companies__destroy", "companies__partial_update"):
        assert call(tool, id=404, preview=True).text == call(tool, id=404).text


def test_the_result_of_a_preview_is_marked_first(call: Any) -> None:
    text = call("tags__create", slug="a", title="A", preview=True).text
    assert json.loads(text) == {
        "preview": True,
        "written": "nothing",
        "slug": "a",
        "title": "A",
        "set": ["slug", "title"],
        "defaulted": [],
    }
    assert text.startswith('{"preview":true,"written":"nothing",')
