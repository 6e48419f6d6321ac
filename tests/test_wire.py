"""The shape corpus: bytes in, outcome out. The fragments in `wire/everywhere.json` are tested at
every depth of every source; each of the other files has the cases of one contract. No value may be
lost in silence in any of them.

A case of `everywhere.json` gives the object `fragment` (or its raw `text`) and its outcome as if it
were at `$`. `received` is given if the tool gets other arguments than those sent; `at` and `not_at`
limit the depths; `corrected_if_null_is_the_default`: other sources have no correction; `absolute`
paths are the same at every depth; `each` writes the case once for every name.
"""

import json
from typing import Any

import pytest
from wire_contracts import CONTRACTS, body_of, single_cases
from wire_depths import DEPTHS, SOURCES, everywhere, expected, plain_dates
from wire_outcomes import WIRE, assert_nothing_is_lost, exactly, outcome

# --- every clause, at every depth, from every source ------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", list(everywhere()), ids=lambda case: case["id"])
def test_a_fragment_has_the_same_outcome_at_every_depth_of_every_source(
    case: dict[str, Any], source: str
):
    depths = [each for each in case.get("at", DEPTHS) if each not in case.get("not_at", ())]
    fragment = case["text"] if "text" in case else json.dumps(case["fragment"])
    found: dict[str, Any] = {}
    for depth in depths:
        body = (DEPTHS[depth][0] % fragment).encode()
        found[depth] = plain_dates(outcome(SOURCES[source][depth], body))
        assert_nothing_is_lost(body, found[depth])
    assert exactly(found) == exactly({depth: expected(case, source, depth) for depth in depths})


# --- one contract's cases each ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", single_cases(), ids=lambda case: f"{case['file']}/{case['contract']}/{case['id']}"
)
def test_a_call_has_exactly_this_outcome(case: dict[str, Any]):
    body = body_of(case)
    found = outcome(CONTRACTS[case["contract"]], body)
    if case["outcome"] == "refused":
        wanted = {"problems": sorted(case["problems"]), "corrected": case["corrected"]}
    else:
        wanted = {
            "received": case.get("received", case.get("arguments")),
            "repairs": case.get("repairs", []),
        }
    assert exactly(found) == exactly({"outcome": case["outcome"], **wanted})
    if not case.get("rewritten_by_author"):
        assert_nothing_is_lost(body, found)


def test_every_case_names_its_evidence_once():
    cases = [*json.loads((WIRE / "everywhere.json").read_bytes()), *single_cases()]
    assert [case["id"] for case in cases if not case.get("evidence")] == []
    named = [(case.get("file"), case.get("contract"), case["id"]) for case in cases]
    assert len(named) == len(set(named))
