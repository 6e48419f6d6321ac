"""Three users: one who sees all, one who sees their own rows and fewer fields, one who sees no rows
at all. No list, receipt or refusal shows any of them more than REST does.
"""

import json
import re
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import include, path
from rest_framework import permissions, serializers, viewsets
from rest_framework.routers import SimpleRouter

from estates.models import Estate, House, Lease, Room, Tenant
from toolbooth.django.testing import acting_as

MARK = re.compile(r"mark[0-9]+x")
"""A name that one row has. It is shown only if the row is, with its name."""


class Seen(viewsets.ModelViewSet):
    """Staff see all rows, others their own, guests none. All of them may write."""

    permission_classes = [permissions.IsAuthenticated]

    def check_permissions(self, request):
        super().check_permissions(request)
        if request.method == "GET" and request.user.username == "guest":
            self.permission_denied(request)

    def get_queryset(self):
        rows = super().get_queryset()
        if self.request.method != "GET" or self.request.user.is_staff:
            return rows
        return rows.filter(**{self.owner: self.request.user}) if self.owner else rows

    def get_serializer_class(self):
        """Users outside the staff may write `name`, and read it only in their own rows."""
        model = self.queryset.model
        hides = self.hides_name and self.request.method == "GET" and not self.request.user.is_staff
        fields = ["id", "estate"] if hides else "__all__"
        meta = type("Meta", (), {"model": model, "fields": fields})
        return type(f"{model.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta})

    owner = None
    hides_name = False


def seen(model, **attributes):
    parts = {"queryset": model.objects.order_by("pk"), **attributes}
    return type(f"{model.__name__}View", (Seen,), parts)


VIEWS = {
    "estates": seen(Estate),
    "houses": seen(House, owner="owner"),
    "leases": seen(Lease, owner="owner"),
    "tenants": seen(Tenant, hides_name=True),
    "rooms": seen(Room, owner="house__owner"),
}


@pytest.fixture
def rows(settings_of, db):
    """Create one estate with rows of Ann and of no user, and one that a lease protects."""
    router = SimpleRouter()
    for name, view in VIEWS.items():
        router.register(name, view, name)
    patterns = [path("api/", include(router.urls)), path("mcp/", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    User.objects.create_user("staff", is_staff=True, password="pw")
    ann = User.objects.create_user("ann", password="pw")
    User.objects.create_user("guest", password="pw")
    marks = (f"mark{number}x" for number in count())
    free, leased = (Estate.objects.create(name=next(marks)) for _ in range(2))
    houses = [
        House.objects.create(estate=free, name=next(marks), owner=owner)
        for owner in (ann, ann, None, None, None)
    ]
    tenant = Tenant.objects.create(estate=free, name=next(marks))
    leases = [
        Lease.objects.create(estate=leased, name=next(marks), owner=owner) for owner in (ann, None)
    ]
    return {"free": free, "leased": leased, "houses": houses, "tenant": tenant, "leases": leases}


def over_rest(user):
    """Return all that a user can read over REST, as text."""
    client = Client()
    client.force_login(user)
    return " ".join(client.get(f"/api/{name}/").content.decode() for name in VIEWS)


def calls(rows):
    """Calls whose replies mention other rows."""
    his = rows["houses"][-1].pk
    yield "estates__destroy", {"id": rows["free"].pk}
    yield "estates__destroy", {"id": rows["free"].pk, "preview": True}
    yield "estates__destroy", {"id": rows["leased"].pk}
    yield "houses__destroy", {"id": his}
    yield "houses__partial_update", {"id": his, "name": "new", "owner": None}
    yield "houses__update", {"id": his, "name": "new", "estate": rows["leased"].pk}
    yield "tenants__partial_update", {"id": rows["tenant"].pk, "name": "new"}
    yield "tenants__partial_update", {"id": rows["tenant"].pk, "name": "new", "verify": False}
    yield "rooms__create", {"house": 999}
    yield "rooms__create", {"house": {"name": "nobody"}}
    yield "rooms__create", {"objects": [{"house": 999}, {"house": his}]}
    yield "houses__retrieve", {"id": his}
    yield "leases__list", {"filter_keys": ["nothing"]}
    yield "houses__list", {"page": 7}
    yield "houses__create", {"help": True}


@pytest.mark.parametrize("name", ["staff", "ann", "guest"])
def test_no_reply_shows_a_row_or_field_that_rest_does_not_show(rows, name):
    user = User.objects.get(username=name)
    client = acting_as(user)
    readable = set(MARK.findall(over_rest(user)))
    assert not MARK.findall(json.dumps(client.tools()))
    for tool, arguments in calls(rows):
        with transaction.atomic():
            text = client.call(tool, arguments).text
            transaction.set_rollback(True)
        assert set(MARK.findall(text)) <= readable, (tool, arguments, text)


@pytest.mark.parametrize(
    ("name", "houses", "has_others"), [("staff", 5, False), ("ann", 2, True), ("guest", 0, True)]
)
def test_a_receipt_counts_only_rows_that_the_caller_can_list(rows, name, houses, has_others):
    client = acting_as(User.objects.get(username=name))
    value = client.call("estates__destroy", id=rows["free"].pk).value
    assert value["deleted"].get("houses", 0) == houses
    assert ("note" in value) is has_others
    assert value.get("unlinked", {}).get("tenants", 0) == (name != "guest")


@pytest.mark.parametrize(("name", "named"), [("staff", [0, 1]), ("ann", [0]), ("guest", [])])
def test_a_blocked_delete_names_only_rows_that_the_caller_can_list(rows, name, named):
    client = acting_as(User.objects.get(username=name))
    text = client.call("estates__destroy", id=rows["leased"].pk).text
    assert MARK.findall(text) == [rows["leases"][number].name for number in named]
    assert ("other records, which you cannot list" in text) is (len(named) < 2)


@pytest.mark.parametrize(("name", "sees_old"), [("staff", True), ("ann", False), ("guest", False)])
def test_an_update_does_not_confirm_a_guessed_value_that_the_caller_cannot_read(
    rows, name, sees_old
):
    client = acting_as(User.objects.get(username=name))
    tenant = rows["tenant"]
    same = client.call("tenants__partial_update", id=tenant.pk, name=tenant.name).value
    other = client.call("tenants__partial_update", id=tenant.pk, name="new").value
    assert ("unchanged" in same, "changed" in other) == (sees_old, sees_old)
    if sees_old:
        assert other["changed"] == {"name": {"from": tenant.name, "to": "new"}}
    else:
        assert (same["set"], other["set"]) == (["name"], ["name"])
    assert Tenant.objects.get().name == "new"


@pytest.mark.parametrize(("name", "sees_old"), [("staff", True), ("ann", False), ("guest", False)])
def test_old_values_of_rows_that_the_caller_cannot_read_are_not_shown(rows, name, sees_old):
    client = acting_as(User.objects.get(username=name))
    his = rows["houses"][-1]
    value = client.call("houses__partial_update", id=his.pk, name="new").value
    assert (his.name in json.dumps(value)) is sees_old


def test_a_hidden_row_is_refused_like_one_that_does_not_exist(rows, settings_of):
    class OfOwner(serializers.ModelSerializer):
        class Meta:
            model = Room
            fields = ["id", "house"]

        def get_fields(self):
            fields = super().get_fields()
            user = self.context["request"].user
            fields["house"].queryset = House.objects.filter(owner=user)
            return fields

    rooms = seen(Room, owner="house__owner", get_serializer_class=lambda self: OfOwner)
    router = SimpleRouter()
    router.register("rooms", rooms, "rooms")
    router.register("houses", VIEWS["houses"], "houses")
    patterns = [path("api/", include(router.urls)), path("mcp/", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    client = acting_as(User.objects.get(username="ann"))
    hidden = rows["houses"][-1].pk

    def refusal_of(house):
        return client.call("rooms__create", house=house).text.replace(f'"{house}"', "KEY")

    assert refusal_of(hidden) == refusal_of(999)
    assert "no house KEY; existing: " in refusal_of(hidden)
