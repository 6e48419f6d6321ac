"""An unpacked model behaves as the model alone would: the 40 rows of `evidence/flattening.md` §1.4, row by row."""

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest

from toolbooth import compile_function, handle_bytes_async

_spec = importlib.util.spec_from_file_location("flattening_rows", Path(__file__).with_name("flattening_rows.py"))
rows = sys.modules["flattening_rows"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rows)


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.id)
def test_an_unpacked_model_behaves_as_the_model_alone(row):
    contract = compile_function(row.make())
    results = [asyncio.run(handle_bytes_async(contract, call.sent.encode())) for call in row.calls]
    assert results == [call.result for call in row.calls]
