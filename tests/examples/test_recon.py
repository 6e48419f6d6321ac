"""examples/recon as real clients see it: its tools, its rows, its README."""

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from types import ModuleType
from typing import Any

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "recon"
TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))


def beside(name: str) -> ModuleType:
    """Import a module next to this one: the tests are not a package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sites = beside("recon_site")
steps = beside("recon_steps")


@pytest.fixture(scope="session")
def site() -> Iterator[int]:
    with sites.listening() as port:
        yield port


@contextlib.contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[str]:
    """Yield the URL of a server that is started as in the README and listens."""
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
async def connected(
    transport: str, mode: str, folder: Path, **settings: str
) -> AsyncIterator[mcp.Client]:
    """The official client, connected to a server whose database and log are in `folder`."""
    environment = {
        **os.environ,
        "RECON_DB": str(folder / "db"),
        "RECON_ALLOW": "127.0.0.1",
        **settings,
    }
    async with asyncio.timeout(120):
        with contextlib.ExitStack() as stack:
            if transport == "http":
                client = mcp.Client(
                    stack.enter_context(serving(environment, folder / "log")), mode=mode
                )
            else:
                words = ["serve", "server.py:registry", "--log"]
                how = StdioServerParameters(
                    command=TOOLBOOTH, args=words, cwd=EXAMPLE, env=environment
                )
                log = stack.enter_context((folder / "log").open("w"))
                client = mcp.Client(stdio_client(how, errlog=log), mode=mode)
            async with client as entered:
                yield entered


async def called(client: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a result as it was sent over the wire, in short: its value or its error's text, and
    Toolbooth's data about it.
    """
    found = (await client.call_tool(tool, arguments)).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    [content] = found["content"]
    value = {"error": content["text"]} if found["isError"] else json.loads(content["text"])
    assert found["isError"] or found["structuredContent"] == value
    details = found.get("structuredContent", {}) if found["isError"] else {}
    return {**value, **details, **found.get("_meta", {}).get("toolbooth", {})}


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")


class Words:
    """Replaces all values that differ from run to run: the site, times, and ids by the order in
    which they appear.

    The caller is known if a client names itself with each call: on 2026-07-28.
    """

    def __init__(self, site: int, mode: str) -> None:
        self.site = f"127.0.0.1:{site}"
        self.client = "null" if mode == "legacy" else '"mcp"'
        self.ids: dict[str, str] = {}

    def put(self, value: Any) -> Any:
        text = UUID.sub(
            lambda found: self.ids.setdefault(found[0], f"@{steps.IDS[len(self.ids)]}"),
            json.dumps(value),
        )
        text = TIME.sub("TIME", text).replace(self.site, "SITE")
        text = text.replace(f'"created_by": {self.client}', '"created_by": "CLIENT"')
        return json.loads(re.sub(r'"elapsed_ms": \d+', '"elapsed_ms": 0', text))

    def fill(self, value: Any) -> Any:
        text = json.dumps(value).replace("SITE", self.site)
        for found, word in self.ids.items():
            text = text.replace(word, found)
        return json.loads(text)


def kept(database: Path) -> dict[str, list[dict[str, Any]]]:
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in db.execute(f"SELECT * FROM {table}")]
            for table in steps.KEPT
        }


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_whole_mission_stores_its_rows(transport, mode, site, tmp_path):
    profiles = tmp_path / "cookies.json"
    profiles.write_text('{"ann": {"session": "kept-session", "lang": "de"}}')
    words = Words(site, mode)

    async def session() -> list[Any]:
        async with connected(transport, mode, tmp_path, RECON_COOKIES=str(profiles)) as client:
            return [
                words.put(await called(client, tool, **words.fill(arguments)))
                for tool, arguments, _ in steps.STEPS
            ]

    for step, result in zip(steps.STEPS, asyncio.run(session()), strict=True):
        assert (*step[:2], result) == step
    assert words.put(kept(tmp_path / "db")) == steps.KEPT
    written = (tmp_path / "db").read_bytes() + (tmp_path / "log").read_bytes()
    assert [secret for secret in sites.SECRETS if secret.encode() in written] == []
    assert b"POST http://127.0.0.1" in written  # the log is on


def test_a_server_that_does_not_answer_is_abandoned(site, tmp_path):
    async def hang() -> dict[str, Any]:
        async with connected("http", "2026-07-28", tmp_path, RECON_TIMEOUT="0.2") as client:
            return await called(client, "http_request", url=f"http://127.0.0.1:{site}/hang")

    told = "no whole reply within 0.2 s; the request may have had its effect"
    assert asyncio.run(hang())["error"] == f"Tool 'http_request' failed: {told}"


@pytest.mark.parametrize("status", ['["active", "inactive"]', ["active", "inactive"]], ids=str)
def test_a_filter_accepts_a_list_of_choices_and_json_text_of_one(status, tmp_path):
    """The call of docs/project/evidence/parameter-transformation.md, and the published form."""

    async def search() -> tuple[Any, Any]:
        async with connected("stdio", "2026-07-28", tmp_path) as client:
            for host in ("a.example", "b.example", "c.example"):
                await client.call_tool("create_target", {"host": host})
            made = await client.call_tool("create_target", {"host": "b.example"})
            target = made.structured_content["target"]["id"]
            blocked = {"target_id": target, "status": "blocked"}
            await client.call_tool("update_target_status", blocked)
            found = await client.call_tool("search_targets", {"status": status})
            return found.structured_content["targets"], found.meta

    targets, meta = asyncio.run(search())
    assert [target["host"] for target in targets] == ["a.example", "c.example"]
    repairs = (meta or {}).get("toolbooth", {}).get("repairs", [])
    is_text = isinstance(status, str)
    assert repairs == ([{"code": "json-text", "path": "$.status"}] if is_text else [])


def in_short(schema: dict[str, Any]) -> str:
    """Return a published parameter: its type, choices and bounds."""
    if "enum" in schema:
        return "|".join(schema["enum"])
    if schema["type"] == "array":
        return f"array of {in_short(schema['items'])}"
    if schema.get("contentMediaType") == "application/json":
        return "JSON text"
    bounds = f" {schema['minimum']}..{schema['maximum']}" if "minimum" in schema else ""
    words = schema.get("description", "")
    kind = "uuid" if "UUID" in words else schema["type"]
    return schema.get("format", kind) + bounds


def test_parameters_are_published_as_in_the_report(tmp_path):
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
    } == steps.PUBLISHED
    defaults = {
        name: {
            param: found["default"]
            for param, found in schema["properties"].items()
            if "default" in found
        }
        for name, schema in schemas.items()
    }
    assert {name: found for name, found in defaults.items() if found} == steps.DEFAULTS
    # Every value without visible fields has an example.
    open_params = [
        found["description"]
        for schema in schemas.values()
        for found in schema["properties"].values()
        if in_short(found) in ("JSON text", "object", "array of string")
    ]
    assert [text for text in open_params if "e.g. " not in text] == []
    assert all(tool.description and tool.output_schema for tool in tools.values())


def by_hand(command: str, environment: dict[str, str]) -> str:
    words = shlex.split(command)
    ran = subprocess.run(
        [TOOLBOOTH, *words[1:]],
        cwd=EXAMPLE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return ran.stdout.decode()


def test_readme_commands_print_the_shown_output(tmp_path):
    """`…` replaces values that differ from run to run."""
    environment = {**os.environ, "RECON_DB": str(tmp_path / "db")}
    with sites.listening(answers=SimpleHTTPRequestHandler) as port:
        readme = (EXAMPLE / "README.md").read_text(encoding="utf-8").replace("8123", str(port))
        blocks = re.findall(r"^```console\n(\$ .*?)^```$", readme, re.MULTILINE | re.DOTALL)
        commands = [
            part.partition("\n")
            for block in blocks
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)
        ]
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
        (
            {"RECON_ALLOW": "localhost"},
            "RECON_ALLOW=localhost cannot be read; e.g. 127.0.0.1,10.0.0.0/8\n",
        ),
        ({"RECON_TIMEOUT": "0"}, "RECON_TIMEOUT=0 cannot be read; e.g. 30\n"),
        (
            {"RECON_COOKIES": "README.md"},
            "RECON_COOKIES=README.md cannot be read; e.g. a file with ",
        ),
        (
            {"RECON_DB": "server.py/db"},
            "the database server.py/db cannot be opened: unable to open database file;",
        ),
    ],
    ids=["allow", "timeout", "cookies", "database"],
)
def test_an_invalid_setting_is_named_when_the_server_is_loaded(setting, told, tmp_path):
    environment = {**os.environ, "RECON_DB": str(tmp_path / "db"), **setting}
    printed = by_hand("toolbooth call server.py:registry search_targets", environment)
    assert printed.startswith(f"Error: server.py:registry could not be loaded: {told}")
