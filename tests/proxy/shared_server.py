"""A server on stdio that several clients use at once. It adds every line that it reads to the
file in SEEN. Run: python shared_server.py
"""

import json
import os
import sys
from typing import Any

SEEN = os.environ["SEEN"]
ANY = {"type": "object", "properties": {"n": {"type": "integer"}}}
NAMES = ("meet", "update", "question", "hang")


def send(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(request: Any, words: str) -> None:
    send({"id": request["id"], "result": {"content": [{"type": "text", "text": words}]}})


def next_message() -> Any:
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    with open(SEEN, "ab") as seen:
        seen.write(line)
    return json.loads(line)


def called(message: Any) -> None:
    params = message["params"]
    name, arguments = params["name"], params["arguments"]
    if name == "meet":
        send({"method": "notifications/message", "params": {"level": "info", "data": "secret"}})
        token = params.get("_meta", {}).get("progressToken")
        if token is not None:
            progress = {"progressToken": token, "progress": arguments["n"]}
            send({"method": "notifications/progress", "params": progress})
        text(message, str(arguments["n"]))
    elif name == "update":
        send({"method": "notifications/resources/updated", "params": {"uri": "a://1"}})
        text(message, "updated")
    elif name == "question":
        send({"id": "p", "method": "ping"})
        send({"id": "s", "method": "sampling/createMessage", "params": {}})
        text(message, json.dumps([next_message(), next_message()]))


def main() -> None:
    while True:
        message = next_message()
        method = message.get("method")
        if method == "initialize":
            able = {"tools": {}, "logging": {}, "tasks": {}, "resources": {"subscribe": True}}
            info = {"name": "shared", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": able, "serverInfo": info}
            send({"id": message["id"], "result": result})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": ANY} for name in NAMES]
            send({"id": message["id"], "result": {"tools": tools}})
        elif method == "tools/call":
            called(message)
        elif "id" in message:
            send({"id": message["id"], "result": {}})


main()
