"""`toolbooth serve`: a server of any kind over stdio, or over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click
from click.core import ParameterSource

from toolbooth.cli.command import Command, Count, Port, Seconds, absolute
from toolbooth.cli.interrupt import ending_at_interrupt
from toolbooth.cli.messages import EXIT_CODES
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.serving import messages
from toolbooth.cli.target import Target, load_server, takes_target
from toolbooth.extras import require

_FOR_HTTP = {
    "host": "--host",
    "path": "--path",
    "allow_host": "--allow-host",
    "token_file": "--token-file",
    "no_auth": "--no-auth",
    "request_seconds": "--request-seconds",
    "max_incomplete": "--max-incomplete",
    "reload": "--reload",
}
_HOST_SECONDS = 1.0
"""Seconds that a FastMCP or SDK server has to end after Ctrl-C."""
_FOR_STDIO = {"drain_seconds": "--drain-seconds"}


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target(running=False)
@click.option(
    "--http",
    "port",
    type=Port(0, 65535),
    help=messages.HTTP,
)
@click.option("--host", default="127.0.0.1", show_default=True, help=messages.HOST)
@click.option("--path", default="/mcp", show_default=True, callback=absolute, help=messages.PATH)
@click.option("--allow-host", multiple=True, metavar="HOST", help=messages.ALLOW_HOST)
@click.option("--token-file", metavar="FILE", help=messages.TOKEN_FILE)
@click.option("--no-auth", is_flag=True, help=messages.NO_AUTH)
@click.option(
    "--request-seconds",
    type=Seconds(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help=messages.REQUEST,
)
@click.option(
    "--max-incomplete",
    type=Count(min=1),
    default=256,
    show_default=True,
    help=messages.INCOMPLETE,
)
@click.option(
    "--stop-seconds",
    type=Seconds(min=0),
    default=5.0,
    show_default=True,
    help=messages.STOP,
)
@click.option(
    "--drain-seconds",
    type=Seconds(min=0),
    default=60.0,
    show_default=True,
    help=messages.DRAIN,
)
@click.option("--reload", is_flag=True, help=messages.RELOAD)
@click.option("--log", is_flag=True, help=messages.LOG)
@click.pass_context
def serve(
    context: click.Context,
    target: Target,
    port: int | None,
    log: bool,
    stop_seconds: float,
    **options: Any,
) -> int | None:
    """Serve the tools of TARGET over stdio, or over HTTP with --http PORT.

    TARGET is a ToolRegistry, a FastMCP server, or a server of the official SDK: module:object or
    file.py:object.

    \b
    Examples:
      toolbooth serve server.py:mcp
      toolbooth serve server.py:mcp --http 8000 --reload
    """
    _check_options(context, is_http=port is not None)
    if port is None:
        _serve_stdio(target, log, stop_seconds=stop_seconds, **_chosen(_FOR_STDIO, options))
        return None
    # This comes before the import of the module, whose own error would not name the command that
    # installs it.
    require("toolbooth serve --http", extra="cli", modules={"uvicorn": "uvicorn"})
    from toolbooth.cli.serve_http import Serving, serve_http

    chosen = _chosen(_FOR_HTTP, options)
    is_reloaded = chosen.pop("reload")
    serving = Serving(target=target, log=log, stop_seconds=stop_seconds, **chosen)
    return serve_http(serving, port, is_reloaded=is_reloaded)


def loaded(target: Target, *, log: bool) -> Any:
    """Return the server of TARGET. With `log`, it logs its calls."""
    from toolbooth.server.registry import ToolRegistry

    server = load_server(target, shows_warnings=True)
    if not log:
        return server
    if not isinstance(server, ToolRegistry):
        raise Mistake(messages.LOG_IS_FOR_REGISTRIES)
    import logging

    from toolbooth.server.observe import log_calls

    # The log goes to standard error. Over stdio, any other line on standard output would break the
    # connection.
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    server.observe(log_calls)
    return server


def _serve_stdio(target: Target, log: bool, *, stop_seconds: float, drain_seconds: float) -> None:
    """Serve over stdio. The HTTP server is not imported, so that this starts quickly."""
    from toolbooth.server.registry import ToolRegistry

    server = loaded(target, log=log)
    # The text shows how to end the server. It is printed after the imports, so that Ctrl-C does not
    # interrupt an import.
    if isinstance(server, ToolRegistry):
        from toolbooth.server.stdio import serve as serve_registry

        _explain_in_terminal(server.name, target)
        serve_registry(server, stop_seconds=stop_seconds, drain_seconds=drain_seconds)
    else:
        from toolbooth.adapters.sdk.serving import serve_stdio

        with ending_at_interrupt(min(stop_seconds, _HOST_SECONDS)):
            _explain_in_terminal(server.name, target)
            serve_stdio(server)


def _explain_in_terminal(name: str, target: Target) -> None:
    # A person uses a terminal here, and a client uses a pipe. The text goes to standard error,
    # because standard output is used for the protocol.
    if sys.stdin.isatty():
        click.echo(messages.served_in_terminal(name, target.text), err=True)


def _chosen(names: Iterable[str], options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in names}


def _check_options(context: click.Context, *, is_http: bool) -> None:
    """Raise an error for options that would have no effect."""
    unused = _FOR_STDIO if is_http else _FOR_HTTP
    for name, option in unused.items():
        # The source of the value is checked, and not the value: `--host 127.0.0.1` is the default,
        # but it has no effect over stdio.
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            mistake = messages.only_over_stdio if is_http else messages.only_with_http
            raise Mistake(mistake(option))
