"""Runs `toolbooth serve --http`: the address, the token, the application and reloading."""

from __future__ import annotations

import signal
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import click
from uvicorn.config import Config
from uvicorn.supervisors import ChangeReload

from toolbooth.cli.address import names, open_socket, token_of, url_of
from toolbooth.cli.http_server import Incomplete, serve
from toolbooth.cli.mistakes import INTERRUPTED, Mistake, ended
from toolbooth.cli.serve import loaded
from toolbooth.cli.serving import messages
from toolbooth.cli.target import Target
from toolbooth.server.asgi import LOCAL_HOSTS, Application, app
from toolbooth.server.bearer import require_token
from toolbooth.server.guarded_app import only_for_hosts
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.web_hosts import allowed_hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The target and the options of a server that is started over HTTP."""

    target: Target
    log: bool
    stop_seconds: float
    host: str
    path: str
    allow_host: tuple[str, ...]
    token_file: str | None
    no_auth: bool
    request_seconds: float
    max_incomplete: int


def serve_http(serving: Serving, port: int, *, is_reloaded: bool) -> int | None:
    """Serve until SIGTERM or Ctrl-C. With `is_reloaded`, return the exit code. Otherwise return
    None.
    """
    # The token is checked before the target is loaded, which may take seconds. `_serve` reads the
    # token again later, because with --reload it runs in another process.
    token = token_of(serving.token_file, no_auth=serving.no_auth)
    try:
        # The result is not needed. An invalid host raises an error before the port is taken.
        allowed_hosts((*serving.allow_host, *names(serving.host)))
    except ValueError as error:
        raise Mistake(str(error)) from None
    listening = open_socket(serving.host, port, token=token, no_auth=serving.no_auth)
    if is_reloaded:
        return _reloading(serving, listening)
    try:
        _serve(serving, listening)
    finally:
        listening.close()
    return None


def _serve(serving: Serving, listening: socket.socket) -> None:
    """Load the target, and serve it on a socket that already listens."""
    server = loaded(serving.target, log=serving.log)
    application = _application(server, serving)
    token = token_of(serving.token_file, no_auth=serving.no_auth)
    if token is not None:
        # This is the outermost layer. A caller without the token cannot even find out which paths
        # exist.
        application = require_token(application, token)
    url = url_of(serving.host, listening, serving.path)
    if isinstance(server, ToolRegistry):
        click.echo(messages.server_started(server.name, len(server.tools), url), err=True)
    else:
        click.echo(messages.host_started(server.name, url), err=True)
    incomplete = Incomplete(seconds=serving.request_seconds, most=serving.max_incomplete)
    serve(application, listening, incomplete=incomplete, stop_seconds=serving.stop_seconds)


def _application(server: Any, serving: Serving) -> Application:
    hosts = (*LOCAL_HOSTS, *serving.allow_host, *names(serving.host))
    if isinstance(server, ToolRegistry):
        return app(server, serving.path, hosts=hosts, max_seconds=serving.request_seconds)
    from toolbooth.adapters.sdk.serving import http_application

    # The application of a registry checks the host itself. For other servers, a check is added in
    # front. Without it, a web page could reach a local server by DNS rebinding.
    return only_for_hosts(http_application(server, serving.path), hosts)


# --- reloading ----------------------------------------------------------------------------------


def _reloading(serving: Serving, listening: socket.socket) -> int | None:
    """Serve in a separate process, and start a new process when a file changes. The socket stays
    open all the time, so no request is lost.
    """
    folders = {str(Path.cwd())}
    file = serving.target.text.rpartition(":")[0]
    if file.endswith(".py"):
        folders.add(str(Path(file).resolve().parent))
    # uvicorn needs the name of an application to reload. It is never imported, because the reloader
    # calls `_serve_again` instead.
    config = Config("toolbooth", reload=True, reload_dirs=sorted(folders), log_level="warning")
    click.echo(messages.reloading(sorted(folders)), err=True)
    reloader = _Reloader(config, target=partial(_serve_again, serving), sockets=[listening])
    reloader.run()
    return INTERRUPTED if reloader.was_interrupted else None


class _Reloader(ChangeReload):
    """The reloader of uvicorn, with a flag that is set after Ctrl-C."""

    was_interrupted = False

    def signal_handler(self, sig: int, frame: FrameType | None) -> None:
        self.was_interrupted = sig == signal.SIGINT
        super().signal_handler(sig, frame)


def _serve_again(serving: Serving, sockets: list[socket.socket] | None) -> None:
    """Serve in the new process. If the target cannot be loaded, only report the error: the user may
    correct it with the next change of a file.
    """
    assert sockets is not None
    listening = sockets[0]
    ended(lambda: _serve(serving, listening), [])
