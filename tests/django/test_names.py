"""The names of tools: a router's basename and the action, with two underscores between them."""

import pytest
from django.urls import include, path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import viewsets
from rest_framework.permissions import AllowAny
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer

from odd.models import Log
from toolbooth.django.describe.candidate_names import LONGEST_NAME
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.names import named
from toolbooth.django.testing import acting_as


class LogSerializer(ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class Rows(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [AllowAny]
    http_method_names = ["get", "post"]


Rows.__module__ = "odd.views"


def urls(*basenames):
    """One router for each: two may have the same basename."""
    patterns = [path("mcp/", include("toolbooth.django.urls"))]
    for number, name in enumerate(basenames):
        router = SimpleRouter()
        router.register(f"rows{number}", Rows, name)
        patterns.append(path("api/", include(router.urls)))
    return type("Urls", (), {"urlpatterns": patterns})


@pytest.mark.parametrize(
    ("basename", "tool"),
    [
        ("dcim__devices", "dcim__devices__list"),
        ("DCIM__Devices", "dcim__devices__list"),
        ("dcim_devices", "dcim_devices__list"),
        ("dcim-devices", "dcim_devices__list"),
        ("dcim___devices", "dcim__devices__list"),
        ("dcim-__devices", "dcim__devices__list"),
        ("dcim__devices__ports", "dcim__devices__ports__list"),
        ("__devices__", "devices__list"),
        ("dcim__list", "dcim__list__list"),
    ],
)
def test_a_basename_keeps_its_double_underscores(settings_of, basename, tool):
    settings_of(ROOT_URLCONF=urls(basename))
    assert tool in catalogue().actions


def test_basenames_that_differ_only_in_underscores_are_two_resources(settings_of, ann):
    settings_of(ROOT_URLCONF=urls("dcim__devices", "dcim_devices"))
    resources = ("dcim__devices", "dcim_devices")
    assert sorted(catalogue().actions) == sorted(
        f"{resource}__{action}"
        for resource in resources
        for action in ("create", "list", "retrieve")
    )
    assert acting_as(ann).call("dcim__devices__create", line="a").value["set"] == ["line"]
    assert Log.objects.get().line == "a"


@pytest.mark.parametrize("dispatch", ["resource", "app", {"dcim": ["dcim__*"], "rest": ["*"]}])
def test_dispatchers_find_a_resource_with_a_double_underscore(settings_of, ann, dispatch):
    settings_of(
        ROOT_URLCONF=urls("dcim__devices", "plain"),
        TOOLBOOTH={"DISPATCH": dispatch},
    )
    tools = acting_as(ann).tools()
    dispatcher = next(name for name in ("dcim__devices", "odd", "dcim") if name in tools)
    resource = {"resource": "dcim__devices"} if dispatcher == "odd" else {}
    sent = {**resource, "action": "create", "line": "a"}
    assert acting_as(ann).call(dispatcher, sent).value["set"] == ["line"]
    by_whole_name = acting_as(ann).call(dispatcher, action="dcim__devices__create", line="a")
    assert (by_whole_name.is_error, by_whole_name.corrected) == (True, sent)
    assert [each.line for each in Log.objects.all()] == ["a"]


def test_a_full_name_is_never_the_short_name_of_another_tool(settings_of):
    """Two resources called `rows` get segments of their paths. A third one of that name gets one
    too, so that no setting applies to it in place of the first.
    """
    settings_of(ROOT_URLCONF=urls("rows", "rows", "rows0_rows"))
    found = {name: action.path for name, action in catalogue().actions.items()}
    lists = {name: path for name, path in found.items() if name.endswith("__list")}
    assert lists == {
        "api_rows0_rows__list": "/api/rows0/",
        "rows1_rows__list": "/api/rows1/",
        "rows2_rows0_rows__list": "/api/rows2/",
    }
    assert len(found) == 9


BASES = st.text("ab_-", max_size=8) | st.text("a_", min_size=60, max_size=70)


@given(bases=st.lists(BASES, max_size=6), taken=st.lists(BASES, max_size=3))
def test_names_are_unique_and_begin_their_action_with_list(bases, taken):
    callback = Rows.as_view({"get": "list"})
    actions = [
        Action(
            callback=callback, method="GET", name="list", path=f"/{number}/", regex="", base=base
        )
        for number, base in enumerate(bases)
    ]
    used = [f"{each}__list" for each in taken]
    names = [name for name, _ in named(actions, used)]
    tools = [name.tool for name in names]
    assert len({*tools, *used}) == len(tools) + len(set(used))
    assert all(len(tool) <= LONGEST_NAME for tool in tools)
    assert all(name.action.partition("_")[0] == "list" for name in names)


def test_a_long_resource_is_cut_and_its_actions_stay_whole(settings_of):
    settings_of(ROOT_URLCONF=urls("controllermanageddevicegroupwirelessnetworkassignment"))
    assert sorted(catalogue().actions) == [
        f"controllermanageddevicegrou_f970__{action}" for action in ("create", "list", "retrieve")
    ]


def test_long_resources_with_the_same_beginning_stay_distinct(settings_of):
    start = "controllermanageddevicegroup"
    settings_of(ROOT_URLCONF=urls(f"{start}radioassignment", f"{start}wirelessassignment"))
    assert len(catalogue().actions) == 6
    assert not any(name.endswith("_2") for name in catalogue().actions)
