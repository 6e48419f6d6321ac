"""`make services` itself: missing services are named, and databases are always dropped.

The tests that it runs are in tests/services.
"""

import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = str(ROOT / "scripts")
sys.path.insert(0, SCRIPTS)  # as `python scripts/services.py` does
services, service_databases = map(importlib.import_module, ("services", "service_databases"))


@pytest.fixture
def nothing_there() -> list:
    """PostgreSQL and MariaDB on a port where no server answers, and SQLite."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        # Bound, but it does not listen: every connection is refused.
        yield [
            service_databases.PostgreSQL(port=port),
            service_databases.MariaDB(port=port),
            service_databases.SQLite(),
        ]


def test_each_missing_service_is_named_with_the_commands_that_start_it(nothing_there, capsys):
    port = nothing_there[0].port
    assert services.main([], nothing_there) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(f"127.0.0.1:{port}")[0] for line in (lines[0], lines[3])] == [
        "PostgreSQL as user postgres without a password does not answer on ",
        "MariaDB as user root without a password does not answer on ",
    ]
    assert [lines[1], lines[4]] == [
        "  start it: service postgresql start",
        "  start it: service mariadb start",
    ]
    assert [line.startswith("        or: docker run ") for line in (lines[2], lines[5])] == [
        True,
        True,
    ]
    assert len(lines) == 6


def test_make_check_prints_one_line_when_services_are_not_tested(
    nothing_there, capsys, monkeypatch
):
    monkeypatch.delenv("CI", raising=False)
    assert services.main(["--if-there"], nothing_there) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (f"{services.NOT_TESTED}\n", "")
    assert services.NOT_TESTED.startswith("services not tested: ")


def test_a_missing_service_fails_ci(nothing_there, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert services.main(["--if-there"], nothing_there) == 2


def test_a_database_is_dropped_after_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(service_databases.tempfile, "tempdir", str(tmp_path))

    def use() -> None:
        with service_databases.database(service_databases.SQLite()) as config:
            Path(config["NAME"]).write_text("rows")
            assert len(list(tmp_path.iterdir())) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import sys
import services
from service_databases import SQLite
sys.exit(services.main(["--collect-only"], [SQLite()]))
"""


def run_on_sqlite(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": SCRIPTS, "TMPDIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "kill"]
)
def test_databases_are_dropped_when_the_run_is_interrupted(number, status, tmp_path):
    with run_on_sqlite(tmp_path) as run:
        deadline, pause = time.monotonic() + 30, threading.Event()
        while not list(tmp_path.glob(f"{service_databases.PREFIX}*")):
            assert time.monotonic() < deadline
            pause.wait(0.01)
        run.send_signal(number)
        printed, _ = run.communicate(timeout=60)
    assert (run.returncode, list(tmp_path.glob(f"{service_databases.PREFIX}*"))) == (status, [])
    assert b"services: the databases are dropped\n" in printed
