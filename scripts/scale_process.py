"""One process of the project of the part `scale`: its CPU time and memory, as JSON on a line each.

`first WHAT` measures the first request of a new process: `start`, `discover`, `call` or `list`.
`serve` describes all tools, and then measures the number of requests in each line of its input,
such as `call 100`. `message` prints the request of a call. All run in the folder `bench`, with the
environment that `scale.py` sets.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, os.getcwd())

from django.core.wsgi import get_wsgi_application  # after the path is set
from django_calls import ARGUMENTS, MCP, REST
from django_server import Exchange, over_mcp

application = get_wsgi_application()
CALL = MCP["retrieve"]
HELP = over_mcp(
    "tools/call", name="contacts__retrieve", arguments={**ARGUMENTS["retrieve"], "help": True}
)
DISCOVER = over_mcp("server/discover")


def resident() -> float:
    """Megabytes in memory."""
    gc.collect()
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Client:
    """Sends requests to the project, and keeps the CPU time in which it reads the answers."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def read(self, body: bytes) -> Any:
        begin = process_time()
        answer = json.loads(body)
        self.seconds += process_time() - begin
        return answer


client = Client()


def ask(sent: Exchange) -> Any:
    """The response of the project to a request."""
    headers = {"Host": "127.0.0.1", "Authorization": f"Token token-of-{sent.user}", **sent.headers}
    environ = {f"HTTP_{name.upper().replace('-', '_')}": each for name, each in headers.items()}
    environ |= {
        "REQUEST_METHOD": sent.method,
        "PATH_INFO": sent.path,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(sent.body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(sent.body),
        "wsgi.errors": sys.stderr,
    }
    answer: Any = application(environ, lambda *_: None)
    body = b"".join(answer)
    answer.close()
    if answer.status_code != sent.status:
        raise RuntimeError(f"answered {answer.status_code}: {body[:2000]!r}")
    return client.read(body)


def result_of(sent: Exchange) -> Any:
    """The result of an MCP request. An error would make every figure meaningless."""
    result = ask(sent)["result"]
    if result.get("isError"):
        raise RuntimeError(str(result)[:2000])
    return result


def pages() -> Iterator[list[str]]:
    """The names of all tools, page by page."""
    params: dict[str, Any] | None = {}
    while params is not None:
        result = result_of(over_mcp("tools/list", **params))
        yield [tool["name"] for tool in result["tools"]]
        cursor = result.get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}


def whole_list() -> list[str]:
    return [name for page in pages() for name in page]


def start() -> Any:
    """The catalogue with all actions and their names."""
    # Imported here, so that other modes of this program import it only with their first request.
    from toolbooth.django.describe.catalogue import started_catalogue  # noqa: PLC0415

    return started_catalogue()


def is_described() -> bool:
    """Whether any of the actions had to be described."""
    found = start()
    is_made = len(list(found.registry.promised)) < len(found.actions)
    return is_made or bool(found.building.described)


ASKED: dict[str, Callable[[], Any]] = {
    "start": lambda: start().named,
    "discover": lambda: result_of(DISCOVER),
    "call": lambda: result_of(CALL),
    "REST": lambda: ask(REST["retrieve"]),
    "help": lambda: result_of(HELP),
    "list": whole_list,
}


def clock() -> float:
    """CPU seconds of the project: what its client spends on reading JSON is not its own."""
    return process_time() - client.seconds


def cost(name: str) -> tuple[float, Any]:
    begin = clock()
    answer = ASKED[name]()
    return clock() - begin, answer


def first(name: str) -> None:
    ask(REST["list"])  # Django and the project's URLs are loaded
    before = resident()
    seconds, answer = cost(name)
    listed = len(answer) if name == "list" else None
    figures = {"seconds": seconds, "mb": resident() - before, "listed": listed}
    print(json.dumps({**figures, "described": is_described()}))


def serve() -> None:
    for name in ("list", "call", "REST", "help"):
        cost(name)
    print("ready", flush=True)
    for line in sys.stdin:
        name, count = line.split()
        begin = clock()
        for _ in range(int(count)):
            ASKED[name]()
        print((clock() - begin) / int(count), flush=True)


def message() -> None:
    """Print the request of a call, for clients that send it over HTTP."""
    headers = {
        **CALL.headers,
        "Content-Type": "application/json",
        "Authorization": f"Token token-of-{CALL.user}",
    }
    sent = {"method": CALL.method, "path": CALL.path, "headers": headers}
    print(json.dumps({**sent, "body": CALL.body.decode()}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["first", name]:
            first(name)
        case ["message"]:
            message()
        case _:
            serve()
