"""The hostile corpus -> rows: the CPU time of each body against what its bytes may cost.

The floor is no measurement here: a body may cost 1 ms and 1 µs for each of its bytes. For bodies
that only the author's validation makes expensive, Pydantic alone is measured beside it.
"""

from __future__ import annotations

from statistics import quantiles

from figures import Panel, Row, Suite, Tell
from hostile_cases import Hostile, corpus
from measure import readings, task_clock
from pydantic import ValidationError

from toolbooth import handle_bytes

ROUNDS = 9
ALLOWED, ALLOWED_PER_BYTE = 1_000.0, 1.0
"""µs."""


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    rows: list[Row] = []
    for each in corpus():
        tell(each.name)
        rows += _rows(each)
    return rows


def _rows(hostile: Hostile) -> list[Row]:
    is_refused = handle_bytes(hostile.contract, hostile.body)["isError"]
    if is_refused == hostile.passes:
        raise AssertionError(f"{hostile.name}: refused is {is_refused}; the figure means nothing")
    clocks = {"whole": task_clock(lambda: handle_bytes(hostile.contract, hostile.body))}
    if hostile.alone is not None:
        clocks["alone"] = task_clock(lambda: _validate(hostile))
    found = {
        name: [each * 1e6 for each in times] for name, times in readings(clocks, ROUNDS).items()
    }
    allowed = ALLOWED + ALLOWED_PER_BYTE * len(hostile.body)
    if hostile.alone is None:
        return [_row("bytes", hostile.name, 1.0, found["whole"], [allowed] * ROUNDS)]
    return [_row("validation", hostile.name, None, found["whole"], found["alone"])]


def _validate(hostile: Hostile) -> None:
    assert hostile.alone is not None
    try:
        hostile.alone.validate_json(hostile.body)
    except ValidationError as error:
        error.errors(include_url=False, include_input=False)


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
        "validation": "Expensive for Pydantic itself: against Pydantic alone, errors included",
    },
    panels=(
        Panel(title="Hostile bodies ÷ (1 ms + 1 µs per byte)", groups=("bytes",)),
        Panel(title="Hostile bodies ÷ Pydantic alone", groups=("validation",)),
    ),
    packages=("toolbooth", "pydantic", "pydantic-core", "jiter", "orjson", "jsonschema-rs"),
    measured=measured,
)
