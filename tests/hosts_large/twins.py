"""One call made twice in a large project, over REST and over MCP, with the same headers, and both
outcomes. Every call is rolled back.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import host
from django.core.cache import caches
from django.db import DatabaseError, connection, connections, transaction
from django.test import Client
from twin_calls import RestCall, message, read_reply, read_response, send

from toolbooth.django.testing import endpoint_path

Headers = Mapping[str, str]
Rows = dict[str, list[str]]
"""Every row of every table, as text in which values that differ each time have been replaced."""

ENDPOINT = endpoint_path()
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.I)
_DATABASES: tuple[str, ...] = getattr(host, "DATABASES", ("default",))
_CHANGED = frozenset(getattr(host, "CHANGED_TABLES", ()))
"""Tables that every request may write to: sessions, the last use of a token."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: 2, 4 or 5 for its status, its answer, and the rows after it."""

    kind: int
    answer: Any
    rows: Rows = field(default_factory=dict)
    is_json: bool = True


# --- rows -----------------------------------------------------------------------------------------


@contextmanager
def undone() -> Iterator[None]:
    """A transaction that is rolled back at the end, with the sequences of PostgreSQL."""
    before = _sequences()
    with ExitStack() as open_transactions:
        for alias in _DATABASES:
            whole: Any = transaction.atomic(using=alias)
            whole._from_testcase = True  # as Django's own tests, for views that are durable
            open_transactions.enter_context(whole)
        try:
            yield
        finally:
            for alias in _DATABASES:
                transaction.set_rollback(True, using=alias)
    _restore(before)


def _sequences() -> dict[str, int | None]:
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('%I.%I', schemaname, sequencename), last_value FROM pg_sequences"
        )
        return dict(cursor.fetchall())


def _restore(before: dict[str, int | None]) -> None:
    """Reset the sequences so that the next keys are the same again: a rollback does not do that."""
    for name, value in _sequences().items():
        if before.get(name) != value:
            kept = before.get(name)
            with connection.cursor() as cursor:
                cursor.execute("SELECT setval(%s, %s, %s)", [name, kept or 1, kept is not None])


def rows(sent: Any = None) -> Rows:
    """Return everything in the database, except for the tables that every request may write to."""
    found: Rows = {}
    try:
        with connection.cursor() as cursor:
            written = _written(cursor)
            for table in _tables():
                if table not in written and table in _as_prepared:
                    found[table] = _as_prepared[table]
                    continue
                cursor.execute(f'SELECT * FROM "{table}"')
                names = [column[0] for column in cursor.description]
                values = cursor.fetchall()
                as_read = sorted(map(repr, values))
                # PostgreSQL may still count writes of an earlier transaction to the table.
                if as_read == _as_read.get(table):
                    found[table] = _as_prepared[table]
                    continue
                found[table] = sorted(_row(names, each, sent) for each in values)
                if table not in written:
                    _as_prepared[table], _as_read[table] = found[table], as_read
    except DatabaseError:  # the call broke its transaction, so no write of it could be kept
        return {}
    return found


_as_prepared: Rows = {}
"""The rows of tables, as read by a transaction that had not written to them."""

_as_read: dict[str, list[str]] = {}
"""The same rows, with all values as they are in the database."""


def _written(cursor: Any) -> set[str]:
    """Return the tables that the open transaction has written to: PostgreSQL knows, and reading
    only these saves most of the time.
    """
    if connection.vendor != "postgresql":
        return set(_tables())
    cursor.execute(
        "SELECT relname FROM pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
    )
    return {name for (name,) in cursor.fetchall()}


_known_tables: list[str] = []


def _tables() -> list[str]:
    if not _known_tables:
        with connection.cursor() as cursor:
            every = connection.introspection.table_names(cursor)
        _known_tables.extend(sorted(set(every) - _CHANGED))
    return _known_tables


def _row(names: list[str], values: tuple[Any, ...], sent: Any) -> str:
    return repr({name: plain(value, name, sent) for name, value in zip(names, values, strict=True)})


def changes(found: Rows, base: Rows) -> dict[str, dict[str, list[str]]]:
    """Return the tables that have changed, with the rows that were added and removed."""
    changed: dict[str, dict[str, list[str]]] = {}
    for table in sorted({*found, *base}):
        now, then = found.get(table, []), base.get(table, [])
        if now != then:
            came = [row for row in now if row not in set(then)]
            went = [row for row in then if row not in set(now)]
            changed[table] = {"came": came, "went": went}
    return changed


# --- values that differ each time -----------------------------------------------------------------


known_uuids: set[str] = set()
"""The UUIDs of the prepared rows, which are compared unchanged."""


def learn_uuids() -> None:
    """Store the UUIDs of the prepared rows."""
    with connection.cursor() as cursor:
        for table in _tables():
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                known_uuids.update(_uuid(each) for each in _UUID.findall(" ".join(map(str, row))))


def _uuid(text: str) -> str:
    return text.replace("-", "").lower()


def plain(value: Any, name: str = "", sent: Any = None) -> Any:
    """Return a value as JSON, with "now" for the time of the call, "uuid" for a new one and
    "random" for the host's random values, unless it was sent.
    """
    if isinstance(value, dict):
        return {str(key): plain(each, str(key), sent) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, name, sent) for each in value]
    if name in host.RANDOM and value and str(value) not in str(sent):
        return "random"
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, memoryview | bytes):
        return plain(bytes(value).decode(errors="replace"), name, sent)
    return _plain_text(str(value), name, sent)


def _plain_text(text: str, name: str, sent: Any) -> Any:
    if text[:1] in ("{", "["):
        try:
            return plain(json.loads(text), name, sent)
        except ValueError:
            pass
    text = _STAMP.sub(lambda each: each[0] if each[0] in str(sent) else _stamp(each[0]), text)
    text = _UUID.sub(lambda each: each[0] if _is_known(each[0], sent) else "uuid", text)
    for pattern in getattr(host, "RANDOM_TEXTS", ()):
        text = re.sub(pattern, "random", text)
    return text


def _stamp(text: str) -> str:
    """Return "now" for a time within an hour of the call, and for one with microseconds: only the
    clock, and times calculated from it, have them.
    """
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    is_now = abs((datetime.now(UTC) - moment).total_seconds()) < 3600
    return "now" if is_now or moment.microsecond else text


def _is_known(text: str, sent: Any) -> bool:
    return _uuid(text) in known_uuids or text in str(sent)


# --- calls ----------------------------------------------------------------------------------------


def client(headers: Headers) -> Client:
    return Client(headers=dict(headers), raise_request_exception=False, SERVER_NAME=_SERVER)


_SERVER: str = getattr(host, "SERVER_NAME", "testserver")


def _forget_caches() -> None:
    for cache in caches.all():
        cache.clear()


def posted(headers: Headers, method: str, params: Any) -> Any:
    return client(headers).post(ENDPOINT, message(method, params), content_type="application/json")


def listed(headers: Headers) -> dict[str, Any]:
    """Return the tools that are published to a caller, by name."""
    found: dict[str, Any] = {}
    params: dict[str, Any] = {}
    while True:
        reply = posted(headers, "tools/list", params)
        result = reply.json()["result"] if reply.status_code == 200 else {"tools": []}
        found |= {tool["name"]: tool for tool in result["tools"]}
        if "nextCursor" not in result:
            return found
        params = {"cursor": result["nextCursor"]}


def over_mcp(
    headers: Headers, tool: str, arguments: Any, *, with_rows: bool = True, sent: Any = None
) -> Outcome:
    """Call a tool. `sent` holds the values that may be in the rows because they were sent; by
    default the arguments.
    """
    sent = arguments if sent is None else sent
    _forget_caches()
    with undone():
        reply = posted(headers, "tools/call", {"name": tool, "arguments": arguments})
        found = rows(sent) if with_rows else {}
    kind, answer = read_reply(reply)
    return Outcome(kind, plain(answer, sent=sent) if kind == 2 else answer, found)


def over_rest(headers: Headers, call: RestCall, sent: Any, *, with_rows: bool = True) -> Outcome:
    _forget_caches()
    with undone():
        reply = send(client(headers), call)
        kind, answer, is_json = read_response(reply)
        found = rows(sent) if with_rows else {}
    return Outcome(kind, plain(answer, sent=sent), found, is_json)


def databases() -> list[str]:
    """The kinds of databases that are compared."""
    return [connections[alias].vendor for alias in _DATABASES]
