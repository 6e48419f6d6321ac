"""A receipt lists a field as set only if the stored row shows its value. Every receipt is compared
whole, with the row beside it.
"""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from odd.models import Device, Part, Site, Thing
from sales.models import Company, Deal, Line
from toolbooth.django.testing import acting_as


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF="stored_api")
    return acting_as(ann).call


@pytest.fixture
def thing(db):
    return Thing.objects.create(title="old", document={"a": 1}, price="1.50")


def column(name):
    return getattr(Thing.objects.get(), name)


# --- fields that were not stored ---


@pytest.mark.parametrize("tool", ["filtering__create", "async__create"])
def test_a_field_that_the_serializer_drops_is_reported_as_not_stored(call, tool):
    value = call(tool, title="t", note2="lost").value
    assert value == {
        "id": Thing.objects.get().pk,
        "title": "t",
        "set": ["title"],
        "defaulted": [],
        "not_stored": ["note2"],
    }
    assert column("title") == "t"


def test_update_receipt_lists_fields_that_were_not_stored(call, thing):
    value = call("filtering__partial_update", id=thing.pk, title="new", note2="lost").value
    identity = {"id": thing.pk, "title": "new"}
    assert value == {
        **identity,
        "set": ["title"],
        "changed": {"title": {"from": "old", "to": "new"}},
        "not_stored": ["note2"],
    }
    value = call("filtering__partial_update", id=thing.pk, note2="lost").value
    assert value == {
        **identity,
        "set": [],
        "note": "Nothing changed: what was sent was not stored.",
        "not_stored": ["note2"],
    }
    assert column("title") == "new"


@pytest.mark.parametrize("note2", ["x", "y"])
def test_a_default_shown_for_a_field_without_a_column_does_not_count_as_stored(call, note2, thing):
    sent = {"title": "t", "note2": note2, "other": None}
    made = call("withdefaults__create", sent).value
    assert (made["set"], made["not_stored"]) == (["title"], ["note2", "other"])
    changed = call("withdefaults__partial_update", id=thing.pk, **sent).value
    assert changed == {
        "id": thing.pk,
        "title": "t",
        "set": ["title"],
        "changed": {"title": {"from": "old", "to": "t"}},
        "not_stored": ["note2", "other"],
    }


def test_a_write_only_field_is_accepted_whether_it_is_stored_or_not(call, thing):
    sent = {"title": "t", "password": "secret", "handle": "h"}
    value = call("writeonly__create", sent).value
    made = Thing.objects.get(handle="h")
    assert value == {
        "id": made.pk,
        "title": "t",
        "set": ["title"],
        "defaulted": [],
        "accepted": ["password", "handle"],
    }
    value = call("writeonly__partial_update", id=thing.pk, password="secret", title="old").value
    assert value == {
        "id": thing.pk,
        "title": "old",
        "set": [],
        "unchanged": ["title"],
        "accepted": ["password"],
    }


# --- fields that were stored with another value ---


def test_a_value_that_save_changes_is_reported_with_its_stored_value(call, thing):
    value = call("shoutingserializer__create", title="loud", kind="large").value
    made = Thing.objects.get(title="LOUD")
    assert value == {
        "id": made.pk,
        "title": "LOUD",
        "set": ["kind"],
        "defaulted": ["document", "price"],
        "stored_as": {"title": "LOUD"},
    }
    value = call("shoutingserializer__partial_update", id=thing.pk, title="new").value
    assert value == {
        "id": thing.pk,
        "title": "NEW",
        "set": [],
        "changed": {"title": {"from": "old", "to": "NEW"}},
        "stored_as": {"title": "NEW"},
    }
    thing.refresh_from_db()
    assert thing.title == "NEW"


@pytest.mark.parametrize(
    ("sent", "fate"),
    [
        ({"price": 1.5}, "set"),
        ({"price": "1.50"}, "set"),
        ({"price": 1.57}, "stored_as"),
    ],
)
def test_decimals_are_compared_as_numbers(call, sent, fate):
    value = call("rounding__create", title="t", **sent).value
    assert "price" in value[fate], value
    assert (fate == "stored_as") == (str(column("price")) == "1.6000000000")


@pytest.mark.parametrize(
    ("tool", "sent", "stored_as"),
    [
        ("changing", {"size": 5}, {}),
        ("changing", {"size": 9}, {"size": 5}),
        ("changing", {"document": {"a": 1.5, "b": "2"}}, {}),
        ("changingmore", {"document": {"a": 1.5}}, {"document": {"a": "1.50", "more": "1.00"}}),
        ("changing", {"day": "2026-01-02"}, {}),
        ("changing", {"day": "1999-01-02"}, {"day": None}),
    ],
)
def test_a_value_that_the_serializer_changes_is_reported_with_its_stored_value(
    call, tool, sent, stored_as
):
    value = call(f"{tool}__create", title="t", **sent).value
    made = Thing.objects.get()
    assert value.get("stored_as", {}) == stored_as, value
    assert value["set"] == ["title", *(name for name in sent if name not in stored_as)]
    assert (made.size, str(made.day)) == (
        5 if "size" in sent else 3,
        "2026-01-02" if sent.get("day", "").startswith("2026") else "None",
    )


@pytest.mark.parametrize(
    "document", [{"a": True}, [1, {"b": None}], {"a": 1.5}, {"n": {"m": []}}, {}]
)
def test_json_documents_are_compared_as_json(call, document):
    value = call("thingserializer__create", title="t", document=document).value
    assert value["set"] == ["title", "document"], value
    assert column("document") == document


# --- rows that were not saved as they are shown ---


def test_the_receipt_of_an_unsaved_row_lists_no_stored_field(call):
    value = call("neversaved__create", title="t", kind="large").value
    assert value == {
        "id": None,
        "title": "t",
        "set": [],
        "defaulted": ["document", "price"],
        "not_stored": ["title", "kind"],
    }
    assert Thing.objects.count() == 0


def test_update_receipt_of_an_unsaved_change_lists_it_as_unchanged(call, thing):
    value = call("neversaved__partial_update", id=thing.pk, title="new").value
    assert value == {
        "id": thing.pk,
        "title": "old",
        "set": [],
        "unchanged": ["title"],
        "note": "Nothing changed: the view stored something else.",
        "stored_as": {"title": "old"},
    }
    assert column("title") == "old"


def test_a_field_that_save_leaves_out_was_not_set(call, thing):
    value = call("savedinpart__partial_update", id=thing.pk, title="new", kind="large").value
    assert value == {
        "id": thing.pk,
        "title": "new",
        "set": ["title"],
        "changed": {"title": {"from": "old", "to": "new"}},
        "unchanged": ["kind"],
        "stored_as": {"kind": "small"},
    }
    assert (column("title"), column("kind")) == ("new", "small")


def test_a_value_that_is_changed_after_save_was_not_set(call):
    value = call("changedlater__create", title="t", document={"a": 1}).value
    assert value == {
        "id": Thing.objects.get().pk,
        "title": "first",
        "set": [],
        "defaulted": ["kind", "price"],
        "stored_as": {"title": "first", "document": {}},
    }
    assert (column("title"), column("document")) == ("first", {})


def test_a_row_that_is_written_without_save_is_read_back(call, thing):
    value = call("byquery__partial_update", id=thing.pk, title="new", kind="small").value
    assert value == {
        "id": thing.pk,
        "title": "new",
        "set": ["title"],
        "changed": {"title": {"from": "old", "to": "new"}},
        "unchanged": ["kind"],
    }
    assert column("title") == "new"
    Thing.objects.all().delete()
    value = call("byquery__create", title="t").value
    assert (value["set"], value["id"]) == (["title"], Thing.objects.get().pk)


def queries(call, tool, **fields):
    with CaptureQueriesContext(connection) as found:
        call(tool, **fields)
    return len(found)


def test_only_a_row_that_save_did_not_write_is_read_back(call, thing):
    for tool, more in [("thingserializer", 0), ("shoutingserializer", 0), ("neversaved", 1)]:
        update = {"tool": f"{tool}__partial_update", "id": thing.pk}
        queries(call, **update, title="warm")
        alone = queries(call, **update, title=f"{tool} a", verify=True)
        # One query finds the row as it was before.
        assert queries(call, **update, title=f"{tool} b") == alone + 1 + more, tool
    # Another title: for an equal create, one more query looks whether the earlier row exists.
    assert queries(call, "filtering__create", title="t", note2="x") == queries(
        call, "filtering__create", title="u", note2="x", verify=True
    )


# --- relations, other forms, other names ---


@pytest.fixture
def sites(db):
    Part.objects.create(number="1", token="one")
    Part.objects.create(number="2", token="two")
    return [Site.objects.create(slug=slug, name=slug.upper()) for slug in ("hq", "other")]


def test_relations_are_compared_by_key_in_every_representation(call, sites):
    parts = ["1", {"number": "2"}]
    value = call("devices__create", label="d", site={"slug": "hq"}, parts=parts).value
    made = Device.objects.get()
    assert value == {
        "serial": str(made.pk),
        "set": ["label", "site", "parts"],
        "defaulted": [],
    }
    assert (made.site, made.parts.count()) == (sites[0], 2)


@pytest.mark.parametrize("site", [{"slug": "hq"}, {"name": "HQ"}, "key"], ids=str)
def test_other_row_stored_than_the_named_one_is_reported(call, sites, site):
    sent = {"site": sites[0].pk if site == "key" else site, "parts": ["1"]}
    value = call("overruled__create", label="d", **sent).value
    made = Device.objects.get()
    assert value == {
        "serial": str(made.pk),
        "set": ["label"],
        "defaulted": [],
        "stored_as": {"site": {"called": "OTHER"}, "parts": 0},
    }
    assert (made.site, made.parts.count()) == (sites[1], 0)


def test_field_hidden_by_rest_is_compared_and_not_shown(call, sites):
    value = call("briefly__create", label="d", site={"slug": "hq"}, parts=["1"]).value
    made = Device.objects.get()
    assert value == {
        "serial": str(made.pk),
        "set": ["label"],
        "defaulted": ["site_name"],
        "not_stored": ["site", "parts"],
    }


def test_masked_value_counts_as_set_if_the_row_has_it(call, thing):
    value = call("masking__create", title="t").value
    assert (value["set"], "stored_as" in value) == (["title"], False)
    value = call("masking__partial_update", id=thing.pk, title="new").value
    assert value == {"id": thing.pk, "title": "***", "set": ["title"]}


def test_a_plain_body_is_compared_with_the_columns_of_its_names(call, settings_of):
    names = ("title", "handle", "mood", "unknown")
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    settings_of(TOOLBOOTH={"BODIES": {"thingserializer__create": schema}})
    value = call("thingserializer__create", title="t", handle="h", mood="", unknown="u").value
    made = Thing.objects.get()
    assert (made.title, made.handle, made.mood) == ("t", "", "")
    assert value == {
        "id": made.pk,
        "title": "t",
        "set": ["title", "mood"],
        "defaulted": [],
        "not_stored": ["handle", "unknown"],
        "assigned": {"kind": "small", "document": None, "price": None},
    }


def test_a_receipt_that_cannot_be_written_is_the_whole_object(call):
    value = call("failing__create", title="new").value
    assert value == {
        "id": Thing.objects.get().pk,
        "title": "***",
        "kind": "small",
        "document": None,
        "price": None,
    }
    assert column("title") == "new"


def test_fields_are_compared_under_the_names_of_their_columns(call):
    value = call("renaming__create", label=" t ", whole="h").value
    made = Thing.objects.get()
    assert (made.title, made.handle) == ("t", "h")
    assert value == {
        "id": made.pk,
        "set": [],
        "defaulted": [],
        "accepted": ["whole"],
        "stored_as": {"label": "t"},
    }


def test_a_related_row_that_was_not_saved_is_read_back(call, sites):
    device = Device.objects.create(label="d", site=sites[0])
    value = call("dotted__partial_update", serial=str(device.pk), site_name="new").value
    sites[0].refresh_from_db()
    assert sites[0].name == "HQ"
    assert value == {
        "serial": str(device.pk),
        "set": [],
        "unchanged": ["site_name"],
        "note": "Nothing changed: the view stored something else.",
        "stored_as": {"site_name": "HQ"},
    }


def test_a_part_of_a_document_is_set_if_the_document_was_saved(call, thing):
    value = call("indocument__partial_update", id=thing.pk, city="Rome", title="new").value
    assert value == {
        "id": thing.pk,
        "title": "new",
        "set": ["city", "title"],
        "changed": {"title": {"from": "old", "to": "new"}},
    }
    assert column("document") == {"a": 1, "city": "Rome"}
    value = call("indocument__partial_update", id=thing.pk, city="Oslo").value
    assert value == {
        "id": thing.pk,
        "title": "new",
        "set": [],
        "unchanged": ["city"],
        "note": "Nothing changed: the view stored something else.",
        "stored_as": {"city": "Rome"},
    }
    assert column("document") == {"a": 1, "city": "Rome"}


def test_part_of_a_nested_row_that_is_not_stored_is_reported(call):
    acme = Company.objects.create(name="Acme").pk
    line = {"product": "tea", "price": 2.5}
    value = call("deals__create", title="t", company=acme, lines=[{**line, "secret": "s"}]).value
    assert value["set"] == ["title", "company", "lines"]
    value = call("deals__create", title="t", company=acme, lines=[{**line, "remark": "r"}]).value
    assert value == {
        "id": Deal.objects.latest("id").pk,
        "title": "t",
        "set": ["title", "company"],
        "defaulted": [],
        "stored_as": {"lines": [{"product": "tea", "price": 2.5}]},
    }
    assert [str(each.price) for each in Line.objects.all()] == ["2.50", "2.50"]


def test_bulk_receipt_lists_keys_and_no_set_fields(call):
    rows = [{"title": "a", "note2": "lost"}, {"title": "b"}]
    value = call("filtering__create", objects=rows).value
    made = list(Thing.objects.order_by("id"))
    assert value == {"created": 2, "order": "as sent", "ids": [each.pk for each in made]}
    assert [each.title for each in made] == ["a", "b"]
