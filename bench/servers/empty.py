"""An ASGI application that reads the body and sends JSON of a server's usual size: the cost of HTTP
alone.
"""

from collections.abc import Iterable
from typing import Any

from servers.tools import Function

SIZE = 312
BODY = b'"' + b" " * (SIZE - 2) + b'"'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(SIZE).encode())]


def application(tools: Iterable[Function]) -> Any:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": BODY})

    return answer
