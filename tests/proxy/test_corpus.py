"""The shape corpus through the proxy. The server behind it is an unprotected one of the official SDK,
whose tools answer with the values that they received. No call may lose a value in silence.
"""

import importlib.util
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import wire_depths
import wire_outcomes
import wire_tools

import corpus_server

HERE = Path(__file__).parent


def matrix_frames() -> Any:
    path = HERE.parent / "matrix/frames.py"
    spec = importlib.util.spec_from_file_location("matrix_frames", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


frames = matrix_frames()
RUNS = [(transport, era) for transport in ("stdio", "http") for era in ("2025-11-25", "2026-07-28")]
IDS = ["-".join(run) for run in RUNS]

RECORDED = {
    # The contract of the registry knows validators and modes that the published schema does not
    # show. The repair is in the result, so it is not silent.
    "objects/Lengthy/authors-before-validator-gets-text-as-sent",
    "objects/Lengthy/authors-wrap-validator-is-not-repaired",
    "types/Strict/scalar-text-in-a-strict-model",
    "types/verbatim/opted-out-null-and-empty",
}
READ_BY_THE_SERVER = {
    # The SDK reads text as JSON if it looks like JSON.
    "pass/text-that-looks-like-json-stays-text@signature.top": "signature.top",
    "types/anything/any-takes-everything": "anything",
    # The SDK reads every number with a fraction as a float.
    "types/exact/decimal-is-exact": "exact",
    "types/exact/decimal-of-many-digits": "exact",
    "types/exact/decimal-inside-json-text-of-all": "exact",
    "types/exact/integer-as-js-float": "exact",
    # The schema says that the keys are text. As numbers, two of them are the same.
    "types/numbered/two-keys-that-are-one-number": "numbered",
}
"""Calls that are correct by the schema of their tool, and that the SDK reads in its own way, with
and without the proxy. All digits and characters arrive at the server.
"""


@cache
def corpus() -> dict[int, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tools without examples
        return dict(enumerate(wire_tools.calls(), 1))


def replies(
    transport: str, era: str, calls: dict[int, Any], through: str = "proxied"
) -> dict[int, Any]:
    """The reply to each call, by number."""
    found: dict[int, Any] = {}
    for kind in corpus_server.KINDS:
        names = corpus_server.names(kind)
        mine = {number: call for number, call in calls.items() if call.tool in names}
        numbered = [((number, call.tool, call.body), call.raw) for number, call in mine.items()]
        together = [each for each, raw in numbered if not raw]
        alone = [each for each, raw in numbered if raw]
        command = [sys.executable, corpus_server.__file__, kind, through, transport]
        if transport == "http":
            found |= frames.over_http(command, era, together, alone)
        else:
            found |= over_stdio(command, era, together, alone)
    return found


def over_stdio(command: list[str], era: str, together: list[Any], alone: list[Any]) -> Any:
    with frames.running(command) as process:
        server = frames.Stdio(process, era)
        server.call_together(together)
        for call in alone:
            server.call_alone(*call)
        # The SDK does not answer a line with half of a surrogate pair. At the end of its input, the
        # proxy would wait for these answers.
        process.terminate()
        server.finish()
        return server.replies


def outcome(reply: Any) -> Any:
    if reply is None or "error" in reply:
        return {"outcome": "error"}
    return wire_tools.outcome(reply["result"])


def differences(found: dict[int, Any], calls: dict[int, Any]) -> dict[str, Any]:
    """The calls whose tool ran with other values than from the registry, by id."""
    different: dict[str, Any] = {}
    for number, call in calls.items():
        got = outcome(found.get(number))
        expected = wire_depths.plain_dates(call.expected).get("received")
        if "received" in got and plain(got["received"]) != plain(expected):
            different[call.id] = got
    return different


def plain(value: Any) -> str:
    """A value in which 1.0 and 1 are the same: a correct call arrives as it was written."""

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items()}
        if isinstance(value, list):
            return [whole(each) for each in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return wire_outcomes.exactly(whole(value))


def sample() -> dict[int, Any]:
    """Each thirtieth call, and all that need a reason."""
    reasons = {*RECORDED, *READ_BY_THE_SERVER}
    every = corpus().items()
    return {number: call for number, call in every if number % 30 == 0 or call.id in reasons}


def check(transport: str, era: str, calls: dict[int, Any]) -> None:
    found = replies(transport, era, calls)
    different = differences(found, calls)
    assert different.keys() == {*RECORDED, *READ_BY_THE_SERVER}
    assert all(different[each]["repairs"] for each in RECORDED)
    # Every call must have its answer, so that no difference is overlooked.
    assert found.keys() >= calls.keys()
    ran = [each for each in found.values() if "received" in outcome(each)]
    assert len(ran) > len(calls) // 5


@pytest.mark.parametrize(("transport", "era"), [RUNS[0], RUNS[3]], ids=[IDS[0], IDS[3]])
def test_a_sample_of_the_corpus_loses_nothing_in_silence_behind_the_proxy(transport: str, era: str):
    check(transport, era, sample())


@pytest.mark.parametrize(("transport", "era"), RUNS, ids=IDS)
def test_the_whole_corpus_loses_nothing_in_silence_behind_the_proxy(transport: str, era: str):
    check(transport, era, corpus())


def test_the_server_reads_these_calls_in_the_same_way_without_the_proxy():
    # The JSON text of all arguments is left out. Without the proxy, the server refuses it.
    reasons = READ_BY_THE_SERVER.keys() - {"types/exact/decimal-inside-json-text-of-all"}
    calls = {number: call for number, call in corpus().items() if call.id in reasons}
    direct = replies("http", "2026-07-28", calls, "direct")
    proxied = replies("http", "2026-07-28", calls)
    assert differences(proxied, calls) == differences(direct, calls)
    assert differences(direct, calls).keys() == reasons


def test_without_the_proxy_the_same_server_loses_values():
    calls = sample()
    direct = differences(replies("http", "2026-07-28", calls, "direct"), calls)
    assert len(direct) > 20
