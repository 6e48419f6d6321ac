"""`manage.py mcp_call contacts__create '{"email": "ann@x.org"}' --as ann`: makes one call. The
endpoint handles the call as if it came over HTTP.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management import messages
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.management.users import add_user, agent_of, unlogged
from toolbooth.jsonvalue import is_object
from toolbooth.server.logged.one_line import one_line_errors
from toolbooth.server.wire_result import WireResult

_DENIED = (401, 403)


class Command(PrintingCommand):
    """Calls one tool."""

    help = messages.CALL_HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tool", metavar="TOOL")
        parser.add_argument("arguments", metavar="ARGUMENTS", nargs="?", default="{}")
        add_user(parser, messages.CALL_WITHOUT_USER)
        parser.add_argument("--meta", action="store_true", help=messages.CALL_META_HELP)

    def handle(self, *args: Any, **options: Any) -> None:
        sent: str = options["arguments"]
        body = sys.stdin.buffer.read() if sent == "-" else sent.encode()
        if sent == "-" and not body.strip():
            raise CommandError(messages.NO_INPUT, returncode=2)
        try:
            read_json(body, DEFAULT_LIMITS)
        except Unreadable as error:
            # Any other problem is answered like that of an agent.
            if error.problem.code == "not-json":
                words = messages.arguments_not_json(error.problem.message)
                raise CommandError(words, returncode=2) from None
        # Django's own option, which every command has.
        shown = nullcontext() if options["traceback"] else one_line_errors()
        with unlogged(), shown:
            result = agent_of(options["username"]).call(options["tool"], body)
        known = catalogue()
        # A name without a tool is a mistake in the command, not a refusal of the call.
        if result.is_error and options["tool"] not in {*known.registry.tools, *known.actions}:
            raise CommandError(messages.tools_are_listed(result.text), returncode=2)
        self.stdout.write(result.text)
        # Without --as, missing credentials are the most likely reason for this refusal.
        if options["username"] is None and _is_denied(result):
            self.stderr.write(messages.CALL_WAS_ANONYMOUS)
        # With TOOLBOOTH['ERRORS'] = "protocol", a refusal is a JSON-RPC error, which has its
        # details in `data`.
        meta: Any = result.raw.get("error", {}).get("data") or result.raw.get("_meta")
        if options["meta"] and meta:
            self.stdout.write(orjson.dumps(meta, option=orjson.OPT_INDENT_2).decode())
        if result.is_error:
            sys.exit(1)


def _is_denied(result: WireResult) -> bool:
    """Return True if the endpoint or the view requires credentials."""
    if result.status in _DENIED:
        return True
    if not result.is_error or "structuredContent" not in result.raw:
        return False
    details: Any = result.raw["structuredContent"].get("details")
    return is_object(details) and details.get("status") in _DENIED
