"""`toolbooth serve`: a registry over stdio, or over HTTP."""

from __future__ import annotations

import click

from toolbooth.cli import messages
from toolbooth.cli.target import load_registry
from toolbooth.extras import require


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
@click.option("--log", is_flag=True, help=messages.SERVE_LOG)
def serve(target: str, port: int | None, host: str, path: str, log: bool) -> None:
    """Serve the tools of MODULE:REGISTRY (or FILE.py:REGISTRY), over stdio unless --http names a
    port.
    """
    # Each shell is loaded only when it is wanted: stdio needs no HTTP server, and must start at
    # once.
    import logging

    if port is None and (host, path) != ("127.0.0.1", "/mcp"):
        raise click.UsageError(messages.ONLY_WITH_HTTP)
    registry = load_registry(target)
    if log:
        from toolbooth.server.observe import log_calls

        logging.basicConfig(level=logging.INFO, format="%(message)s")
        registry.observe(log_calls)
    if port is None:
        from toolbooth.server.stdio import serve as serve_stdio

        serve_stdio(registry)
        return
    require("toolbooth serve --http", extra="cli", modules={"uvicorn": "uvicorn"})
    import socket

    import uvicorn

    from toolbooth.server.asgi import LOCAL_HOSTS, app

    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(messages.cannot_listen(host, port, reason)) from None
    port = listening.getsockname()[1]
    url = f"http://{host}:{port}{path}"
    click.echo(messages.server_started(registry.name, len(registry.tools), url), err=True)
    served = uvicorn.Config(
        app(registry, path, hosts=(*LOCAL_HOSTS, host)), log_level="warning", ws="none"
    )
    uvicorn.Server(served).run([listening])
