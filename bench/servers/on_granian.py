"""granian with uvloop, on a port. The process that serves is a child of this one."""

from typing import Any

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from servers.start import IDLE


def serve(load: Any, number: int) -> None:
    server: Any = Granian(
        "bench",
        port=number,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        log_enabled=False,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE * 1000),
    )
    server.serve(target_loader=load, wrap_loader=False)
