"""Create a project's database, in the state in which the checks begin, where its settings have it."""

import sqlite3

import django
from django.conf import settings

if __name__ == "__main__":
    django.setup()
    place = settings.DATABASES["default"]["NAME"]

    from twins import PREPARED  # creates the database, which needs a project that is set up

    place.unlink(missing_ok=True)
    PREPARED.backup(sqlite3.connect(place))
