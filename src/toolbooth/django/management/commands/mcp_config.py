"""`manage.py mcp_config --client cursor`: what to paste into a client's configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management import messages
from toolbooth.django.management.credentials import header_of, how_to_add, token_of
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.management.users import user_of
from toolbooth.django.testing import endpoint_path
from toolbooth.jsonvalue import Json

Entry = Callable[[str, Mapping[str, str]], Json]
"""A URL and headers -> one server, as a client writes it."""

WHOLE_URL = re.compile(r"https?://[^/\s]+")


@dataclass(frozen=True, slots=True)
class Client:
    """Where a client keeps its servers, and how it writes one."""

    file: str
    key: str
    entry: Entry


def _untyped(url: str, headers: Mapping[str, str]) -> Json:
    return {"url": url, **_some(headers)}


def _typed(url: str, headers: Mapping[str, str]) -> Json:
    return {"type": "http", "url": url, **_some(headers)}


def _by_bridge(url: str, headers: Mapping[str, str]) -> Json:
    """A client that only starts programs reaches a URL through `mcp-remote`.

    Its header has no space in it, since some systems split arguments there (geelen/mcp-remote,
    README).
    """
    arguments = ["-y", "mcp-remote", url]
    if url.startswith("http:"):
        arguments.append("--allow-http")
    if not headers:
        return {"command": "npx", "args": arguments}
    arguments += ["--header", "Authorization:${AUTHORIZATION}"]
    return {"command": "npx", "args": arguments, "env": {"AUTHORIZATION": headers["Authorization"]}}


def _some(headers: Mapping[str, str]) -> Json:
    return {"headers": dict(headers)} if headers else {}


CLIENTS = {
    "claude-code": Client(".mcp.json in your project", "mcpServers", _typed),
    "claude-desktop": Client("claude_desktop_config.json", "mcpServers", _by_bridge),
    "cursor": Client(".cursor/mcp.json", "mcpServers", _untyped),
    "vscode": Client(".vscode/mcp.json", "servers", _typed),
    "windsurf": Client(
        "~/.codeium/windsurf/mcp_config.json",
        "mcpServers",
        lambda url, headers: {"serverUrl": url, **_some(headers)},
    ),
    "gemini-cli": Client(
        "~/.gemini/settings.json",
        "mcpServers",
        lambda url, headers: {"httpUrl": url, **_some(headers)},
    ),
    "zed": Client("settings.json", "context_servers", _untyped),
    "generic": Client(messages.CONFIG_OF_ANY_CLIENT, "mcpServers", _typed),
}


def configuration_for(client: str, name: str, url: str, authorization: str | None = None) -> Json:
    """The JSON that a client wants; `authorization` is the whole header."""
    known = CLIENTS[client]
    headers = {"Authorization": authorization} if authorization else {}
    return {known.key: {name: known.entry(url, headers)}}


class Command(PrintingCommand):
    """Prints the configuration of a client."""

    help = messages.CONFIG_HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--client", choices=list(CLIENTS), default="generic")
        parser.add_argument(
            "--url",
            default="http://localhost:8000",
            help=messages.CONFIG_URL_HELP,
        )
        parser.add_argument("--token", help=messages.CONFIG_TOKEN_HELP)
        parser.add_argument(
            "--as", dest="username", metavar="USERNAME", help=messages.CONFIG_USER_HELP
        )
        parser.add_argument("--name", help=messages.CONFIG_NAME_HELP)

    def handle(self, *args: Any, **options: Any) -> None:
        url = _url(options["url"])
        authorization, notes = _credentials(options["token"], options["username"])
        entry = configuration_for(
            options["client"],
            options["name"] or catalogue().configuration.name,
            url,
            authorization,
        )
        self.stderr.write(f"# for {CLIENTS[options['client']].file}", self.style.HTTP_INFO)
        for note in notes:
            self.stderr.write(f"# {note}", self.style.WARNING)
        self.stdout.write(json.dumps(entry, indent=2, ensure_ascii=False))


def _url(given: str) -> str:
    """The address of the endpoint; a host alone gets the project's own path."""
    if not WHOLE_URL.match(given):
        raise CommandError(messages.url_needs_scheme(given), returncode=2)
    if WHOLE_URL.sub("", given).strip("/"):
        return given
    try:
        return given.rstrip("/") + endpoint_path()
    except LookupError as error:
        raise CommandError(str(error), returncode=2) from None


def _credentials(token: str | None, username: str | None) -> tuple[str | None, list[str]]:
    """The whole header, and what to know about it. Raises CommandError."""
    if token and username:
        raise CommandError(messages.AS_OR_TOKEN, returncode=2)
    if username:
        user = user_of(username)
        issued = token_of(user)
        is_superuser = getattr(user, "is_superuser", False)
        warning = [messages.SUPERUSER] if is_superuser else []
        return issued.authorization, [issued.note, *warning]
    if token:
        return (token if " " in token else header_of(token)), []
    if catalogue().open:
        return None, []
    return None, [messages.NO_CREDENTIALS, how_to_add()]
