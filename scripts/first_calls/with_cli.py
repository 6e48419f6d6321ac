"""The extra `cli`: `toolbooth call` on a file, and a server over HTTP that answers one call."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

SERVER = '''
from toolbooth import ToolRegistry

registry = ToolRegistry("shop")

@registry.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"
'''
TOOLBOOTH = Path(sys.executable).with_name("toolbooth")
PATIENCE = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def over_http(port: int, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"name": "add_item", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"content-type": "application/json", "accept": "application/json"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp", json.dumps(message).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.load(reply)["result"]


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("toolbooth serve did not start")


Path("shop.py").write_text(SERVER, encoding="utf-8")
call = [TOOLBOOTH, "call", "shop.py:registry", "add_item"]
right = subprocess.run([*call, '{"name": "tea", "count": 2}'], capture_output=True, text=True)
wrong = subprocess.run([*call, '{"data": {"name": "tea"}}'], capture_output=True, text=True)
assert (right.returncode, right.stdout.strip()) == (0, "2 x tea"), right
assert wrong.returncode == 1, wrong

port = free_port()
serve = [TOOLBOOTH, "serve", "shop.py:registry", "--http", str(port)]
with subprocess.Popen(serve, stderr=subprocess.DEVNULL) as server:
    try:
        wait_for(port, server)
        served = over_http(port, {"name": "tea"})
    finally:
        server.terminate()
assert served["content"][0]["text"] == "1 x tea", served
