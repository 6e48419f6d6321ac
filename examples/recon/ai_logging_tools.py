"""AiLoggingToolProvider: the targets an agent has found, and its notes about each, by version."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired
from uuid import UUID, uuid4

from pydantic import Field
from typing_extensions import TypedDict

from recon.store import Row, Store, insert, now
from toolbooth import Context, ToolError

Protocol = Literal["http", "https", "tcp", "udp"]
Status = Literal["active", "inactive", "blocked", "completed"]
RiskLevel = Literal["low", "medium", "high", "critical"]
TargetId = Annotated[UUID, Field(description="The target's id, as create_target gave it.")]
Host = Annotated[
    str,
    Field(
        pattern=r"^([^\s/?#@:\[\]]+|[0-9A-Fa-f:.]+)$",
        max_length=253,
        description="A host name or address alone, e.g. example.org",
    ),
]
Notes = Annotated[
    str | None, Field(description="Anything worth keeping, e.g. Login form has no rate limit")
]
AnyOf = Field(min_length=1, description="Only those with one of these.")


class Target(TypedDict):
    id: str
    host: str
    port: int | None
    protocol: str
    title: str | None
    status: str
    risk_level: str
    notes: str | None
    discovery_date: str
    last_activity: str


class CreatedTarget(TypedDict):
    created: bool
    note: str
    target: Target


class TargetSummary(TypedDict):
    target: Target
    context_versions: int
    missions: int
    actions: int
    requests: int


class TargetList(TypedDict):
    total: int
    count: int
    limit: int
    offset: int
    targets: list[Target]


class ContextVersion(TypedDict):
    id: str
    target_id: str
    version: int
    user_context: str | None
    agent_context: str | None
    change_summary: str | None
    is_major_version: bool
    created_by: str | None
    created_at: str


class TargetContext(ContextVersion):
    history: NotRequired[list[ContextVersion]]
    """All versions, the newest first."""


class AiLoggingToolProvider:
    """Targets and their context."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create_target(
        self,
        host: Host,
        port: Annotated[int | None, Field(ge=1, le=65535)] = None,
        protocol: Protocol = "http",
        title: str | None = None,
        status: Status = "active",
        risk_level: RiskLevel = "medium",
        notes: Notes = None,
    ) -> CreatedTarget:
        """Store a target. If one with this host, port and protocol exists, it is returned unchanged."""
        time = now()
        row: Row = {
            "id": str(uuid4()),
            "host": host,
            "port": port,
            "protocol": protocol,
            "title": title,
            "status": status,
            "risk_level": risk_level,
            "notes": notes,
            "discovery_date": time,
            "last_activity": time,
        }
        with self._store.writing() as db:
            known = db.execute(
                "SELECT * FROM targets WHERE host = ? AND port IS ? AND protocol = ?",
                (host, port, protocol),
            ).fetchone()
            if known is None:
                insert(db, "targets", row)
                return {"created": True, "note": "created", "target": Target(**row)}
        note = "it was there already and is unchanged; update_target_status changes it"
        return {"created": False, "note": note, "target": Target(**dict(known))}

    def update_target_status(
        self,
        target_id: TargetId,
        status: Status | None = None,
        risk_level: RiskLevel | None = None,
        title: str | None = None,
        notes: Notes = None,
    ) -> Target:
        """Change a target. Fields that are not sent stay unchanged."""
        sent = {"status": status, "risk_level": risk_level, "title": title, "notes": notes}
        changes = {name: value for name, value in sent.items() if value is not None}
        if not changes:
            raise ToolError(
                "update_target_status", f"nothing to change; send one of {', '.join(sent)}"
            )
        self._store.find("update_target_status", "target", target_id)
        with self._store.writing() as db:
            _touch(db, target_id, **changes)
        return Target(**self._store.find("update_target_status", "target", target_id))

    def get_target_summary(self, target_id: TargetId) -> TargetSummary:
        """A target, with counts of its missions, actions and requests."""
        target = self._store.find("get_target_summary", "target", target_id)
        [counted] = self._store.rows(
            "SELECT (SELECT count(*) FROM contexts WHERE target_id = ?1) AS context_versions,"
            " (SELECT count(*) FROM missions WHERE target_id = ?1) AS missions,"
            " (SELECT count(*) FROM actions JOIN missions m ON m.id = mission_id WHERE target_id = ?1) AS actions,"
            " (SELECT count(*) FROM requests JOIN missions m ON m.id = mission_id WHERE target_id = ?1) AS requests",
            target["id"],
        )
        return TargetSummary(target=Target(**target), **counted)

    def search_targets(
        self,
        query: Annotated[str | None, Field(description="Part of the host, title or notes.")] = None,
        status: Annotated[list[Status] | None, AnyOf] = None,
        risk_level: Annotated[list[RiskLevel] | None, AnyOf] = None,
        protocol: Annotated[list[Protocol] | None, AnyOf] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 50,
        offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0,
    ) -> TargetList:
        """Targets that match every filter sent, in the order they were found."""
        wanted, values = _where(
            query, {"status": status, "risk_level": risk_level, "protocol": protocol}
        )
        [counted] = self._store.rows(
            f"SELECT count(*) AS total FROM targets WHERE {wanted}", *values
        )
        found = self._store.rows(
            f"SELECT * FROM targets WHERE {wanted} ORDER BY rowid LIMIT ? OFFSET ?",
            *values,
            limit,
            offset,
        )
        targets = [Target(**row) for row in found]
        return {
            "total": counted["total"],
            "count": len(found),
            "limit": limit,
            "offset": offset,
            "targets": targets,
        }

    def get_target_context(
        self,
        target_id: TargetId,
        version_id: Annotated[
            UUID | None, Field(description="An older version's id; the newest unless sent.")
        ] = None,
        include_history: Annotated[
            bool, Field(description="Whether to give all versions too.")
        ] = False,
    ) -> TargetContext:
        """Everything known about a target."""
        self._store.find("get_target_context", "target", target_id)
        versions = [
            _context(row)
            for row in self._store.rows(
                "SELECT * FROM contexts WHERE target_id = ? ORDER BY version DESC", str(target_id)
            )
        ]
        if not versions:
            raise ToolError(
                "get_target_context", "nothing is known yet; update_target_context writes it"
            )
        wanted = str(version_id) if version_id else versions[0]["id"]
        chosen = next((each for each in versions if each["id"] == wanted), None)
        if chosen is None:
            raise ToolError(
                "get_target_context",
                f"this target has no version {wanted}; include_history lists them",
            )
        return {**chosen, "history": versions} if include_history else {**chosen}

    def update_target_context(
        self,
        target_id: TargetId,
        ctx: Context,
        user_context: Annotated[
            str | None, Field(description="What the user said about it.")
        ] = None,
        agent_context: Annotated[
            str | None, Field(description="What you found out yourself.")
        ] = None,
        append_mode: Annotated[
            bool, Field(description="Whether to add to the present text instead of replacing it.")
        ] = False,
        change_summary: Annotated[str | None, Field(description="What is new, in a line.")] = None,
        is_major_version: bool = False,
    ) -> ContextVersion:
        """Write a new version of the notes about a target. Fields that are not sent stay unchanged."""
        sent = {"user_context": user_context, "agent_context": agent_context}
        if user_context is None and agent_context is None:
            raise ToolError(
                "update_target_context", f"nothing to write; send one of {', '.join(sent)}"
            )
        self._store.find("update_target_context", "target", target_id)
        with self._store.writing() as db:
            last = db.execute(
                "SELECT * FROM contexts WHERE target_id = ? ORDER BY version DESC",
                (str(target_id),),
            ).fetchone()
            row = {
                "id": str(uuid4()),
                "target_id": str(target_id),
                "version": last["version"] + 1 if last else 1,
                **{
                    name: _written(last and last[name], new, append_mode)
                    for name, new in sent.items()
                },
                "change_summary": change_summary,
                "is_major_version": int(is_major_version),
                "created_by": ctx.client,
                "created_at": now(),
            }
            insert(db, "contexts", row)
            _touch(db, target_id)
        return _context(row)


def _touch(db: sqlite3.Connection, target_id: UUID, **changes: str) -> None:
    """Change a target, and with it the time it was last touched."""
    changes["last_activity"] = now()
    columns = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE targets SET {columns} WHERE id = ?", (*changes.values(), str(target_id)))


def _where(query: str | None, filters: Mapping[str, Sequence[str] | None]) -> tuple[str, list[str]]:
    """The condition for a search, and the values of its marks."""
    conditions, values = ["1"], list[str]()
    if query:
        text = "host || ' ' || coalesce(title, '') || ' ' || coalesce(notes, '')"
        conditions.append(f"instr(lower({text}), lower(?))")
        values.append(query)
    for column, wanted in filters.items():
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    return " AND ".join(conditions), values


def _written(old: str | None, new: str | None, append: bool) -> str | None:
    if new is None:
        return old
    return f"{old}\n\n{new}" if append and old else new


def _context(row: Row) -> ContextVersion:
    told: Row = {**row, "is_major_version": bool(row["is_major_version"])}
    return ContextVersion(**told)
