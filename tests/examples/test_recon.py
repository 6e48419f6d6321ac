"""examples/recon: its tools as real clients meet them, against a web site of the test's own on the loopback."""

import asyncio
import contextlib
import gzip
import importlib
import json
import os
import re
import shlex
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import mcp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp.client.stdio import StdioServerParameters, stdio_client

from toolbooth import ToolRegistry

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "recon"
TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))

sys.path.insert(0, str(EXAMPLE.parent))  # where `toolbooth serve examples/recon/server.py:registry` finds it
addresses, http_models, http_tools, stores = (
    importlib.import_module(f"recon.{name}") for name in ("addresses", "http_models", "http_tools", "store")
)

SECRETS = ("hunter22", "YW5uOmh1bnRlcjIy", "key-12345", "kept-session", "sent-session", "t0ken-123", "given-by-site")

# --- the web site -----------------------------------------------------------------------------------------------


class Site(BaseHTTPRequestHandler):
    """/echo tells what it got; /go?to= redirects; /login sets a cookie; the others never come to an end."""

    protocol_version = "HTTP/1.1"
    stopped = threading.Event()

    def answer(self) -> None:
        place = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        match place.path:
            case "/echo":
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                sent = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
                # Some servers tell a caller's secrets to everybody.
                told = {"Content-Type": "application/json", "X-Told": self.headers.get("authorization", "nothing")}
                address = f"127.0.0.1:{self.server.server_port}"
                self.reply(200, json.dumps(sent).replace(address, "SITE").encode(), **told)
            case "/go":
                self.reply(int(query.get("status", 302)), b"", Location=query["to"])
            case "/loop":
                self.reply(302, b"", Location="/loop")
            case "/login":
                self.reply(302, b"", Location="/echo", **{"Set-Cookie": "sid=given-by-site; Path=/"})
            case "/body":
                self.reply(200, bytes.fromhex(query["hex"]), **{"Content-Type": query["type"]})
            case "/bomb":
                self.reply(200, gzip.compress(bytes(64 << 20)), **{"Content-Encoding": "gzip"})
            case "/endless":
                self.reply(200, None, Connection="close")
                with contextlib.suppress(OSError):
                    while not self.stopped.is_set():
                        self.wfile.write(bytes(1 << 16))
            case "/hang":
                self.stopped.wait()

    do_GET = do_POST = do_HEAD = answer

    def reply(self, status: int, body: bytes | None, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if body is None:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def listening(tls: ssl.SSLContext | None = None, answers: type[BaseHTTPRequestHandler] = Site) -> Iterator[int]:
    """The port of a site on 127.0.0.1."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    site.daemon_threads = True
    if tls:
        site.socket = tls.wrap_socket(site.socket, server_side=True)
    thread = threading.Thread(target=site.serve_forever, args=[0.05])
    thread.start()
    try:
        yield site.server_port
    finally:
        site.shutdown()
        site.server_close()
        thread.join()


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    with listening() as port:
        yield port
        Site.stopped.set()


# --- over the wire ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[str]:
    """The address of a server, started as the README says, that listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("w") as errors:
        command = [TOOLBOOTH, "serve", "server.py:registry", "--log", "--http", str(port)]
        process = subprocess.Popen(command, cwd=EXAMPLE, env=environment, stderr=errors)
    try:
        _until_listening(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
    raise AssertionError(f"the server ended with {process.returncode}")


@contextlib.asynccontextmanager
async def connected(transport: str, mode: str, folder: Path, **settings: str) -> AsyncIterator[mcp.Client]:
    """The official client, connected to a server whose database and log are in `folder`."""
    environment = {**os.environ, "RECON_DB": str(folder / "db"), "RECON_ALLOW": "127.0.0.1", **settings}
    async with asyncio.timeout(120):
        with contextlib.ExitStack() as stack:
            if transport == "http":
                client = mcp.Client(stack.enter_context(serving(environment, folder / "log")), mode=mode)
            else:
                words = ["serve", "server.py:registry", "--log"]
                how = StdioServerParameters(command=TOOLBOOTH, args=words, cwd=EXAMPLE, env=environment)
                log = stack.enter_context((folder / "log").open("w"))
                client = mcp.Client(stdio_client(how, errlog=log), mode=mode)
            async with client as entered:
                yield entered


async def called(client: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A result as it came over the wire, in short: its value or its error's text, and what Toolbooth says of it."""
    found = (await client.call_tool(tool, arguments)).model_dump(mode="json", by_alias=True, exclude_none=True)
    [content] = found["content"]
    value = {"error": content["text"]} if found["isError"] else json.loads(content["text"])
    assert found["isError"] or found["structuredContent"] == value
    details = found.get("structuredContent", {}) if found["isError"] else {}
    return {**value, **details, **found.get("_meta", {}).get("toolbooth", {})}


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")


class Words:
    """Words for all that differs from run to run: the site, times, and ids by the order in which they turn up.

    Who called is known where a client says so with each call: on 2026-07-28.
    """

    def __init__(self, site: int, mode: str) -> None:
        self.site = f"127.0.0.1:{site}"
        self.client = "null" if mode == "legacy" else '"mcp"'
        self.ids: dict[str, str] = {}

    def put(self, value: Any) -> Any:
        text = UUID.sub(lambda found: self.ids.setdefault(found[0], f"@{IDS[len(self.ids)]}"), json.dumps(value))
        text = TIME.sub("TIME", text).replace(self.site, "SITE")
        text = text.replace(f'"created_by": {self.client}', '"created_by": "CLIENT"')
        return json.loads(re.sub(r'"elapsed_ms": \d+', '"elapsed_ms": 0', text))

    def fill(self, value: Any) -> Any:
        text = json.dumps(value).replace("SITE", self.site)
        for found, word in self.ids.items():
            text = text.replace(word, found)
        return json.loads(text)


IDS = ("target", "mission", "first", "second", "action", "old", "new", "refused", "redirected", "another")
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
NEW_MISSION = {key: MISSION[key] for key in ("target_id", "mission_type", "name", "goal", "tags", "metadata")}
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
NEW_ACTION = {key: ACTION[key] for key in ("mission_id", "action_type", "technique", "payload", "learning")}
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
        f"Whoever runs the server can allow it with RECON_ALLOW={address}, or a network such as 10.0.0.0/8"
    )


METADATA = not_called("169.254.169.254", "a cloud metadata address")
LOOPBACK = not_called("127.0.0.2", "a loopback address")


def failed(tool: str, message: str, **details: Any) -> dict[str, Any]:
    return {"error": f"Tool '{tool}' failed: {message}", **details}


def repaired(code: str, *paths: str) -> dict[str, Any]:
    return {"repairs": [{"code": code, "path": path} for path in paths]}


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
    # Text that takes JSON: text and the real object pass, and neither is a repair.
    ("http_request", {**REQUEST, "headers": '{"X-Api-Key": "key-12345"}'}, REPLY),
    ("http_request", {**REQUEST, "headers": {"X-Api-Key": "key-12345"}}, {**REPLY, "request_id": "@second"}),
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
        failed("update_target_context", "nothing to write; send one of user_context, agent_context"),
    ),
    ("get_target_context", {"target_id": "@target", "version_id": "@old"}, OLD),
    ("get_target_context", {"target_id": "@target", "include_history": True}, {**NEW, "history": [NEW, OLD]}),
    (
        "get_target_context",
        {"target_id": "@target", "version_id": "@mission"},
        failed("get_target_context", "this target has no version @mission; include_history lists them"),
    ),
    ("update_target_status", {"target_id": "@target", "status": "completed"}, DONE_TARGET),
    (
        "update_target_status",
        {"target_id": "@target"},
        failed("update_target_status", "nothing to change; send one of status, risk_level, title, notes"),
    ),
    (
        "get_target_summary",
        {"target_id": "@target"},
        {"target": DONE_TARGET, "context_versions": 2, "missions": 1, "actions": 1, "requests": 2},
    ),
    (
        "get_target_summary",
        {"target_id": "@mission"},
        failed("get_target_summary", "there is no target @mission; create_target makes one and gives its id"),
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
    "missions": [{**ANNS_MISSION, **{key: json.dumps(MISSION[key]) for key in ("scope", "tags", "metadata")}}],
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
    ],
    "actions": [{**ACTION, "success": 1}],
    "action_requests": [
        {"action_id": "@action", "request_id": "@second"},
        {"action_id": "@action", "request_id": "@first"},
    ],
}


def kept(database: Path) -> dict[str, list[dict[str, Any]]]:
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.row_factory = sqlite3.Row
        return {table: [dict(row) for row in db.execute(f"SELECT * FROM {table}")] for table in KEPT}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_mission_goes_from_its_target_to_its_rows(transport, mode, site, tmp_path):
    profiles = tmp_path / "cookies.json"
    profiles.write_text('{"ann": {"session": "kept-session", "lang": "de"}}')
    words = Words(site, mode)

    async def session() -> list[Any]:
        async with connected(transport, mode, tmp_path, RECON_COOKIES=str(profiles)) as client:
            return [words.put(await called(client, tool, **words.fill(arguments))) for tool, arguments, _ in STEPS]

    for step, result in zip(STEPS, asyncio.run(session()), strict=True):
        assert (*step[:2], result) == step
    assert words.put(kept(tmp_path / "db")) == KEPT
    written = (tmp_path / "db").read_bytes() + (tmp_path / "log").read_bytes()
    assert [secret for secret in SECRETS if secret.encode() in written] == []
    assert b"POST http://127.0.0.1" in written  # the log is on


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
    "get_target_context": {"target_id*": "uuid", "version_id": "uuid", "include_history": "boolean"},
    "update_target_context": {
        "target_id*": "uuid",
        "user_context": "string",
        "agent_context": "string",
        "append_mode": "boolean",
        "change_summary": "string",
        "is_major_version": "boolean",
    },
}
"""What seed 002 and the servers it was written for publish; where a parameter is required, its name ends in `*`."""

DEFAULTS = {
    "http_request": {"method": "GET", "follow_redirects": True},
    "record_action": {"success": False, "link_recent_requests": 5},
    "search_techniques": {"success_only": False, "min_usage_count": 1, "limit": 20},
    "create_target": {"protocol": "http", "status": "active", "risk_level": "medium"},
    "search_targets": {"limit": 50, "offset": 0},
    "get_target_context": {"include_history": False},
    "update_target_context": {"append_mode": False, "is_major_version": False},
}


def in_short(schema: dict[str, Any]) -> str:
    """A published parameter: its type, choices and bounds."""
    if "enum" in schema:
        return "|".join(schema["enum"])
    if schema["type"] == "array":
        return f"array of {in_short(schema['items'])}"
    if schema.get("contentMediaType") == "application/json":
        return "JSON text"
    bounds = f" {schema['minimum']}..{schema['maximum']}" if "minimum" in schema else ""
    return schema.get("format", schema["type"]) + bounds


def test_the_parameters_are_published_as_the_seed_says(tmp_path):
    async def listed() -> list[mcp.types.Tool]:
        async with connected("stdio", "2026-07-28", tmp_path) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    schemas = {name: tool.input_schema for name, tool in tools.items()}
    assert {
        name: {
            f"{param}{'*' if param in schema.get('required', ()) else ''}": in_short(found)
            for param, found in schema["properties"].items()
        }
        for name, schema in schemas.items()
    } == PUBLISHED
    defaults = {
        name: {param: found["default"] for param, found in schema["properties"].items() if "default" in found}
        for name, schema in schemas.items()
    }
    assert {name: found for name, found in defaults.items() if found} == DEFAULTS
    # What an agent cannot see the inside of has an example.
    open_params = [
        found["description"]
        for schema in schemas.values()
        for found in schema["properties"].values()
        if in_short(found) in ("JSON text", "object", "array of string")
    ]
    assert [text for text in open_params if "e.g. " not in text] == []
    assert all(tool.description and tool.output_schema for tool in tools.values())


# --- the HTTP tool ----------------------------------------------------------------------------------------------


class Recon:
    """The HTTP tool in a registry of its own, called as the wire would call it; names lead where `hosts` says."""

    def __init__(self, database: Path, hosts: dict[str, list[str]] | None = None, **settings: Any) -> None:
        self.hosts = hosts or {}
        self.looked_up: list[str] = []
        self.store = stores.Store(database)
        allowed = (ip_network("127.0.0.1"), ip_network("127.0.0.3"))
        config = http_models.HttpConfig(**{"allowed": allowed, "resolve": self.look_up, **settings})
        self.registry = ToolRegistry("recon")
        self.registry.tool(http_tools.HttpToolProvider(self.store, config).http_request)

    async def look_up(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        return self.hosts.get(host) or await addresses.look_up(host, port)

    def result(self, url: str, **arguments: Any) -> dict[str, Any]:
        return self.registry.dispatch("http_request", {"url": url, **arguments})

    def reply(self, url: str, **arguments: Any) -> Any:
        found = self.result(url, **arguments)
        assert not found["isError"], found["content"][0]["text"]
        return found["structuredContent"]

    def error(self, url: str, **arguments: Any) -> str:
        found = self.result(url, **arguments)
        assert found["isError"], found["content"][0]["text"]
        return found["content"][0]["text"].removeprefix("Tool 'http_request' failed: ")

    def errors_kept(self) -> list[str]:
        return [row["error"] for row in self.store.rows("SELECT error FROM requests")]


@pytest.mark.parametrize("path", ["/endless", "/bomb"])
def test_a_reply_over_the_limit_is_not_read_to_its_end(path, site, tmp_path):
    recon = Recon(tmp_path / "db", max_response_bytes=100_000)
    told = (
        "the reply (200) is larger than 100000 bytes and was not read to its end. "
        "The request was made; ask for less of it, e.g. with a Range header"
    )
    assert recon.error(f"http://127.0.0.1:{site}{path}") == told
    assert recon.errors_kept() == [told]


def test_a_reply_at_the_limit_is_whole(site, tmp_path):
    recon = Recon(tmp_path / "db", max_response_bytes=3)
    assert recon.reply(f"http://127.0.0.1:{site}/body?hex=616263&type=text/plain")["text"] == "abc"


def test_a_server_that_does_not_answer_is_left(site, tmp_path):
    recon = Recon(tmp_path / "db", timeout=0.2)
    told = "no whole reply within 0.2 s; what was sent may have had its effect"
    assert recon.error(f"http://127.0.0.1:{site}/hang") == told
    assert recon.errors_kept() == [told]


def test_a_call_that_is_given_up_leaves_its_row(site, tmp_path):
    reached = asyncio.Event()

    async def look_up(host: str, port: int) -> list[str]:
        reached.set()
        return ["127.0.0.1"]

    async def given_up(recon: Recon) -> None:
        call = recon.registry.dispatch_async("http_request", {"url": f"http://shop.test:{site}/hang"})
        waiting = asyncio.ensure_future(call)
        await reached.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    recon = Recon(tmp_path / "db", resolve=look_up)
    asyncio.run(given_up(recon))
    assert recon.errors_kept() == ["it was not finished"]


def test_a_request_that_cannot_be_recorded_is_not_to_be_repeated_blindly(site, tmp_path):
    recon = Recon(tmp_path / "db")
    with recon.store.writing() as db:
        db.execute("DROP TABLE requests")
    told = "the request was made, but it could not be recorded; do not repeat it blindly"
    assert recon.error(f"http://127.0.0.1:{site}/echo", method="POST") == told


def test_redirects_come_to_an_end(site, tmp_path):
    recon = Recon(tmp_path / "db")
    url = f"http://127.0.0.1:{site}/loop"
    assert recon.error(url) == f"more than 5 redirects, at last to {url}"
    assert recon.reply(url, follow_redirects=False)["status_code"] == 302


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("http://127.0.0.2/", LOOPBACK),
        ("http://inside.test/", "inside.test leads to 10.0.0.7, a private address"),
        ("ftp://127.0.0.1/", "ftp://127.0.0.1 is no http or https address"),
        ("http://ann:hunter22@127.0.0.1/", "the URL holds a user name or password; send them in auth instead"),
        ("http://127.0.0.1:99999/", "there is no port 99999; the last one is 65535"),
        ("http://nowhere.invalid/", "no address was found for the host 'nowhere.invalid'"),
    ],
    ids=["loopback", "name of a private address", "ftp", "password", "port", "no such host"],
)
def test_a_redirect_is_checked_like_a_request(to, told, site, tmp_path):
    recon = Recon(tmp_path / "db", {"inside.test": ["10.0.0.7"], "nowhere.invalid": []})
    assert recon.error(f"http://127.0.0.1:{site}/go", params={"to": to}).startswith(told)


def test_credentials_do_not_go_along_to_another_host(site, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]})
    secrets: dict[str, Any] = {
        "headers": {"X-Api-Key": "key-12345", "Accept": "text/html"},
        "auth": {"username": "ann", "password": "hunter22"},
        "cookies": {"session": "sent-session"},
    }
    there = f"http://other.test:{site}/echo"
    reply = recon.reply(f"http://shop.test:{site}/go", params={"to": there, "status": "307"}, **secrets)
    assert (reply["url"], reply["redirects"]) == (there, [there])
    told = {"Host": f"other.test:{site}", "User-Agent": "toolbooth-recon/0.1", "Accept": "text/html"}
    assert reply["json"]["headers"] == told

    reply = recon.reply(f"http://shop.test:{site}/login", **secrets)
    assert reply["cookies"] == {"sid": "given-by-site"}
    assert reply["json"]["headers"] == {
        **told,
        "Host": f"shop.test:{site}",
        "X-Api-Key": "key-12345",
        "Authorization": "Basic YW5uOmh1bnRlcjIy",
        "Cookie": "session=sent-session; sid=given-by-site",
    }
    stored = (tmp_path / "db").read_bytes()
    assert [secret for secret in SECRETS if secret.encode() in stored] == []


def test_a_name_is_looked_up_once_and_what_was_checked_is_called(site, tmp_path):
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    looked_up = []

    async def rebinding(host: str, port: int) -> list[str]:
        looked_up.append((host, port))
        return answers[len(looked_up) - 1]

    recon = Recon(tmp_path / "db", resolve=rebinding)
    assert recon.reply(f"http://shop.test:{site}/echo")["json"]["headers"]["Host"] == f"shop.test:{site}"
    assert looked_up == [("shop.test", site)]
    told = "shop.test leads to 127.0.0.2, a loopback address"
    assert recon.error(f"http://shop.test:{site}/echo").startswith(told)


def test_every_address_of_a_name_is_checked(site, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": ["127.0.0.1", "10.0.0.7"]})
    told = "shop.test leads to 10.0.0.7, a private address"
    assert recon.error(f"http://shop.test:{site}/echo").startswith(told)


def test_the_next_address_is_tried_where_one_does_not_answer(site, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": ["127.0.0.3", "127.0.0.1"]})  # nothing listens at the first
    assert recon.reply(f"http://shop.test:{site}/echo")["status_code"] == 200


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "100.64.0.1", "10.1.2.3", "172.16.0.1"),
        *("192.168.1.1", "fd12:3456::1", "fec0::1", "169.254.1.1", "fe80::1%eth0", "0.0.0.0", "224.0.0.1"),
        *("ff02::1", "255.255.255.255", *addresses.METADATA),
    ],
)
def test_what_is_not_public_is_not_called(address, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": [address]}, allowed=())
    assert recon.error("http://shop.test/").startswith(f"shop.test leads to {ip_address(address)}, ")


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_what_is_public_may_be_called(address):
    assert addresses.why_not(ip_address(address)) is None


@pytest.mark.parametrize("spelling", ["2130706434", "0x7f.2", "127.2", "0177.0.0.2", "127.0.0.2.", "[::ffff:7f00:2]"])
def test_another_spelling_of_a_private_address_is_not_called(spelling, tmp_path):
    """How it is told depends on who reads the spelling first: httpx2, or the system's lookup."""
    recon = Recon(tmp_path / "db")
    assert re.search(
        r"this server does not call|no address was found|cannot be read", recon.error(f"http://{spelling}/")
    )


def certificate(folder: Path, name: str) -> Path:
    """A certificate for one name, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = datetime.now(UTC) - timedelta(days=1)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "certificate.pem"
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


def test_tls_proves_the_name_though_the_address_is_called(tmp_path):
    file = certificate(tmp_path, "shop.test")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    hosts = {"shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
    recon = Recon(tmp_path / "db", hosts, verify=ssl.create_default_context(cafile=str(file)))
    with listening(server) as port:
        assert recon.reply(f"https://shop.test:{port}/echo")["json"]["headers"]["Host"] == f"shop.test:{port}"
        told = recon.error(f"https://other.test:{port}/echo")
    assert "CERTIFICATE_VERIFY_FAILED" in told
    assert "other.test" in told


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("hex=636166c3a9&type=text/plain", {"text": "café", "json": None, "base64": None}),
        ("hex=636166e9&type=text/plain;charset=latin-1", {"text": "café", "json": None, "base64": None}),
        ("hex=ff00&type=image/png", {"text": None, "json": None, "base64": "/wA="}),
        ("hex=6162&type=text/plain;charset=punycode", {"text": None, "json": None, "base64": "YWI="}),
        ("hex=7b2261223a317d&type=application/problem%2Bjson", {"text": '{"a":1}', "json": {"a": 1}, "base64": None}),
        ("hex=7b2261223a4e614e7d&type=application/json", {"text": '{"a":NaN}', "json": None, "base64": None}),
    ],
    ids=["utf-8", "latin-1", "no text", "a codec of Python", "JSON", "no JSON after all"],
)
def test_a_body_is_told_as_it_came(query, body, site, tmp_path):
    reply = Recon(tmp_path / "db").reply(f"http://127.0.0.1:{site}/body?{query}")
    assert {key: reply[key] for key in body} == body


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"cookie_profile": "bob"}, "there is no cookie profile 'bob'; known are: none"),
        (
            {"cookies": {"a": "1"}, "headers": {"cookie": "b=2"}},
            "both cookies and the header Cookie are given; send one of them",
        ),
        (
            {"auth": {"username": "ann", "password": "hunter22"}, "headers": {"authorization": "x"}},
            "both auth and the header Authorization are given; send one of them",
        ),
        ({"data": "12345"}, "the body has 5 bytes; 4 are allowed"),
        (
            {"mission_id": "00000000-0000-4000-8000-000000000000"},
            "there is no mission 00000000-0000-4000-8000-000000000000; create_mission makes one and gives its id",
        ),
    ],
    ids=["profile", "cookies twice", "credentials twice", "large body", "mission"],
)
def test_a_request_that_makes_no_sense_is_not_made(arguments, told, site, tmp_path):
    recon = Recon(tmp_path / "db", max_request_bytes=4)
    assert recon.error(f"http://127.0.0.1:{site}/echo", **arguments) == told
    assert recon.errors_kept() == []


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"headers": '{"A": null}'}, [("wrong-type", "$.headers.A")]),
        ({"headers": {"A": {"b": "c"}}}, [("wrong-type", "$.headers.A")]),
        ({"headers": {"A": "x\r\nB: y"}}, [("invalid", "$.headers.A")]),
        ({"headers": '{"A": "1", "A": "2"}'}, [("duplicate-key", "$.headers")]),
        ({"headers": "A: 1"}, [("wrong-type", "$.headers")]),
        ({"cookies": {"a": "1; b=2"}}, [("invalid", "$.cookies.a")]),
        ({"auth": {"username": "ann"}}, [("missing", "$.auth.password")]),
        (
            {"auth": {"user": "ann", "password": "x"}},
            [("unknown-key", "$.auth.user"), ("missing", "$.auth.username")],
        ),
        ({"url": "example.org"}, [("invalid", "$.url")]),
        ({"data": {"a": 1}}, [("wrong-type", "$.data")]),
        (
            {"follow_redirects": "maybe", "headers": "{bad"},
            [("wrong-type", "$.follow_redirects"), ("wrong-type", "$.headers")],
        ),
    ],
)
def test_every_mistake_of_a_call_is_told_at_once(arguments, problems, tmp_path):
    found = Recon(tmp_path / "db").result(**{"url": "http://127.0.0.1/", **arguments})
    assert [(each["code"], each["path"]) for each in found["_meta"]["toolbooth"]["problems"]] == problems


# --- by hand ----------------------------------------------------------------------------------------------------


def by_hand(command: str, environment: dict[str, str]) -> str:
    words = shlex.split(command)
    ran = subprocess.run(
        [TOOLBOOTH, *words[1:]], cwd=EXAMPLE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return ran.stdout.decode()


def test_the_readme_prints_what_it_says(tmp_path):
    """`…` stands for what differs from run to run."""
    environment = {**os.environ, "RECON_DB": str(tmp_path / "db")}
    with listening(answers=SimpleHTTPRequestHandler) as port:
        readme = (EXAMPLE / "README.md").read_text(encoding="utf-8").replace("8123", str(port))
        blocks = re.findall(r"^```console\n(\$ .*?)^```$", readme, re.MULTILINE | re.DOTALL)
        commands = [part.partition("\n") for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
        ran = 0
        for command, _, printed in commands:
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                environment[name] = value
            elif command:
                expected = ".*".join(re.escape(part) for part in printed.split("…"))
                assert re.fullmatch(expected, by_hand(command, environment)), command
                ran += 1
    assert ran == 7


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"RECON_ALLOW": "localhost"}, "RECON_ALLOW=localhost cannot be read; e.g. 127.0.0.1,10.0.0.0/8\n"),
        ({"RECON_TIMEOUT": "0"}, "RECON_TIMEOUT=0 cannot be read; e.g. 30\n"),
        ({"RECON_COOKIES": "README.md"}, "RECON_COOKIES=README.md cannot be read; e.g. a file with "),
        ({"RECON_DB": "server.py/db"}, "the database server.py/db cannot be opened: unable to open database file;"),
    ],
    ids=["allow", "timeout", "cookies", "database"],
)
def test_a_setting_that_cannot_be_read_ends_the_server_with_a_word(setting, told, tmp_path):
    environment = {**os.environ, "RECON_DB": str(tmp_path / "db"), **setting}
    assert by_hand("toolbooth call server.py:registry search_targets", environment).startswith(told)
