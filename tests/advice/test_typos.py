"""A sample of the typos in the field names of real tools. `make long` tries all of them."""

import pytest
from typos import Calls, misspelt, outcomes, places, real_tools, slips, sources, with_typo

STEP = 40
SAMPLE = [
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
    "@playwright/mcp",
]


@pytest.mark.parametrize("source", SAMPLE)
def test_typos_are_corrected_and_never_sent_to_another_field(source: str):
    found = [(typo, became) for typo, became in outcomes(source, STEP)]
    assert [typo for typo, became in found if became == "to another field"] == []
    counted = [became for typo, became in found if typo.kind == "counted"]
    refused = [became for became in counted if became in ("corrected", "not corrected")]
    assert refused.count("corrected") >= 0.95 * len(refused)


def test_a_slip_changes_one_letter_or_swaps_two_neighbours():
    assert slips("ab") >= {"ba", "b", "a", "aab", "abb", "sb", "av"}
    assert "ab" not in slips("ab")
    assert slips("aa") >= {"a", "aaa"}
    assert {name for name, _, _ in misspelt("dryRun")} >= {"drRun", "dryRnu", "dryTun", "drryRun"}


def test_every_field_is_reached_at_every_depth():
    schema = {
        "type": "object",
        "$defs": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "properties": {
            "title": {"type": "string"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
            "parent": {"anyOf": [{"$ref": "#/$defs/line"}, {"type": "null"}]},
        },
        "required": ["title"],
    }
    assert dict(places(schema, schema)).keys() == {
        ("title",),
        ("lines",),
        ("lines", 0, "sku"),
        ("parent",),
        ("parent", "sku"),
    }
    call = {"title": "a", "lines": [{"sku": "b"}]}
    assert with_typo(call, ("lines", 0, "sku"), "skuu") == {"title": "a", "lines": [{"skuu": "b"}]}


def test_almost_every_field_has_a_valid_call():
    calls = [Calls(tool) for tool in real_tools() if tool.source in SAMPLE]
    fields = sum(len(each.right) for each in calls)
    assert set(SAMPLE) <= set(sources())
    assert sum(each.without_example for each in calls) < 0.02 * fields
