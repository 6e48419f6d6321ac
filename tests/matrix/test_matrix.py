"""The shape corpus has the same outcome on every host, transport and revision, cell by cell. See `measure.py`."""

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


@pytest.mark.parametrize("run", measure.RUNS, ids=lambda run: f"{run.host}-{run.transport}-{run.revision}")
def test_every_call_ends_as_the_corpus_says_unless_the_hosts_own_reader_stops_it(run: Any):
    differing = {measure.corpus()[number].id: found for number, found in measure.differences(run).items()}
    if run.host != "registry":
        stopped = {call.id for call in measure.corpus().values() if measure.fault(call)}
        # Stopped means stopped: no tool has run, and nothing of what was sent is lost on the way to one.
        differing = {
            name: found
            for name, found in differing.items()
            if name not in stopped or found not in (measure.NO_ANSWER, corpus.PARSE_ERROR)
        }
    assert differing == {}


def test_the_docs_have_the_table_that_was_measured():
    assert measure.written() == measure.table()
