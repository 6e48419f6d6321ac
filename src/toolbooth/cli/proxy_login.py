"""`toolbooth proxy login`: logs in to a server by OAuth, in the browser of the user."""

from __future__ import annotations

import asyncio
import logging
import os
import webbrowser

import click

from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.extras import require
from toolbooth.server.state_file import state_file


def log_in(url: str) -> None:
    """Log in to the server at a URL, and save the tokens. Raises Mistake."""
    require("toolbooth proxy login", extra="mcp", modules={"mcp": "mcp"})
    from toolbooth.adapters.sdk import oauth

    quiet()
    file = state_file("login", url, os.environ)
    try:
        asyncio.run(oauth.log_in(url, file, _show))
    except oauth.LoginError as error:
        raise Mistake(messages.not_logged_in(url, error)) from None
    click.echo(messages.logged_in(url, str(file)))


def quiet() -> None:
    """Hide the tracebacks that the SDK logs. The error is reported in one sentence."""
    logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)


def _show(address: str) -> None:
    """Show a page to the user. The address is printed too, because there may be no browser."""
    click.echo(messages.open_in_browser(address), err=True)
    webbrowser.open(address)
