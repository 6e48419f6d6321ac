"""Hostile input is refused, quickly and briefly, and the limits are settings."""

import json
from time import process_time
from typing import Any

import pytest
from wire_contracts import Ignoring, contact
from wire_hostile import HOSTILE, below, chained, in_chain, text_in_text
from wire_outcomes import outcome

from toolbooth import Limits, compile_function, compile_model, handle_bytes


@pytest.mark.parametrize(("text", "problems"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_input_gets_a_clear_refusal(text: str, problems: list[list[str]]):
    found = outcome(compile_function(chained), text.encode())
    assert found == {"outcome": "refused", "problems": problems, "corrected": None}


def test_looking_for_a_correction_costs_no_more_per_level_than_the_level_before():
    body = in_chain('{"belo": ' * 90 + '{"zzz": 1}' + "}" * 90)
    contract, started = compile_function(chained), process_time()
    found = outcome(contract, body)
    assert found == {
        "outcome": "refused",
        "problems": [["nested-wrapper", "$.chain.belo"]],
        "corrected": None,
    }
    assert process_time() - started < 1


@pytest.mark.parametrize("times", [1, 3, 5, 8])
def test_json_text_inside_json_text_never_exhausts_the_stack(times: int):
    found = outcome(compile_function(chained), in_chain(text_in_text(times)))
    assert found["outcome"] in ("repaired", "refused")


@pytest.mark.parametrize(
    "leaf", ['{"value": "5"}', '{"zzz": 1}', '{"items": [{"value": 1.0}]}', '{"VALUE": 5}']
)
def test_calls_accepted_by_the_reader_never_exceed_later_depth_limits(leaf: str):
    found = outcome(compile_function(chained), in_chain(below(194, leaf)))
    assert found["outcome"] in ("passed", "repaired", "refused")


def test_very_many_keys_are_refused_and_not_all_counted():
    contract = compile_function(contact)
    body = json.dumps({f"k{index}": 1 for index in range(90_000)}).encode()
    result = handle_bytes(contract, body, lambda **_: None)
    assert result["isError"]
    assert result["content"][0]["text"].startswith("Refused: more than 10000 problems")
    assert len(json.dumps(result)) < 10_000


@pytest.mark.parametrize(
    ("limits", "text", "code"),
    [
        (Limits(max_bytes=20), '{"name": "Ann Ann Ann"}', "too-large"),
        (Limits(max_depth=3), '{"name": [[[1]]]}', "too-deep"),
        (Limits(max_digits=5), '{"age": 123456}', "lossy-number"),
    ],
    ids=["bytes", "depth", "digits"],
)
def test_input_limits_can_be_lowered(limits: Limits, text: str, code: str):
    found = outcome(compile_model(Ignoring, limits=limits), text.encode())
    assert found == {"outcome": "refused", "problems": [[code, "$"]], "corrected": None}


def test_numbers_with_as_many_digits_as_the_limit_are_accepted():
    body = b'{"name": "Ann", "age": %s}' % (b"9" * 4300)
    calls: list[Any] = []
    handle_bytes(compile_model(Ignoring), body, calls.append)
    assert calls == [Ignoring(name="Ann", age=10**4300 - 1)]
