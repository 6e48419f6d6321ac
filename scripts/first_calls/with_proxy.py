"""Call a tool through the proxy: a server over HTTP, and a client that writes lines."""

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = """
from toolbooth import ToolRegistry

registry = ToolRegistry("shop")


@registry.tool
def add(a: int, b: int) -> int:
    return a + b
"""
MAIN = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()"]

with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    file = Path(folder, "server.py")
    file.write_text(SERVER)
    server = subprocess.Popen(
        [*MAIN, "serve", f"{file}:registry", "--http", str(port)], stderr=subprocess.PIPE
    )
    try:
        assert server.stderr is not None
        server.stderr.readline()  # it listens before it writes this line
        params = {"name": "add", "arguments": {"a": 1, "B": 2}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        done = subprocess.run(
            [*MAIN, "proxy", f"http://127.0.0.1:{port}/mcp"],
            input=json.dumps(call).encode() + b"\n",
            capture_output=True,
            timeout=60,
        )
    finally:
        server.terminate()
        server.wait()

result = json.loads(done.stdout)["result"]
assert result["_meta"]["toolbooth"]["corrected"] == {"a": 1, "b": 2}, result
print("a wrong call was refused by the proxy")
