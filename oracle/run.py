"""Run the providers' own converters over published schemas and report the changes: `make oracle`.

Fails if one of them raises on a schema of the portable profile, or if docs/measured/oracle.md is
out of date; `--write` updates the page. The details are in .oracle/outcomes.json.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import environments
import page
from judge import Published, judge, published
from sample import Sample, samples

OUTCOMES = environments.HOME / "outcomes.json"


def main() -> int:
    environments.set_up()
    found = samples()
    forms = {
        key: form
        for group in found.values()
        for sample in group
        for key, form in published_forms(sample)
    }
    outcomes = {
        way: {key: judge(forms[key], came[key]) for key in forms} for way, came in converted(forms)
    }
    OUTCOMES.write_text(json.dumps(outcomes, indent=1))
    report = page.Report(
        groups={group: [each.name for each in every] for group, every in found.items()},
        ways=outcomes,
    )
    print(page.summary(report))
    raised = [f"{way} raises on {key}: {why}" for way, key, why in report.raised("portable")]
    print("\n".join(raised) or "No converter raises on a published schema.")
    return 1 if raised or not up_to_date(report) else 0


def published_forms(sample: Sample) -> Iterator[tuple[str, Published]]:
    for form, schema in (("portable", sample.portable), ("plain", sample.plain)):
        if schema is not None:
            yield f"{form} {sample.name}", published(schema, sample.valid, sample.invalid)


def converted(forms: dict[str, Published]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The result of each form, by converter."""
    tools = {
        key: {
            "name": key.split()[1],
            "description": key,
            "inputSchema": form.schema,
            "calls": form.right,
        }
        for key, form in forms.items()
    }
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for ways in pool.map(lambda runner: environments.convert(runner, tools), environments.PINS):
            yield from ways.items()


def up_to_date(report: page.Report) -> bool:
    """Whether the page is up to date; with `--write`, it is updated."""
    written = page.with_report(page.PAGE.read_text(), report)
    if "--write" in sys.argv:
        page.PAGE.write_text(written)
    if page.PAGE.read_text() == written:
        return True
    print("docs/measured/oracle.md is out of date; make oracle ARGS=--write updates it.")
    return False


if __name__ == "__main__":
    sys.exit(main())
