"""A server on stdio with two of everything, in pages of one: one of several behind a proxy. Run:
python several_server.py NAME
"""

import json
import sys
from typing import Any

NAME = sys.argv[1]
LACKS = sys.argv[2:]
"""Methods that this server does not know."""
ITEMS = {
    "tools/list": (
        "tools",
        [
            {"name": f"{NAME}_{n}", "inputSchema": {"type": "object"}}
            for n in ("echo", "ask", "task")
        ],
    ),
    "prompts/list": ("prompts", [{"name": "same"}, {"name": f"{NAME}_prompt", "weight": 1.50}]),
    "resources/list": ("resources", [{"uri": "all://same"}, {"uri": f"{NAME}://one"}]),
    "resources/templates/list": ("resourceTemplates", [{"uriTemplate": f"{NAME}://{{id}}/x"}]),
}
HANDSHAKE = {
    "protocolVersion": "2025-06-18" if NAME == "b" else "2025-11-25",
    "capabilities": {"tools": {"listChanged": NAME == "b"}, NAME: {}},
    "serverInfo": {"name": NAME, "version": "1"},
    "instructions": f"Use {NAME}.",
}
asked: list[Any] = []


def send(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def page(method: str, params: Any) -> Any:
    member, items = ITEMS[method]
    at = int(params.get("cursor", "0"))
    more = {"nextCursor": str(at + 1)} if at + 1 < len(items) else {}
    scope = "private" if NAME == "b" else "public"
    return {
        member: items[at : at + 1],
        **more,
        "ttlMs": 1000 if NAME == "a" else 500,
        "cacheScope": scope,
    }


def call(message: Any) -> None:
    name, request_id = message["params"]["name"], message["id"]
    if name.endswith("_ask"):
        asked.append(request_id)
        send({"id": 1, "method": "sampling/createMessage", "params": {"from": NAME}})
    elif name.endswith("_task"):
        send({"id": request_id, "result": {"task": {"taskId": f"task-{NAME}"}}})
    else:
        send({"id": request_id, "result": {"content": [{"type": "text", "text": NAME}]}})


def fails(method: str, params: Any) -> bool:
    """True for a resource, or prompt that this server does not have."""
    wanted = json.dumps(params)
    return method.partition("/")[0] in ("resources", "prompts") and not (
        NAME + ":" in wanted or NAME + "_" in wanted or "same" in wanted
    )


def take(message: Any) -> None:
    method, params = message.get("method"), message.get("params") or {}
    if method is None:
        text = f"{NAME} got {message['result']['to']}"
        send({"id": asked.pop(), "result": {"content": [{"type": "text", "text": text}]}})
    elif "id" not in message:
        send({"method": "notifications/message", "params": {"from": NAME, "heard": method}})
    elif method == "initialize" and method not in LACKS:
        send({"id": message["id"], "result": HANDSHAKE})
    elif method in ITEMS:
        send({"id": message["id"], "result": page(method, params)})
    elif method == "tools/call":
        call(message)
    elif method in LACKS:
        error = {"code": -32601, "message": f"{NAME} has no {method}"}
        send({"id": message["id"], "error": error})
    elif fails(method, params):
        send({"id": message["id"], "error": {"code": -32002, "message": f"not in {NAME}"}})
    else:
        send({"id": message["id"], "result": {"from": NAME, "params": params}})


for line in sys.stdin:
    take(json.loads(line))
