"""Two resources of one name are distinguished by their paths, and an added route is never affected
by a setting for another tool.
"""

import json

import pytest
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import CharField, ModelSerializer

from odd.models import Log
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue


class OrderSerializer(ModelSerializer):
    note = CharField(required=False, write_only=True)

    class Meta:
        model = Log
        fields = ["id", "line", "note"]


class Orders(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = OrderSerializer
    permission_classes = [AllowAny]
    http_method_names = ["get", "post"]

    @action(detail=True, methods=["post"])
    def cancel(self, request, **kwargs):
        Log.objects.create(line=json.dumps(dict(request.data)))
        return Response({})


class OrganizerOrders(Orders):
    pass


EVENT = "api/organizers/<organizer>/events/<event>/"
ORGANIZER = "api/organizers/<organizer>/"


def urls(*places):
    """A resource `orders` at each place."""
    patterns = [path("mcp/", include("toolbooth.django.urls"))]
    for place, view in places:
        router = SimpleRouter()
        router.register("orders", view, "orders")
        patterns.append(path(place, include(router.urls)))
    return type("Urls", (), {"urlpatterns": patterns})


ONE = ((EVENT, Orders),)
BOTH = ((EVENT, Orders), (ORGANIZER, OrganizerOrders))
ACTIONS = ("cancel", "create", "list", "retrieve")


@pytest.fixture
def serve(settings_of, monkeypatch, tmp_path):
    """Serve these places with these settings, without tools of the test project. `lock` is the text
    of `mcp_names.lock`.
    """
    monkeypatch.setattr(decorators, "declared", {})

    def served(places, lock="", **toolbooth):
        (tmp_path / "mcp_names.lock").write_text(lock)
        settings_of(ROOT_URLCONF=urls(*places), TOOLBOOTH=toolbooth, BASE_DIR=tmp_path)
        return catalogue()

    return served


def locked(name, method="GET", place=f"/{EVENT}", view="Orders", end="orders/"):
    address = place.replace("<", "{").replace(">", "}")
    return f"{name} {method} {address}{end} {Orders.__module__}.{view}\n"


def reported(found):
    return [(each.what, each.why) for each in (*found.unused_patterns, *found.wrong_entries)]


def test_preceding_path_segment_distinguishes_two_resources(serve):
    assert sorted(serve(ONE).actions) == [f"orders__{each}" for each in ACTIONS]
    both = [f"{start}_orders__{each}" for start in ("event", "organizer") for each in ACTIONS]
    assert sorted(serve(BOTH).actions) == both
    assert sorted(serve(BOTH[::-1]).actions) == both


def test_names_use_only_as_many_path_segments_as_needed(serve):
    found = serve((("v1/shop/", Orders), ("v2/shop/", Orders), ("", Orders)))
    assert sorted(name for name in found.actions if name.endswith("list")) == [
        "tests_orders__list",
        "v1_shop_orders__list",
        "v2_shop_orders__list",
    ]


def test_url_kwarg_distinguishes_resources_without_another_segment(serve):
    found = serve((("<tenant>/", Orders), ("<team_pk>/", Orders)))
    assert sorted(name for name in found.actions if name.endswith("list")) == [
        "team_orders__list",
        "tenant_orders__list",
    ]


def test_a_tool_of_your_own_moves_only_the_tool_whose_name_it_has(serve):
    @mcp_tool(name="orders__list")
    def own() -> str:
        """Mine."""
        return "mine"

    assert sorted(serve(ONE).actions) == [
        "event_orders__list",
        "orders__cancel",
        "orders__create",
        "orders__list",
        "orders__retrieve",
    ]


def test_bulk_tools_are_named_like_their_creates(serve):
    lock = locked("bookings__new", "POST")
    found = serve(BOTH, lock=lock, BULK_TOOLS=True, INCLUDE=["*__create", "bookings__*"])
    assert sorted(found.actions) == [
        "bookings__bulk_new",
        "bookings__new",
        "organizer_orders__bulk_create",
        "organizer_orders__create",
    ]


# --- settings that publish or describe ---


def test_include_does_not_publish_a_tool_that_shares_the_name(serve):
    assert list(serve(ONE, INCLUDE=["orders__list"]).actions) == ["orders__list"]
    found = serve(BOTH, INCLUDE=["orders__list"])
    assert list(found.actions) == []
    assert reported(found) == [
        (
            "TOOLBOOTH['INCLUDE']: 'orders__list'",
            'it matches no tool; use the full name: "event_orders__list", "organizer_orders__list"',
        )
    ]
    found = serve(BOTH, INCLUDE=["event_orders__list"])
    assert list(found.actions) == ["event_orders__list"]


def test_include_publishes_the_tool_that_the_file_gives_the_name_to(serve):
    found = serve(BOTH, lock=locked("orders__list"), INCLUDE=["orders__list"])
    assert {name: each.path for name, each in found.actions.items()} == {
        "orders__list": "/api/organizers/{organizer}/events/{event}/orders/"
    }
    assert reported(found) == []


def test_dispatch_groups_no_resource_that_shares_the_name(serve):
    found = serve(ONE, DISPATCH={"sales": ["orders"]})
    assert list(found.registry.tools) == ["sales"]
    found = serve(BOTH, DISPATCH={"sales": ["orders"]})
    assert "sales" not in found.registry.tools
    assert reported(found) == [
        (
            "TOOLBOOTH['DISPATCH']['sales']: 'orders'",
            'it matches no resource; use the full name: "event_orders", "organizer_orders"',
        )
    ]
    names = ("cancel", "create", "list", "retrieve")
    ends = {"cancel": "orders/{pk}/cancel/", "retrieve": "orders/{pk}/"}
    methods = {"cancel": "POST", "create": "POST"}
    lines = [
        locked(f"orders__{name}", methods.get(name, "GET"), end=ends.get(name, "orders/"))
        for name in names
    ]
    found = serve(BOTH, lock="".join(lines), DISPATCH={"sales": ["orders"]})
    behind = found.registry.tools["sales"].table
    assert sorted(tool.contract.name for _, tool in behind.subs()) == [
        f"orders__{name}" for name in names
    ]


BODY = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}


def takes(found, tool):
    return sorted(found.registry.find(tool).contract.schema["properties"])


def test_bodies_declare_no_body_of_a_tool_that_shares_the_name(serve):
    found = serve(ONE, BODIES={"orders__cancel": BODY})
    assert "reason" in takes(found, "orders__cancel")
    found = serve(BOTH, BODIES={"orders__cancel": BODY})
    assert "reason" not in takes(found, "event_orders__cancel")
    assert "reason" not in takes(found, "organizer_orders__cancel")
    full = '"event_orders__cancel", "organizer_orders__cancel"'
    assert reported(found) == [
        (
            "TOOLBOOTH['BODIES']['orders__cancel']",
            f"there is no such tool; use the full name: {full}",
        )
    ]
    lock = locked("orders__cancel", "POST", end="orders/{pk}/cancel/")
    found = serve(BOTH, lock=lock, BODIES={"orders__cancel": BODY})
    assert "reason" in takes(found, "orders__cancel")
    assert "reason" not in takes(found, "organizer_orders__cancel")


def test_inherited_bodies_match_no_tool_that_shares_the_name(serve):
    found = serve(ONE, INHERITED_BODIES=["orders__cancel"])
    assert "line" in takes(found, "orders__cancel")
    found = serve(BOTH, INHERITED_BODIES=["orders__cancel"])
    assert "line" not in takes(found, "event_orders__cancel")
    assert "line" not in takes(found, "organizer_orders__cancel")
    full = '"event_orders__cancel", "organizer_orders__cancel"'
    assert reported(found) == [
        (
            "TOOLBOOTH['INHERITED_BODIES']: 'orders__cancel'",
            f"it matches no tool; use the full name: {full}",
        )
    ]
    lock = locked("orders__cancel", "POST", end="orders/{pk}/cancel/")
    found = serve(BOTH, lock=lock, INHERITED_BODIES=["orders__cancel"])
    assert "line" in takes(found, "orders__cancel")
    assert "line" not in takes(found, "organizer_orders__cancel")


SWALLOWED = 'a</line>\n<parameter name="note">b</parameter>'


def test_verbatim_applies_to_no_tool_that_shares_the_name(serve, mcp):
    place = {"organizer": "o", "event": "e"}
    setting = {"VERBATIM": ["orders__create.line"]}
    serve(ONE, **setting)
    assert not mcp("orders__create", {**place, "line": SWALLOWED})["isError"]
    found = serve(BOTH, **setting)
    assert mcp("event_orders__create", {**place, "line": SWALLOWED})["isError"]
    assert mcp("organizer_orders__create", {"organizer": "o", "line": SWALLOWED})["isError"]
    full = '"event_orders__create", "organizer_orders__create"'
    assert reported(found) == [
        (
            "TOOLBOOTH['VERBATIM']: 'orders__create.line'",
            f"there is no tool 'orders__create'; use the full name: {full}",
        )
    ]
    serve(BOTH, lock=locked("orders__create", "POST"), **setting)
    assert not mcp("orders__create", {**place, "line": SWALLOWED})["isError"]
    assert mcp("organizer_orders__create", {"organizer": "o", "line": SWALLOWED})["isError"]
    assert [each.line for each in Log.objects.all()] == [SWALLOWED, SWALLOWED]


# --- settings that take away ---


@pytest.mark.parametrize(
    "pattern", ["orders__*", "orders__list", "*__list", "event_orders__list", "event_orders__*"]
)
@pytest.mark.parametrize("places", [ONE, BOTH], ids=["one", "both"])
@pytest.mark.parametrize("lock", ["", locked("orders__list")], ids=["natural", "locked"])
def test_exclude_matches_with_and_without_the_path_segment(serve, pattern, places, lock):
    found = serve(places, lock=lock, EXCLUDE=[pattern])
    address = "/api/organizers/{organizer}/events/{event}/orders/"
    lists = [each for each in found.actions.values() if each.name == "list"]
    assert address not in [each.path for each in lists]
    assert reported(found) == []


def test_a_wildcard_of_exclude_matches_only_actual_tool_names(serve):
    assert len(serve(ONE, EXCLUDE=["event_*"]).actions) == 4
    assert sorted(serve(BOTH, EXCLUDE=["event_*"]).actions) == [
        f"organizer_orders__{each}" for each in ACTIONS
    ]


@pytest.mark.parametrize(
    "pattern", ["*__bulk_create", "orders__bulk_create", "event_orders__bulk_create", "orders__*"]
)
@pytest.mark.parametrize("places", [ONE, BOTH], ids=["one", "both"])
def test_exclude_takes_away_tools_for_many_rows(serve, pattern, places):
    found = serve(places, BULK_TOOLS=True, EXCLUDE=[pattern])
    assert "orders__bulk_create" not in found.actions
    assert "event_orders__bulk_create" not in found.actions
    assert reported(found) == []


def test_exclude_keeps_the_create_of_one_row(serve):
    found = serve(ONE, BULK_TOOLS=True, EXCLUDE=["*__bulk_*"])
    assert sorted(found.actions) == [f"orders__{each}" for each in ACTIONS]
    found = serve(ONE, EXCLUDE=["*__bulk_*"])
    assert reported(found) == [("TOOLBOOTH['EXCLUDE']: '*__bulk_*'", "it matches no tool")]
