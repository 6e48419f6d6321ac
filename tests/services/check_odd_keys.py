"""Keys that a database could take for one another, or refuse: each is a key of its own."""

from uuid import uuid4

from service_rows import count, query
from service_server import Served, call

# MariaDB compares text without regard to case, accents and spaces at the end. PostgreSQL takes no
# NUL in text, and a table in `utf8mb3` no emoji.
ODD = (
    "key",
    "Key",
    "KEY",
    "key ",
    " key",
    "kéy",
    "ke\u0301y",
    "😀",
    "😁",
    "a\x00b",
    "a",
    "ß",
    "ss",
)
ODD += ("1", "01", "1.0", "%", "_", "\\", "'; --", "x" * 128, "😀" * 128, "\u202ekey", "key\n")


def test_each_odd_key_is_a_key_of_its_own(server: Served):
    label = uuid4().hex
    calls = [{"label": label, "idempotency_key": key} for key in ODD]
    made = [call(server.port, "entries__create", each).content for each in calls]
    again = [call(server.port, "entries__create", each).content for each in calls]
    assert again == [{**each, "repeated": True} for each in made]
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}' ORDER BY id")
    assert rows == [(each["id"],) for each in made]


def test_a_key_of_half_a_character_is_refused(server: Served):
    label = uuid4().hex
    for key in ("\ud83d", "x" * 128 + "😀"):
        refused = call(server.port, "entries__create", {"label": label, "idempotency_key": key})
        assert refused.status in (200, 400)
        assert refused.failed
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 0


def test_arguments_that_a_collation_takes_for_equal_are_other_arguments(server: Served):
    key, label = uuid4().hex, uuid4().hex
    call(server.port, "entries__create", {"label": label, "idempotency_key": key})
    for other in (label.upper(), f"{label}é"):
        reused = call(server.port, "entries__create", {"label": other, "idempotency_key": key})
        assert reused.codes == ["key-reused"]
    assert count(server.config, "ledger_entry", f"label LIKE '{label}%'") == 1
