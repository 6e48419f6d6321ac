"""One call made twice, over REST and over MCP, by the same user in equal databases: what came of
each.

Nothing here is asked of the gateway but what it publishes: which argument goes where is decided
anew.
"""

import base64
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import host
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from toolbooth.django.testing import endpoint_path

STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
RANDOM = ("md5$",)
"""How values begin that are other ones each time: salted passwords."""


class _NoMigrations:
    """Tables are made from the models as they are now."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


def _prepared() -> sqlite3.Connection:
    settings.MIGRATION_MODULES = _NoMigrations()
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    users = get_user_model().objects
    users.create_superuser("root", "root@example.org", "pw")
    users.create_user("ann", "ann@example.org", "pw")
    host.seed()
    kept = sqlite3.connect(":memory:")
    connection.connection.backup(kept)
    return kept


PREPARED = _prepared()
START = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def restore() -> None:
    """Have the database as it was prepared."""
    PREPARED.backup(connection.connection)


def rows() -> dict[str, list[Any]]:
    """Everything in the database; of sessions, whose keys are random, only how many there are."""
    found: dict[str, list[Any]] = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            kept = "count(*)" if table == "django_session" else "*"
            cursor.execute(f'SELECT {kept} FROM "{table}"')
            found[table] = [timeless(row) for row in cursor.fetchall()]
    return found


def timeless(value: Any) -> Any:
    """A value, with "now" for what says when it was made, and "random" for what nobody can
    foretell.
    """
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [timeless(each) for each in value]
    if isinstance(value, datetime):
        return timeless(str(value))
    if isinstance(value, str):
        if value.startswith(RANDOM):
            return "random"
        if STAMP.match(value) and value[:19].replace("T", " ") >= START:
            return "now"
    return value


# --- who calls -------------------------------------------------------------------------------------------------


def client(user: str | None) -> Client:
    credentials = base64.b64encode(f"{user}:pw".encode()).decode()
    return Client(
        headers={"Authorization": f"Basic {credentials}"} if user else None,
        raise_request_exception=False,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: 2, 4 or 5 for its status, what it answered, and the database after it."""

    kind: int
    answer: Any
    rows: dict[str, list[Any]]


def over_mcp(user: str | None, tool: str, arguments: dict[str, Any]) -> Outcome:
    restore()
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    reply = client(user).post(endpoint_path(), json.dumps(message), content_type="application/json")
    found = rows()
    if reply.status_code != 200:
        return Outcome(reply.status_code // 100, reply.content.decode(), found)
    answer = reply.json()
    if "error" in answer:
        return Outcome(4, answer["error"]["message"], found)
    result = answer["result"]
    text = result["content"][0]["text"]
    if result.get("isError"):
        return Outcome(5 if text.endswith("failed unexpectedly.") else 4, text, found)
    return Outcome(2, timeless(result["structuredContent"]), found)


def over_rest(
    user: str | None, method: str, path: str, arguments: dict[str, Any], required: list[str]
) -> Outcome:
    """The REST call that a tool's arguments stand for: those of the address are required, and named
    first.
    """
    restore()
    rest = dict(arguments)
    kwargs = re.findall(r"{(\w+)}", path)
    for kwarg, name in zip(kwargs, required, strict=False):
        path = path.replace(f"{{{kwarg}}}", quote(_text(rest.pop(name))))
    query, body = (rest, None) if method == "GET" else ({}, json.dumps(rest))
    url = f"{path}?{urlencode(list(_pairs(query)))}" if query else path
    reply = client(user).generic(
        method, url, body or "", content_type="application/json" if body else ""
    )
    found = rows()
    kind = reply.status_code // 100
    is_json = reply.headers.get("Content-Type", "").startswith("application/json")
    return Outcome(
        2 if kind == 3 else kind,
        timeless(reply.json()) if is_json and reply.content else None,
        found,
    )


def _pairs(query: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        if isinstance(value, list) and name not in host.JOINED:
            yield from ((name, _text(each)) for each in value)
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    """A value in an address. 2.0 is the JSON number 2."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)
