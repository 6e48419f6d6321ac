"""The hostile corpus -> rows: the CPU time of each body against a limit for its bytes, and the
latency of other callers at the same time.

The floor is no measurement here: a body may cost 1 ms and 1 µs for each of its bytes. For bodies
that only the author's validation makes expensive, the time of Pydantic alone is added to it.
Pydantic forbids undeclared keys, so that it refuses the bodies that we refuse.
"""

from __future__ import annotations

from statistics import quantiles

from figures import Panel, Row, Suite, Tell
from hostile_cases import Hostile, corpus
from hostile_large import large_corpus
from hostile_ping import percentile, rounds
from hostile_records import record_corpus
from measure import Clock, readings, task_clock
from pydantic import ValidationError

from toolbooth import handle_bytes
from toolbooth.server.respond import respond_sync

ROUNDS = 9
ALLOWED, ALLOWED_PER_BYTE = 1_000.0, 1.0
ALLOWED_BESIDE = 1.5
"""The most, where Pydantic alone is expensive: a multiple of its time and of what the bytes may
cost, added up. Our schema asks for more than the author's: every number must be one.
"""

PING_ROUNDS = 9
ALLOWED_FOR_PING = 100_000.0
"""µs."""

LARGE_ROUNDS, ALLOWED_AT_ALL = 2, 1_000_000.0
"""Rounds and µs for messages near the limit of 4 MiB, from bytes to bytes."""


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    rows: list[Row] = []
    for each in corpus():
        tell(each.name)
        rows += _rows(each)
    for each in large_corpus():
        tell(each.name)
        clock = task_clock(lambda each=each: respond_sync(each.registry, each.body))
        rows.append(_large_row("large", each.name, clock))
    for each in record_corpus():
        tell(each.name)
        rows.append(_large_row("record", each.name, task_clock(each.task)))
    return [*rows, *_ping_rows(tell)]


def _ping_rows(tell: Tell) -> list[Row]:
    """The latency of pings while the corpus is sent on another connection. Each figure is from the
    best round, because other work on the machine can only increase it.
    """
    tell("pings")
    found = list(rounds(PING_ROUNDS))
    allowed = [ALLOWED_FOR_PING] * PING_ROUNDS
    rows: list[Row] = []
    for percent, goal in ((50, None), (99, 1.0)):
        times = [percentile(each, percent) * 1e6 for each in found]
        rows.append(_row("ping", f"ping, {percent} % within", goal, times, allowed))
    return rows


def _rows(hostile: Hostile) -> list[Row]:
    is_refused = handle_bytes(hostile.contract, hostile.body)["isError"]
    if is_refused == hostile.passes:
        raise AssertionError(f"{hostile.name}: refused is {is_refused}; the figure means nothing")
    clocks = {"whole": task_clock(lambda: handle_bytes(hostile.contract, hostile.body))}
    if hostile.alone is not None:
        clocks["alone"] = task_clock(lambda: _is_refused_alone(hostile))
    found = {
        name: [each * 1e6 for each in times] for name, times in readings(clocks, ROUNDS).items()
    }
    allowed = ALLOWED + ALLOWED_PER_BYTE * len(hostile.body)
    if hostile.alone is None:
        return [_row("bytes", hostile.name, 1.0, found["whole"], [allowed] * len(found["whole"]))]
    if _is_refused_alone(hostile) == hostile.passes:
        raise AssertionError(f"{hostile.name}: Pydantic alone does not decide as we do")
    floor = [allowed + each for each in found["alone"]]
    return [_row("validation", hostile.name, ALLOWED_BESIDE, found["whole"], floor)]


def _large_row(group: str, name: str, clock: Clock) -> Row:
    times = readings({"whole": clock}, LARGE_ROUNDS)["whole"]
    whole = [each * 1e6 for each in times]
    return _row(group, name, 1.0, whole, [ALLOWED_AT_ALL] * len(whole))


def _is_refused_alone(hostile: Hostile) -> bool:
    """Whether Pydantic alone refuses the body. It may drop no key, as we may not, and a refusal is
    only complete with its errors.
    """
    assert hostile.alone is not None
    try:
        hostile.alone.validate_json(hostile.body, extra="forbid")
    except ValidationError as error:
        return bool(error.errors(include_url=False, include_input=False))
    return False


def _row(group: str, name: str, goal: float | None, mine: list[float], floor: list[float]) -> Row:
    ratios = [one / other for one, other in zip(mine, floor, strict=True)]
    low, _, high = quantiles(ratios, n=4)
    cost, against = min(mine), min(floor)
    return Row(
        group=group,
        name=name,
        goal=goal,
        ratio=cost / against,
        low=low,
        high=high,
        cost=cost,
        floor=against,
    )


SUITE = Suite(
    name="hostile",
    title="CPU time of hostile bodies, as a multiple of what their bytes may cost",
    groups={
        "bytes": "Against 1 ms and 1 µs for each byte",
        "large": "Near the limit of 4 MiB: against 1 s",
        "record": "The same for the redacted record of a call, and for the id of a refused message",
        "validation": "Expensive for Pydantic itself: against its time alone, errors included, "
        "and 1 ms and 1 µs for each byte",
        "ping": "Pings over HTTP while the corpus is sent on another connection: against 100 ms",
    },
    panels=(
        Panel(title="Hostile bodies ÷ (1 ms + 1 µs per byte)", groups=("bytes",)),
        Panel(title="4 MiB ÷ 1 s", groups=("large",)),
        Panel(title="Records and ids of 4 MiB ÷ 1 s", groups=("record",)),
        Panel(
            title="Hostile bodies ÷ (Pydantic alone + 1 ms + 1 µs per byte)", groups=("validation",)
        ),
        Panel(title="Latency of pings meanwhile ÷ 100 ms", groups=("ping",)),
    ),
    packages=(
        "toolbooth",
        "pydantic",
        "pydantic-core",
        "jiter",
        "orjson",
        "jsonschema-rs",
        "uvicorn",
        "uvloop",
        "httptools",
    ),
    measured=measured,
)
