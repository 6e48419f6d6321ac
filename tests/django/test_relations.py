"""A relation is sent by its key, or by an object that names one row
(docs/project/evidence/nested-wrapper.md).
"""

import pytest
from django.contrib.auth.models import User

from odd.models import Device, Part, Site
from sales.models import Company, Contact, Deal, Tag


@pytest.fixture
def hq(db):
    Site.objects.create(slug="b-1", name="branch")
    Site.objects.create(slug="b-2", name="branch")
    return Site.objects.create(slug="hq-1", name="hq")


def problems(result):
    return [(each["path"], each["message"]) for each in result["_meta"]["toolbooth"]["problems"]]


@pytest.mark.parametrize(
    "named",
    [
        lambda site: site.pk,
        lambda site: str(site.pk),
        lambda site: {"name": "hq"},
        lambda site: {"slug": "hq-1"},
        lambda site: {"id": site.pk},
        lambda site: {"pk": site.pk},
        lambda site: {"name": "hq", "slug": "hq-1"},
        lambda site: '{"name": "hq"}',
    ],
    ids=["key", "key-as-text", "name", "slug", "id", "pk", "two-names", "json-text"],
)
def test_a_row_is_named_by_key_or_by_object(mcp, hq, named):
    assert mcp("devices__create", {"label": "d", "site": named(hq)})["isError"] is False
    assert Device.objects.get().site == hq


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"name": "nowhere"}, "there is no site with name 'nowhere'"),
        ({"name": "HQ"}, "there is no site with name 'HQ'"),
        ({"name": "hq", "slug": "b-1"}, "there is no site with name 'hq' and slug 'b-1'"),
        ({"name": "branch"}, "more than one site has name 'branch'; send its key"),
        ({}, "names no row; send its key, or one of id, slug, name, pk"),
        (99, 'no site "99"'),
    ],
)
def test_a_row_that_is_not_exactly_one_is_refused(mcp, hq, named, message):
    [(path, told)] = problems(mcp("devices__create", {"label": "d", "site": named}))
    assert (path, told.partition("; existing: ")[0]) == ("$.site", message)
    assert Device.objects.count() == 0


@pytest.mark.parametrize("key", ["names", "owner", "label", "name__icontains", "data"])
def test_other_fields_do_not_name_a_row(mcp, hq, key):
    assert mcp("devices__create", {"site": {key: "hq"}})["isError"] is True
    assert Device.objects.count() == 0


def test_null_clears_a_relation(mcp, hq):
    device = Device.objects.create(site=hq)
    assert mcp(
        "sitedevices__partial_update",
        {"site_pk": hq.pk, "serial_in_path": str(device.pk), "site": None},
    )
    device.refresh_from_db()
    assert device.site is None


def test_each_of_several_rows_can_be_named_in_its_own_way(mcp):
    for slug in ("a", "b", "c"):
        Tag.objects.create(slug=slug, title=slug.upper())
    assert (
        mcp("contacts__create", {"email": "x@example.com", "tags": ["a", {"slug": "b"}]})["isError"]
        is False
    )
    assert sorted(tag.slug for tag in Contact.objects.get().tags.all()) == ["a", "b"]
    result = mcp("contacts__create", {"tags": ["a", {"slug": "z"}, {"slug": "y"}]})
    assert [path for path, _ in problems(result)] == ["$.tags[1]", "$.tags[2]"]
    assert Contact.objects.count() == 1


def test_rows_are_named_at_any_depth(mcp, hq):
    Part.objects.create(number="p1", token="t1")
    devices = [
        {"label": "a", "site": {"slug": "hq-1"}, "parts": ["p1"]},
        {"label": "b", "parts": [{"number": "p1"}]},
    ]
    assert mcp("shelf__put", {"label": "s", "devices": devices})["isError"] is False
    assert [
        (each.label, each.site, each.parts.count()) for each in Device.objects.order_by("label")
    ] == [
        ("a", hq, 1),
        ("b", None, 1),
    ]
    wrong = [{"label": "c", "site": {"slug": "nowhere"}}]
    assert [path for path, _ in problems(mcp("shelf__put", {"label": "s", "devices": wrong}))] == [
        "$.devices[0].site"
    ]


def test_a_wrapper_around_a_related_row_is_a_wrapper(mcp, hq):
    result = mcp("devices__create", {"site": {"data": {"slug": "hq-1"}}})
    assert [each["code"] for each in result["_meta"]["toolbooth"]["problems"]] == ["nested-wrapper"]
    assert Device.objects.count() == 0


def test_links_and_slugs_name_rows_too(mcp, hq):
    Part.objects.create(number="p1", token="t1")
    address = "http://testserver/odd/sites/hq-1/"
    for site in (address, "/odd/sites/hq-1/", {"name": "hq"}):
        assert (
            mcp("linked__create", {"site": site, "parts": ["t1", {"number": "p1"}]})["isError"]
            is False
        )
        device = Device.objects.get()
        assert (device.site, device.parts.count()) == (hq, 1)
        device.delete()


def test_a_secret_field_cannot_name_a_row(mcp):
    Part.objects.create(number="p1", token="t1")
    assert mcp("devices__create", {"parts": [{"token": "t1"}]})["isError"] is True


def test_rows_are_looked_up_in_the_queryset_of_the_field(mcp, ann, hq):
    mine = Site.objects.create(slug="mine", name="mine", owner=ann)
    assert problems(mcp("owned__create", {"site": {"slug": "hq-1"}})) == [
        (
            "$.site",
            f"there is no site with slug 'hq-1'; existing: {mine.pk} (\"mine\");"
            " create one with site__create",
        )
    ]
    assert mcp("owned__create", {"site": {"slug": "mine"}})["isError"] is False
    assert Device.objects.get().site == mine


def test_anonymous_caller_cannot_probe_for_existing_rows(mcp_as, hq):
    User.objects.create_user("bob", password="pw")
    reply = mcp_as(None)("devices__create", {"site": {"slug": "hq-1"}}, raw=True)
    assert reply.status_code == 401
    reply = mcp_as(None)("devices__create", {"site": {"slug": "nowhere"}}, raw=True)
    assert reply.status_code == 401


def test_a_required_relation_is_named_by_an_object(mcp, db):
    Company.objects.create(name="Acme")
    assert mcp("deals__create", {"title": "Big", "company": {"name": "Acme"}})["isError"] is False
    assert Deal.objects.get().company.name == "Acme"
