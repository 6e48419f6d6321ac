"""The project of the bench in uvicorn: `python -m servers.django_asgi NUMBER`, with a listening
socket's number.
"""

import socket
import sys

import uvicorn
from django.core.asgi import get_asgi_application


def main(number: str) -> None:
    # The connection is idle while other servers are measured.
    settings = uvicorn.Config(
        get_asgi_application(),
        log_level="error",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=3600,
    )
    uvicorn.Server(settings).run(sockets=[socket.socket(fileno=int(number))])


if __name__ == "__main__":
    main(*sys.argv[1:])
