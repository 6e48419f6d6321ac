"""The figures in the guide of Django are those of the last run of `make bench ARGS=tokens`."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guides" / "django.md"
RESULTS = ROOT / "bench" / "results" / "tokens.json"

FORMS = {
    "**a sentence in each create (default)**": "a sentence in each create",
    "**`BULK_TOOLS`**": "BULK_TOOLS",
    "`BULK_TOOLS` with rows as JSON text": "BULK_TOOLS, rows as JSON text",
    "`anyOf` of a row and many rows": "anyOf of two forms",
    "`objects` optional, nothing required": "objects optional, nothing required",
    "the same with JSON text": "objects optional as JSON text, nothing required",
}
"""The rows of the guide's table of ways to list many rows, and their names in the results."""

APIS = ("example, 31 actions", "1,700 actions")
"""The columns of that table."""


def test_guide_table_of_many_rows_has_the_measured_tokens():
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    measured = {row["name"]: row for row in rows if row["group"] == "many"}

    def cell(api: str, form: str) -> str:
        row = measured[f"{api}: {form}, tokens"]
        more = row["cost"] / row["floor"] - 1
        return f"{row['cost']:,}" + (f" (+{more:.0%})".replace("%", " %") if more else "")

    lines = re.findall(
        r"^\| (.+?) \| ([\d,]+.*?) \| ([\d,]+.*?) \|", GUIDE.read_text("utf-8"), re.M
    )
    expected = [(told, *(cell(api, form) for api in APIS)) for told, form in FORMS.items()]
    assert [line for line in lines if line[0] in FORMS] == expected
