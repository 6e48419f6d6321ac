"""What typical calls are answered with, as a model reads it: the text of each result."""

from __future__ import annotations

import json
from typing import Any

from token_server import Answer, Served

NEW: dict[str, Any] = {
    "email": "ben@example.org",
    "first_name": "Ben",
    "last_name": "Bos",
    "notes": "met at the fair",
    "subscribed": True,
}
ROWS = 60
CALLS = ("retrieve", "list page of 20", "create", "update", f"{ROWS} rows created", "refusal of a wrapper")


def results(served: Served) -> dict[str, list[str]]:
    """The texts that each of CALLS is answered with, one for each call that it takes; none for what does not work."""
    created = _right(served, "create", **NEW)
    rows = [{**NEW, "email": f"row{number}@example.org"} for number in range(ROWS)]
    many = _many(served, rows)
    row = {_key(served): created.value["id"]}
    listed = _right(served, "list")
    if len(listed.value["results"]) != 20:
        raise AssertionError(f"{served.surface}: {listed.text}")
    return {
        "retrieve": [_right(served, "retrieve", id=created.value["id"]).text],
        "list page of 20": [listed.text],
        "create": [created.text],
        "update": [_right(served, "partial_update", **row, notes="wrote back").text],
        f"{ROWS} rows created": many,
        "refusal of a wrapper": _refused(served),
    }


def beside_ids(texts: list[str]) -> int:
    """Bytes of one answer that are not the ids of the rows."""
    (text,) = texts
    ids = json.loads(text)["ids"]
    if len(ids) != ROWS:
        raise AssertionError(text)
    return len(text.encode()) - len(json.dumps(ids, separators=(",", ":")))


def _many(served: Served, rows: list[dict[str, Any]]) -> list[str]:
    """In one call, where that makes all rows; or else row by row."""
    if served.surface.gateway == "toolbooth":
        return [_right(served, "create", objects=rows).text]
    return [_right(served, "create", **row).text for row in rows]


def _refused(served: Served) -> list[str]:
    answer = _call(served, "create", data=NEW)
    return [answer.text] if answer.is_error else []


def _key(served: Served) -> str:
    """FastMCP tells an id in the path from one in the body."""
    takes = served.tools[_name(served, "partial_update")]["inputSchema"]["properties"]
    return next(name for name in ("id__path", "id") if name in takes)


def _right(served: Served, action: str, **arguments: Any) -> Answer:
    answer = _call(served, action, **arguments)
    if answer.is_error:
        raise AssertionError(f"{served.surface}, {action}: {answer.text}; the figure would mean nothing")
    return answer


def _call(served: Served, action: str, **arguments: Any) -> Answer:
    return served.call(_name(served, action), **arguments)


def _name(served: Served, action: str) -> str:
    return f"contacts_{action}" if served.surface.gateway == "openapi" else f"contacts__{action}"
