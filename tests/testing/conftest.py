"""Settings for the tests of the testing kit: where calls are recorded, and a run of pytest in a
project of its own.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

OTHER_PLUGINS = ("inline_snapshot", "hypothesispytest", "anyio", "unraisableexception")


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def run(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run pytest on the project, without the plugins that would only cost time."""
    without = [word for plugin in OTHER_PLUGINS for word in ("-p", f"no:{plugin}")]
    return lambda *options: pytester.runpytest(*without, *options)
