"""`manage.py mcp_warm`: writes the list of all tools into a file, so that no server process has to
describe them for its first `tools/list`.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.warm_file import warm_path, write
from toolbooth.django.management import messages
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.server.stored_list import stored_tools


class Command(PrintingCommand):
    """Describes all tools, and writes their list."""

    help = messages.WARM_HELP

    def handle(self, *args: Any, **options: Any) -> None:
        found = catalogue()
        path = warm_path(found.configuration)
        if path is None:
            raise CommandError(messages.NO_WARM_PATH, returncode=2)
        tools = stored_tools(found.registry.tools)
        try:
            size = write(path, tools, found.project.key)
        except OSError as error:
            raise CommandError(messages.warm_file_not_written(path, error)) from error
        self.stdout.write(messages.warm_file_written(path, len(tools), size))
