"""The form of the doctor's report: its length, its order and the width of its lines."""

from hypothesis import given
from hypothesis import strategies as st

from toolbooth.django.management import examinations
from toolbooth.django.management.doctor import (
    callers,
    causes,
    deployment,
    described,
    keyless,
    uncovered,
)
from toolbooth.django.management.doctor.findings import Cause, Finding, examine_all
from toolbooth.django.management.doctor.report import MOST_LINES, WIDTH, Report

LEVELS = ("ok", "note", "warning", "error")
WORDS = st.text("abc de_", min_size=1, max_size=250).map(str.strip).filter(bool)
CAUSES = st.builds(Cause, WORDS, WORDS.map("{{count}} {}".format), WORDS)
FINDINGS = st.lists(
    st.builds(Finding, st.sampled_from(LEVELS), WORDS, WORDS, st.none() | CAUSES, WORDS),
    max_size=120,
)


@given(FINDINGS, st.lists(WORDS, max_size=4))
def test_any_report_fits_on_a_screen_with_the_worst_first(found, steps):
    groups = examine_all({"All": lambda: iter(found)})
    lines = Report(opening=["x"], groups=groups, steps=[each[:90] for each in steps]).lines(
        lambda level, mark: mark, whole=False
    )
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= WIDTH for line in lines)
    marks = [line[:9].strip() for line in lines]
    shown = [LEVELS.index(mark) for mark in marks if mark in LEVELS]
    assert shown == sorted(shown, reverse=True)
    places = {each.place for each in found}
    assert {each.place for group in groups for each in group.findings} <= places


def test_every_cause_and_its_remedy_fit_on_a_line_each():
    modules = (examinations, callers, causes, deployment, described, keyless, uncovered)
    named = [each for module in modules for each in vars(module).values()]
    every = {each for each in named if isinstance(each, Cause)}
    every |= {cause for _, _, cause in (*causes._LEFT_OUT, *causes._COMPLAINTS)}
    assert len(every) > 15
    for each in every:
        assert len(each.title.format(count="9,999")) <= WIDTH - 11, each
        assert len(f"-> {each.cure}") <= WIDTH - 11, each


# --- as JSON, and exit codes ---
