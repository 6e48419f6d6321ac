"""An MCP server of another maker, over stdio: it declares its arguments, and ignores all others."""

import json
import sys
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "head": {"type": "integer"},
        "config": {"type": "string"},
    },
    "required": ["path"],
}
TOOL = {"name": "read", "description": "Read a file.", "inputSchema": SCHEMA}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "foreign", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    arguments = params.get("arguments", {})
    known = {name: arguments[name] for name in SCHEMA["properties"] if name in arguments}
    return {"content": [{"type": "text", "text": json.dumps(known)}], "isError": False}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in ("initialize", "tools/list", "tools/call"):
            reply["result"] = answer(message["method"], message.get("params", {}))
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
