"""Rows -> the table of figures in the suite's page of the documentation, which shows the last
run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from figures import Row, Suite, goal_of

DOCS = Path(__file__).parent.parent / "docs"


def write(suite: Suite, rows: list[Row], picture: Path, when: str) -> None:
    """Put the figures between the page's marks for this suite, and copy the picture beside it."""
    start, end = f"<!-- figures of {suite.name} -->\n", f"<!-- end of {suite.name} -->"
    path = DOCS / suite.page
    before, _, rest = path.read_text().partition(start)
    _, _, after = rest.partition(end)
    shown = ""
    if suite.shows_picture:
        copy = path.with_name(f"speed_{picture.name}")
        shutil.copyfile(picture, copy)
        shown = f"\n![{suite.title}]({copy.name})\n"
    path.write_text(
        f"{before}{start}\nRun of {when}:\n\n{_table(suite, rows)}{shown}\n{end}{after}"
    )


def _table(suite: Suite, rows: list[Row]) -> str:
    """The suite's own table. Otherwise the rows that have goals, or all rows if the page shows
    everything.
    """
    if suite.table is not None:
        return suite.table(rows)
    lines = [
        f"| | figure | {'of' if suite.whole else 'spread'} | goal |",
        "|---|---|---|---|",
    ]
    for group, title in suite.groups.items():
        shown = [
            row for row in rows if row.group == group and (suite.whole or row.goal is not None)
        ]
        lines += [f"| **{title}** | | | |"] * bool(shown)
        lines += [
            f"| {row.name} | {_figure(row)} | {_beside(row, suite.whole)} | {goal_of(row)} |"
            for row in shown
        ]
    return "\n".join(lines) + "\n"


def _figure(row: Row) -> str:
    return f"**{_short(row.ratio)}**, missed" if row.met is False else _short(row.ratio)


def _beside(row: Row, whole: bool) -> str:
    """The spread of the figure, or the costs that it compares."""
    if not whole:
        return f"{_short(row.low)}–{_short(row.high)}"
    return f"{amount(row.cost)} / {amount(row.floor)} {row.unit}"


def amount(cost: float) -> str:
    """A cost, with one decimal if it is small."""
    return f"{cost:,.0f}" if cost >= 10 or cost == int(cost) else f"{cost:.1f}"


def _short(figure: float) -> str:
    return f"{figure:.2f}" if figure < 10 else f"{figure:.1f}" if figure < 100 else f"{figure:.0f}"
