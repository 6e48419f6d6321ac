"""Deletes beyond the usual: derived models, chains of rows, unusual views and statements, several
databases, and the rows that block a delete there.
"""

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import include, path
from rest_framework import permissions, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from estates.models import (
    Archive,
    Castle,
    Deed,
    Estate,
    House,
    Lease,
    Lodger,
    Manor,
    Room,
    Tax,
    Tenant,
    Visit,
)
from toolbooth.django.testing import acting_as

OTHERS = "Other records were deleted or changed too."


def serializer_for(model, fields="__all__"):
    meta = type("Meta", (), {"model": model, "fields": fields})
    return type(f"{model.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta})


class Rows(viewsets.ModelViewSet):
    permission_classes = [permissions.IsAuthenticated]


def view_for(model, base=Rows, **attributes):
    parts = {"queryset": model.objects.order_by("pk"), "serializer_class": serializer_for(model)}
    return type(f"{model.__name__}View", (base,), {**parts, **attributes})


@pytest.fixture
def serve(settings_of, db):
    """Serve these views, and call their tools as a user of the staff."""
    staff = User.objects.create_user("staff", is_staff=True)

    def serving(*views):
        router = SimpleRouter()
        for view in views:
            name = str(view.queryset.model._meta.verbose_name_plural).replace(" ", "_")
            is_taken = any(each[0] == name for each in router.registry)
            name = f"other_{name}" if is_taken else name
            router.register(name, view, name)
        patterns = [
            path("api/", include(router.urls)),
            path("mcp/", include("toolbooth.django.urls")),
        ]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return acting_as(staff)

    return serving


def description(client, tool):
    return client.tools()[tool]["description"]


# --- before -------------------------------------------------------------------------------------


def test_rows_that_refer_to_rows_that_go_too_are_named(serve):
    views = map(view_for, (Estate, House, Lodger, Deed, Visit))
    assert description(serve(*views), "estates__destroy") == (
        "Delete an estate. Also deletes its houses and visits. Lodgers stay, without a house."
        " Refused while deeds refer to its houses."
    )


def test_models_in_between_that_are_not_published_are_not_named(serve):
    assert description(serve(*map(view_for, (Estate, Lodger, Deed))), "estates__destroy") == (
        "Delete an estate. Lodgers stay, without the link to what is deleted."
        " Refused while deeds refer to what would be deleted with it."
    )


def test_restrict_does_not_block_rows_deleted_together(serve):
    client = serve(*map(view_for, (Estate, House, Visit)))
    assert "Refused" not in description(client, "estates__destroy")
    assert description(client, "houses__destroy").endswith("Refused while visits refer to it.")
    estate = Estate.objects.create()
    Visit.objects.create(estate=estate, house=House.objects.create(estate=estate))
    assert client.call("estates__destroy", id=estate.pk).value == {
        "deleted": {"visits": 1, "houses": 1, "estates": 1}
    }


def test_rows_that_refer_to_rows_of_their_own_model_are_named(serve):
    client = serve(view_for(Room))
    assert description(client, "rooms__destroy") == (
        "Delete a room. Also deletes rooms that refer to it, at every depth."
    )
    house = House.objects.create(estate=Estate.objects.create())
    above = None
    for _ in range(3):
        above = Room.objects.create(house=house, above=above)
    first = Room.objects.order_by("pk").first()
    assert client.call("rooms__destroy", id=first.pk).value == {"deleted": {"rooms": 3}}


def test_a_proxy_model_is_named_by_its_own_name(serve):
    client = serve(view_for(Manor), view_for(House))
    assert description(client, "grand_manors__destroy") == (
        "Delete a grand manor. Also deletes its houses."
    )
    estate = Estate.objects.create()
    House.objects.create(estate=estate)
    assert client.call("grand_manors__destroy", id=estate.pk).value == {
        "deleted": {"houses": 1, "grand manors": 1}
    }


# --- after --------------------------------------------------------------------------------------


def test_both_tables_of_a_derived_row_are_counted(serve):
    client = serve(view_for(Estate), view_for(Castle))
    for tool in ("castles__destroy", "estates__destroy"):
        castle = Castle.objects.create()
        value = client.call(tool, id=castle.pk).value
        assert value == {"deleted": {"castles": 1, "estates": 1}}


def test_parent_table_row_of_a_derived_model_is_not_counted_separately(serve):
    castle = Castle.objects.create()
    value = serve(view_for(Castle)).call("castles__destroy", id=castle.pk).value
    assert value == {"deleted": {"castles": 1}}
    castle = Castle.objects.create()
    Tenant.objects.create(estate=castle)
    value = serve(view_for(Castle)).call("castles__destroy", id=castle.pk).value
    assert value == {"deleted": {"castles": 1}, "note": OTHERS}


@pytest.mark.parametrize("fields", [["name"], ["name", "towers"], None])
def test_a_derived_row_that_is_kept_is_reported_as_changed(serve, fields):
    def perform_destroy(self, instance):
        instance.name = "gone"
        instance.save(update_fields=fields)

    client = serve(view_for(Castle, perform_destroy=perform_destroy))
    castle = Castle.objects.create()
    assert client.call("castles__destroy", id=castle.pk).value == {
        "deleted": {},
        "changed": {"castles": 1},
        "note": "The API keeps the row: it was changed, not deleted.",
    }


def _all(rows):
    rows.update(name="gone")


def _by_subquery(rows):
    names = House.objects.filter(estate=OuterRef("pk")).values("name")[:1]
    rows.filter(pk__gt=0).update(name=Coalesce(Subquery(names), Value("gone")))


@pytest.mark.parametrize("change", [_all, _by_subquery])
def test_updates_of_every_form_are_counted(serve, change):
    client = serve(
        view_for(Estate, perform_destroy=lambda self, instance: change(Estate.objects.all()))
    )
    estate, _ = Estate.objects.create(), Estate.objects.create()
    assert client.call("estates__destroy", id=estate.pk).value["changed"] == {"estates": 2}


def test_keys_that_are_cleared_case_by_case_are_unlinked(serve):
    def perform_destroy(self, instance):
        tenants = list(Tenant.objects.all())
        for each in tenants:
            each.estate = None
        Tenant.objects.bulk_update(tenants, ["estate"])

    estate = Estate.objects.create()
    Tenant.objects.bulk_create(Tenant(estate=estate) for _ in range(3))
    client = serve(view_for(Estate, perform_destroy=perform_destroy), view_for(Tenant))
    value = client.call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {}, "unlinked": {"tenants": 3}}


@pytest.fixture
def second(tmp_path, monkeypatch):
    """A second database with a table of archives."""
    wanted = {**connections.settings["default"], "NAME": str(tmp_path / "second.sqlite3")}
    wanted["ENGINE"] = "django.db.backends.sqlite3"
    monkeypatch.setitem(connections.settings, "second", wanted)
    with connections["second"].schema_editor() as editor:
        editor.create_model(Archive)
    yield "second"
    connections["second"].close()
    del connections["second"]


def test_a_rollback_in_one_database_keeps_the_counts_of_another(serve, second):
    """Savepoints have the same names in each."""

    def perform_destroy(self, instance):
        with transaction.atomic(using=second), transaction.atomic():
            with transaction.atomic(using=second):
                instance.delete()
            try:
                with transaction.atomic():
                    Archive.objects.all().delete()
                    Archive.objects.using(second).all().delete()
                    raise ValueError
            except ValueError:
                pass

    client = serve(view_for(Estate, perform_destroy=perform_destroy), view_for(Archive))
    estate = Estate.objects.create()
    Archive.objects.create()
    Archive.objects.using(second).bulk_create(Archive() for _ in range(2))
    value = client.call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {"estates": 1, "archives": 2}}
    assert (Archive.objects.count(), Archive.objects.using(second).count()) == (1, 0)


# --- blocked ------------------------------------------------------------------------------------


def test_rows_that_block_a_cascaded_row_are_named(serve):
    client = serve(*map(view_for, (Estate, House, Deed)))
    estate = Estate.objects.create()
    deed = Deed.objects.create(name="D", house=House.objects.create(estate=estate))
    text = client.call("estates__destroy", id=estate.pk).text
    assert (
        f'It cannot be deleted: deeds {deed.pk} ("D") refer to it or to rows that would be deleted'
        " with it; delete or change them first. Nothing was done." in text
    )


def test_further_blocking_rows_are_counted(serve):
    estate = Estate.objects.create()
    Lease.objects.bulk_create(Lease(estate=estate, name=f"L{number}") for number in range(13))
    client = serve(view_for(Estate), view_for(Lease))
    text = client.call("estates__destroy", id=estate.pk).text
    assert '("L9") and 3 more refer to it; delete or change them first.' in text
    assert "L10" not in text


def test_every_view_that_lists_the_rows_is_asked(serve):
    nothing = view_for(Lease, get_queryset=lambda self: Lease.objects.none())
    estate = Estate.objects.create()
    lease = Lease.objects.create(estate=estate, name="Mill")
    client = serve(view_for(Estate), nothing, view_for(Lease))
    text = client.call("estates__destroy", id=estate.pk).text
    assert f'leases {lease.pk} ("Mill") refer to it' in text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (["name", "estate"], 'leases "Mill" refer to it'),
        (["id", "estate"], "leases {pk} refer to it"),
        (["owner", "estate"], "leases (1) refer to it"),
        # Without the link, the row's name would show to which estate it belongs.
        (["id", "name"], ": other records refer to it"),
    ],
)
def test_a_row_is_named_only_by_fields_that_its_view_shows(serve, fields, told):
    view = view_for(Lease, serializer_class=serializer_for(Lease, fields))
    estate = Estate.objects.create()
    lease = Lease.objects.create(estate=estate, name="Mill")
    text = serve(view_for(Estate), view).call("estates__destroy", id=estate.pk).text
    assert told.format(pk=lease.pk) in text


def _raises(self, *_):
    raise PermissionDenied


def _lists_nothing(self, request):
    return Response([])


@pytest.mark.parametrize(
    "attributes",
    [
        {"get_queryset": lambda self: Lease.objects.all()[:5]},
        {"get_queryset": lambda self: Lease.objects.all().union(Lease.objects.all())},
        {"get_queryset": lambda self: list(Lease.objects.all())},
        {"get_queryset": _raises},
        {"filter_queryset": _raises},
        {"list": _lists_nothing, "retrieve": None},
    ],
    ids=["slice", "union", "list", "raises", "filter raises", "own list"],
)
def test_a_view_whose_rows_cannot_be_queried_names_none(serve, attributes):
    estate = Estate.objects.create()
    Lease.objects.create(estate=estate, name="Mill")
    client = serve(view_for(Estate), view_for(Lease, **attributes))
    assert client.call("estates__destroy", id=estate.pk).text.endswith(
        "It cannot be deleted: other records refer to it. Nothing was done."
    )


def test_a_delete_that_the_database_refuses_names_the_rows_too(serve):
    estate = Estate.objects.create()
    tax = Tax.objects.create(estate=estate, name="T")
    text = serve(view_for(Estate), view_for(Tax)).call("estates__destroy", id=estate.pk).text
    assert f'It cannot be deleted: taxes {tax.pk} ("T") refer to it' in text
    text = serve(view_for(Estate)).call("estates__destroy", id=estate.pk).text
    assert "other records refer to it." in text
    assert Estate.objects.count() == 1


def test_any_action_that_is_blocked_names_the_rows(serve):
    class Closing(Rows):
        @action(detail=True, methods=["post"])
        def close(self, request, pk=None):
            self.get_object().delete()
            return Response(status=204)

    estate = Estate.objects.create()
    lease = Lease.objects.create(estate=estate, name="Mill")
    client = serve(view_for(Estate, Closing), view_for(Lease))
    assert client.call("estates__close", id=estate.pk).text.endswith(
        f'leases {lease.pk} ("Mill") refer to it; delete or change them first.'
    )
