"""The databases that scripts/services.py has made, each with a server. Run by `make services`."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from service_server import Served, prepare, served

NAMES = ("PostgreSQL", "MariaDB", "SQLite")
OPTIONS = {
    # The values that the views must see while they run, despite the values that the gateway sets
    # before.
    "PostgreSQL": {"options": "-c lock_timeout=7s"},
    "MariaDB": {"init_command": "SET innodb_lock_wait_timeout = 7"},
    "SQLite": {"timeout": 7},
}


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """Django's settings of each database, by service; the tables are there."""
    found = json.loads(os.environ["SERVICES_DATABASES"])
    for name, config in found.items():
        config["OPTIONS"] = {**config.get("OPTIONS", {}), **OPTIONS[name]}
        prepare(config)
    return found


@pytest.fixture(scope="session")
def servers(databases: dict, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict]:
    """A server for each database: gunicorn with two processes and many threads."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(served(config, tmp_path_factory.mktemp(name)))
            for name, config in databases.items()
        }


@pytest.fixture(params=NAMES)
def server(request: pytest.FixtureRequest, servers: dict[str, Served]) -> Served:
    """The server on one of the databases, in turn."""
    return servers[request.param]
