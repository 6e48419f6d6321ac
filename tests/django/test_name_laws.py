"""Laws of the names of tools, for any set of routes."""

import re
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st
from rest_framework import viewsets
from rest_framework.decorators import action

from odd.models import Log
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.candidate_names import LONGEST_NAME
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.locked_names import read, text_of
from toolbooth.django.describe.name_patterns import includes
from toolbooth.django.describe.names import identity_of, named


class Rows(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")

    @action(detail=True)
    def print(self, request):
        raise NotImplementedError


class OtherRows(Rows):
    __module__ = "sales.views"


SEGMENTS = st.sampled_from(["orders", "events", "event", "v1", "{event}", "{pk}", "2", "rows_x"])
BASES = st.sampled_from(
    ["orders", "event_orders", "orders_event", "v1__orders", "x" * 40, "event_orders_x", "rows"]
)
NAMES = {"list": "GET", "retrieve": "GET", "create": "POST", "print": "GET"}


@st.composite
def actions(draw):
    name = draw(st.sampled_from(sorted(NAMES)))
    view = draw(st.sampled_from([Rows, OtherRows]))
    segments = draw(st.lists(SEGMENTS, max_size=4))
    method = NAMES[name]
    return Action(
        callback=view.as_view({method.lower(): name}),
        method=method,
        name=name,
        path="/" + "/".join(segments) + draw(st.sampled_from(["", "/"])),
        regex="",
        base=draw(BASES),
    )


def address(each):
    return each.method, each.path


ROUTES = st.lists(actions(), max_size=9, unique_by=address)


def names_of(routes, **more):
    return {identity_of(each): name for name, each in named(routes, **more)}


def tools_of(routes, **more):
    return {identity: name.tool for identity, name in names_of(routes, **more).items()}


@given(ROUTES, st.sets(st.sampled_from(["orders__list", "event_orders__create"])))
def test_names_are_unique_and_short(routes, taken):
    tools = list(tools_of(routes, taken=taken).values())
    assert len({*tools, *taken}) == len(tools) + len(taken)
    assert all(len(tool) <= LONGEST_NAME for tool in tools)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", tool) for tool in tools)


@given(st.data(), ROUTES)
def test_the_order_of_routes_does_not_matter(data, routes):
    assert tools_of(data.draw(st.permutations(routes))) == tools_of(routes)


@given(ROUTES, actions())
def test_no_name_goes_to_another_tool_when_a_route_is_added(routes, added):
    before = tools_of(routes)
    after = tools_of([each for each in routes if address(each) != address(added)] + [added])
    still = {name: each for each, name in before.items() if each in after}
    for identity, name in after.items():
        assert still.get(name, identity) == identity


@given(ROUTES, ROUTES)
def test_no_route_renames_a_tool_that_is_locked(routes, added):
    lock = read(text_of(named(routes)))
    assert lock.mistake == ""
    known = set(map(address, routes))
    after = tools_of(
        [*(each for each in added if address(each) not in known), *routes], locked=lock.names
    )
    assert {identity: after[identity] for identity in lock.names} == tools_of(routes)
    assert len(set(after.values())) == len(after)


PATTERNS = st.sampled_from(
    [
        "orders__list",
        "event_orders__list",
        "orders__*",
        "event_orders__*",
        "v1_*",
        "event_*",
        "*__create",
    ]
)


@given(st.data(), ROUTES, ROUTES, PATTERNS)
def test_a_new_route_publishes_no_tool_that_no_pattern_names(data, routes, added, pattern):
    known = set(map(address, routes))
    more = [each for each in added if address(each) not in known]
    locked = None
    if data.draw(st.booleans(), label="locked"):
        locked = read(text_of(named(routes))).names
    chosen = Configuration(include=(pattern,))
    before = names_of(routes, locked=locked)
    after = names_of([*routes, *more], locked=locked)
    published = {each for each, name in after.items() if includes(chosen, name)}
    for each in published:
        assert fnmatchcase(after[each].tool, pattern)
        short = after[each].short
        shares = [one for one, name in after.items() if name.short == short]
        is_locked = locked is not None and locked.get(each) == after[each].tool
        assert len(shares) == 1 or after[each].tool != short or is_locked
    # A name without a wildcard means the same tool as before, or none.
    if "*" not in pattern:
        meant = {each for each, name in before.items() if includes(chosen, name)}
        assert published <= meant or not meant


@given(ROUTES, ROUTES, PATTERNS)
def test_a_new_route_publishes_nothing_that_was_excluded(routes, others, pattern):
    chosen = Configuration(exclude=(pattern,))
    known = set(map(address, routes))
    more = [each for each in others if address(each) not in known]
    alone, beside = names_of(routes), names_of([*routes, *more])
    for each, name in alone.items():
        assert includes(chosen, name) or not includes(chosen, beside[each])


@given(ROUTES, ROUTES, PATTERNS)
def test_a_route_that_comes_or_goes_publishes_nothing_that_was_excluded(routes, others, pattern):
    """Of patterns without a wildcard in the resource."""
    if "*" in pattern.partition("__")[0]:
        return
    chosen = Configuration(exclude=(pattern,))
    known = set(map(address, routes))
    more = [each for each in others if address(each) not in known]
    alone, beside = names_of(routes), names_of([*routes, *more])
    for each, name in alone.items():
        assert includes(chosen, name) == includes(chosen, beside[each])
