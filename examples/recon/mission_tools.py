"""MissionToolProvider: the goals of missions, the attempts made, and the techniques that work."""

import json
from collections.abc import Collection
from difflib import get_close_matches
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from pydantic import Field
from typing_extensions import TypedDict

from recon.ai_logging_tools import TargetId
from recon.store import Row, Store, as_text, insert, now
from toolbooth import JsonText, ToolError

MissionType = Literal["prompt_injection", "business_logic", "auth_bypass", "recon", "general"]
ActionType = Literal["payload_test", "recon", "exploit", "analysis"]
MissionId = Annotated[UUID, Field(description="The mission's id, as create_mission gave it.")]
Technique = Annotated[
    str, Field(min_length=1, description="A short name, the same each time, e.g. role-play prefix")
]


class Mission(TypedDict):
    id: str
    target_id: str
    mission_type: str
    name: str
    goal: str
    hypothesis: str | None
    scope: dict[str, Any] | None
    tags: list[str] | None
    metadata: dict[str, Any] | None
    cookie_profile: str | None
    created_at: str


class Action(TypedDict):
    id: str
    mission_id: str
    action_type: str
    technique: str
    payload: str | None
    result: str | None
    success: bool
    learning: str | None
    created_at: str
    request_ids: list[str]


class MissionContext(TypedDict):
    mission: Mission
    is_current: bool
    requests: int
    actions: list[Action]
    """The last five, the newest first."""


class TechniqueUse(TypedDict):
    technique: str
    uses: int
    successes: int
    success_rate: float
    last_used: str


class TechniqueStats(TechniqueUse):
    mission_types: list[str]
    learnings: list[str]


class TechniqueList(TypedDict):
    count: int
    techniques: list[TechniqueUse]


class MissionToolProvider:
    """Missions, their actions, and the current mission. All are in the store, so any worker can
    answer.
    """

    def __init__(self, store: Store, cookie_profiles: Collection[str] = ()) -> None:
        self._store = store
        self._cookie_profiles = cookie_profiles

    def create_mission(
        self,
        target_id: TargetId,
        mission_type: MissionType,
        name: Annotated[str, Field(min_length=1)],
        goal: Annotated[str, Field(min_length=1, description="What would count as done.")],
        hypothesis: Annotated[str | None, Field(description="What you expect to find.")] = None,
        scope: Annotated[
            dict[str, Any] | None,
            JsonText(example={"include": ["/api/*"], "exclude": ["/api/admin/*"]}),
            Field(description="What may be touched."),
        ] = None,
        tags: Annotated[
            list[str] | None, Field(description='Tags, e.g. ["security", "auth-bypass"]')
        ] = None,
        metadata: Annotated[
            dict[str, Any] | None,
            Field(description='For your own use, e.g. {"priority": "high", "reviewer": "alice"}'),
        ] = None,
    ) -> Mission:
        """Begin a mission against a target."""
        self._store.find("create_mission", "target", target_id)
        row = {
            "id": str(uuid4()),
            "target_id": str(target_id),
            "mission_type": mission_type,
            "name": name,
            "goal": goal,
            "hypothesis": hypothesis,
            "scope": as_text(scope),
            "tags": as_text(tags),
            "metadata": as_text(metadata),
            "cookie_profile": None,
            "created_at": now(),
        }
        with self._store.writing() as db:
            insert(db, "missions", row)
        return _mission(row)

    def set_mission_context(
        self,
        mission_id: MissionId,
        cookie_profile: Annotated[
            str | None,
            Field(description="Cookies for this mission's requests, by profile; none unless sent."),
        ] = None,
    ) -> MissionContext:
        """Make a mission the current one, for all clients of this server, and choose its cookies."""
        self._store.find("set_mission_context", "mission", mission_id)
        if cookie_profile is not None and cookie_profile not in self._cookie_profiles:
            known = ", ".join(self._cookie_profiles) or "none"
            raise ToolError(
                "set_mission_context",
                f"there is no cookie profile {cookie_profile!r}; known are: {known}",
            )
        with self._store.writing() as db:
            db.execute(
                "UPDATE missions SET cookie_profile = ? WHERE id = ?",
                (cookie_profile, str(mission_id)),
            )
            db.execute(
                "REPLACE INTO current_mission (one, mission_id) VALUES (1, ?)", (str(mission_id),)
            )
        return self._context(self._store.find("set_mission_context", "mission", mission_id))

    def get_mission_context(
        self,
        mission_id: Annotated[
            MissionId | None, Field(description="The current mission unless sent.")
        ] = None,
    ) -> MissionContext:
        """A mission with its last actions: the one named, or else the current one."""
        if mission_id is not None:
            return self._context(self._store.find("get_mission_context", "mission", mission_id))
        current = self._store.current_mission()
        if current is None:
            raise ToolError(
                "get_mission_context", "no mission is current; set_mission_context chooses one"
            )
        return self._context(current)

    def _context(self, row: Row) -> MissionContext:
        current = self._store.current_mission()
        [counted] = self._store.rows(
            "SELECT count(*) AS requests FROM requests WHERE mission_id = ?", row["id"]
        )
        actions = self._store.rows(
            "SELECT * FROM actions WHERE mission_id = ? ORDER BY rowid DESC LIMIT 5", row["id"]
        )
        return {
            "mission": _mission(row),
            "is_current": current is not None and current["id"] == row["id"],
            "requests": counted["requests"],
            "actions": [self._action(action) for action in actions],
        }

    def record_action(
        self,
        mission_id: MissionId,
        action_type: ActionType,
        technique: Technique,
        payload: Annotated[str | None, Field(description="What was sent.")] = None,
        result: Annotated[str | None, Field(description="What came back.")] = None,
        success: Annotated[bool, Field(description="Whether it had the intended effect.")] = False,
        learning: Annotated[
            str | None, Field(description="What to remember for the next attempt.")
        ] = None,
        link_recent_requests: Annotated[
            int,
            Field(
                ge=0,
                le=20,
                description="How many of the mission's last requests belong to this action.",
            ),
        ] = 5,
    ) -> Action:
        """Record an attempt in a mission, with the requests that were made for it."""
        self._store.find("record_action", "mission", mission_id)
        row = {
            "id": str(uuid4()),
            "mission_id": str(mission_id),
            "action_type": action_type,
            "technique": technique,
            "payload": payload,
            "result": result,
            "success": int(success),
            "learning": learning,
            "created_at": now(),
        }
        with self._store.writing() as db:
            insert(db, "actions", row)
            db.execute(
                "INSERT INTO action_requests (action_id, request_id)"
                " SELECT ?, id FROM requests WHERE mission_id = ? ORDER BY rowid DESC LIMIT ?",
                (row["id"], row["mission_id"], link_recent_requests),
            )
        return self._action(row)

    def _action(self, row: Row) -> Action:
        linked = self._store.rows(
            "SELECT requests.id FROM requests JOIN action_requests ON request_id = requests.id"
            " WHERE action_id = ? ORDER BY requests.rowid",
            row["id"],
        )
        told: Row = {
            **row,
            "success": bool(row["success"]),
            "request_ids": [each["id"] for each in linked],
        }
        return Action(**told)

    def search_techniques(
        self,
        success_only: Annotated[
            bool, Field(description="Only techniques that worked at least once.")
        ] = False,
        mission_type: Annotated[
            MissionType | None, Field(description="Only uses in missions of this type.")
        ] = None,
        min_success_rate: Annotated[float | None, Field(ge=0, le=1)] = None,
        min_usage_count: Annotated[int, Field(ge=1, le=1_000_000)] = 1,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> TechniqueList:
        """Techniques by how often they worked, the best first."""
        found = self._store.rows(
            f"{_USES} WHERE ?1 IS NULL OR mission_type = ?1 GROUP BY technique"
            " HAVING uses >= ?2 AND successes >= ?3 AND success_rate >= ?4"
            " ORDER BY success_rate DESC, uses DESC, technique LIMIT ?5",
            mission_type,
            min_usage_count,
            int(success_only),
            min_success_rate or 0,
            limit,
        )
        return {"count": len(found), "techniques": [TechniqueUse(**row) for row in found]}

    def get_technique_stats(self, technique: Technique) -> TechniqueStats:
        """How often a technique was used and worked, in which missions, and the lessons learnt."""
        found = self._store.rows(f"{_USES} WHERE technique = ? GROUP BY technique", technique)
        if not found:
            known = [
                row["technique"]
                for row in self._store.rows("SELECT DISTINCT technique FROM actions")
            ]
            near = get_close_matches(technique, known, n=1)
            hint = (
                f"did you mean {near[0]!r}?" if near else "search_techniques lists those that were"
            )
            raise ToolError(
                "get_technique_stats", f"no technique {technique!r} was recorded; {hint}"
            )
        used = self._store.rows(
            "SELECT mission_type, learning FROM actions JOIN missions ON missions.id = mission_id"
            " WHERE technique = ? ORDER BY actions.rowid",
            technique,
        )
        return {
            **TechniqueUse(**found[0]),
            "mission_types": sorted({row["mission_type"] for row in used}),
            "learnings": [row["learning"] for row in used if row["learning"]],
        }


_USES = """
SELECT technique, count(*) AS uses, sum(success) AS successes, avg(success) AS success_rate,
    max(actions.created_at) AS last_used
FROM actions JOIN missions ON missions.id = actions.mission_id
"""


def _mission(row: Row) -> Mission:
    """A row as the tool returns it: stored JSON is parsed."""
    stored = {
        name: json.loads(row[name])
        for name in ("scope", "tags", "metadata")
        if row[name] is not None
    }
    told: Row = {**row, **stored}
    return Mission(**told)
