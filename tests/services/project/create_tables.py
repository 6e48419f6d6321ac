"""Creates the tables and the users of the project: `python create_tables.py`."""

import django
from django.core.management import call_command

django.setup()
call_command("migrate", run_syncdb=True, verbosity=0)

from django.contrib.auth.models import User  # noqa: E402  # models are there only once Django is set up

for name in ("ann", "bob"):
    User.objects.create_user(name, password="pw")
