"""A server on stdio that answers with the lines of a JSON file, byte for byte. Run:
python raw_server.py FILE

The file has a list of lines for each method. `$ID` in a line becomes the id of the request. A
method that the file does not have gets a usual answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

LINES: Any = json.loads(Path(sys.argv[1]).read_text())
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
ECHO = {"name": "echo", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}}
RESULTS: Any = {"tools/list": {"tools": [ECHO]}, "initialize": HANDSHAKE}

for line in sys.stdin:
    message = json.loads(line)
    method: Any = message.get("method")
    params: Any = message.get("params") or {}
    if "id" not in message:
        continue
    usual = {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS.get(method, {})}
    key = f"{method}@{params['cursor']}" if params.get("cursor") else method
    for each in LINES.get(key, [json.dumps(usual)]):
        sys.stdout.write(each.replace("$ID", json.dumps(message["id"])) + "\n")
    sys.stdout.flush()
