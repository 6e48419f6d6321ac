"""A stock project on a real server: `python bare_server.py gunicorn|uvicorn PORT ROOT_PATH`, SQLite
in a file.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "examples" / "crm")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bare_settings")


def prepare() -> None:
    import django  # noqa: PLC0415  # the path is set above
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    from django.contrib.auth.models import User  # noqa: PLC0415

    User.objects.create_user("ann", password="pw")


def main(server: str, port: str, root: str) -> None:
    prepare()
    if server == "gunicorn":
        os.environ["SCRIPT_NAME"] = root
        command = [
            "gunicorn",
            "--workers=1",
            "--bind",
            f"127.0.0.1:{port}",
            "django_wsgi:application",
        ]
    else:
        command = [
            "uvicorn",
            "--port",
            port,
            "--root-path",
            root,
            "--log-level=warning",
            "django_asgi:application",
        ]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    os.execv(sys.executable, [sys.executable, "-m", *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
