"""Workers that are killed in the middle of a write with a key, some for each point and database.

`make long ARGS=kills` kills many more.
"""

import pytest
from kills import POINTS

from kill_calls import run
from service_server import Served

NUMBER = 5


@pytest.mark.parametrize("point", POINTS)
def test_a_write_whose_worker_is_killed_is_made_once(server: Served, point: str):
    told: list[str] = []
    figures = run(server, point, NUMBER, told.append)
    made_before = point == "between-commit-and-answer"
    assert (figures["rows"], figures["receipts"]) == (NUMBER, NUMBER)
    assert figures["repeated receipts"] == (NUMBER if made_before else 0)
