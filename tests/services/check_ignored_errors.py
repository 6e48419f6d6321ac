"""A view that ignores an error of the database and continues: PostgreSQL refuses every further
statement of the transaction, the other databases do not.
"""

from uuid import uuid4

import pytest

from service_rows import count
from service_server import Served, call


@pytest.mark.parametrize("beside", [{"idempotency_key": "k"}, {"preview": True}], ids=str)
def test_a_view_that_ignores_an_error_of_the_database_is_refused_on_postgresql(
    server: Served, servers: dict[str, Served], beside: dict
):
    name = uuid4().hex
    if "idempotency_key" in beside:
        beside = {"idempotency_key": name}
    answer = call(server.port, "careless__post", {"name": name, **beside})
    is_refused = server is servers["PostgreSQL"]
    assert (answer.status, answer.failed) == (200, is_refused)
    assert ("continues after an error of the database" in str(answer.body)) is is_refused
    made = 1 if "idempotency_key" in beside and not is_refused else 0
    for table, column in (("ledger_account", "name"), ("ledger_remark", "text")):
        assert count(server.config, table, f"{column} = '{name}'") == made


def test_without_a_transaction_the_view_works_on_every_database(server: Served):
    name = uuid4().hex
    assert not call(server.port, "careless__post", {"name": name}).failed
    assert count(server.config, "ledger_remark", f"text = '{name}'") == 1
