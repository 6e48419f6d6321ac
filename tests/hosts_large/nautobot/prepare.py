"""Create nautobot's database by its own migrations, and its rows.

The migrations take some minutes. They are run once, and their database is kept as a dump beside the
environment.
"""

import os
import subprocess
from pathlib import Path

import django
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command


def made_anew(name: str) -> None:
    """Create an empty database in place of the previous one."""
    server("psql", "-q", "-d", "postgres", "-c", f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    server("createdb", name)


def server(program: str, *words: str) -> None:
    chosen = settings.DATABASES["default"]
    where = ("-h", chosen["HOST"], "-p", chosen["PORT"], "-U", chosen["USER"])
    quiet = {**os.environ, "PGOPTIONS": "--client-min-messages=warning"}
    subprocess.run([program, *where, *words], check=True, env=quiet)


def migrate(dump: Path) -> None:
    name = settings.DATABASES["default"]["NAME"]
    made_anew(name)
    if dump.exists():
        server("pg_restore", "-d", name, str(dump))
        return
    call_command("migrate", verbosity=0, skip_checks=True)
    # As nautobot's own upgrade command does; its factories ask every content type for its model.
    call_command(
        "remove_stale_contenttypes", interactive=False, include_stale_apps=True, verbosity=0
    )
    unfinished = dump.with_suffix(".unfinished")
    server("pg_dump", "-Fc", "-f", str(unfinished), name)
    unfinished.rename(dump)


if __name__ == "__main__":
    django.setup()
    cache.clear()
    migrate(Path(os.environ["HOST_STATE"], "migrated.dump"))

    from rows import seed  # needs a project that is set up

    seed()
