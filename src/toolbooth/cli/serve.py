"""`toolbooth serve`: a registry over stdio, or over HTTP."""

from __future__ import annotations

import click

from toolbooth.cli.target import load_registry
from toolbooth.extras import require


@click.command()
@click.argument("target", metavar="MODULE:REGISTRY")
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    help="Serve over HTTP on this port instead of stdio.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --http."
)
@click.option("--path", default="/mcp", show_default=True, help="Where MCP is served, with --http.")
@click.option("--log", is_flag=True, help="Write one line per call to standard error.")
def serve(target: str, port: int | None, host: str, path: str, log: bool) -> None:
    """Serve the tools of MODULE:REGISTRY (or FILE.py:REGISTRY), over stdio unless --http names a
    port.
    """
    # Each shell is loaded only when it is wanted: stdio needs no HTTP server, and must start at
    # once.
    import logging

    if port is None and (host, path) != ("127.0.0.1", "/mcp"):
        raise click.UsageError("--host and --path are for HTTP; add --http PORT")
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
        raise click.ClickException(
            f"cannot listen at {host}:{port}: {error.strerror or error}"
        ) from None
    port = listening.getsockname()[1]
    click.echo(
        f"{registry.name}: {len(registry.tools)} tools at http://{host}:{port}{path}", err=True
    )
    served = uvicorn.Config(app(registry, path, hosts=(*LOCAL_HOSTS, host)), log_level="warning")
    uvicorn.Server(served).run([listening])
