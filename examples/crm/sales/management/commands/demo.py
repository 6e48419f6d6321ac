"""`manage.py demo`: the example seeded and served, with the calls of a real incident and what became of them.

On 2026-06-05 an agent sent its fields inside `data`, as REST APIs want them. The server said "created"; the rows were
empty. Here the same calls are made, and the database is read after each.
"""

import base64
import json
import os
import socket
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandParser

from sales.management.commands.seed import PASSWORD, USER
from sales.models import Contact
from toolbooth.django.management.commands.mcp_config import configuration_for
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.testing import acting_as

AGENT = {"email": "agent@example.com", "first_name": "Agent"}

CALLS: list[tuple[str, str, Any]] = [
    ("All fields in a wrapper, as in the incident", "contacts__create", {"data": AGENT}),
    ("The same wrapper as JSON text", "contacts__create", {"data": json.dumps(AGENT)}),
    ("Half of them in a wrapper", "contacts__create", {**AGENT, "data": {"notes": "nested field"}}),
    ("Flat, as the agent was told", "contacts__create", AGENT),
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


class Command(PrintingCommand):
    help = "Seed the example, show the calls of the incident, and serve it until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="Print everything and exit instead of serving."
        )
        parser.add_argument(
            "--port", type=int, default=8000, help="Another one is taken if it is in use."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("seed", stdout=self.stdout)
        for number, (title, tool, sent) in enumerate(CALLS, 1):
            self._call(f"{number}. {title}", tool, sent)
        self._update(
            f"{len(CALLS) + 1}. A wrapped update", Contact.objects.get(email=AGENT["email"])
        )
        self._heading(f"{len(CALLS) + 2}. The blank rows of the incident, found and removed")
        call_command(
            "blank_rows",
            "sales.Contact",
            "--delete",
            stdout=self.stdout,
            no_color=options["no_color"],
        )
        port = _free(options["port"])
        self._connect(f"http://127.0.0.1:{port}")
        self.stdout.flush()
        if not options["once"]:
            os.environ.setdefault("DJANGO_RUNSERVER_HIDE_WARNING", "true")
            call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)

    def _call(self, title: str, tool: str, sent: Any) -> None:
        self._heading(title)
        before = set(Contact.objects.values_list("pk", flat=True))
        result = acting_as(User.objects.get(username=USER)).call(tool, sent)
        self._told(tool, sent, result.text, failed=result.is_error)
        made = Contact.objects.exclude(pk__in=before)
        for row in made:
            shown = f"{row.email!r}, {row.first_name!r}" + (
                f", at {row.company}" if row.company else ""
            )
            self.stdout.write(self.style.SUCCESS(f"  database  new row: {shown}"))
        if not made:
            self.stdout.write("  database  no new row")

    def _update(self, title: str, row: Contact) -> None:
        self._heading(title)
        sent = {"id": str(row.pk), "data": {"first_name": "Agnes"}}
        result = acting_as(User.objects.get(username=USER)).call("contacts__partial_update", sent)
        self._told("contacts__partial_update", sent, result.text, failed=result.is_error)
        row.refresh_from_db()
        self.stdout.write(f"  database  first_name is {row.first_name!r}, as before")

    def _told(self, tool: str, sent: Any, text: str, *, failed: bool) -> None:
        self.stdout.write(f"  sent      {tool} {json.dumps(sent)}")
        style = self.style.ERROR if failed else str
        for number, line in enumerate(text.splitlines()):
            self.stdout.write(style(f"  {'told' if not number else '':10}{line}"))

    def _heading(self, title: str) -> None:
        self.stdout.write("\n" + self.style.MIGRATE_HEADING(title))

    def _connect(self, url: str) -> None:
        header = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        self._heading("Connect a client")
        self.stdout.write(
            f"  MCP   {url}/mcp   (REST: {url}/api/; user {USER}, password {PASSWORD})"
        )
        self.stdout.write("  Into .mcp.json, for Claude Code:")
        made = json.dumps(configuration_for("claude-code", "crm", f"{url}/mcp", header), indent=2)
        self.stdout.write("\n".join(f"  {line}" for line in made.splitlines()))
        command = ".venv/bin/python examples/crm/manage.py mcp_config --client NAME"
        self.stdout.write(f"  Other clients: {command} --url {url} --token '{header}'")


def _free(port: int) -> int:
    """This port, or another one where it is in use."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
