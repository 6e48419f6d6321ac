"""A local server that answers Claude Code in the place of Anthropic's, with the calls of a script."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def _made(messages: Sequence[dict[str, Any]]) -> int:
    """How many calls the model has made."""
    blocks = [each["content"] for each in messages if isinstance(each["content"], list)]
    return sum(block["type"] == "tool_use" for each in blocks for block in each)


def _message(
    number: int, model: str, block: dict[str, Any], delta: dict[str, Any], reason: str
) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": f"m{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    ends = {"stop_reason": reason, "stop_sequence": None}
    events = [
        _event("message_start", message=message),
        _event("content_block_start", index=0, content_block=block),
        _event("content_block_delta", index=0, delta=delta),
        _event("content_block_stop", index=0),
        _event("message_delta", delta=ends, usage={"output_tokens": 1}),
        _event("message_stop"),
    ]
    return "".join(events).encode()


@contextmanager
def scripted(calls: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The URL of a server whose model makes these calls, one after another, from JSON text."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            made = _made(body["messages"])
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": "done"}
            reason = "end_turn"
            if made < len(calls):
                name, text = calls[made]
                block = {"type": "tool_use", "id": f"t{made}", "name": name, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": text}
                reason = "tool_use"
            answer = _message(made, body["model"], block, delta, reason)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
