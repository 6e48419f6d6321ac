"""Run one comparison in a large project, and print its figures as the last line:
`python tests/hosts_large/run.py reads`.
"""

import json
import sys

import django
from django.conf import settings

if __name__ == "__main__":
    django.setup()
    # A result of any length is sent whole, as over REST.
    settings.TOOLBOOTH = {**getattr(settings, "TOOLBOOTH", {}), "MAX_RESULT": 100_000_000}

    # They need a project that is set up.
    from compare import KINDS
    from endpoints import actions
    from starting import floor, start

    kinds = {"actions": actions, "start": start, "floor": floor, **KINDS}
    print(json.dumps(kinds[sys.argv[1]]()), flush=True)
