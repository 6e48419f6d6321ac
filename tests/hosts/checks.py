"""A real project: every endpoint is found and called. `make hosts` runs this in the environment of
each one.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import host
import pytest
import twins
from django.conf import settings as django_settings
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.schemas.generators import EndpointEnumerator
from twin_calls import answered

from toolbooth.boundary.messages import UNREADABLE_VALUE
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import build, catalogue
from toolbooth.django.describe.messages import JSON_TEXT
from toolbooth.django.messages import NO_CONTENT
from toolbooth.django.testing import acting_as
from toolbooth.errors import called
from toolbooth.lint.check import lint
from toolbooth.testing.shapes.generate import arguments_for

FOUND = catalogue()
SUPERUSER = twins.get_user_model().objects.get(username="root")
TOOLS = acting_as(SUPERUSER).tools()
READING = [name for name, action in FOUND.actions.items() if action.method == "GET"]
WRITING = [name for name in FOUND.actions if name not in READING]
USERS = ["root", "ann", None]

EXAMPLES = settings(
    max_examples=host.EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


# --- discovery
# ----------------------------------------------------------------------------------------------------


def test_every_endpoint_is_a_tool_or_left_out_with_a_reason():
    """REST framework's own list of endpoints, not drf-spectacular's."""
    every = {
        (method, path)
        for path, method, _ in EndpointEnumerator().get_api_endpoints()
        if method != "HEAD"
    }
    endpoints = {each for each in every if not each[1].rstrip("/").endswith("{format}")}
    tools = {(action.method, action.path) for action in FOUND.actions.values()}
    untold = {f"{method} {path}" for method, path in endpoints - tools}
    assert untold == {*host.HIDDEN, *host.UNKNOWN}
    assert tools - endpoints == set()


def test_views_left_out_are_reported_with_a_reason():
    assert {each.what: each.why for each in FOUND.left_out} == host.HIDDEN | host.LEFT_OUT


def test_names_are_short_unique_plain_and_stable():
    names = list(FOUND.actions)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9_]{1,64}", name)] == []
    assert len(set(names)) == len(names)
    assert list(build(configuration()).actions) == names
    assert set(TOOLS) == set(names)


OF_THE_HOST = {
    "many-tools",  # how many tools it has
    "empty-object",  # that it takes any JSON document
    "string-format",  # that it takes addresses and UUIDs
}
"""Findings of lint that no other schema could avoid."""


def test_published_tools_are_accepted_by_every_client():
    found = lint(list(TOOLS.values())).at_least("error")
    assert [str(each) for each in found if each.rule not in OF_THE_HOST] == []


# --- every tool called ------------------------------------------------------------------------------------------


def required(tool: str) -> list[str]:
    return TOOLS[tool]["inputSchema"].get("required", [])


NOTHING = {"result": NO_CONTENT}


def without_receipt(answer: Any) -> Any:
    """Return the answer of a delete without its count of deleted rows."""
    receipt = ("deleted", "unlinked", "changed", "note")
    kept = {name: each for name, each in answer.items() if name not in receipt}
    return kept or NOTHING


def compared(user: str | None, tool: str, arguments: dict[str, Any]) -> twins.Outcome:
    """Call a tool over MCP and its twin over REST; both must have the same outcome."""
    action = FOUND.actions[tool]
    rest = twins.over_rest(user, action.method, action.path, arguments, required(tool))
    whole = {"verify": True} if "verify" in FOUND.registry.find(tool).controls else {}
    mcp = twins.over_mcp(user, tool, {**arguments, **whole})
    told = f"{tool} {arguments} as {user}: REST {rest.kind} {str(rest.answer)[:500]}, MCP {mcp.kind} {mcp.answer}"
    # An exception in a serializer's validation is 500 over REST, and a refusal over MCP.
    # So is a row that others refer to, which must not be deleted.
    told_instead = (UNREADABLE_VALUE, "It cannot be deleted: ")
    is_told = rest.kind == 5 and mcp.kind == 4 and any(map(str(mcp.answer).count, told_instead))
    assert mcp.kind == rest.kind or is_told, told
    assert {table: found for table, found in mcp.rows.items() if found != rest.rows[table]} == {}, (
        told
    )
    if rest.kind == 4 and isinstance(rest.answer, dict):
        assert [
            field for field in rest.answer if field in arguments and field not in mcp.answer
        ] == [], told
    if rest.kind == 2 and not tool.startswith(host.UNLIKE):
        receipt = without_receipt(mcp.answer) if action.method == "DELETE" else mcp.answer
        expected = NOTHING if rest.answer is None else answered(rest.answer)
        assert receipt == expected, told
    return rest


def address(tool: str) -> dict[str, Any]:
    """The arguments of an existing row."""
    path = FOUND.actions[tool].path
    kwargs = re.findall(r"{(\w+)}", path)
    return {
        name: host.PATHS.get((path, kwarg), host.PATHS.get(kwarg, 1))
        for name, kwarg in zip(required(tool), kwargs, strict=False)
    }


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("tool", READING)
def test_read_result_equals_the_rest_response(tool: str, user: str | None):
    compared(user, tool, address(tool))


def settled(data: Any, name: str, value: Any) -> Any:
    """Return a generated value; where only the host knows the existing rows, one that it names, of
    the same type.
    """
    if isinstance(value, dict):
        return {key: settled(data, key, each) for key, each in value.items()}
    if isinstance(value, list):
        return [settled(data, name, each) for each in value]
    known = [
        each
        for each in host.VALUES.get(name, ())
        if isinstance(each, str) == isinstance(value, str)
    ]
    return data.draw(st.sampled_from(known), label=name) if known else value


@cache
def help_of(tool: str) -> dict[str, Any]:
    twins.restore()  # the call before may have deleted the caller
    return acting_as(SUPERUSER).call(tool, help=True).value


def protocol(tool: str) -> tuple[str, ...]:
    """Return the arguments of a tool that REST does not have, from its help."""
    return tuple(help_of(tool)["protocol"])


ANY_DOCUMENT = {"anyOf": [{"type": kind} for kind in ("object", "integer", "boolean")]}
"""The values that are listed as JSON text, in the form that REST accepts."""


def by_key(schema: Any, path: str, relations: Any) -> Any:
    """Return a schema with the keys of relations only: REST does not accept the objects that name a
    row.
    """
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    if str(made.get("description")).startswith(JSON_TEXT):
        return ANY_DOCUMENT
    if path in relations and "anyOf" in made:
        made["anyOf"] = [each for each in made["anyOf"] if each.get("type") != "object"]
    if "anyOf" in made:
        made["anyOf"] = [by_key(each, path, relations) for each in made["anyOf"]]
    if "items" in made:
        made["items"] = by_key(made["items"], f"{path}[]", relations)
    made["properties"] = {
        name: by_key(each, f"{path}.{name}" if path else name, relations)
        for name, each in made.get("properties", {}).items()
    }
    return made if made["properties"] else {key: made[key] for key in made if key != "properties"}


LARGEST = 2**31 - 1
"""The size and the start of a page: larger values are refused, and REST has no such page."""


def is_no_page(name: str, value: Any) -> bool:
    """Return whether there is no such page: REST framework reads the numbers below as others."""
    is_of_page = name in ("limit", "offset", "page", "page_size")
    return is_of_page and not 1 <= float(value) <= LARGEST


@cache
def schema_by_key(tool: str) -> Any:
    return by_key(TOOLS[tool]["inputSchema"], "", help_of(tool).get("relations", {}))


def generated(data: Any, tool: str) -> dict[str, Any]:
    """Return arguments that the published schema accepts, at a URL that exists."""
    made = data.draw(arguments_for(schema_by_key(tool)), label=tool)
    kept = {
        name: each
        for name, each in made.items()
        if name not in (*protocol(tool), *host.UNSENT) and not is_no_page(name, each)
    }
    if tool in READING:  # REST drops an empty filter or a search without a word, and MCP refuses it
        kept = {name: each for name, each in kept.items() if re.search(r"[^\s,'\"\[\]]", str(each))}
    return {**settled(data, "", kept), **address(tool)}


@pytest.mark.parametrize("tool", READING)
@given(data=st.data())
@EXAMPLES
def test_search_result_equals_the_rest_response(tool: str, data: Any):
    compared("root", tool, generated(data, tool))


@pytest.mark.parametrize("tool", WRITING)
@given(data=st.data())
@EXAMPLES
def test_write_equals_the_write_over_rest(tool: str, data: Any):
    compared(data.draw(st.sampled_from(["root", "root", "ann", None])), tool, generated(data, tool))


@pytest.mark.parametrize(("tool", "arguments"), host.CALLS, ids=[tool for tool, _ in host.CALLS])
def test_a_write_that_succeeds_over_rest_succeeds_over_mcp(tool: str, arguments: dict[str, Any]):
    assert compared("root", tool, arguments).kind == 2


# --- malformed calls, and many calls in one
# ------------------------------------------------------------------------


def body(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not part of the URL."""
    return {name: each for name, each in arguments.items() if name not in address(tool)}


def without_sessions(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {table: found for table, found in rows.items() if table != "django_session"}


def untouched() -> dict[str, list[Any]]:
    twins.restore()
    return without_sessions(twins.rows())


WITH_BODY = [(tool, arguments) for tool, arguments in host.CALLS if body(tool, arguments)]
CREATES = [
    (tool, arguments) for tool, arguments in host.CALLS if '"objects"' in TOOLS[tool]["description"]
]


@pytest.mark.parametrize("wrap", [lambda inner: inner, json.dumps], ids=["object", "text"])
@pytest.mark.parametrize(("tool", "arguments"), WITH_BODY, ids=[tool for tool, _ in WITH_BODY])
def test_a_wrapped_write_is_refused_and_leaves_no_trace(
    tool: str, arguments: dict[str, Any], wrap: Any
):
    inner = body(tool, arguments)
    flat = {name: each for name, each in arguments.items() if name not in inner}
    found = twins.over_mcp("root", tool, {**flat, "payload": wrap(inner)})
    assert (found.kind, '"payload"' in found.answer) == (4, True), found.answer
    assert without_sessions(found.rows) == untouched()


@pytest.mark.parametrize(("tool", "arguments"), host.CALLS, ids=[tool for tool, _ in host.CALLS])
def test_a_receipt_is_for_the_same_write(tool: str, arguments: dict[str, Any]):
    action = FOUND.actions[tool]
    rest = twins.over_rest("root", action.method, action.path, arguments, required(tool))
    mcp = twins.over_mcp("root", tool, arguments)
    assert (mcp.kind, mcp.rows) == (2, rest.rows)
    if "set" in mcp.answer:
        told = {
            *mcp.answer["set"],
            *mcp.answer.get("unchanged", ()),
            *mcp.answer.get("stored_as", ()),
            *mcp.answer.get("accepted", ()),
            *mcp.answer.get("not_stored", ()),
        }
        assert told == set(body(tool, arguments))


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.parametrize(("tool", "arguments"), host.CALLS, ids=[tool for tool, _ in host.CALLS])
def test_preview_has_the_receipt_of_the_write_or_is_refused(tool: str, arguments: dict[str, Any]):
    found = twins.over_mcp("root", tool, {**arguments, "preview": True})
    assert without_sessions(found.rows) == untouched()
    if "preview" not in protocol(tool):
        assert (found.kind, '"preview"' in found.answer) == (4, True), found.answer
        return
    made = twins.over_mcp("root", tool, arguments)
    assert found.kind == made.kind == 2, found.answer
    marks = {"preview": True, "written": "nothing"}
    receipt = {name: each for name, each in found.answer.items() if name not in marks}
    assert {**receipt, **marks} == found.answer
    # Keys that are numbers are the same: the database is restored before each call.
    texts = [UUID.sub("uuid", json.dumps(each)) for each in (receipt, made.answer)]
    assert texts[0] == texts[1]


def test_number_of_previewable_writes_is_unchanged():
    assert len([tool for tool in WRITING if "preview" in protocol(tool)]) == host.PREVIEWED


@pytest.mark.parametrize(("tool", "arguments"), CREATES, ids=[tool for tool, _ in CREATES])
def test_many_rows_in_one_call_are_stored_as_in_single_calls_or_not_at_all(
    tool: str, arguments: dict[str, Any]
):
    action = FOUND.actions[tool]
    inner = body(tool, arguments)
    flat = {name: each for name, each in arguments.items() if name not in inner}
    rest = twins.over_rest("root", action.method, action.path, arguments, required(tool))
    assert twins.over_mcp("root", tool, {**flat, "objects": [inner]}).rows == rest.rows
    broken = twins.over_mcp("root", tool, {**flat, "objects": [inner, {"no such field": 1}]})
    assert (broken.kind, without_sessions(broken.rows)) == (4, untouched())


@pytest.mark.parametrize("tool", READING)
def test_an_unknown_filter_is_refused(tool: str):
    found = twins.over_mcp("root", tool, {**address(tool), "no_such_filter": "x"})
    assert (found.kind, '"no_such_filter"' in found.answer) == (4, True)


def test_every_tool_that_writes_has_succeeded_once():
    assert {tool for tool, _ in host.CALLS} == set(WRITING) - set(host.NEVER)


# --- behind dispatchers -------------------------------------------------------------------------------------------

Ways = dict[str, tuple[str, dict[str, str]]]
OWN = {"resource", "action", "params", "help"}


@pytest.fixture(scope="module", params=["app", "resource"])
def ways(request: pytest.FixtureRequest) -> Iterator[Ways]:
    """The whole project behind dispatchers: for each tool the dispatcher, and the resource and
    action there.
    """
    chosen = getattr(django_settings, "TOOLBOOTH", {})
    with override_settings(TOOLBOOTH={**chosen, "DISPATCH": request.param}):
        dispatchers = catalogue().registry.tools.items()
        yield {
            sub.name: (name, way) for name, tool in dispatchers for way, sub in tool.table.subs()
        }


def walked(agent: Any) -> set[tuple[str, ...]]:
    """Return every dispatcher, resource and action that an agent finds with the list and help
    alone.
    """
    found = set()
    for name in agent.tools():
        question = {"help": True}
        while question:
            told = agent.call(name, question).value
            found |= {(name, *way) for way in _named(told)}
            question = told.get("next_page")
    return found


def _named(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    if "actions" in told:
        return ((action,) for action in told["actions"])
    return (
        (resource, signature.partition("(")[0])
        for resource, signatures in told["resources"].items()
        for signature in signatures
    )


def test_every_tool_is_found_behind_a_dispatcher(ways: Ways):
    assert set(ways) == set(FOUND.actions)
    assert walked(acting_as(SUPERUSER)) == {(name, *way.values()) for name, way in ways.values()}


@pytest.mark.parametrize("user", ["root", None])
@pytest.mark.parametrize("tool", READING)
def test_dispatched_read_equals_the_direct_call(ways: Ways, tool: str, user: str | None):
    name, way = ways[tool]
    through = twins.over_mcp(user, name, {**way, **address(tool)})
    direct = twins.over_mcp(user, tool, address(tool))
    assert (through.kind, through.rows) == (direct.kind, direct.rows)
    # A failed tool has the name that the client sees.
    as_seen = called(name, way.values())
    assert direct.answer == _renamed(through.answer, as_seen, repr(tool))


def _renamed(answer: Any, name: str, other: str) -> Any:
    return answer.replace(name, other) if isinstance(answer, str) else answer


@pytest.mark.parametrize(("tool", "arguments"), host.CALLS, ids=[tool for tool, _ in host.CALLS])
def test_dispatched_write_equals_the_direct_call(ways: Ways, tool: str, arguments: dict[str, Any]):
    name, way = ways[tool]
    direct = twins.over_mcp("root", tool, arguments)
    flat = (
        {} if OWN & set(arguments) else arguments
    )  # ARA's tasks have an action: such fields go into params
    beside = {key: each for key, each in arguments.items() if key not in flat}
    for sent in (
        {**flat, "params": beside},
        {"params": arguments},
        {"params": json.dumps(arguments)},
    ):
        through = twins.over_mcp("root", name, {**way, **sent})
        assert (through.kind, through.rows) == (direct.kind, direct.rows)
        assert through.answer == direct.answer or tool.startswith(host.UNLIKE)
    wrapped = twins.over_mcp("root", name, {**way, "payload": arguments})
    assert (wrapped.kind, without_sessions(wrapped.rows)) == (4, untouched())
