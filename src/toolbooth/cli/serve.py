"""`toolbooth serve`: a registry over stdio, or over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from toolbooth.cli import messages
from toolbooth.cli.target import load_registry
from toolbooth.extras import require

if TYPE_CHECKING:
    import socket

    from toolbooth.server.registry import ToolRegistry

_FOR_HTTP = {
    "host": "--host",
    "path": "--path",
    "allow_host": "--allow-host",
    "token_file": "--token-file",
    "no_auth": "--no-auth",
    "request_seconds": "--request-seconds",
    "max_incomplete": "--max-incomplete",
}
_FOR_STDIO = {"drain_seconds": "--drain-seconds"}
_TOKEN = "TOOLBOOTH_TOKEN"


@click.command()
@click.argument("target", metavar="MODULE:REGISTRY")
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    help=messages.SERVE_HTTP,
)
@click.option("--host", default="127.0.0.1", show_default=True, help=messages.SERVE_HOST)
@click.option("--path", default="/mcp", show_default=True, help=messages.SERVE_PATH)
@click.option("--allow-host", multiple=True, metavar="HOST", help=messages.SERVE_ALLOW_HOST)
@click.option("--token-file", metavar="FILE", help=messages.SERVE_TOKEN_FILE)
@click.option("--no-auth", is_flag=True, help=messages.SERVE_NO_AUTH)
@click.option(
    "--request-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help=messages.SERVE_REQUEST,
)
@click.option(
    "--max-incomplete",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help=messages.SERVE_INCOMPLETE,
)
@click.option(
    "--stop-seconds",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    help=messages.SERVE_STOP,
)
@click.option(
    "--drain-seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help=messages.SERVE_DRAIN,
)
@click.option("--log", is_flag=True, help=messages.SERVE_LOG)
@click.pass_context
def serve(
    context: click.Context,
    target: str,
    port: int | None,
    log: bool,
    stop_seconds: float,
    **options: Any,
) -> None:
    """Serve the tools of MODULE:REGISTRY (or FILE.py:REGISTRY), over stdio unless --http names a
    port.
    """
    _check_options(context, is_http=port is not None)
    registry = load_registry(target)
    if log:
        _log_calls(registry)
    if port is None:
        # Each shell is loaded only when it is wanted: stdio needs no HTTP server, and must start at
        # once.
        from toolbooth.server.stdio import serve as serve_stdio

        serve_stdio(registry, stop_seconds=stop_seconds, **_chosen(_FOR_STDIO, options))
    else:
        _serve_http(registry, port, stop_seconds=stop_seconds, **_chosen(_FOR_HTTP, options))


def _chosen(names: Iterable[str], options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in names}


def _check_options(context: click.Context, *, is_http: bool) -> None:
    """Refuse options that would do nothing."""
    unused = _FOR_STDIO if is_http else _FOR_HTTP
    for name, option in unused.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            told = messages.only_over_stdio if is_http else messages.only_with_http
            raise click.UsageError(told(option))


def _log_calls(registry: ToolRegistry) -> None:
    import logging

    from toolbooth.server.observe import log_calls

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    registry.observe(log_calls)


# --- HTTP ---------------------------------------------------------------------------------------


def _serve_http(
    registry: ToolRegistry,
    port: int,
    *,
    host: str,
    path: str,
    allow_host: Iterable[str],
    token_file: str | None,
    no_auth: bool,
    request_seconds: float,
    max_incomplete: int,
    stop_seconds: float,
) -> None:
    require("toolbooth serve --http", extra="cli", modules={"uvicorn": "uvicorn"})
    from toolbooth.cli.http_server import Incomplete
    from toolbooth.cli.http_server import serve as serve_http
    from toolbooth.server.asgi import LOCAL_HOSTS, app
    from toolbooth.server.bearer import require_token

    token = _token(token_file, no_auth=no_auth)
    hosts = (*LOCAL_HOSTS, *allow_host, *_names(host))
    try:
        application = app(registry, path, hosts=hosts, max_seconds=request_seconds)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if token is not None:
        application = require_token(application, token)

    listening = _listen(host, port)
    if token is None and not no_auth and not _is_loopback(listening):
        listening.close()
        raise click.UsageError(messages.token_needed(host))
    port = listening.getsockname()[1]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
    click.echo(messages.server_started(registry.name, len(registry.tools), url), err=True)
    incomplete = Incomplete(seconds=request_seconds, most=max_incomplete)
    serve_http(application, listening, incomplete=incomplete, stop_seconds=stop_seconds)


def _names(host: str) -> list[str]:
    """The address that is listened on is a host that requests may name, but not "all addresses"."""
    return [host] if host and not _is_every_address(host) else []


def _is_every_address(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(messages.cannot_listen(host, port, reason)) from None


def _is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach an address. Asked of the socket: a name may mean any
    address.
    """
    return ip_address(listening.getsockname()[0]).is_loopback


def _token(file: str | None, *, no_auth: bool) -> str | None:
    """The token that requests must send; None if there is none."""
    if no_auth and file is not None:
        raise click.UsageError(messages.NO_AUTH_OR_TOKEN)
    if no_auth:
        return None
    if file is not None:
        try:
            return _checked_token(Path(file).read_text(encoding="utf-8"), file)
        except OSError as error:
            reason = error.strerror or error
            raise click.UsageError(messages.token_not_read(file, reason)) from None
        except UnicodeDecodeError:
            raise click.UsageError(messages.token_not_read(file, "not text")) from None
    if _TOKEN in os.environ:
        return _checked_token(os.environ[_TOKEN], _TOKEN)
    return None


def _checked_token(text: str, where: str) -> str:
    from toolbooth.server.bearer import check_token

    token = text.strip()
    if not token:
        raise click.UsageError(messages.token_empty(where))
    try:
        check_token(token)
    except ValueError as error:
        raise click.UsageError(messages.token_wrong(where, error)) from None
    return token
