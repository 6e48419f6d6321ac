"""`toolbooth config`: prints the JSON for the configuration of a client."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command, OneOf
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages as proxying
from toolbooth.cli.target import Target, load_server, takes_target
from toolbooth.jsonvalue import Json
from toolbooth.server.client_entries import (
    CLIENTS,
    command_configuration_for,
    configuration_for,
)


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@takes_target(required=False)
@click.option(
    "--client",
    type=OneOf(list(CLIENTS)),
    default="generic",
    show_default=True,
    help=messages.CONFIG_CLIENT,
)
@click.option("--name", help=messages.CONFIG_NAME)
@click.option("--proxy", metavar="NAME", help=proxying.PROXIED)
@click.option("--booth", metavar="FILE", help=proxying.BOOTH)
def config(
    target: Target | None, client: str, name: str | None, proxy: str | None, booth: str | None
) -> None:
    """Print the JSON to paste into a client's configuration for TARGET. The path of that file goes
    to standard error.

    \b
    Examples:
      toolbooth config server.py:mcp --client cursor
      toolbooth config https://example.org/mcp --token TOKEN --client claude-code
      toolbooth config --name files -- npx -y @example/server
      toolbooth config --client cursor --proxy files
      toolbooth config --client cursor --booth booth.toml
    """
    is_proxied = proxy is not None or booth is not None
    if (target is not None) == is_proxied:
        raise Mistake(messages.CONFIG_TARGET)
    if target is not None:
        entry = _entry(target, client, name)
    else:
        entry = _proxied_entry(booth, proxy, client, name)
    click.echo(messages.config_for(CLIENTS[client].file), err=True)
    click.echo(json.dumps(entry, indent=2, ensure_ascii=False))


def _entry(target: Target, client: str, name: str | None) -> Json:
    if target.kind == "url":
        from urllib.parse import urlsplit

        others = [key for key in target.headers if key.lower() != "authorization"]
        if others:
            raise Mistake(messages.CONFIG_HEADERS)
        host = urlsplit(target.text).hostname or "server"
        # Here, the only possible header is Authorization. Its case does not matter.
        authorization = next(iter(target.headers.values()), None)
        return configuration_for(client, name or host, target.text, authorization)
    if target.kind == "command":
        program, *words = target.command
        command = [_found_from_anywhere(program), *words]
        return command_configuration_for(client, name or _name_of(target.command), command)
    server = load_server(target)
    command = [*_toolbooth(), "serve", _absolute(target.text)]
    return command_configuration_for(client, name or server.name, command)


def _proxied_entry(booth: str | None, proxied: str | None, client: str, name: str | None) -> Json:
    """Return the configuration entry of the server with the name `proxied` in the proxy's
    configuration file. Without a name, return the entry of all servers together.
    """
    from toolbooth.cli.proxy import BOOTH_FILE, read_servers

    file = booth or BOOTH_FILE
    # The client starts the proxy, with its own variables. So none is needed here.
    servers = read_servers(file, proxied or "")
    if proxied is not None and proxied not in servers:
        raise Mistake(proxying.no_such_server(proxied, file, list(servers)))
    command = [*_toolbooth(), "proxy", "--config", str(Path(file).resolve())]
    if proxied is None:
        return command_configuration_for(client, name or Path(file).stem, command)
    return command_configuration_for(client, name or proxied, [*command, proxied])


def _name_of(command: tuple[str, ...]) -> str:
    """Return a name for a server that a command starts: the last word that is not an option. It is
    usually the name of a package or a file.
    """
    words = [word for word in command if not word.startswith("-")]
    return Path(words[-1]).stem if words else "server"


def _absolute(target: str) -> str:
    """Return the target with the absolute path of its file, because clients start servers in
    another folder.
    """
    place, _, name = target.rpartition(":")
    if place.endswith(".py"):
        return f"{Path(place).resolve()}:{name}"
    # `load_server` has already imported the module.
    file = getattr(sys.modules[place], "__file__", None)
    return f"{Path(file).resolve()}:{name}" if file else target


def _found_from_anywhere(program: str) -> str:
    """Return the absolute path of a program in this virtual environment, such as `toolbooth`. A
    client is started outside of the environment, and would not find it. Other programs are
    returned unchanged.
    """
    found = shutil.which(program)
    is_here = found is not None and Path(found).parent == Path(sys.executable).parent
    return found if found is not None and is_here and sys.prefix != sys.base_prefix else program


def _toolbooth() -> list[str]:
    """Return the absolute path of the installed `toolbooth` command."""
    # A client starts the command outside of this shell's virtual environment. The name alone would
    # not be found on its PATH.
    beside = Path(sys.executable).with_name("toolbooth")
    found = str(beside) if beside.is_file() else shutil.which("toolbooth")
    return [found or "toolbooth"]
