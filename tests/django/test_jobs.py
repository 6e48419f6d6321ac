"""Eleven jobs that real agents did on the example, done by a client without a model: the number of
calls, and the rows afterwards.

The client is in `project/scripted_agent.py`, the jobs are in `project/agent_jobs.py`.
"""

import base64
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent_jobs import Kind, further, jobs
from crm.settings import TOOLBOOTH
from sales.management.commands.seed import BLANK, PASSWORD, USER, fill
from sales.models import Company, Contact, Deal, Line, Note, Tag
from scripted_agent import Connection, DispatchedMenu, FlatMenu, Json, ScriptedAgent, Sent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "jobs.md"
STEPS: dict[Kind, dict[str, int]] = {
    "flat": {
        "compare columns": 1,
        "send the corrected call": 2,
        "use the declared fields": 1,
        "correct the values": 1,
    },
    "dispatched": {
        "compare columns": 1,
        "send the corrected call": 1,
        "use the declared fields": 4,
        "correct the values": 1,
    },
}
"""The next steps in the replies to refused calls."""
MOST_CALLS: dict[Kind, int] = {"flat": 26, "dispatched": 32}
KINDS = list(MOST_CALLS)
PEOPLE = {"Jan": "Molen", "Piet": "Wiek", "Klaas": "As", "Els": "Steen", "Mia": "Kap"}

Work = dict[str, tuple[list[Json], list[Sent]]]
"""The replies that reached the goals of each job, and all calls for it."""


@pytest.fixture
def connect(settings_of: Callable[..., None]) -> Callable[[Kind], tuple[Connection, ScriptedAgent]]:
    """A client of the example, with the rows of the example."""

    def connected(kind: Kind) -> tuple[Connection, ScriptedAgent]:
        dispatch = "app" if kind == "dispatched" else "off"
        settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={**TOOLBOOTH, "DISPATCH": dispatch})
        fill()
        key = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        connection = Connection(f"Basic {key}")
        menu = DispatchedMenu(connection) if kind == "dispatched" else FlatMenu(connection)
        return connection, ScriptedAgent(connection, menu)

    return connected


def work(connection: Connection, agent: ScriptedAgent, kind: Kind, before: str = "") -> Work:
    """Do the jobs; only those before this one, if one is named."""
    done: Work = {}
    for job, goals in jobs(kind).items():
        if job == before:
            break
        start = len(connection.calls)
        replies = [agent.do(goal) for goal in goals]
        done[job] = (replies, connection.calls[start:])
    return done


def figures(calls: list[Sent], kind: Kind) -> list[str]:
    """Return the counts of one row on the page."""
    counts = [len(calls), sum(call.is_refused for call in calls)]
    if kind == "dispatched":
        counts.append(sum(call.is_help for call in calls))
    return [str(count) for count in counts]


def figures_on_the_page(kind: Kind) -> dict[str, list[str]]:
    columns = slice(1, 3) if kind == "flat" else slice(3, 6)
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row[columns] for row in cells}


def refused_twice(calls: list[Sent]) -> list[str]:
    return [after.text for call, after in pairwise(calls) if call.is_refused and after.is_refused]


def rows(model: Any, *names: str) -> list[tuple[Any, ...]]:
    return sorted(model.objects.values_list(*names), key=str)


def tables() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of the example, without keys that the database assigns and the time of a
    note.
    """
    names = ("email", "first_name", "last_name", "company__name")
    others = ("tags", "notes", "profile", "subscribed")
    return {
        "companies": rows(Company, "name", "website", "employees"),
        "contacts": rows(Contact, *names, *others),
        "deals": rows(Deal, "title", "company__name", "stage", "closes_on", "reason"),
        "lines": rows(Line, "deal__title", "product", "quantity", "price"),
        "notes": rows(Note, "owner__username", "title", "body", "pinned"),
        "tags": rows(Tag, "slug", "title"),
    }


def added(before: dict[str, Any], **more: list[tuple[Any, ...]]) -> dict[str, Any]:
    return {name: sorted([*kept, *more.get(name, ())], key=str) for name, kept in before.items()}


def contact(first: str, last: str, company: str | None, *tags: str) -> list[tuple[Any, ...]]:
    email = f"{first}.{PEOPLE.get(first, last)}@example.org".lower()
    return [(email, first, last, company, tag, "", {}, False) for tag in tags]


def five_contacts(company: str | None) -> list[tuple[Any, ...]]:
    people = {**PEOPLE, "Jan": "Molenaar"}
    return [row for names in people.items() for row in contact(*names, company, "vip")]


def sloppy(letter: str, employees: int | None = 45) -> tuple[Any, ...]:
    return (f"Sloppy {letter}", f"https://{letter.lower()}.example.org", employees)


@pytest.mark.parametrize("kind", KINDS)
def test_jobs_need_few_calls_and_no_goal_is_refused_twice(connect, kind):
    connection, agent = connect(kind)
    work(connection, agent, kind)
    assert refused_twice(connection.calls) == []
    assert not connection.calls[-1].is_refused
    assert len(connection.calls) <= MOST_CALLS[kind]
    assert agent.steps == STEPS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_before_the_delete_the_database_has_exactly_the_expected_rows(connect, kind):
    connection, agent = connect(kind)
    before = tables()
    work(connection, agent, kind, before="delete the company")
    assert tables() == added(
        before,
        companies=[("Windmill BV", "https://windmill.example.org", 45)],
        contacts=five_contacts("Windmill BV"),
        deals=[
            ("Blades", "Windmill BV", "won", date(2026, 12, 31), "Best price and delivery time")
        ],
        lines=[
            ("Blades", "Rotor blade", 3, Decimal("1250.50")),
            ("Blades", "Hub", 1, Decimal("899.00")),
        ],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_after_the_jobs_the_database_has_exactly_the_expected_rows(connect, kind):
    connection, agent = connect(kind)
    before = tables()
    work(connection, agent, kind)
    assert tables() == added(
        before, companies=[sloppy(letter) for letter in "ABCDE"], contacts=five_contacts(None)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_the_jobs_contain_the_expected_rows(connect, kind):
    connection, agent = connect(kind)
    done = work(connection, agent, kind)
    (found,), company = done["find Ada"][0][0]["results"], done["find Ada"][0][1]
    assert (found["email"], company["name"]) == ("ada.visser@example.org", "hq-1")
    (closed,) = done["close it as won"][0]
    assert (closed["stage"], closed["reason"]) == ("won", "Best price and delivery time")
    assert [line["price"] for line in closed["lines"]] == ["1250.50", "899.00"]
    assert done["e-mails of subscribed contacts"][0][0]["results"] == []
    assert done["delete the company"][0] == [
        {
            "deleted": {"deal lines": 2, "deals": 1, "companies": 1},
            "unlinked": {"contacts": 5},
        }
    ]
    without = done["contacts without e-mail"][0][0]["results"]
    assert {row["id"] for row in without} == {str(key) for key in BLANK}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (
            "flat",
            {
                "companies": [
                    *(sloppy(letter) for letter in "FGHJ"),
                    sloppy("I", None),
                    ("Windmill BV", "", None),
                ],
                "contacts": [
                    ("otto@example.org", "Otto", "", None, None, "", {}, False),
                    ("otto@example.org", "Otto", "", "Windmill BV", "nosuchtag", "", {}, False),
                ],
                "tags": [("nosuchtag", "A new tag")],
            },
        ),
        (
            "dispatched",
            {
                "companies": [sloppy("G"), sloppy("H")],
                "contacts": [("otto@example.org", "Otto", "", None, None, "", {}, False)],
            },
        ),
    ],
    ids=KINDS,
)
def test_further_agent_attempts_succeed_after_one_refusal(connect, kind, more):
    connection, agent = connect(kind)
    work(connection, agent, kind)
    before, start = tables(), len(connection.calls)
    for goal in further(kind):
        agent.do(goal)
    assert refused_twice(connection.calls[start:]) == []
    assert tables() == added(before, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_docs_show_the_measured_call_counts(connect, kind):
    connection, agent = connect(kind)
    done = work(connection, agent, kind)
    all_eleven = list(connection.calls)
    for goal in further(kind):
        agent.do(goal)
    assert figures_on_the_page(kind) == {
        **{job: figures(calls, kind) for job, (_, calls) in done.items()},
        "all eleven": figures(all_eleven, kind),
        "what else the agents tried": figures(connection.calls[len(all_eleven) :], kind),
    }
