"""Start one server: `python -m servers.start HOST TOOLS stdio`, or with a listening socket's number
for HTTP.

A host is a module beside this one, so that each process loads one of them only.
"""

import socket
import sys
from importlib import import_module

import uvicorn
from servers.tools import make


def main(name: str, count: str, where: str) -> None:
    host = import_module(f"servers.{name}")
    if where == "stdio":
        host.serve_stdio(make(int(count)))
    else:
        application = host.application(make(int(count)))
        # Connections are idle while other servers are measured.
        settings = uvicorn.Config(
            application, log_level="error", access_log=False, timeout_keep_alive=3600
        )
        uvicorn.Server(settings).run(sockets=[socket.socket(fileno=int(where))])


if __name__ == "__main__":
    main(*sys.argv[1:])
