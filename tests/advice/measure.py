"""The outcomes of the calls of the corpus on each server. `--list` names the servers, `--run NAME`
prints the figures of one as JSON; `--kinds NAME` has a line for each kind of fault, `--wrong NAME`
names the calls with wrong advice, and those without the correction that could be given.
"""

import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator

from advice_agent import Outcome, outcome
from advice_corpus import Call, corpus
from advice_servers import SERVERS

from toolbooth.errors import ContractWarning

WRONG = ("wrong advice", "ran with other arguments")


def outcomes(name: str) -> Iterator[tuple[Call, Outcome]]:
    """Yield the outcome of every call. A host has no tools that are made from a JSON Schema."""
    send = SERVERS[name]()
    for call in corpus():
        if call.source != "schema" or name == "Toolbooth":
            yield call, outcome(call, send)


def figures(name: str) -> dict[str, int]:
    found = Counter((call.derivable, became) for call, became in outcomes(name))
    derivable = sum(count for (is_derivable, _), count in found.items() if is_derivable)
    return {
        "calls": found.total(),
        "one meaning": derivable,
        "right at once": found[True, "right at once"],
        "right the second time": found[True, "right the second time"],
        "wrong advice": found[True, "wrong advice"] + found[False, "wrong advice"],
        "ran with other arguments": sum(found[each, WRONG[1]] for each in (True, False)),
    }


def print_kinds(name: str) -> None:
    kinds: dict[str, Counter[str]] = {}
    for call, became in outcomes(name):
        kind = "two faults" if call.kind.startswith("two") else call.kind
        kinds.setdefault(f"{kind}{'' if call.derivable else ' (uncertain)'}", Counter())[
            became
        ] += 1
    for kind, counted in sorted(kinds.items()):
        print(f"{kind}: {dict(counted)}")


def print_wrong(name: str) -> None:
    for call, became in outcomes(name):
        if became in WRONG or (call.derivable and became == "refused without a correction"):
            print(became, call.id, json.dumps(call.sent), json.dumps(call.right))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ContractWarning)
    match sys.argv[1:]:
        case ["--run", name]:
            print(json.dumps(figures(name)))
        case ["--kinds", name]:
            print_kinds(name)
        case ["--wrong", name]:
            print_wrong(name)
        case _:
            print("\n".join(SERVERS))
