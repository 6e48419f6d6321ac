"""Django's command line for the example."""

import os
import sys
from importlib.util import find_spec

NEEDED = {
    "django": "Django",
    "rest_framework": "Django REST framework",
    "drf_spectacular": "drf-spectacular",
    "django_filters": "django-filter",
}


def main() -> None:
    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        install = "pip install 'toolbooth[django,examples]'"
        sys.exit(f"examples/crm needs {' and '.join(missing)}: {install}")

    # Imported after the check, because its own error would not name the command that installs it.
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crm.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
