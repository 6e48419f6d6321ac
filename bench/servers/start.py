"""Start one server: `python -m servers.start HOST TOOLS stdio`.

For HTTP, the last words are instead a web server and a number: for granian its port, for the others
a listening socket. Hosts and web servers are modules beside this one, so that each process loads
only its own imports. Each web server runs one process and writes no access log.
"""

import sys
from functools import partial
from importlib import import_module
from typing import Any

from servers.tools import make

IDLE = 3600
"""Seconds for which a connection may be idle, while other servers are measured."""


def main(name: str, count: str, web_server: str, number: str = "") -> None:
    if web_server == "stdio":
        import_module(f"servers.{name}").serve_stdio(make(int(count)))
    else:
        web: Any = import_module(f"servers.on_{web_server}")
        web.serve(partial(application, name, int(count)), int(number))


def application(name: str, count: int) -> Any:
    return import_module(f"servers.{name}").application(make(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
