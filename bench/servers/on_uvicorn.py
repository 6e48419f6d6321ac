"""uvicorn with uvloop and httptools, on a listening socket."""

import socket
from typing import Any

from servers.start import IDLE
from uvicorn import Config, Server


def serve(load: Any, number: int) -> None:
    settings = Config(load(), log_level="error", access_log=False, timeout_keep_alive=IDLE)
    Server(settings).run(sockets=[socket.socket(fileno=number)])
