"""The corpus of malformed calls: the fields of every line, and a check that our advice is never
wrong.
"""

import importlib
import json
import re
from collections.abc import Iterator
from datetime import date
from hashlib import sha256
from typing import Any, get_args, get_type_hints

import jsonschema_rs
import pytest

from toolbooth import compile_function, compile_json_schema, handle_bytes

malformed, play = map(importlib.import_module, ("malformed", "play"))

CASES = malformed.cases()
VERBATIM = [case for case in CASES if case.bytes_are == "verbatim"]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
EACH_KNOWN = pytest.mark.parametrize(
    "case", [case for case in CASES if case.right is not None], ids=lambda case: case.id
)


def test_the_corpus_has_enough_verbatim_calls():
    assert len(VERBATIM) >= 60
    assert len({case.id for case in CASES}) == len(CASES)


@EACH
def test_every_line_has_valid_fields(case: Any):
    for name, hint in get_type_hints(malformed.Case).items():
        choices = [each for each in get_args(hint) if isinstance(each, str)]
        assert not choices or getattr(case, name) in choices
    assert re.fullmatch(r"https://\S+", case.source)
    assert case.date is None or date.fromisoformat(case.date)
    assert case.client
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", case.mistake)
    assert set(case.tool) == {"name", "inputSchema"}
    assert case.right is not None or not case.reader_can_tell
    assert case.reader_can_tell or not case.derivable
    assert case.because
    jsonschema_rs.meta.validate(case.schema)


@EACH
def test_the_hash_is_that_of_the_excerpt_unless_something_was_replaced(case: Any):
    assert re.fullmatch(r"[0-9a-f]{64}", case.excerpt_sha256)
    if not case.replaced:
        assert case.excerpt_sha256 == sha256(case.excerpt.encode()).hexdigest()


@pytest.mark.parametrize("case", VERBATIM, ids=lambda case: case.id)
def test_excerpt_contains_the_sent_arguments(case: Any):
    if case.written_as == "json":
        assert case.sent in case.excerpt
    elif case.written_as == "escaped json":
        assert json.dumps(case.sent)[1:-1] in case.excerpt
    else:
        for leaf in leaves(json.loads(case.sent)):
            spellings = {str(leaf), json.dumps(leaf).strip('"'), repr(leaf).strip("'")}
            assert any(each in case.excerpt for each in spellings), leaf


def leaves(value: Any) -> Iterator[Any]:
    """Yield every key, and every value that is neither an object nor a list."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield value


@EACH_KNOWN
def test_the_right_call_is_valid_and_accepted_without_repair(case: Any):
    jsonschema_rs.validate(case.schema, case.right)
    body = json.dumps(case.right).encode()
    received: list[Any] = []
    tools = [
        compile_json_schema(case.schema, received.append, name="foreign"),
        compile_function(malformed.function_of(case)),
    ]
    for tool in tools:
        result = handle_bytes(tool, body)
        assert not result["isError"], result["content"][0]["text"]
        assert "_meta" not in result
    assert malformed.is_same(received[0], case.right)
    assert malformed.is_same(json.loads(result["content"][0]["text"]), case.right)


@EACH_KNOWN
def test_the_right_call_differs_from_the_call_sent(case: Any):
    if case.is_json:
        sent, right = (
            json.dumps(each, sort_keys=True) for each in (json.loads(case.sent), case.right)
        )
        assert sent != right


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 2.0}, {"a": 2}, True),
        ({"a": [{"b": None}]}, {"a": [{}]}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": []}, {}, False),
    ],
)
def test_values_are_compared_as_json(one: Any, other: Any, same: bool):
    assert malformed.is_same(one, other) is same


def test_advice_is_never_wrong_and_most_derivable_calls_succeed_in_the_end():
    played = play.play("registry")
    derivable = [each for each in played if each.case.derivable]
    assert sum(map(play.is_right_in_the_end, derivable)) >= 0.95 * len(derivable)
    found = {each.case.id: each.outcome for each in played}
    assert [name for name, outcome in found.items() if outcome == "misled"] == []
    assert found["fastmcp-693"] == "delivered"
    assert found["langchain-aws-524"] == "corrected"
    assert found["rowboat-383"] == "refused"
    assert found["claude-code-82652-number"] == "lost"


def test_page_lists_every_server():
    played = [play.Played(case, "refused", "") for case in CASES]
    text = play.page(dict.fromkeys(play.HOSTS, played))
    assert all(f"| {host} |" in text for host in play.HOSTS)
    assert f"{len(VERBATIM)} calls completely" in text
