"""Rows -> the table of figures in docs/speed.md, so that the page says what the last run found."""

from __future__ import annotations

from pathlib import Path

from figures import Row, Suite, goal_of

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"


def write(suite: Suite, rows: list[Row], when: str) -> None:
    """Put the figures that have goals between the page's marks for this suite."""
    start, end = f"<!-- figures of {suite.name} -->\n", f"<!-- end of {suite.name} -->"
    before, _, rest = PAGE.read_text().partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}\n{_table(suite, rows, when)}\n{end}{after}")


def _table(suite: Suite, rows: list[Row], when: str) -> str:
    lines = [f"Run of {when}:", "", "| | figure | spread | goal |", "|---|---|---|---|"]
    for group, title in suite.groups.items():
        judged = [row for row in rows if row.group == group and row.goal is not None]
        lines += [f"| **{title}** | | | |"] * bool(judged)
        lines += [
            f"| {row.name} | {_figure(row)} | {_short(row.low)}–{_short(row.high)} | {goal_of(row)} |" for row in judged
        ]
    return "\n".join(lines) + "\n"


def _figure(row: Row) -> str:
    return _short(row.ratio) if row.met else f"**{_short(row.ratio)}**, missed"


def _short(figure: float) -> str:
    return f"{figure:.2f}" if figure < 10 else f"{figure:.1f}" if figure < 100 else f"{figure:.0f}"
