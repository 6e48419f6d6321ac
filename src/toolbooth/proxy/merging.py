"""Merges the answers of several servers to one request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.proxy import messages
from toolbooth.proxy.message import NotAMessage, items, json_text, members, value_of
from toolbooth.proxy.owners import LISTS, Owners
from toolbooth.server.revisions import SERVER_KEY


class Named(Protocol):
    """A server with its name and its number."""

    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int: ...


def merged(
    method: str,
    answers: Sequence[tuple[Named, str]],
    missing: Sequence[str],
    owners: Owners[Any],
) -> str:
    """Merge the results of several servers into one result. All results are JSON. `missing` are the
    names of the servers that have no result.
    """
    if method in LISTS:
        return _merged_lists(method, answers, owners)
    results = [(server, value_of(text)) for server, text in answers]
    found = [(server, result) for server, result in results if is_object(result)]
    made: Json = {}
    for _, result in found:
        made = {**result, **made}
    _narrow(made, [result for _, result in found])
    if method in ("initialize", "server/discover"):
        made |= _introduced(method, found, missing)
    return json_text(made)


def united(one: Any, other: Any) -> Any:
    """Merge two JSON values at every depth. For example, `{"a": [1]}` and `{"a": [2]}` become
    `{"a": [1, 2]}`. The result has each capability that at least one of the servers has.
    """
    if is_object(one) and is_object(other):
        both = {key: united(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**one, **other, **both}
    if is_array(one) and is_array(other):
        return [*one, *(each for each in other if each not in one)]
    return one or other


def _introduced(method: str, found: Sequence[tuple[Named, Json]], missing: Sequence[str]) -> Json:
    """Return the capabilities, instructions and revisions of all servers together, as the answer to
    `initialize` or `server/discover`.
    """
    made: Json = {"capabilities": {}}
    words: list[str] = []
    for server, result in found:
        made["capabilities"] = united(made["capabilities"], result.get("capabilities"))
        if isinstance(told := result.get("instructions"), str) and told:
            words.append(f"{server.name}: {told}")
    words += [messages.not_available(name) for name in missing]
    if words:
        made["instructions"] = "\n\n".join(words)
    if method == "initialize":
        # The name of a revision is its date, so `min` finds the oldest one. Servers with a newer
        # revision understand its messages too.
        made["protocolVersion"] = min(str(each.get("protocolVersion")) for _, each in found)
        made["serverInfo"] = _own_info()
    else:
        versions = _versions(found[0][1])
        for _, each in found[1:]:
            common = _versions(each)
            versions = [version for version in versions if version in common]
        made["supportedVersions"] = versions
    return made


def _versions(result: Json) -> list[Any]:
    found: Any = result.get("supportedVersions")
    return found if is_array(found) else []


def _narrow(made: Json, results: Sequence[Json]) -> None:
    """Correct the members of a merged result that could promise more than one of the servers does.
    For example, the result expires as early as the first of the servers' results.
    """
    if any("ttlMs" in each for each in results):
        made["ttlMs"] = min(_milliseconds(each) for each in results)
    if any("cacheScope" in each for each in results):
        is_public = all(each.get("cacheScope") == "public" for each in results)
        made["cacheScope"] = "public" if is_public else "private"
    metas = [each.get("_meta") for each in results]
    meta: Json = {}
    for each in metas:
        meta = {**each, **meta} if is_object(each) else meta
    if SERVER_KEY in meta:
        meta[SERVER_KEY] = _own_info()
    if meta:
        made["_meta"] = meta


def _milliseconds(result: Json) -> Any:
    found = result.get("ttlMs")
    return found if isinstance(found, int) else 0


def _own_info() -> Json:
    return {"name": "toolbooth", "version": version("toolbooth")}


# --- lists --------------------------------------------------------------------------------------


def _merged_lists(method: str, answers: Sequence[tuple[Named, str]], owners: Owners[Any]) -> str:
    """Return one page with the items of all servers. Each item is copied as its server wrote it."""
    kind, identity = LISTS[method]
    written: dict[str, str] = {}
    listed: list[str] = []
    cursors: dict[str, str] = {}
    for server, text in answers:
        spans = members(text, 0, last=True)
        written = {key: text[span[0] : span[1]] for key, span in spans.items()} | written
        for item in _items(text, kind):
            found: Any = json.loads(item)
            name = found.get(identity) if is_object(found) else None
            if owners.learn(kind, name, server):
                listed.append(item)
        cursor = value_of(text[slice(*spans["nextCursor"])]) if "nextCursor" in spans else None
        if isinstance(cursor, str):
            cursors[str(server.number)] = cursor
    written[kind] = f"[{','.join(listed)}]"
    written.pop("nextCursor", None)
    if cursors:
        written["nextCursor"] = json_text(json_text(cursors))
    narrowed: Json = {}
    _narrow(narrowed, [json.loads(text) for _, text in answers])
    written |= {key: json_text(value) for key, value in narrowed.items()}
    return "{" + ",".join(f"{json_text(key)}:{value}" for key, value in written.items()) + "}"


def _items(result: str, kind: str) -> list[str]:
    try:
        return items(result, members(result, 0, last=True)[kind][0])
    except (NotAMessage, KeyError):
        return []


def cursors_in(cursor: Any) -> dict[int, str] | None:
    """Return the cursor of each server, by its number. Return None if the proxy has not made this
    cursor.
    """
    try:
        found: Any = json.loads(cursor)
        return {int(number): str(each) for number, each in found.items()}
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None
