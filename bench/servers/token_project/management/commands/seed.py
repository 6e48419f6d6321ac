"""Tables and a user for the generated project. The example has its own `seed`, which has
priority.
"""

from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, call_command


class Command(BaseCommand):
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        call_command("migrate", run_syncdb=True, verbosity=0)
        User.objects.create_superuser("ann", "ann@example.org", "demo")
