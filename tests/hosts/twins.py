"""One call made twice, over REST and over MCP, by the same user in equal databases, and both
outcomes.
"""

import base64
import re
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import host
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from twin_calls import message, read_reply, read_response, rest_call, send

from toolbooth.django.testing import endpoint_path

STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
RANDOM = ("md5$",)
"""The beginnings of values that differ each time: salted passwords."""


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
    """Restore the database to its prepared state."""
    PREPARED.backup(connection.connection)


def rows() -> dict[str, list[Any]]:
    """Return everything in the database; for sessions, whose keys are random, only their number."""
    found: dict[str, list[Any]] = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            kept = "count(*)" if table == "django_session" else "*"
            cursor.execute(f'SELECT {kept} FROM "{table}"')
            found[table] = [timeless(row) for row in cursor.fetchall()]
    return found


def timeless(value: Any) -> Any:
    """Return a value, with "now" for times of creation, and "random" for random values."""
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


# --- callers
# ------------------------------------------------------------------------------------------------------


def client(user: str | None) -> Client:
    credentials = base64.b64encode(f"{user}:pw".encode()).decode()
    return Client(
        headers={"Authorization": f"Basic {credentials}"} if user else None,
        raise_request_exception=False,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: 2, 4 or 5 for its status, its answer, and the database after it."""

    kind: int
    answer: Any
    rows: dict[str, list[Any]]


def over_mcp(user: str | None, tool: str, arguments: dict[str, Any]) -> Outcome:
    restore()
    text = message("tools/call", {"name": tool, "arguments": arguments})
    reply = client(user).post(endpoint_path(), text, content_type="application/json")
    found = rows()
    kind, answer = read_reply(reply)
    return Outcome(kind, timeless(answer) if kind == 2 else answer, found)


def over_rest(
    user: str | None, method: str, path: str, arguments: dict[str, Any], required: list[str]
) -> Outcome:
    restore()
    call = rest_call(method, path, arguments, required, joined=host.JOINED)
    kind, answer, _ = read_response(send(client(user), call))
    return Outcome(kind, timeless(answer), rows())
