"""`manage.py mcp_config --client cursor`: prints the entry for a client's configuration."""

from __future__ import annotations

import json
import re
from typing import Any

from django.core.management.base import CommandError, CommandParser

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management import messages
from toolbooth.django.management.credentials import header_of, how_to_add, token_of
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.management.users import user_of
from toolbooth.django.testing import endpoint_path
from toolbooth.server.client_entries import CLIENTS as CLIENTS
from toolbooth.server.client_entries import configuration_for as configuration_for

WHOLE_URL = re.compile(r"https?://[^/\s]+")


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
        # Standard output contains the entry alone, so that it can be redirected into a file.
        self.stderr.write(f"# for {CLIENTS[options['client']].file}", self.style.HTTP_INFO)
        for note in notes:
            self.stderr.write(f"# {note}", self.style.WARNING)
        self.stdout.write(json.dumps(entry, indent=2, ensure_ascii=False))


def _url(given: str) -> str:
    """Return the URL of the endpoint. If `given` is only a host, add the path of the project's
    endpoint.
    """
    if not WHOLE_URL.match(given):
        raise CommandError(messages.url_needs_scheme(given), returncode=2)
    # The address has a path already.
    if WHOLE_URL.sub("", given).strip("/"):
        return given
    try:
        return given.rstrip("/") + endpoint_path()
    except LookupError as error:
        raise CommandError(str(error), returncode=2) from None


def _credentials(token: str | None, username: str | None) -> tuple[str | None, list[str]]:
    """Return the Authorization header, and notes about it for the user.

    Raises:
        CommandError: both options are given, or there is no token for the user.
    """
    if token and username:
        raise CommandError(messages.AS_OR_TOKEN, returncode=2)
    if username:
        user = user_of(username)
        issued = token_of(user)
        is_superuser = getattr(user, "is_superuser", False)
        warning = [messages.SUPERUSER] if is_superuser else []
        return issued.authorization, [issued.note, *warning]
    if token:
        # A token with a space in it is a whole header already.
        return (token if " " in token else header_of(token)), []
    # An API that is open to all callers needs no credentials.
    if catalogue().open:
        return None, []
    return None, [messages.NO_CREDENTIALS, how_to_add()]
