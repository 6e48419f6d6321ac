"""Writes without a key or a preview, on each database: what the other files compare with."""

from service_rows import count
from service_server import Served, call


def test_a_write_without_a_key_is_made_each_time(server: Served):
    calls = [call(server.port, "entries__create", {"label": "plain"}) for _ in range(2)]
    assert [each.status for each in calls] == [200, 200]
    assert calls[0].content["id"] != calls[1].content["id"]
    assert count(server.config, "ledger_entry", "label = 'plain'") == 2
    assert server.hooks.read_text().split() == ["plain", "plain"]
