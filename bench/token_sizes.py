"""The lists, help and answers of each gateway -> rows of figures: the bytes as received, and their
tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import token_help
import wide
from bulk_forms import FORMS, Tools
from django_peer import NAME as PEER
from figures import Row, Tell, Unit
from token_count import tokens
from token_help import Told, typed
from token_results import ROWS, beside_ids, results
from token_server import Dispatch, Served, Surface

FLAT_GOAL = 0.65
DISPATCHED_GOAL = 0.5
BESIDE_IDS = 120
"""Bytes that the answer to a bulk create may have besides the ids."""

IMPORT = "FastMCP's OpenAPI import"
NAMES = {"toolbooth": "Toolbooth", "frisian": PEER, "openapi": IMPORT}
APIS = {"crm": "example, 31 actions", "wide": f"{wide.ACTIONS:,} actions"}
SALES = ("companies", "contacts", "deals", "notes", "tags")
GROUPS: dict[str, dict[str, dict[str, list[str]]]] = {
    "crm": {"resource": {name: [name] for name in SALES}, "app": {"sales": list(SALES)}},
    "wide": {
        "resource": {
            f"{app}_{noun}": [f"{app}_{noun}"] for app in wide.APPS for noun in wide.NOUNS
        },
        "app": {app: [f"{app}_{noun}" for noun in wide.NOUNS] for app in wide.APPS},
    },
}
"""The groups of the setting of frisian-mcp, so that it has as many dispatchers as Toolbooth."""

WALKS = {"toolbooth": token_help.ours, "frisian": token_help.theirs}
"""The settings for which all of help is read: both APIs by app, and the small one by resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One surface, as an agent sees it."""

    bytes: int
    """All of `tools/list`."""
    tools: dict[str, dict[str, Any]]
    told: Told | None = None
    answers: dict[str, list[str]] | None = None

    @property
    def given(self) -> list[str]:
        return given(self.tools)


def given(tools: Tools) -> list[str]:
    """The part that clients pass to a model: name, description and schema of each tool."""
    shown = ("name", "description", "inputSchema")
    return [
        json.dumps(
            {key: tool[key] for key in shown if key in tool},
            separators=(",", ":"),
            ensure_ascii=False,
        )
        for tool in tools.values()
    ]


Key = tuple[str, str, str]
"""An API, a gateway, and how it is dispatched: flat, resource, app or groups."""


def sizes(tell: Tell) -> list[Row]:
    """Every figure that is counted, not timed."""
    with TemporaryDirectory() as home:
        wide.write(Path(home))
        seen = {key: _seen(key, Path(home), tell) for key in _wanted()}
        separate = {api: _with_bulk_tools(api, Path(home), tell) for api in APIS}
    tell("counting tokens")
    rows = [*_list_rows(seen), *_help_rows(seen), *_result_rows(seen)]
    for api in APIS:
        rows += _many_rows(api, seen[api, "toolbooth", "flat"].tools, separate[api])
    return rows


def _wanted() -> Iterator[Key]:
    for api in APIS:
        yield from ((api, gateway, "flat") for gateway in NAMES)
        yield from (
            (api, gateway, way)
            for gateway in ("toolbooth", "frisian")
            for way in ("resource", "app")
        )
    yield "wide", "toolbooth", "groups"


def _seen(key: Key, home: Path, tell: Tell) -> Seen:
    api, gateway, way = key
    tell(f"{APIS[api]}, {NAMES[gateway]}, {way}")
    with closing(
        Served(Surface(api=api, gateway=gateway, dispatch=_setting(*key)), home)
    ) as served:
        _check(key, served)
        walk = WALKS[gateway] if way == "app" or (api, way) == ("crm", "resource") else None
        return Seen(
            bytes=sum(len(page.body) for page in served.listing),
            tools=served.tools,
            told=walk(served) if walk else None,
            answers=results(served) if api == "crm" and way == "flat" else None,
        )


def _with_bulk_tools(api: str, home: Path, tell: Tell) -> Tools:
    tell(f"{APIS[api]}, {NAMES['toolbooth']}, BULK_TOOLS")
    surface = Surface(api=api, gateway="toolbooth", bulk_tools=True)
    with closing(Served(surface, home)) as served:
        return served.tools


def _many_rows(api: str, single: Tools, separate: Tools) -> Iterator[Row]:
    """The cost of each way to publish that creates accept many rows, against the sentence."""
    texts = [given(form(single, separate)) for form in FORMS.values()]
    sizes = [sum(len(text.encode()) for text in each) for each in texts]
    counted = tokens(texts)
    for name, size, count in zip(FORMS, sizes, counted, strict=True):
        yield _row("many, bytes", f"{APIS[api]}: {name}", None, size, sizes[0], "B")
        yield _row("many", f"{APIS[api]}: {name}, tokens", None, count, counted[0], "tokens")


def _setting(api: str, gateway: str, way: str) -> Dispatch:
    if way == "flat":
        return None
    return (
        GROUPS[api]["app" if way == "groups" else way]
        if gateway == "frisian" or way == "groups"
        else way
    )


def _check(key: Key, served: Served) -> None:
    api, _, way = key
    flat = 31 if api == "crm" else wide.ACTIONS
    wanted = flat if way == "flat" else len(GROUPS[api]["resource" if way == "resource" else "app"])
    if len(served.tools) != wanted:
        raise AssertionError(
            f"{served.surface}: {len(served.tools)} tools, not {wanted}; "
            "the figure would mean nothing"
        )


def _list_rows(seen: dict[Key, Seen]) -> Iterator[Row]:
    counted = dict(zip(seen, tokens([each.given for each in seen.values()]), strict=True))
    for (api, gateway, way), each in seen.items():
        if gateway == "frisian":
            continue
        floor = (api, "frisian", "app" if way == "groups" else way)
        dispatched = way != "flat"
        if dispatched:
            words = {"resource": "one a resource", "app": "one an app", "groups": "named groups"}[
                way
            ]
            name = (
                f"{APIS[api]}, {len(each.tools)} dispatcher{'s' * (len(each.tools) > 1)}, {words}"
            )
        else:
            name = f"{APIS[api]}: {NAMES[gateway]}"
        goal = None if gateway == "openapi" else DISPATCHED_GOAL if dispatched else FLAT_GOAL
        group = "dispatched" if dispatched else "flat"
        yield _row(group, name, goal, each.bytes, seen[floor].bytes, "B")
        yield _row(
            f"{group}, given",
            f"{name}, tokens",
            None,
            counted[api, gateway, way],
            counted[floor],
            "tokens",
        )


def _help_rows(seen: dict[Key, Seen]) -> Iterator[Row]:
    for (api, gateway, way), each in seen.items():
        if each.told is None:
            continue
        found = [there for *_, there in typed(seen[api, gateway, "flat"].tools, each.told)]
        name = f"{APIS[api]}, by {way}: {NAMES[gateway]}"
        goal = 1 if gateway == "toolbooth" else None
        yield _row("typed", name, goal, sum(found), len(found), "fields", at_least=True)
    for api in APIS:
        mine, theirs = (seen[api, gateway, "app"].told for gateway in ("toolbooth", "frisian"))
        assert mine is not None
        assert theirs is not None
        assert mine.action is not None
        yield from _texts("help", f"{APIS[api]}: tree of a dispatcher", [mine.tree], [theirs.tree])
        yield from _texts("help", f"{APIS[api]}: one resource", [mine.resource], [theirs.resource])
        listed, flat = (seen[api, "toolbooth", way].given for way in ("app", "flat"))
        name = f"{APIS[api]}: list, tree and help of one create"
        yield from _texts("learning", name, [*listed, mine.tree, mine.action], flat)


def _result_rows(seen: dict[Key, Seen]) -> Iterator[Row]:
    answers = {gateway: seen["crm", gateway, "flat"].answers or {} for gateway in NAMES}
    for gateway in ("toolbooth", "openapi"):
        for call, texts in answers[gateway].items():
            if texts:
                yield from _texts(
                    "results", f"{call}: {NAMES[gateway]}", texts, answers["frisian"][call]
                )
    beside = beside_ids(answers["toolbooth"][f"{ROWS} rows created"])
    yield _row(
        "ids",
        f"{ROWS} rows created: bytes beside their ids ÷ {BESIDE_IDS}",
        1,
        beside,
        BESIDE_IDS,
        "B",
    )


def _texts(group: str, name: str, mine: list[str], theirs: list[str]) -> Iterator[Row]:
    """The bytes and tokens that a model reads."""
    size, floor = (sum(len(text.encode()) for text in texts) for texts in (mine, theirs))
    yield _row(f"{group}, bytes", name, None, size, floor, "B")
    yield _row(group, f"{name}, tokens", None, *tokens([mine, theirs]), "tokens")


def _row(
    group: str,
    name: str,
    goal: float | None,
    cost: int,
    floor: int,
    unit: Unit,
    *,
    at_least: bool = False,
) -> Row:
    ratio = cost / floor
    return Row(
        group=group,
        name=name,
        goal=goal,
        ratio=ratio,
        low=ratio,
        high=ratio,
        cost=cost,
        floor=floor,
        at_least=at_least,
        unit=unit,
    )
