"""Rows and links that REST hides by other means than the queryset of a list: nested serializers,
permissions for single rows, code of a view around its methods, and fields that are not shown.
Neither receipts nor refusals show them.
"""

import pytest
from django.contrib.auth.models import User
from django.db.models import Prefetch
from django.http import HttpResponseForbidden
from django.urls import include, path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from rest_framework import permissions, serializers, viewsets
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.mixins import ListModelMixin
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from estates.models import Archive, Club, Estate, House, Lease, Room, Tenant
from toolbooth.django.testing import acting_as

OTHERS = "Other records were deleted or changed too."


def serializer_for(model, fields="__all__", **parts):
    meta = type("Meta", (), {"model": model, "fields": fields})
    return type(
        f"{model.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta, **parts}
    )


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
            name = str(view.queryset.model._meta.verbose_name_plural)
            router.register(name, view, name)
        urls = [path("api/", include(router.urls)), path("mcp/", include("toolbooth.django.urls"))]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": urls}))
        return acting_as(staff)

    return serving


def an_estate(houses=0):
    estate = Estate.objects.create(name="Hill")
    House.objects.bulk_create(House(estate=estate, name=f"{each}") for each in range(houses))
    return estate


# --- nested rows --------------------------------------------------------------------------------


class FirstRow(serializers.ListSerializer):
    def to_representation(self, data):
        return super().to_representation(data.all()[:1])


class OnlyFirst(serializer_for(House, ["id", "name"])):
    class Meta:
        model = House
        fields = ["id", "name"]
        list_serializer_class = FirstRow


HOUSES = serializer_for(House, ["id", "name"])


def estates_with(nested, fields=("id", "name", "houses"), **parts):
    """A serializer of estates that inherits its nested houses."""
    above = serializer_for(Estate, ["id", "name", "houses"], houses=nested)
    meta = type("Meta", (), {"model": Estate, "fields": list(fields)})
    return type("EstateSerializer", (above,), {"Meta": meta, **parts})


def without_houses(self, row):
    shown = serializers.ModelSerializer.to_representation(self, row)
    del shown["houses"]
    return shown


ALL_HOUSES = estates_with(HOUSES(many=True, read_only=True))
NO_HOUSES = estates_with(HOUSES(many=True, read_only=True), ["id", "name"])


def prefetching(houses):
    return Estate.objects.order_by("pk").prefetch_related(Prefetch("houses", houses))


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ({"serializer_class": ALL_HOUSES}, 3),
        ({"serializer_class": NO_HOUSES}, 0),
        ({"serializer_class": estates_with(HOUSES(many=True, write_only=True))}, 0),
        (
            {
                "serializer_class": estates_with(
                    HOUSES(many=True, read_only=True), to_representation=without_houses
                )
            },
            0,
        ),
        (
            {"serializer_class": ALL_HOUSES, "get_serializer_class": lambda self: NO_HOUSES},
            0,
        ),
        (
            {
                "serializer_class": ALL_HOUSES,
                "queryset": prefetching(House.objects.filter(name="1")),
            },
            1,
        ),
        (
            {
                "serializer_class": ALL_HOUSES,
                "queryset": prefetching(House.objects.select_related("owner")),
            },
            3,
        ),
    ],
    ids=[
        "all",
        "not listed",
        "write only",
        "own representation",
        "chosen",
        "prefetched",
        "all prefetched",
    ],
)
def test_nested_rows_are_counted_as_far_as_the_list_shows_them(serve, attributes, shown):
    client = serve(view_for(Estate, **attributes))
    estate = an_estate(houses=3)
    listed = client.call("estates__list").value["results"][0]
    assert len(listed.get("houses", [])) == shown
    value = client.call("estates__destroy", id=estate.pk).value
    houses = {"estate houses": shown} if shown else {}
    note = {"note": OTHERS} if shown < 3 else {}
    assert value == {"deleted": {**houses, "estates": 1}, **note}


def test_nested_rows_that_own_code_selects_are_not_counted(serve):
    selected = estates_with(OnlyFirst(many=True, read_only=True))
    client = serve(view_for(Estate, serializer_class=selected))
    estate = an_estate(houses=3)
    assert len(client.call("estates__list").value["results"][0]["houses"]) == 1
    value = client.call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {"estates": 1}, "note": OTHERS}


def test_nested_rows_from_another_attribute_are_not_announced(serve):
    nested = HOUSES(many=True, read_only=True, source="marks")
    for serializer in (estates_with(nested), NO_HOUSES):
        client = serve(view_for(Estate, serializer_class=serializer))
        assert client.tools()["estates__destroy"]["description"] == "Delete an estate."


# --- views that refuse by code of their own -----------------------------------------------------


class NoSingleRow(permissions.BasePermission):
    def has_object_permission(self, request, view, obj):
        return False


class EmptyList(Rows):
    def list(self, request):
        return Response([])


class WithoutSingleRows(EmptyList):
    permission_classes = [permissions.IsAuthenticated, NoSingleRow]


class OwnGetObject(EmptyList):
    def get_object(self):
        raise NotFound


class OwnDispatch(Rows):
    def dispatch(self, request, *args, **kwargs):
        if request.method == "GET":
            return HttpResponseForbidden()
        return super().dispatch(request, *args, **kwargs)


class OwnInitial(Rows):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        if request.method == "GET":
            raise PermissionDenied


class RestrictedInitially(Rows):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.queryset = self.queryset.none()


def refusing(view):
    def refuse(request, *args, **kwargs):
        raise PermissionDenied

    return refuse


class DecoratedMethods(Rows):
    list = method_decorator(refusing)(ListModelMixin.list)
    retrieve = method_decorator(refusing)(viewsets.ModelViewSet.retrieve)


@pytest.mark.parametrize(
    "base",
    [
        WithoutSingleRows,
        OwnGetObject,
        OwnDispatch,
        OwnInitial,
        RestrictedInitially,
        DecoratedMethods,
    ],
)
def test_rows_that_a_view_hides_by_its_own_code_are_not_shown(serve, base):
    client = serve(view_for(Estate), view_for(House, base), view_for(Lease, base))
    estate = an_estate(houses=2)
    lease = Lease.objects.create(estate=estate, name="Mill")
    assert "Mill" not in client.call("leases__list").text
    assert "Mill" not in client.call("leases__retrieve", id=lease.pk).text
    assert client.call("estates__destroy", id=estate.pk).text == (
        "Tool 'estates__destroy' failed: It cannot be deleted: other records refer to it."
        " Nothing was done."
    )
    lease.delete()
    value = client.call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {"estates": 1}, "note": OTHERS}


class Cached(Rows):
    list = method_decorator(never_cache)(ListModelMixin.list)


class ByKey(EmptyList):
    """Has an empty list, but shows each row by its key."""


class CountsCalls(Rows):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.queryset = self.queryset.filter(name__in=["Mill", "0"])

    def check_throttles(self, request):
        raise AssertionError("a view that is only asked counts no call")


@pytest.mark.parametrize("base", [Cached, ByKey, CountsCalls])
def test_rows_that_a_view_with_harmless_code_shows_are_counted(serve, base):
    client = serve(view_for(Estate), view_for(House, base))
    estate = an_estate(houses=1)
    value = client.call("estates__destroy", id=estate.pk).value
    assert value == {"deleted": {"houses": 1, "estates": 1}}


@pytest.mark.parametrize(
    ("base", "sees_old"), [(Cached, True), (OwnInitial, False), (OwnDispatch, False)]
)
def test_an_old_value_is_shown_only_if_get_would_show_it(serve, base, sees_old):
    client = serve(view_for(Tenant, base))
    tenant = Tenant.objects.create(name="Mill")
    text = client.call("tenants__partial_update", id=tenant.pk, name="Pond").text
    assert ("Mill" in text) is sees_old
    assert Tenant.objects.get().name == "Pond"


# --- fields that are not shown ------------------------------------------------------------------


@pytest.mark.parametrize("shows_link", [True, False])
def test_a_link_is_counted_only_if_a_list_shows_it(serve, shows_link):
    fields = ["id", "name", "estate"] if shows_link else ["id", "name"]
    tenants = view_for(Tenant, serializer_class=serializer_for(Tenant, fields))
    client = serve(view_for(Estate), tenants)
    estate = an_estate()
    Tenant.objects.create(estate=estate)
    value = client.call("estates__destroy", id=estate.pk).value
    if shows_link:
        assert value == {"deleted": {"estates": 1}, "unlinked": {"tenants": 1}}
    else:
        assert value == {"deleted": {"estates": 1}, "note": OTHERS}


@pytest.mark.parametrize(
    ("of_clubs", "of_estates", "is_counted"),
    [
        (["id", "estates"], ["id"], True),
        (["id"], ["id", "clubs"], True),
        (["id", "name"], ["id", "name"], False),
    ],
)
def test_links_of_many_rows_are_counted_only_if_a_list_shows_them(
    serve, of_clubs, of_estates, is_counted
):
    client = serve(
        view_for(Club, serializer_class=serializer_for(Club, of_clubs)),
        view_for(Estate, serializer_class=serializer_for(Estate, of_estates)),
    )
    estate = an_estate()
    Club.objects.create().estates.add(estate)
    value = client.call("estates__destroy", id=estate.pk).value
    links = {"club-estate relationships": 1} if is_counted else {}
    note = {} if is_counted else {"note": OTHERS}
    assert value == {"deleted": {**links, "estates": 1}, **note}


@pytest.mark.parametrize(("is_hidden", "archives"), [(False, 2), (True, 0)])
def test_a_change_that_no_field_shows_is_counted_only_if_rows_leave_the_list(
    serve, is_hidden, archives
):
    class HidesArchives(Rows):
        def perform_destroy(self, instance):
            Archive.objects.update(is_hidden=not is_hidden)
            instance.delete()

    rows = Archive.objects.filter(is_hidden=False).order_by("pk")
    named = serializer_for(Archive, ["id", "name"])
    client = serve(
        view_for(Estate, HidesArchives), view_for(Archive, queryset=rows, serializer_class=named)
    )
    estate = an_estate()
    Archive.objects.bulk_create(Archive(is_hidden=is_hidden) for _ in range(2))
    value = client.call("estates__destroy", id=estate.pk).value
    changed = {"changed": {"archives": archives}} if archives else {}
    assert value == {"deleted": {"estates": 1}, **changed}


def test_a_row_that_is_not_listed_is_counted_once_among_many(serve):
    class Unlisted(Rows):
        def get_queryset(self):
            rows = super().get_queryset()
            return rows.none() if self.request.method == "GET" else rows

    client = serve(view_for(Room, Unlisted))
    an_estate(houses=1)
    room = Room.objects.create(house=House.objects.get())
    # More than Django deletes in one statement.
    Room.objects.bulk_create(Room(house=room.house, above=room) for _ in range(250))
    value = client.call("rooms__destroy", id=room.pk).value
    assert value == {"deleted": {"rooms": 1}, "note": OTHERS}
    assert not Room.objects.exists()
