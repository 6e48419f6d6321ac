"""What becomes of the calls of the corpus on each server, as a table. `--kinds` has a line for each
kind of fault, `--wrong` names the calls with wrong advice.
"""

import json
import sys
from collections import Counter

from advice_agent import outcome
from advice_corpus import corpus
from advice_servers import SERVERS


def main(words: list[str]) -> None:
    servers = [name for name in SERVERS if name in words] or list(SERVERS)
    for name in servers:
        measure(name, words)


def measure(name: str, words: list[str]) -> None:
    send = SERVERS[name]()
    found: Counter[tuple[bool, str]] = Counter()
    kinds: dict[str, Counter[str]] = {}
    for call in corpus():
        if call.source == "schema" and name != "Toolbooth":
            continue
        became = outcome(call, send)
        found[call.derivable, became] += 1
        label = call.kind if not call.kind.startswith("two") else "two faults"
        kinds.setdefault(f"{label}{'' if call.derivable else ' (uncertain)'}", Counter())[
            became
        ] += 1
        if "--wrong" in words and became in ("wrong advice", "ran with other arguments"):
            print(became, call.id, json.dumps(call.sent), json.dumps(call.right))
        if "--left" in words and call.derivable and became == "refused without a correction":
            print(became, call.id, json.dumps(call.sent))
    print(
        name,
        {
            f"{'derivable' if key[0] else 'uncertain'}: {key[1]}": count
            for key, count in sorted(found.items())
        },
    )
    if "--kinds" in words:
        for kind, counted in sorted(kinds.items()):
            print(f"  {kind}: {dict(counted)}")


if __name__ == "__main__":
    main(sys.argv[1:])
