"""hypercorn with uvloop, on a listening socket."""

import sys
from typing import Any

import uvloop
from hypercorn.asyncio import serve as serve_asgi
from hypercorn.config import Config
from servers.start import IDLE


def serve(load: Any, number: int) -> None:
    settings = Config()
    settings.bind = [f"fd://{number}"]
    settings.loglevel = "ERROR"
    settings.keep_alive_timeout = IDLE
    # Otherwise a connection is closed after a thousand requests.
    settings.keep_alive_max_requests = sys.maxsize
    uvloop.run(serve_asgi(load(), settings))
