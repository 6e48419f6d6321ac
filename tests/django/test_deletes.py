"""Deletes: the description of a tool, its receipt, and that both are true."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from estates.models import (
    Archive,
    Club,
    Estate,
    Guest,
    House,
    Lease,
    Mark,
    Membership,
    Permit,
    Room,
    Shadow,
    Tenant,
    Visit,
    Visitor,
)
from sales.models import Company, Contact, Deal, Line, Tag
from toolbooth.django.testing import acting_as


def serializer_for(model):
    meta = type("Meta", (), {"model": model, "fields": "__all__"})
    name = f"{model.__name__}Serializer"
    return type(name, (serializers.ModelSerializer,), {"Meta": meta})


class Rows(viewsets.ModelViewSet):
    permission_classes = [IsAuthenticated]


class OwnRows(Rows):
    """Staff see all rows, others their own."""

    def get_queryset(self):
        rows = super().get_queryset()
        return rows if self.request.user.is_staff else rows.filter(owner=self.request.user)


OWNED = (House, Lease)
OTHERS = (Room, Tenant, Guest, Visitor, Permit, Shadow, Mark, Club, Membership, Archive)


def urls(*views):
    router = SimpleRouter()
    for view in views:
        name = view.queryset.model._meta.verbose_name_plural
        router.register(name, view, name)
    return type("Urls", (), {"urlpatterns": [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]})  # fmt: skip


def view_for(model, base=Rows, **attributes):
    parts = {"queryset": model.objects.order_by("pk"), "serializer_class": serializer_for(model)}
    return type(f"{model.__name__}View", (base,), {**parts, **attributes})


ESTATES = view_for(Estate)
ALL = [ESTATES, *(view_for(each, OwnRows) for each in OWNED), *map(view_for, OTHERS)]


@pytest.fixture
def staff(db):
    return User.objects.create_user("staff", is_staff=True)


@pytest.fixture
def every_kind(settings_of):
    settings_of(ROOT_URLCONF=urls(*ALL))


def description(user, tool):
    return acting_as(user).tools()[tool]["description"]


# --- before -------------------------------------------------------------------------------------


def test_delete_description_lists_cascades_unlinked_rows_and_blockers(every_kind, staff):
    assert description(staff, "estates__destroy").endswith(
        "Delete an estate. Also deletes its houses and marks and their rooms and memberships."
        " Tenants stay, without an estate. Guests and visitors stay, with another estate or none."
        " Refused while leases and permits refer to it."
    )


def test_delete_description_names_only_published_resources(settings_of, staff):
    settings_of(ROOT_URLCONF=urls(ESTATES, view_for(Tenant)))
    assert description(staff, "estates__destroy").endswith("Tenants stay, without an estate.")
    settings_of(ROOT_URLCONF=urls(ESTATES))
    assert "stay" not in description(staff, "estates__destroy")


def test_a_custom_perform_destroy_is_described_without_consequences(settings_of, staff):
    def perform_destroy(self, instance):
        instance.save()

    own = view_for(Estate, perform_destroy=perform_destroy)
    settings_of(ROOT_URLCONF=urls(own, view_for(Tenant), view_for(Archive)))
    assert "stay" not in description(staff, "estates__destroy")
    assert "lso deletes" not in description(staff, "archives__destroy")


def test_delete_description_of_the_example_project(ann):
    assert description(ann, "companies__destroy").endswith(
        "Delete a company. Also deletes its deals and their lines. Contacts stay, without a company."
    )


# --- after --------------------------------------------------------------------------------------


def test_delete_receipt_counts_cascaded_and_unlinked_rows(ann):
    company = Company.objects.create(name="Acme")
    deal = Deal.objects.create(title="A", company=company)
    Line.objects.bulk_create(Line(deal=deal, product=name, price=1) for name in "ab")
    for number in range(5):
        Contact.objects.create(email=f"{number}@example.org", company=company)
    result = acting_as(ann).call("companies__destroy", id=company.pk)
    assert result.value == {
        "deleted": {"deal lines": 2, "deals": 1, "companies": 1},
        "unlinked": {"contacts": 5},
    }


def test_the_receipt_counts_links_between_rows(ann):
    tag = Tag.objects.create(slug="vip", title="VIP")
    for number in range(3):
        Contact.objects.create(email=f"{number}@example.org").tags.add(tag)
    result = acting_as(ann).call("tags__destroy", slug="vip")
    assert result.value == {"deleted": {"contact-tag relationships": 3, "tags": 1}}


NUMBERS = st.integers(0, 3)


class Sites(Rows):
    """Deletes an estate in the way that the test sets."""

    queryset = Estate.objects.order_by("pk")
    serializer_class = serializer_for(Estate)
    way = "cascade"

    def destroy(self, request, *args, **kwargs):
        if self.way != "own answer":
            return super().destroy(request, *args, **kwargs)
        estate = self.get_object()
        Tenant.objects.filter(estate=estate).delete()
        estate.delete()
        return Response({"detail": "moved out"})

    def perform_destroy(self, instance):
        if self.way == "soft":
            instance.name = "gone"
            instance.save(update_fields=["name"])
        elif self.way == "tenants first":
            Tenant.objects.filter(estate=instance).delete()
            with transaction.atomic():
                Visitor.objects.all().delete()
                transaction.set_rollback(True)
            instance.delete()
        elif self.way == "archives":
            for archive in Archive.objects.all():
                archive.delete()
            instance.delete()
        else:
            instance.delete()


WAYS = ("cascade", "soft", "tenants first", "archives", "own answer")


@pytest.fixture
def every_way(settings_of):
    """Every kind of row, and estates that are deleted in several ways."""
    others = [each for each in ALL if each is not ESTATES]
    settings_of(ROOT_URLCONF=urls(Sites, view_for(Visit), *others))


def in_database():
    models = (Estate, *OWNED, *OTHERS, Visit, Club.estates.through)
    return {
        str(each._meta.verbose_name_plural): list(each._base_manager.values()) for each in models
    }


@given(
    houses=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.booleans()), max_size=3),
    tenants=NUMBERS,
    guests=NUMBERS,
    visitors=NUMBERS,
    shadows=NUMBERS,
    marks=NUMBERS,
    clubs=NUMBERS,
    archives=NUMBERS,
    leases=st.sampled_from([0, 0, 0, 1, 3]),
    permits=st.sampled_from([0, 0, 0, 1, 3]),
    way=st.sampled_from(WAYS),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reported_counts_equal_the_deleted_rows(
    every_way,
    staff,
    houses,
    tenants,
    guests,
    visitors,
    shadows,
    marks,
    clubs,
    archives,
    leases,
    permits,
    way,
):
    Sites.way = way
    with transaction.atomic():
        Estate.objects.create(name="stays")
        estate = Estate.objects.create(name="goes")
        for rooms, members, visits, is_marked in houses:
            house = House.objects.create(estate=estate)
            above = None
            for _ in range(rooms):
                above = Room.objects.create(house=house, above=above)
            for _ in range(members):
                Membership.objects.create(house=house, club=Club.objects.create())
            # A visit restricts its house, but goes with the estate of both.
            Visit.objects.bulk_create(Visit(estate=estate, house=house) for _ in range(visits))
            if is_marked:
                Mark.objects.create(target=house)
        of_estate = {
            Tenant: tenants,
            Guest: guests,
            Visitor: visitors,
            Shadow: shadows,
            Lease: leases,
            Permit: permits,
        }
        for model, number in of_estate.items():
            model.objects.bulk_create(model(estate=estate) for _ in range(number))
        Archive.objects.bulk_create(Archive() for _ in range(archives))
        for _ in range(marks):
            Mark.objects.create(target=estate)
        for _ in range(clubs):
            Club.objects.create().estates.add(estate)
        rows_before = in_database()
        result = acting_as(staff).call("estates__destroy", id=estate.pk)
        rows_after = in_database()
        hidden = Archive.objects.filter(is_hidden=True).count()
        name = Estate.objects.filter(pk=estate.pk).values_list("name", flat=True).first()
        blockers = list(Lease.objects.all()) + list(Permit.objects.all())
        transaction.set_rollback(True)
    if (leases or permits) and way != "soft":
        assert result.is_error
        assert rows_after == rows_before
        assert all(str(each.pk) in result.text for each in blockers[: leases or permits])
        return
    assert not result.is_error, result.text
    value = result.value
    lost = {each: len(rows) - len(rows_after[each]) for each, rows in rows_before.items()}
    gone = {each: count for each, count in lost.items() if count}
    moved = {"tenants": tenants, "guests": guests, "visitors": visitors}
    changed = {}
    if way == "soft":
        assert name == "gone"
        assert value.pop("note") == "The API keeps the row: it was changed, not deleted."
        moved, changed = {}, {"estates": 1}
    if way in ("tenants first", "own answer"):
        del moved["tenants"]
    if way == "archives":
        changed = {"archives": hidden}
        assert hidden == archives
    if way == "own answer":
        assert value.pop("detail") == "moved out"
    assert value.pop("deleted") == gone
    assert value.pop("unlinked", {}) == {each: count for each, count in moved.items() if count}
    assert value.pop("changed", {}) == {each: count for each, count in changed.items() if count}
    assert value == {}


def test_a_row_that_is_hidden_instead_of_deleted_is_reported_as_changed(settings_of, staff):
    settings_of(ROOT_URLCONF=urls(view_for(Archive)))
    row = Archive.objects.create()
    assert acting_as(staff).call("archives__destroy", id=row.pk).value == {
        "deleted": {},
        "changed": {"archives": 1},
        "note": "The API keeps the row: it was changed, not deleted.",
    }
    assert Archive.objects.get().is_hidden


def test_a_custom_destroy_is_counted_as_it_happens_and_keeps_its_answer(settings_of, staff):
    def destroy(self, request, pk=None):
        Tenant.objects.filter(estate=pk).delete()
        with transaction.atomic():
            Room.objects.all().delete()
            transaction.set_rollback(True)
        return Response({"detail": "moved out"})

    own = view_for(Estate, destroy=destroy)
    settings_of(ROOT_URLCONF=urls(own, view_for(Tenant), view_for(Room)))
    estate = Estate.objects.create()
    Room.objects.create(house=House.objects.create(estate=estate))
    Tenant.objects.bulk_create(Tenant(estate=estate) for _ in range(2))
    assert acting_as(staff).call("estates__destroy", id=estate.pk).value == {
        "detail": "moved out",
        "deleted": {"tenants": 2},
    }
    assert Room.objects.count() == 1


def test_custom_delete_response_is_returned_unchanged(settings_of, staff):
    def destroy(self, request, pk=None):
        Tenant.objects.filter(estate=pk).delete()
        return Response({"deleted": 1})

    settings_of(ROOT_URLCONF=urls(view_for(Estate, destroy=destroy), view_for(Tenant)))
    estate = Estate.objects.create()
    Tenant.objects.create(estate=estate)
    assert acting_as(staff).call("estates__destroy", id=estate.pk).value == {"deleted": 1}


def test_a_part_that_is_rolled_back_is_not_counted_within_a_transaction(settings_of, staff):
    def perform_destroy(self, instance):
        try:
            with transaction.atomic():
                Tenant.objects.all().delete()
                raise ValueError
        except ValueError:
            instance.delete()

    settings_of(
        ROOT_URLCONF=urls(view_for(Estate, perform_destroy=perform_destroy), view_for(Tenant))
    )
    estate = Estate.objects.create()
    Tenant.objects.create()
    with transaction.atomic():
        value = acting_as(staff).call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {"estates": 1}}


def test_delete_that_removes_no_row_has_a_note(settings_of, staff):
    view = view_for(Estate, perform_destroy=lambda self, instance: None)
    settings_of(ROOT_URLCONF=urls(view))
    estate = Estate.objects.create()
    assert acting_as(staff).call("estates__destroy", id=estate.pk).value == {
        "deleted": {},
        "note": "The API accepted the call, but no row was deleted or changed.",
    }


def test_counting_does_not_prevent_fast_deletes(settings_of, staff):
    """A receiver of `post_delete` would make Django read each row first."""
    settings_of(ROOT_URLCONF=urls(ESTATES, view_for(Shadow)))
    shadow = Shadow.objects.create(estate_id=1)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        acting_as(staff).call("shadows__destroy", id=shadow.pk)
    deletes = [each["sql"] for each in queries if each["sql"].startswith("DELETE")]
    assert len(deletes) == 1


# --- information withheld from a caller ----------------------------------------------------------


def test_rows_that_a_caller_cannot_list_are_not_counted(settings_of, staff, ann):
    settings_of(ROOT_URLCONF=urls(ESTATES, view_for(House, OwnRows)))
    bob = User.objects.create_user("bob")

    def deleted_by(user):
        estate = Estate.objects.create()
        for owner in (ann, ann, bob, None):
            House.objects.create(estate=estate, owner=owner)
        return acting_as(user).call("estates__destroy", id=estate.pk).value

    note = "Other records were deleted or changed too."
    assert deleted_by(staff) == {"deleted": {"houses": 4, "estates": 1}}
    assert deleted_by(ann) == {"deleted": {"houses": 2, "estates": 1}, "note": note}
    assert deleted_by(bob) == {"deleted": {"houses": 1, "estates": 1}, "note": note}
    nobody = User.objects.create_user("nobody")
    assert deleted_by(nobody) == {"deleted": {"estates": 1}, "note": note}


def test_models_that_are_not_published_are_not_named(settings_of, staff):
    settings_of(ROOT_URLCONF=urls(ESTATES))
    estate = Estate.objects.create()
    Room.objects.create(house=House.objects.create(estate=estate))
    Tenant.objects.create(estate=estate)
    assert acting_as(staff).call("estates__destroy", id=estate.pk).value == {
        "deleted": {"estates": 1},
        "note": "Other records were deleted or changed too.",
    }


# --- blocked ------------------------------------------------------------------------------------


def test_a_blocked_delete_names_the_rows_that_prevent_it(every_kind, staff, ann):
    estate = Estate.objects.create()
    mine = Lease.objects.create(estate=estate, name="Mill", owner=ann)
    other = Lease.objects.create(estate=estate, name="Barn")

    def refusal_for(user):
        result = acting_as(user).call("estates__destroy", id=estate.pk)
        assert result.is_error
        return result.text

    assert f'leases {mine.pk} ("Mill"), {other.pk} ("Barn") refer to it' in refusal_for(staff)
    for_ann = refusal_for(ann)
    assert f'leases {mine.pk} ("Mill"); other records' in for_ann
    assert "Barn" not in for_ann
    bob = User.objects.create_user("bob")
    for_bob = refusal_for(bob)
    assert "It cannot be deleted: other records refer to it." in for_bob
    assert Estate.objects.count() == 1


def test_a_restricted_delete_names_the_rows_too(every_kind, staff):
    estate = Estate.objects.create()
    permit = Permit.objects.create(estate=estate)
    text = acting_as(staff).call("estates__destroy", id=estate.pk).text
    assert f"permits {permit.pk} refer to it; delete or change them first" in text
    assert Estate.objects.count() == 1
