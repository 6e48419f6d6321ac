"""`manage.py demo`: seeds and serves the example, and repeats the calls of a real incident.

On 2026-06-05 an agent sent its fields inside `data`, as many REST APIs expect. The server answered
"created", but the rows were empty. The demo makes the same calls and reads the database after each.
"""

import base64
import json
import os
import re
import shlex
import shutil
import socket
import sys
import textwrap
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandParser
from rest_framework.test import APIClient

from sales.management.commands.seed import PASSWORD, USER
from sales.models import Contact
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.testing import acting_as
from toolbooth.server.client_entries import configuration_for

AGENT = {"email": "agent@example.com", "first_name": "Agent"}
WRAPPED = {"data": AGENT}
"""All fields in a wrapper, as in the incident."""

CALLS: list[tuple[str, str, Any]] = [
    ("The same wrapper as JSON text", "contacts__create", {"data": json.dumps(AGENT)}),
    ("Half of them in a wrapper", "contacts__create", {**AGENT, "data": {"notes": "nested field"}}),
    (
        "Many at once, one of them wrong: all or none",
        "contacts__create",
        {"objects": [{"email": "bo@example.com"}, {"emial": "cy@example.com"}]},
    ),
    (
        "Many at once",
        "contacts__create",
        {"objects": [{"email": "bo@example.com"}, {"email": "cy@example.com", "first_name": "Cy"}]},
    ),
    (
        "A relation named by an object",
        "contacts__create",
        {"email": "di@example.com", "company": {"name": "hq-1"}},
    ),
]


class _Wrapper(textwrap.TextWrapper):
    """Also breaks lines after a comma, because compact JSON has no spaces."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=,)(?=\"))")


class Command(PrintingCommand):
    help = "Seed the example, show the calls of the incident, and serve it until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="Print everything and exit instead of serving."
        )
        parser.add_argument(
            "--port", type=int, default=8000, help="If it is in use, another one is chosen."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("seed", stdout=self.stdout)
        self._rest("1. A wrapped call, sent to the plain REST API")
        corrected = self._call("2. The same call, sent to the tool", "contacts__create", WRAPPED)
        self._call("3. The corrected call from the refusal", "contacts__create", corrected)
        for number, (title, tool, sent) in enumerate(CALLS, 4):
            self._call(f"{number}. {title}", tool, sent)
        number = 4 + len(CALLS)
        self._update(f"{number}. A wrapped update", Contact.objects.get(email=AGENT["email"]))
        self._heading(f"{number + 1}. The blank rows of the incident, found and removed")
        call_command(
            "blank_rows",
            "sales.Contact",
            "--delete",
            stdout=self.stdout,
            no_color=options["no_color"],
        )
        port = _free(options["port"])
        self._connect(f"http://127.0.0.1:{port}")
        if port != options["port"]:
            words = f"Port {options['port']} is in use, so this demo uses port {port}."
            self.stdout.write("\n" + self.style.WARNING(words))
        self.stdout.flush()
        if not options["once"]:
            os.environ.setdefault("DJANGO_RUNSERVER_HIDE_WARNING", "true")
            call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)

    def _rest(self, title: str) -> None:
        """Make the call as a REST client does: the API ignores unknown keys."""
        self._heading(title)
        before = _keys()
        client = APIClient()
        client.force_authenticate(User.objects.get(username=USER))
        reply = client.post("/api/contacts/", WRAPPED, format="json")
        self._line("sent", f"POST /api/contacts/ {json.dumps(WRAPPED)}")
        self._line("answer", f"{reply.status_code} {reply.reason_phrase}")
        self._rows(before)

    def _call(self, title: str, tool: str, sent: Any) -> Any:
        """Make a call and show its result. Returns the corrected call, if there is one."""
        self._heading(title)
        before = _keys()
        result = acting_as(User.objects.get(username=USER)).call(tool, sent)
        self._line("sent", f"{tool} {json.dumps(sent)}")
        self._answer(result.text, failed=result.is_error)
        self._rows(before)
        return result.corrected

    def _update(self, title: str, row: Contact) -> None:
        self._heading(title)
        sent = {"id": str(row.pk), "data": {"first_name": "Agnes"}}
        result = acting_as(User.objects.get(username=USER)).call("contacts__partial_update", sent)
        self._line("sent", f"contacts__partial_update {json.dumps(sent)}")
        self._answer(result.text, failed=result.is_error)
        row.refresh_from_db()
        self._line("database", f"first_name is {row.first_name!r}, as before")

    def _answer(self, text: str, *, failed: bool) -> None:
        first, *others = text.splitlines()
        self._line("answer", first, self.style.ERROR if failed else str)
        for line in others:
            self._line("", line)

    def _rows(self, before: set[Any]) -> None:
        """Show the rows that a call has created."""
        made = Contact.objects.exclude(pk__in=before)
        for row in made:
            at = f", at {row.company}" if row.company else ""
            if row.email or row.first_name:
                words, style = "new row:", self.style.SUCCESS
            else:
                words, style = "new row, blank:", self.style.ERROR
            self._line("database", f"{words} {row.email!r}, {row.first_name!r}{at}", style)
        if not made:
            self._line("database", "no new row")

    def _line(self, label: str, text: str, style: Any = str) -> None:
        """Print a label and a text, wrapped to the width of the terminal."""
        width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
        wrapped = _Wrapper(width - 12, break_on_hyphens=False).wrap(text) or [""]
        for number, line in enumerate(wrapped):
            head = label if number == 0 else ""
            self.stdout.write(f"  {head:10}{style(line)}")

    def _heading(self, title: str) -> None:
        self.stdout.write("\n" + self.style.MIGRATE_HEADING(title))

    def _connect(self, url: str) -> None:
        """Print lines to paste. They are not wrapped, so that you can copy them."""
        header = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        self._heading("Connect a client")
        self.stdout.write(
            f"  MCP   {url}/mcp   (REST: {url}/api/; user {USER}, password {PASSWORD})"
        )
        call = {"name": "contacts__list", "arguments": {"search": "ada"}}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        self.stdout.write("  With curl:")
        self.stdout.write(
            f"  curl -u {USER}:{PASSWORD} {url}/mcp -H 'Content-Type: application/json' -d '{message}'"
        )
        toolbooth = shlex.quote(str(Path(sys.executable).with_name("toolbooth")))
        self.stdout.write("  With an MCP client:")
        self.stdout.write(
            f"  {toolbooth} call {url}/mcp contacts__list '{{\"search\": \"ada\"}}' --token '{header}'"
        )
        self.stdout.write("  Into .mcp.json, for Claude Code:")
        made = json.dumps(configuration_for("claude-code", "crm", f"{url}/mcp", header), indent=2)
        self.stdout.write("\n".join(f"  {line}" for line in made.splitlines()))
        python = shlex.quote(sys.executable)
        manage = shlex.quote(str(Path(sys.argv[0]).resolve()))
        self.stdout.write("  Other clients:")
        self.stdout.write(
            f"  {python} {manage} mcp_config --client cursor --url {url} --token '{header}'"
        )


def _keys() -> set[Any]:
    return set(Contact.objects.values_list("pk", flat=True))


def _free(port: int) -> int:
    """Return this port, or a free one if it is in use."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
