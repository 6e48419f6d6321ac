"""Runs the Python blocks of a guide, and compares their output."""

import re
from pathlib import Path
from typing import Any

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


def run_guide(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (GUIDES / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        expected = [line[3:] for line in block.splitlines() if line.startswith("#> ")]
        exec(compile(block, name, "exec"), names)
        assert capsys.readouterr().out.splitlines() == expected
