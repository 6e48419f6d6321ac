"""The official TypeScript client, in each of its modes, through `toolbooth proxy` over stdio: each
interaction has the same outcome as without the proxy.

Run by `make clients`, which sets up Node; its name keeps this file out of `make test`.
"""

import importlib.util
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODES = ["legacy", "auto", "2026-07-28"]


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


node_home = module(ROOT / "scripts/node_home.py")
clients = module(HERE / "clients.py")
python_client = module(ROOT / "tests/proxy/test_clients.py")
DIRECT, PROXY, TOOLS = python_client.DIRECT, python_client.PROXY, python_client.TOOLS


def outcomes(mode: str, command: list[str]) -> dict[str, Any]:
    """The outcome of each interaction, and what the client has heard."""
    done = subprocess.run(
        node_home.node(HERE / "battery.mjs"),
        input=json.dumps({"mode": mode, "command": command, "tools": TOOLS}),
        cwd=node_home.HOME,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", MODES)
def test_every_interaction_has_the_same_outcome_through_the_proxy(mode: str):
    commands = [DIRECT, [*PROXY, *DIRECT]]
    with ThreadPoolExecutor() as pool:
        direct, proxied = pool.map(lambda command: outcomes(mode, command), commands)
    assert len(direct["outcomes"]) == 50
    # The proxy answers for a tool that the server does not list.
    unknown = proxied["outcomes"].pop("unknown tool")
    assert unknown == {"error": {"code": -32602, "message": "there is no tool 'none'"}}
    del direct["outcomes"]["unknown tool"]
    assert proxied == direct


@pytest.mark.parametrize("mode", MODES)
def test_progress_arrives_through_the_proxy(mode: str):
    steps = [{"progress": done, "total": 3, "message": f"step {done}"} for done in (1, 2, 3)]
    place = {"command": [*PROXY, *clients.counting("mcp_sdk")]}
    # The server goes on after each step when the client has called another tool.
    [outcome] = clients.by_typescript(mode, place, [clients.call("count", to=3)])["outcomes"]
    assert outcome["progress"] == steps
    assert outcome["result"]["content"] == [{"type": "text", "text": "done"}]
