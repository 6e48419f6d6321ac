"""`make services`: the tests of tests/services on PostgreSQL, MariaDB and SQLite.

Ends with 2 if a service does not answer, and names the command that starts it. `--if-there` is for
`make check`: if PostgreSQL does not answer and `CI` is not set, it runs nothing and prints one line
about it. Arguments are passed on to pytest: `make services ARGS="-k preview"`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from service_databases import SERVICES, Config, NotThere, PostgreSQL, Service, database

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/services"
FILES = "check_*.py"
"""Their name keeps them out of `make test`."""
DATABASES = "SERVICES_DATABASES"
"""The environment variable with the databases, as JSON: Django's settings by service."""
SECONDS_TO_END = 30

NOT_TESTED = "services not tested: PostgreSQL does not answer on 127.0.0.1:5432 (make services)"


def main(words: Sequence[str], services: Sequence[Service] = SERVICES) -> int:
    only_if_there = "--if-there" in words
    if only_if_there and not os.environ.get("CI") and not _answers(services):
        tell(NOT_TESTED)
        return 0
    missing = list(_missing(services))
    if missing:
        print("\n".join(missing), file=sys.stderr, flush=True)
        return 2
    started = time.monotonic()
    with _noticed_signals() as noticed, contextlib.ExitStack() as stack:
        # Also after an interruption.
        stack.callback(tell, "services: the databases are dropped")
        databases = {each.name: stack.enter_context(database(each)) for each in services}
        words_for_pytest = [word for word in words if word != "--if-there"]
        status = _pytest(databases, words_for_pytest, noticed)
    tell(f"services: {time.monotonic() - started:.0f} seconds")
    return status


def _answers(services: Sequence[Service]) -> bool:
    """Whether PostgreSQL answers."""
    try:
        return any(each.version() for each in services if isinstance(each, PostgreSQL))
    except NotThere:
        return False


def _missing(services: Sequence[Service]) -> Iterator[str]:
    """A remedy for each service that does not answer. Prints the versions of the others."""
    for each in services:
        try:
            tell(f"services: {each.name} {each.version()}")
        except NotThere as error:
            yield str(error)


def _pytest(databases: dict[str, Config], words: Sequence[str], noticed: list[int]) -> int:
    options = ["-q", "-p", "no:cacheprovider", "-n0", "-o", f"python_files={FILES}"]
    chosen = words if any(word.startswith(TESTS) for word in words) else [*words, TESTS]
    command = [sys.executable, "-m", "pytest", *options, "--durations=5", *chosen]
    environment = {**os.environ, DATABASES: json.dumps(databases)}
    # In a group of its own: Ctrl-C reaches this process only, which then ends the whole group.
    child = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    while not noticed:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=0.2)
    _end(child)
    return 128 + noticed[0]


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupt pytest, so that it ends its servers, and then end the rest of its group."""
    child.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


@contextlib.contextmanager
def _noticed_signals() -> Iterator[list[int]]:
    """The signals that ask this process to end, as they arrive.

    They raise nothing. An exception could be raised anywhere, for example after a process is
    started and before it has a name, or while a database is dropped.
    """
    noticed: list[int] = []

    def notice(number: int, _frame: FrameType | None) -> None:
        noticed.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {number: signal.signal(number, notice) for number in numbers}
    try:
        yield noticed
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def tell(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
