"""Two ways to a corrected call: with the wrong values replaced in place, and by a walk over the whole
call. They must agree.
"""

from advice_corpus import corpus
from advice_tools import contracts

from toolbooth.boundary.correct import correct
from toolbooth.boundary.cures.in_place import cure_in_place
from toolbooth.boundary.examine import examine


def test_replacing_values_in_place_gives_the_same_call_as_a_walk():
    tools = contracts()
    compared = 0
    for call in corpus():
        contract = tools[call.source, call.depth]
        _, exam = examine(contract.shape, call.sent, contract.limits, thorough=False)
        if not exam.problems or not exam.only_wrong_values:
            continue
        cured = cure_in_place(contract, call.sent, exam.problem_paths)
        walked, edits = correct(contract, call.sent)
        # The walk also corrects choices in another case, which the examination does not look at.
        is_same_task = all(edit.source in exam.problem_paths for edit in edits)
        if cured is not None and cured.is_complete and is_same_task:
            assert (cured.arguments, cured.edits) == (walked, edits), call.id
            compared += 1
    assert compared > 200
