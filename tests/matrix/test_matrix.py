"""The shape corpus has the same outcome on every host, transport and revision, cell by cell. See
`measure.py`.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


def _sibling(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


corpus, frames, measure = map(_sibling, ("corpus", "frames", "measure"))


@pytest.mark.parametrize("run", measure.RUNS, ids=lambda run: run.name)
def test_every_call_has_the_outcome_in_the_corpus_and_the_docs(run: Any):
    assert measure.unexplained(run) == {}
    if run.host != "registry":
        assert measure.said_by(run) == measure.read(measure.written())[run], (
            "run measure.py --write"
        )


def test_table_in_the_docs_equals_the_output_of_measure():
    written = measure.written()
    assert measure.table(measure.read(written)) == written
