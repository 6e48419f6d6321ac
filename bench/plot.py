"""Rows -> one picture with bars of ratios, each with its spread and its goal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib
from figures import Row, Suite
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

MET, MISSED, OTHER = "#2f7d4f", "#c0392b", "#7f8c9b"
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw(suite: Suite, rows: list[Row], path: Path) -> None:
    """Write the picture."""
    matplotlib.use("Agg")
    panels = [(panel, [row for row in rows if row.group in panel.groups]) for panel in suite.panels]
    heights = [len(shown) + 1.5 for _, shown in panels]
    figure = Figure(figsize=(11.5, 0.27 * sum(heights) + 1.4), layout="constrained")
    figure.suptitle(f"{suite.title}\n", fontsize=13)
    axes: Iterable[Axes] = figure.subplots(len(panels), 1, height_ratios=heights)
    for each, (panel, shown) in zip(axes, panels, strict=True):
        _panel(each, panel.title, shown)
        if panel.logarithmic:
            _make_logarithmic(each)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def _panel(axes: Axes, title: str, rows: list[Row]) -> None:
    places = range(len(rows))
    ratios = [row.ratio for row in rows]
    spread = [
        [max(0, row.ratio - row.low) for row in rows],
        [max(0, row.high - row.ratio) for row in rows],
    ]
    axes.barh(places, ratios, color=[_colour(row) for row in rows], height=0.66)
    axes.errorbar(
        ratios, places, xerr=spread, fmt="none", ecolor="black", elinewidth=0.9, capsize=2
    )
    furthest = max(max(row.high, row.ratio, row.goal or 0) for row in rows)
    for place, row in enumerate(rows):
        if row.goal is not None:
            axes.plot(
                [row.goal] * 2, [place - 0.45, place + 0.45], color="black", linewidth=2.2, zorder=4
            )
        end = max(row.ratio, row.high, row.goal or 0)
        axes.annotate(
            _words(row), (end, place), (6, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.axvline(1, color="#444444", linewidth=0.8, linestyle=":")
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_yticks(list(places), [_label(row) for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, furthest * 1.36)  # room for the text after the last bar
    axes.tick_params(axis="x", labelsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


def _make_logarithmic(axes: Axes) -> None:
    furthest = axes.get_xlim()[1]
    shown = [tick for tick in TICKS if tick < furthest]
    axes.set_xscale("log")
    axes.set_xlim(1, furthest * 6)
    axes.set_xticks(shown, [str(tick) for tick in shown])
    axes.minorticks_off()


def _label(row: Row) -> str:
    return f"{row.name} (repaired)" if row.group == "repaired" else row.name


def _words(row: Row) -> str:
    if row.unit in ("B", "tokens", "fields"):
        return f"{row.ratio:.2f}   ({row.cost:,.0f} against {row.floor:,.0f} {row.unit})"
    return f"{row.ratio:.2f}   ({_amount(row.cost, row)} against {_amount(row.floor, row)})"


def _amount(cost: float, row: Row) -> str:
    if row.unit == "µs" and cost >= 10_000:
        return f"{cost / 1000:,.0f} ms"
    return f"{cost:,.0f} {row.unit}" if cost >= 100 else f"{cost:.3g} {row.unit}"


def _colour(row: Row) -> str:
    return OTHER if row.met is None else MET if row.met else MISSED


def _legend() -> list[Patch | Line2D]:
    return [
        Patch(color=MET, label="goal met"),
        Patch(color=MISSED, label="goal missed"),
        Patch(color=OTHER, label="no goal set"),
        Line2D(
            [],
            [],
            color="black",
            linewidth=2.2,
            marker="|",
            linestyle="none",
            markersize=12,
            label="goal",
        ),
        Line2D([], [], color="black", linewidth=0.9, label="middle half of the rounds"),
    ]
