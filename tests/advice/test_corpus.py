"""The corpus is large enough, and its right calls are right."""

import json
from pathlib import Path

from advice_agent import outcome
from advice_corpus import Call, corpus
from advice_servers import registry

HERE = Path(__file__).parent


def pairs(name: str) -> list[frozenset[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [frozenset(line.split()) for line in lines]


def test_there_are_enough_calls_and_pairs():
    assert len({call.id for call in corpus()}) >= 2_000
    for name in ("opposites.txt", "one_slip_apart.txt"):
        every = pairs(name)
        assert len(set(every)) == len(every) >= 300
        assert all(len(pair) == 2 for pair in every)


def test_a_literal_agent_succeeds_by_the_second_call_and_is_never_misled():
    wrong = [
        (call.id, became)
        for call in corpus()
        for became in [outcome(call, registry)]
        if became != ("right the second time" if call.derivable else "refused without a correction")
    ]
    assert wrong == []


def test_the_right_call_is_accepted_unchanged_and_differs_from_the_call_sent():
    for call in corpus():
        if call.right is not None:
            right = Call(call.id, call.kind, call.source, call.depth, call.right, call.right)
            assert outcome(right, registry) == "right at once", call
            assert json.dumps(call.sent) != json.dumps(call.right)
