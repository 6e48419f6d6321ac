"""FastMCP's OpenAPI import of a REST API: `python -m servers.token_openapi NUMBER SCHEMA URL
AUTHORIZATION`.

NUMBER is that of a listening socket, SCHEMA a file that drf-spectacular wrote, and URL the address
of the API.
"""

import json
import socket
import sys
from pathlib import Path

import httpx2
import uvicorn
from fastmcp import FastMCP


def main(number: str, schema: str, url: str, authorization: str) -> None:
    client = httpx2.AsyncClient(base_url=url, headers={"Authorization": authorization})
    server = FastMCP.from_openapi(json.loads(Path(schema).read_text()), client)
    application = server.http_app(json_response=True, stateless_http=True)
    settings = uvicorn.Config(
        application, log_level="error", access_log=False, timeout_keep_alive=3600
    )
    uvicorn.Server(settings).run(sockets=[socket.socket(fileno=int(number))])


if __name__ == "__main__":
    main(*sys.argv[1:])
