"""`toolbooth proxy --http`: handles the address, the token, and the application."""

from __future__ import annotations

from collections.abc import Sequence

import click

from toolbooth.cli.address import names, open_socket, token_of, url_of
from toolbooth.cli.http_server import Incomplete, serve
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.proxy.http_server import HttpProxy
from toolbooth.proxy.records import Records
from toolbooth.proxy.session import Server
from toolbooth.server.asgi import LOCAL_HOSTS, Application
from toolbooth.server.bearer import require_token

_REQUEST_SECONDS = 30.0
_MOST_INCOMPLETE = 256
_STOP_SECONDS = 5.0


def serve_http(
    servers: Sequence[Server],
    records: Records,
    port: int,
    *,
    most: int | None,
    first: str,
    host: str,
    path: str,
    allow_host: tuple[str, ...],
    token_file: str | None,
    no_auth: bool,
    idle: float,
) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    token = token_of(token_file, no_auth=no_auth)
    try:
        application: Application = HttpProxy(
            servers,
            path=path,
            hosts=(*LOCAL_HOSTS, *allow_host, *names(host)),
            records=records,
            most_sessions=most,
            idle_seconds=idle,
        )
    except ValueError as error:
        raise Mistake(str(error)) from None
    if token is not None:
        application = require_token(application, token)
    listening = open_socket(host, port, token=token, no_auth=no_auth)
    click.echo(messages.serving_at(first, url_of(host, listening, path)), err=True)
    incomplete = Incomplete(seconds=_REQUEST_SECONDS, most=_MOST_INCOMPLETE)
    try:
        serve(application, listening, incomplete=incomplete, stop_seconds=_STOP_SECONDS)
    finally:
        listening.close()
