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

FIELD_MARK = re.compile(r"hidden_[a-z]+_field")
"""The name of a field that only the staff has, to read and to write."""


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
        parts = {"Meta": type("Meta", (), {"model": model, "fields": fields})}
        if self.request.user.is_staff and hasattr(model, "name"):
            # A second field for the same column, so that nothing but its name is hidden.
            parts[hidden_field(model)] = serializers.CharField(source="name", required=False)
        return type(f"{model.__name__}Serializer", (serializers.ModelSerializer,), parts)

    owner = None
    hides_name = False


def hidden_field(model):
    return f"hidden_{model.__name__.lower()}_field"


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
def serve(settings_of, db):
    """Serves the views, with tools or with dispatchers."""
    router = SimpleRouter()
    for name, view in VIEWS.items():
        router.register(name, view, name)
    patterns = [path("api/", include(router.urls)), path("mcp/", include("toolbooth.django.urls"))]
    urls = type("Urls", (), {"urlpatterns": patterns})

    def serving(dispatch):
        settings_of(ROOT_URLCONF=urls, TOOLBOOTH={"DISPATCH": dispatch} if dispatch else {})

    return serving


@pytest.fixture
def rows(serve):
    """One estate with rows of Ann and of nobody, and one that a lease protects."""
    serve(None)
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


def calls_about_fields(rows):
    """Calls whose replies speak of the fields of a resource, with names that are almost those of
    hidden fields.
    """
    keys = {
        "estates": rows["free"].pk,
        "houses": rows["houses"][0].pk,
        "leases": rows["leases"][0].pk,
        "tenants": rows["tenant"].pk,
    }
    for resource, key in keys.items():
        near = f"hiden_{resource[:-1]}_field"
        link = {} if resource == "estates" else {"estate": rows["free"].pk}
        yield f"{resource}__list", {}
        yield f"{resource}__list", {"filter_keys": [near]}
        yield f"{resource}__list", {"filter_keys": ["nothing"]}
        yield f"{resource}__list", {"filters": {near: "x"}}
        yield f"{resource}__list", {near: "x"}
        yield f"{resource}__list", {"mode": "summary"}
        yield f"{resource}__list", {"page_size": 1}
        yield f"{resource}__retrieve", {"id": key}
        yield f"{resource}__retrieve", {"id": key, "filter_keys": [near]}
        for action in ("create", "update", "partial_update", "destroy", "retrieve", "list"):
            yield f"{resource}__{action}", {"help": True}
            yield f"{resource}__{action}", {"help": True, near: "x"}
        for action in ("update", "partial_update"):
            yield f"{resource}__{action}", {"id": key, "name": "new", **link}
            yield f"{resource}__{action}", {"id": key, "name": "new", **link, "verify": True}
            yield f"{resource}__{action}", {"id": key, "name": "new", **link, "preview": True}
            yield f"{resource}__{action}", {"id": key, near: "new", **link}
            yield f"{resource}__{action}", {"id": key, "name": ["x"], **link}
            yield f"{resource}__{action}", {"id": 999, "name": "new", **link}
        yield f"{resource}__create", {}
        yield f"{resource}__create", {near: "x"}
        yield f"{resource}__create", {"name": "new", **link}
        yield f"{resource}__create", {"name": "new", **link, "verify": True}
        yield f"{resource}__create", {"objects": [{"name": "new", **link}, {near: "x"}]}
        yield f"{resource}__create", {"data": {"name": "new", near: "x", **link}}
        yield f"{resource}__destroy", {"id": key}


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


def sent_to(tool, arguments, dispatch):
    """The name and the arguments of a call, by the tool's own name or through a dispatcher."""
    if dispatch is None:
        return tool, arguments
    resource, _, action = tool.partition("__")
    if dispatch == "app":
        return "tests", {"resource": resource, "action": action, **arguments}
    return resource, {"action": action, **arguments}


@pytest.mark.parametrize("dispatch", [None, "resource", "app"])
@pytest.mark.parametrize("name", ["staff", "ann", "guest"])
def test_no_reply_names_a_field_that_the_user_does_not_have(rows, serve, name, dispatch):
    serve(dispatch)
    user = User.objects.get(username=name)
    client = acting_as(user)
    readable = set(FIELD_MARK.findall(over_rest(user)))
    assert bool(readable) is (name == "staff")
    assert not FIELD_MARK.findall(json.dumps(client.tools()))
    named = set()
    for tool, arguments in (*calls(rows), *calls_about_fields(rows)):
        called, sent = sent_to(tool, arguments, dispatch)
        with transaction.atomic():
            text = client.call(called, sent).text
            transaction.set_rollback(True)
        shown = set(FIELD_MARK.findall(text))
        assert shown <= readable, (tool, arguments, text)
        named |= shown
    assert named == readable


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
    assert ("other records" in text) is (len(named) < 2)


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
