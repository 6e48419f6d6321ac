"""A deadlock inside a view: MariaDB rolls back the whole transaction, the key included."""

from contextlib import closing
from functools import partial
from uuid import uuid4

from keyed_calls import create
from service_rows import connect, count, wait_for_lock
from service_server import Served, call, in_background


def test_a_view_that_ignores_a_deadlock_writes_nothing_without_its_key(servers: dict[str, Served]):
    server = servers["MariaDB"]
    for name in ("first", "second"):
        call(server.port, "accounts__create", {"name": name})
    label = uuid4().hex
    one = partial(create, server, "stubborn__create", label)
    with (
        closing(connect(server.config)) as other,
        in_background(one) as answer,
        server.gate.holding() as let,
    ):
        cursor = other.cursor()
        # More rows than the view has changed: InnoDB then ends the transaction of the view.
        numbers = [(number,) for number in range(5000, 5050)]
        cursor.executemany("INSERT INTO ledger_ticket (number) VALUES (%s)", numbers)
        cursor.execute("UPDATE ledger_account SET `limit` = 9 WHERE name = 'second'")
        let("pass")
        wait_for_lock(server.config)
        cursor.execute("UPDATE ledger_account SET `limit` = 9 WHERE name = 'first'")
        other.commit()
        first = answer()
    assert (first.status, first.failed, first.codes) == (200, True, ["in-flight"])
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 0
    with in_background(one) as answer, server.gate.holding() as let:
        let("pass")
        made = answer()
    assert one().content == {**made.content, "repeated": True}
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 1
