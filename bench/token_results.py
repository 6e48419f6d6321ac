"""The answers to typical calls as a model reads them: the text of each result."""

from __future__ import annotations

import json
import re
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
NIL = "5d7a9c1e-3b20-4f68-8a47-92e6d0b1c385"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def results(served: Served) -> dict[str, list[str]]:
    """The texts of the answers to each call, one for each time it must be made; none if it does not
    work.

    Every id is replaced by the same one, because random ones differ in tokens.
    """
    created = _right(served, "create", **NEW)
    rows = [{**NEW, "email": f"row{number}@example.org"} for number in range(ROWS)]
    many = _many(served, rows)
    row = {_key(served): created.value["id"]}
    listed = _right(served, "list")
    if len(listed.value["results"]) != 20:
        raise AssertionError(f"{served.surface}: {listed.text}")
    found = {
        "retrieve": [_right(served, "retrieve", id=created.value["id"]).text],
        "list page of 20": [listed.text],
        "create": [created.text],
        "update": [_right(served, "partial_update", **row, notes="wrote back").text],
        f"{ROWS} rows created": many,
        "refusal of a wrapper": _refused(served),
    }
    return {call: [_ID.sub(NIL, text) for text in texts] for call, texts in found.items()}


def beside_ids(texts: list[str]) -> int:
    """Bytes of one answer without the ids of the rows."""
    (text,) = texts
    ids = json.loads(text)["ids"]
    if len(ids) != ROWS:
        raise AssertionError(text)
    return len(text.encode()) - len(json.dumps(ids, separators=(",", ":")))


def _many(served: Served, rows: list[dict[str, Any]]) -> list[str]:
    """In one call if that creates all rows, otherwise row by row."""
    if served.surface.gateway == "toolbooth":
        return [_right(served, "create", objects=rows).text]
    return [_right(served, "create", **row).text for row in rows]


def _refused(served: Served) -> list[str]:
    answer = _call(served, "create", data=NEW)
    return [answer.text] if answer.is_error else []


def _key(served: Served) -> str:
    """FastMCP uses different names for an id in the path and one in the body."""
    takes = served.tools[_name(served, "partial_update")]["inputSchema"]["properties"]
    return next(name for name in ("id__path", "id") if name in takes)


def _right(served: Served, action: str, **arguments: Any) -> Answer:
    answer = _call(served, action, **arguments)
    if answer.is_error:
        raise AssertionError(
            f"{served.surface}, {action}: {answer.text}; the figure would mean nothing"
        )
    return answer


def _call(served: Served, action: str, **arguments: Any) -> Answer:
    return served.call(_name(served, action), **arguments)


def _name(served: Served, action: str) -> str:
    return f"contacts_{action}" if served.surface.gateway == "openapi" else f"contacts__{action}"
