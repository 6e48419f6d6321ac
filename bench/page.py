"""Rows -> the table of figures in the suite's page of the documentation, which shows the last
run.
"""

from __future__ import annotations

from pathlib import Path

from figures import Row, Suite, goal_of

DOCS = Path(__file__).parent.parent / "docs"


def write(suite: Suite, rows: list[Row], when: str) -> None:
    """Put the figures between the page's marks for this suite."""
    start, end = f"<!-- figures of {suite.name} -->\n", f"<!-- end of {suite.name} -->"
    path = DOCS / suite.page
    before, _, rest = path.read_text().partition(start)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{start}\n{_table(suite, rows, when)}\n{end}{after}")


def _table(suite: Suite, rows: list[Row], when: str) -> str:
    """The rows that have goals, or all rows if the page shows everything."""
    lines = [
        f"Run of {when}:",
        "",
        f"| | figure | {'of' if suite.whole else 'spread'} | goal |",
        "|---|---|---|---|",
    ]
    for group, title in suite.groups.items():
        shown = [
            row for row in rows if row.group == group and (suite.whole or row.goal is not None)
        ]
        lines += [f"| **{title}** | | | |"] * bool(shown)
        lines += [
            f"| {row.name} | {_figure(row)} | {_beside(row)} | {goal_of(row)} |" for row in shown
        ]
    return "\n".join(lines) + "\n"


def _figure(row: Row) -> str:
    return f"**{_short(row.ratio)}**, missed" if row.met is False else _short(row.ratio)


def _beside(row: Row) -> str:
    """The spread of timed figures, or the counts of counted ones."""
    if row.unit in ("µs", "MB"):
        return f"{_short(row.low)}–{_short(row.high)}"
    return f"{row.cost:,.0f} / {row.floor:,.0f} {row.unit}"


def _short(figure: float) -> str:
    return f"{figure:.2f}" if figure < 10 else f"{figure:.1f}" if figure < 100 else f"{figure:.0f}"
