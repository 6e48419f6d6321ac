"""A helpdesk server whose tools have every fault that breaks real clients. It uses no MCP library.

It speaks just enough MCP over stdio to list its tools: `python server.py`. The tools are in tools.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOLS = json.loads(Path(__file__).with_name("tools.json").read_text(encoding="utf-8"))


def answered(message: dict[str, Any]) -> dict[str, Any]:
    """Return the result or the error of a request."""
    if message["method"] == "initialize":
        about = {"name": "helpdesk", "version": "1"}
        return {
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        }
    if message["method"] == "tools/list":
        return {"result": TOOLS}
    return {"error": {"code": -32601, "message": f"no method {message['method']}"}}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answered(request)}), flush=True)
