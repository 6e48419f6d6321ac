"""`manage.py mcp_clean`: removes idempotency keys that have expired. Run it once a day."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from toolbooth.django.call.used_keys import has_table, remove_expired
from toolbooth.django.management import messages
from toolbooth.django.management.printing import PrintingCommand

# Small batches keep each transaction short while the server uses the table.
_BATCH = 1_000


class Command(PrintingCommand):
    """Removes old keys."""

    help = messages.CLEAN_HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--batch", type=int, default=_BATCH, metavar="ROWS", help=messages.CLEAN_BATCH_HELP
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"] < 1:
            raise CommandError(messages.TOO_FEW_ROWS, returncode=2)
        if not has_table():
            raise CommandError(f"{messages.NO_TABLE_OF_KEYS}; {messages.MIGRATE}")
        self.stdout.write(messages.keys_removed(remove_expired(options["batch"])))
