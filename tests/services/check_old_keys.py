"""Keys that are too old, on each database: they are free again, and `mcp_clean` removes them."""

import subprocess
import sys
from functools import partial
from uuid import uuid4

from keyed_calls import check_one_receipt, create
from service_rows import count, query
from service_server import Served, all_at_once, environment

LONG_AGO = "'2001-01-01 00:00:00'"


def expire_all(server: Served) -> int:
    """Make every key old. Returns how many there are."""
    query(server.config, f"UPDATE toolbooth_usedkey SET expires = {LONG_AGO}")
    return count(server.config, "toolbooth_usedkey")


def test_a_key_that_is_too_old_is_free_again_for_one_of_many_calls(server: Served):
    label = uuid4().hex
    first = create(server, "entries__create", label).content["id"]
    expire_all(server)
    answers = all_at_once(30, partial(create, server, "entries__create", label))
    second = check_one_receipt(answers)["id"]
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}' ORDER BY id")
    assert rows == [(first,), (second,)]


def test_mcp_clean_removes_the_keys_that_are_too_old(server: Served):
    create(server, "entries__create", uuid4().hex)
    old = expire_all(server)
    label = uuid4().hex
    made = create(server, "entries__create", label).content
    command = [sys.executable, "-m", "django", "mcp_clean"]
    done = subprocess.run(
        command, env=environment(server.config), capture_output=True, text=True, check=True
    )
    assert str(old) in done.stdout
    assert count(server.config, "toolbooth_usedkey") == 1
    assert create(server, "entries__create", label).content == {**made, "repeated": True}
