"""Create pretix's tables from its models, and its rows."""

import os
from pathlib import Path

import django
from django.core.management import call_command

if __name__ == "__main__":
    Path(os.environ["HOST_STATE"], "db.sqlite3").unlink(missing_ok=True)
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)

    from rows import seed  # needs a project that is set up

    seed()
