"""Send every malformed call to five servers, as bytes, and write the outcomes into
docs/measured/wild.md.

`python wild/play.py` sends them and writes the page; `--print` prints it; `--details HOST` prints
the outcome of each call on one server.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "matrix")]
frames, malformed = map(importlib.import_module, ("frames", "malformed"))
Case = malformed.Case

SERVER = HERE / "five_servers.py"
HOSTS = ("registry", "protected FastMCP", "protected SDK", "plain FastMCP", "plain SDK")
TEMPLATE = HERE / "page.md"
PAGE = ROOT / "docs" / "measured" / "wild.md"
PACKAGES = ("toolbooth", "pydantic", "fastmcp", "mcp")

OUTCOMES = ("delivered", "corrected", "refused", "misled", "lost")
"""The outcomes of a call. The page explains them."""

Reply = dict[str, Any]


# --- playing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of one call on one server."""

    case: Case
    outcome: str
    text: str
    """The text that the agent reads."""


def play(host: str) -> list[Played]:
    """Every call on one server, each with the second call of an agent that follows the refusal."""
    with frames.running([sys.executable, str(SERVER), host]) as process:
        http = frames.Http(int(process.stdout.readline()), frames.HANDSHAKE)
        numbered = enumerate(malformed.cases(), 1)
        found = [_play(http, 2 * number, case) for number, case in numbered]
        http.connection.close()
        process.terminate()
        return found


def _play(http: Any, number: int, case: Case) -> Played:
    reply = http.call(number, case.id, case.sent.encode())
    if _ran(reply):
        outcome = "delivered" if _is_right(case, reply) else "lost"
        return Played(case, outcome, _text(reply))
    advice = _advice(reply)
    if advice is None:
        return Played(case, "refused", _text(reply))
    second = http.call(number + 1, case.id, json.dumps(advice).encode())
    works = _ran(second) and _is_right(case, second)
    return Played(case, "corrected" if works else "misled", _text(reply))


def _ran(reply: Reply) -> bool:
    return "result" in reply and not reply["result"].get("isError")


def _is_right(case: Case, reply: Reply) -> bool:
    return case.right is not None and malformed.is_same(json.loads(_text(reply)), case.right)


def _text(reply: Reply) -> str:
    if "result" not in reply:
        return json.dumps(reply.get("error"))
    return reply["result"]["content"][0]["text"]


def _advice(reply: Reply) -> Any:
    """The corrected call in the refusal; None if it has none."""
    meta = reply.get("result", {}).get("_meta", {}).get("toolbooth", {})
    if meta.get("corrected") is not None:
        return meta["corrected"]
    instead = re.search(r"^Send instead: (.*)$", _text(reply), re.MULTILINE)
    return json.loads(instead[1]) if instead else None


# --- the page -----------------------------------------------------------------------------------

Found = dict[str, list[Played]]


def page(found: Found) -> str:
    """The page of the docs."""
    every = malformed.cases()
    verbatim = [case for case in every if case.bytes_are == "verbatim"]
    threads = {case.source for case in every}
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return TEMPLATE.read_text(encoding="utf-8").format(
        date=datetime.now(UTC).date(),
        versions=versions,
        calls=len(every),
        threads=len(threads),
        verbatim=len(verbatim),
        as_json=sum(case.written_as == "json" for case in verbatim),
        rebuilt=len(every) - len(verbatim),
        derivable=sum(case.derivable for case in every),
        readable=sum(case.reader_can_tell for case in every),
        verbatim_table=_servers(found, "verbatim"),
        rebuilt_table=_servers(found, "reconstructed"),
        mistakes=_mistakes(found),
        not_right=_not_right(found),
        only_readers=_only_readers(found),
    )


def _servers(found: Found, bytes_are: str) -> str:
    rows = []
    for host, played in found.items():
        chosen = [each for each in played if each.case.bytes_are == bytes_are]
        counts = Counter(each.outcome for each in chosen)
        derivable = [each for each in chosen if each.case.derivable]
        readable = [each for each in chosen if each.case.reader_can_tell]
        right = _right_in_the_end(derivable), _right_in_the_end(readable)
        rows.append((host, *(counts[name] for name in OUTCOMES), *right))
    heads = ("server", *OUTCOMES, "right, of the derivable", "right, of those a reader can tell")
    return _table(heads, rows)


def _right_in_the_end(played: Sequence[Played]) -> str:
    """The number of calls that ran as they were meant, at the latest the second time."""
    return f"{sum(map(is_right_in_the_end, played))} of {len(played)}"


def is_right_in_the_end(played: Played) -> bool:
    return played.outcome in ("delivered", "corrected")


def _mistakes(found: Found) -> str:
    """For each class of mistake and each server: the calls that ran as meant, and those that were
    lost.
    """
    counts = Counter(case.mistake for case in malformed.cases())
    rows = [
        (mistake, count, *(_short(played, mistake) for played in found.values()))
        for mistake, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return _table(("mistake", "calls", *found), rows)


def _short(played: Iterable[Played], mistake: str) -> str:
    counts = Counter(each.outcome for each in played if each.case.mistake == mistake)
    shown = (f"{counts[name]} {name}" for name in OUTCOMES if counts[name])
    return ", ".join(shown)


def _not_right(found: Found) -> str:
    """The derivable calls that our own server neither delivers nor corrects."""
    rows = [
        (_link(each.case), each.case.mistake, each.outcome)
        for each in found["registry"]
        if each.case.derivable and not is_right_in_the_end(each)
    ]
    return _table(("call", "mistake", "outcome"), rows) if rows else "None."


def _only_readers(found: Found) -> str:
    """The calls that a reader understands, but that no rule corrects."""
    rows = [
        (_link(each.case), each.case.mistake, each.outcome, each.case.because)
        for each in found["registry"]
        if each.case.reader_can_tell and not each.case.derivable
    ]
    return _table(("call", "mistake", "outcome", "why there is no correction"), rows)


def _link(case: Case) -> str:
    return f"[{case.id}]({case.source})"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return "\n".join(_lines(heads, rows))


def _lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(map(str, row))} |"


def main(words: list[str]) -> None:
    if words[:1] == ["--details"]:
        for each in play(words[1]):
            print(f"{each.outcome:<10}{each.case.id}\n    sent {each.case.sent}\n    {each.text}\n")
        return
    text = page({host: play(host) for host in HOSTS})
    if words == ["--print"]:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
