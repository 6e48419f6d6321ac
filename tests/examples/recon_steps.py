"""The tools that examples/recon publishes; a mission from its target to its rows, call by call; and
the rows it leaves behind.

`SITE`, `TIME`, `CLIENT` and `@target` replace values that differ from run to run.
"""

import json
from typing import Any

PUBLISHED = {
    "http_request": {
        "url*": "string",
        "method": "GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS",
        "headers": "JSON text",
        "data": "string",
        "params": "JSON text",
        "cookies": "JSON text",
        "cookie_profile": "string",
        "follow_redirects": "boolean",
        "auth": "JSON text",
        "mission_id": "uuid",
    },
    "create_mission": {
        "target_id*": "uuid",
        "mission_type*": "prompt_injection|business_logic|auth_bypass|recon|general",
        "name*": "string",
        "goal*": "string",
        "hypothesis": "string",
        "scope": "JSON text",
        "tags": "array of string",
        "metadata": "object",
    },
    "set_mission_context": {"mission_id*": "uuid", "cookie_profile": "string"},
    "get_mission_context": {"mission_id": "uuid"},
    "record_action": {
        "mission_id*": "uuid",
        "action_type*": "payload_test|recon|exploit|analysis",
        "technique*": "string",
        "payload": "string",
        "result": "string",
        "success": "boolean",
        "learning": "string",
        "link_recent_requests": "integer 0..20",
    },
    "search_techniques": {
        "success_only": "boolean",
        "mission_type": "prompt_injection|business_logic|auth_bypass|recon|general",
        "min_success_rate": "number 0..1",
        "min_usage_count": "integer 1..1000000",
        "limit": "integer 1..100",
    },
    "get_technique_stats": {"technique*": "string"},
    "create_target": {
        "host*": "string",
        "port": "integer 1..65535",
        "protocol": "http|https|tcp|udp",
        "title": "string",
        "status": "active|inactive|blocked|completed",
        "risk_level": "low|medium|high|critical",
        "notes": "string",
    },
    "update_target_status": {
        "target_id*": "uuid",
        "status": "active|inactive|blocked|completed",
        "risk_level": "low|medium|high|critical",
        "title": "string",
        "notes": "string",
    },
    "get_target_summary": {"target_id*": "uuid"},
    "search_targets": {
        "query": "string",
        "status": "array of active|inactive|blocked|completed",
        "risk_level": "array of low|medium|high|critical",
        "protocol": "array of http|https|tcp|udp",
        "limit": "integer 1..100",
        "offset": "integer 0..1000000000",
    },
    "get_target_context": {
        "target_id*": "uuid",
        "version_id": "uuid",
        "include_history": "boolean",
    },
    "update_target_context": {
        "target_id*": "uuid",
        "user_context": "string",
        "agent_context": "string",
        "append_mode": "boolean",
        "change_summary": "string",
        "is_major_version": "boolean",
    },
}
"""The published tools of the servers of docs/project/evidence/parameter-transformation.md. `*`:
required.
"""

IDS = (
    "target",
    "mission",
    "first",
    "second",
    "action",
    "old",
    "new",
    "refused",
    "redirected",
    "large",
    "another",
)
TARGET = {
    "id": "@target",
    "host": "shop.test",
    "port": 8080,
    "protocol": "https",
    "title": None,
    "status": "active",
    "risk_level": "high",
    "notes": "No rate limit",
    "discovery_date": "TIME",
    "last_activity": "TIME",
}
NEW_TARGET = {key: TARGET[key] for key in ("host", "port", "protocol", "risk_level", "notes")}
THERE = "it was there already and is unchanged; update_target_status changes it"
DONE_TARGET = {**TARGET, "status": "completed"}
FOUND = {"total": 1, "count": 1, "limit": 50, "offset": 0, "targets": [TARGET]}

MISSION = {
    "id": "@mission",
    "target_id": "@target",
    "mission_type": "auth_bypass",
    "name": "Login",
    "goal": "Log in as another user",
    "hypothesis": None,
    "scope": {"include": ["/echo"], "deep": {"er": [1, None]}},
    "tags": ["auth", "login"],
    "metadata": {"priority": "high"},
    "cookie_profile": None,
    "created_at": "TIME",
}
NEW_MISSION = {
    key: MISSION[key] for key in ("target_id", "mission_type", "name", "goal", "tags", "metadata")
}
ANNS_MISSION = {**MISSION, "cookie_profile": "ann"}

ACTION = {
    "id": "@action",
    "mission_id": "@mission",
    "action_type": "payload_test",
    "technique": "echo",
    "payload": '{"a": 1}',
    "result": None,
    "success": True,
    "learning": "It tells everything",
    "created_at": "TIME",
}
NEW_ACTION = {
    key: ACTION[key] for key in ("mission_id", "action_type", "technique", "payload", "learning")
}
LINKED_ACTION = {**ACTION, "request_ids": ["@first", "@second"]}
USED = {"technique": "echo", "uses": 1, "successes": 1, "success_rate": 1.0, "last_used": "TIME"}

OLD = {
    "id": "@old",
    "target_id": "@target",
    "version": 1,
    "user_context": None,
    "agent_context": "A login form",
    "change_summary": None,
    "is_major_version": True,
    "created_by": "CLIENT",
    "created_at": "TIME",
}
NEW = {
    **OLD,
    "id": "@new",
    "version": 2,
    "agent_context": "A login form\n\nand one for passwords",
    "is_major_version": False,
}

REQUEST = {
    "url": "http://SITE/echo?token=t0ken-123",
    "method": "POST",
    "params": '{"q": "tea"}',
    "cookies": {"lang": "en"},
    "auth": '{"username": "ann", "password": "hunter22"}',
    "data": '{"a": 1}',
}
ECHO = {
    "method": "POST",
    "path": "/echo?token=t0ken-123&q=tea",
    "headers": {
        "Host": "SITE",
        "User-Agent": "toolbooth-recon/0.1",
        "X-Api-Key": "key-12345",
        "Cookie": "session=kept-session; lang=en",
        "Authorization": "Basic YW5uOmh1bnRlcjIy",
        "Content-Type": "application/json",
        "Content-Length": "8",
    },
    "body": '{"a": 1}',
}
ECHO_LENGTH = len(json.dumps(ECHO))
ECHO_HEADERS = {
    "content-type": "application/json",
    "x-told": "Basic YW5uOmh1bnRlcjIy",
    "content-length": str(ECHO_LENGTH),
}
SHOWN_URL = "http://SITE/echo?token=%5Bredacted%5D&q=tea"
SHOWN_HEADERS = {
    "host": "SITE",
    "user-agent": "toolbooth-recon/0.1",
    "x-api-key": "[redacted]",
    "cookie": "[redacted]",
    "authorization": "[redacted]",
    "content-type": "application/json",
    "content-length": "8",
}
REPLY = {
    "request_id": "@first",
    "mission_id": "@mission",
    "cookie_profile": "ann",
    "status_code": 200,
    "url": SHOWN_URL,
    "redirects": [],
    "headers": ECHO_HEADERS,
    "cookies": {},
    "text": json.dumps(ECHO),
    "json": ECHO,
    "base64": None,
    "elapsed_ms": 0,
    "request": {"method": "POST", "url": SHOWN_URL, "headers": SHOWN_HEADERS},
}


def not_called(address: str, kind: str) -> str:
    return (
        f"{address} is {kind}, which this server does not call; nothing was sent there. "
        f"The operator of the server can allow it with RECON_ALLOW={address}, or a network such as 10.0.0.0/8"
    )


METADATA = not_called("169.254.169.254", "a cloud metadata address")
TOO_LARGE = (
    "the reply (200) is larger than 1048576 bytes and was not read completely. "
    "The request was made; ask for less of it, e.g. with a Range header"
)
LOOPBACK = not_called("127.0.0.2", "a loopback address")


def failed(tool: str, message: str, **details: Any) -> dict[str, Any]:
    return {"error": f"Tool '{tool}' failed: {message}", **details}


def repaired(code: str, *paths: str) -> dict[str, Any]:
    return {"repairs": [{"code": code, "path": path} for path in paths]}


DECLARED = {
    "url": "text, required",
    "method": '"GET" or "POST" or "PUT" or "DELETE" or "PATCH" or "HEAD" or "OPTIONS"',
    "headers": "JSON text of object or null",
    "data": "text or null",
    "params": "JSON text of object or null",
    "cookies": "JSON text of object or null",
    "cookie_profile": "text or null",
    "follow_redirects": "true or false",
    "auth": "JSON text of object or null",
    "mission_id": "text or null",
}
"""The fields of `http_request`, with their types, as a refusal lists them."""


def wrapped(*fields: str) -> dict[str, Any]:
    """Return the refusal of these fields inside `request`."""
    inner = ", ".join(f'"{field}"' for field in fields)
    message = (
        '"request" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
        f'Send {inner} at the top level, not inside "request"'
    )
    declared = ", ".join(f'"{name}" ({words})' for name, words in DECLARED.items())
    lines = [
        "Refused: 1 problem in the arguments of 'http_request'. Nothing was done.",
        f"- $.request: {message}",
        f"Declared fields: {declared}.",
    ]
    told: dict[str, Any] = {
        "code": -32602,
        "problems": [{"code": "nested-wrapper", "path": "$.request", "message": message}],
        "declared": {"$": DECLARED},
        "edits": ["move $.request.* to $"],
    }
    if "auth" in fields:
        lines.append("To correct it: move $.request.* to $.")
    else:
        told["corrected"] = {"url": "http://SITE/echo", "method": "HEAD"}
        lines.append('Send instead: {"url":"http://SITE/echo","method":"HEAD"}')
    return {"error": "\n".join(lines), **told}


STEPS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("create_target", NEW_TARGET, {"created": True, "note": "created", "target": TARGET}),
    (
        "create_target",
        {**NEW_TARGET, "host": "SHOP.test", "notes": "other"},
        {"created": False, "note": THERE, "target": TARGET},
    ),
    (
        "get_mission_context",
        {},
        failed("get_mission_context", "no mission is current; set_mission_context chooses one"),
    ),
    ("create_mission", {**NEW_MISSION, "scope": json.dumps(MISSION["scope"])}, MISSION),
    (
        "set_mission_context",
        {"mission_id": "@mission", "cookie_profile": "bob"},
        failed("set_mission_context", "there is no cookie profile 'bob'; known are: ann"),
    ),
    (
        "set_mission_context",
        {"mission_id": "@mission", "cookie_profile": "ann"},
        {"mission": ANNS_MISSION, "is_current": True, "requests": 0, "actions": []},
    ),
    # Text that contains JSON: text and the real object are both accepted, and neither is a repair.
    ("http_request", {**REQUEST, "headers": '{"X-Api-Key": "key-12345"}'}, REPLY),
    (
        "http_request",
        {**REQUEST, "headers": {"X-Api-Key": "key-12345"}},
        {**REPLY, "request_id": "@second"},
    ),
    (
        "record_action",
        {**NEW_ACTION, "success": "true"},
        {**LINKED_ACTION, **repaired("scalar-text", "$.success")},
    ),
    (
        "get_mission_context",
        {},
        {"mission": ANNS_MISSION, "is_current": True, "requests": 2, "actions": [LINKED_ACTION]},
    ),
    (
        "search_techniques",
        {"success_only": True, "mission_type": "auth_bypass", "min_success_rate": 1},
        {"count": 1, "techniques": [USED]},
    ),
    ("search_techniques", {"min_usage_count": 2}, {"count": 0, "techniques": []}),
    (
        "get_technique_stats",
        {"technique": "echo"},
        {**USED, "mission_types": ["auth_bypass"], "learnings": ["It tells everything"]},
    ),
    (
        "get_technique_stats",
        {"technique": "ecco"},
        failed("get_technique_stats", "no technique 'ecco' was recorded; did you mean 'echo'?"),
    ),
    # Filters are typed arrays, and JSON text of an array can mean nothing else.
    (
        "search_targets",
        {"status": '["active", "blocked"]', "risk_level": '["high"]'},
        {**FOUND, **repaired("json-text", "$.status", "$.risk_level")},
    ),
    ("search_targets", {"query": "RATE", "status": ["active"], "protocol": ["https"]}, FOUND),
    ("search_targets", {"status": ["blocked"]}, {**FOUND, "total": 0, "count": 0, "targets": []}),
    ("search_targets", {"offset": 1}, {**FOUND, "count": 0, "offset": 1, "targets": []}),
    (
        "get_target_context",
        {"target_id": "@target"},
        failed("get_target_context", "nothing is known yet; update_target_context writes it"),
    ),
    (
        "update_target_context",
        {"target_id": "@target", "agent_context": "A login form", "is_major_version": True},
        OLD,
    ),
    (
        "update_target_context",
        {"target_id": "@target", "agent_context": "and one for passwords", "append_mode": True},
        NEW,
    ),
    (
        "update_target_context",
        {"target_id": "@target", "change_summary": "none"},
        failed(
            "update_target_context", "nothing to write; send one of user_context, agent_context"
        ),
    ),
    ("get_target_context", {"target_id": "@target", "version_id": "@old"}, OLD),
    (
        "get_target_context",
        {"target_id": "@target", "include_history": True},
        {**NEW, "history": [NEW, OLD]},
    ),
    (
        "get_target_context",
        {"target_id": "@target", "version_id": "@mission"},
        failed(
            "get_target_context", "this target has no version @mission; include_history lists them"
        ),
    ),
    ("update_target_status", {"target_id": "@target", "status": "completed"}, DONE_TARGET),
    (
        "update_target_status",
        {"target_id": "@target"},
        failed(
            "update_target_status",
            "nothing to change; send one of status, risk_level, title, notes",
        ),
    ),
    (
        "get_target_summary",
        {"target_id": "@target"},
        {"target": DONE_TARGET, "context_versions": 2, "missions": 1, "actions": 1, "requests": 2},
    ),
    (
        "get_target_summary",
        {"target_id": "@mission"},
        failed(
            "get_target_summary",
            "there is no target @mission; create_target makes one and gives its id",
        ),
    ),
    (
        "http_request",
        {"url": "http://169.254.169.254/latest/?key=key-12345"},
        failed("http_request", METADATA, details={"request_id": "@refused"}),
    ),
    (
        "http_request",
        {"url": "http://SITE/go?to=http://127.0.0.2/echo"},
        failed("http_request", LOOPBACK, details={"request_id": "@redirected"}),
    ),
    (
        "http_request",
        {"url": "http://SITE/endless"},
        failed("http_request", TOO_LARGE, details={"request_id": "@large"}),
    ),
    (
        "http_request",
        {"request": {"url": "http://SITE/echo", "method": "HEAD"}},
        wrapped("url", "method"),
    ),
    # If a secret is involved, the corrected call is given as edits only.
    ("http_request", {"request": REQUEST}, wrapped(*REQUEST)),
]

KEPT_REQUEST = {
    "id": "@first",
    "mission_id": "@mission",
    "method": "POST",
    "url": SHOWN_URL,
    "request_headers": json.dumps(SHOWN_HEADERS),
    "request_bytes": 8,
    "cookie_profile": "ann",
    "redirects": "[]",
    "status_code": 200,
    "response_headers": json.dumps({**ECHO_HEADERS, "x-told": "[redacted]"}),
    "response_bytes": ECHO_LENGTH,
    "error": None,
    "elapsed_ms": 0,
    "created_at": "TIME",
}
KEPT_GET = {**KEPT_REQUEST, "method": "GET", "request_bytes": 0, "response_bytes": None}
GET_HEADERS = '{"host": "%s", "user-agent": "toolbooth-recon/0.1", "cookie": "[redacted]"}'
KEPT = {
    "targets": [DONE_TARGET],
    "contexts": [{**OLD, "is_major_version": 1}, {**NEW, "is_major_version": 0}],
    "missions": [
        {**ANNS_MISSION, **{key: json.dumps(MISSION[key]) for key in ("scope", "tags", "metadata")}}
    ],
    "current_mission": [{"one": 1, "mission_id": "@mission"}],
    "requests": [
        KEPT_REQUEST,
        {**KEPT_REQUEST, "id": "@second"},
        {
            **KEPT_GET,
            "id": "@refused",
            "url": "http://169.254.169.254/latest/?key=%5Bredacted%5D",
            "request_headers": GET_HEADERS % "169.254.169.254",
            "status_code": None,
            "response_headers": None,
            "error": METADATA,
        },
        {
            **KEPT_GET,
            "id": "@redirected",
            "url": "http://SITE/go?to=http://127.0.0.2/echo",
            "request_headers": GET_HEADERS % "SITE",
            "redirects": '["http://127.0.0.2/echo"]',
            "status_code": 302,
            "response_headers": '{"location": "http://127.0.0.2/echo", "content-length": "0"}',
            "error": LOOPBACK,
        },
        {
            **KEPT_GET,
            "id": "@large",
            "url": "http://SITE/endless",
            "request_headers": GET_HEADERS % "SITE",
            "response_headers": '{"connection": "close"}',
            "error": TOO_LARGE,
        },
    ],
    "actions": [{**ACTION, "success": 1}],
    "action_requests": [
        {"action_id": "@action", "request_id": "@second"},
        {"action_id": "@action", "request_id": "@first"},
    ],
}

DEFAULTS = {
    "http_request": {"method": "GET", "follow_redirects": True},
    "record_action": {"success": False, "link_recent_requests": 5},
    "search_techniques": {"success_only": False, "min_usage_count": 1, "limit": 20},
    "create_target": {"protocol": "http", "status": "active", "risk_level": "medium"},
    "search_targets": {"limit": 50, "offset": 0},
    "get_target_context": {"include_history": False},
    "update_target_context": {"append_mode": False, "is_major_version": False},
}
