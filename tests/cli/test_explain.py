"""`toolbooth explain`: the stages of a call, its verdict, the rules with their evidence."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from commands import SHOP, toolbooth
from toolbooth.boundary.repairs import RepairCode
from toolbooth.cli.rules.messages import RULES
from toolbooth.errors import ProblemCode
from toolbooth.testing.shapes.catalogue import CLIENT_KEYS, KINDS, WRAPPERS

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "schema.json").write_text(SCHEMA)
    return tmp_path


def test_a_refused_call_is_explained_stage_by_stage_and_nothing_is_called(shop: Path):
    call = ("shop.py:server", "order", '{"data": {"item": "tea"}, "count": "2"}')
    code, shown, error = toolbooth(shop, "explain", *call)
    assert (code, error) == (1, "")
    assert shown.splitlines() == [
        "read      39 bytes, one JSON object",
        "examine   2 findings",
        "          repaired  $.count (scalar-text)",
        '          refused  $.data: "data" is not a declared field and its value is a nested object. '
        'Likely cause: a REST-style wrapper. Send "item" at the top level, not inside "data" (nested-wrapper)',
        "validate  not reached",
        "run       not run: explain calls no tool",
        "verdict   refused",
        "",
        "scalar-text: A number or boolean in text is read as that value, if no text is declared.",
        "  seen in claude-code#56539 (2026-05-06)",
        "",
        "nested-wrapper: An undeclared key that holds an object is never unwrapped by itself: "
        "the agent sends the fields again, flat.",
        "  seen in nested-wrapper report (2026-11-15), pi-mcp-adapter#363 (2026-08-15)",
        "",
        'Send instead: {"count": 2, "item": "tea"}',
    ]
    assert not (shop / "orders.txt").exists()


@pytest.mark.parametrize("schema", ["schema.json", SCHEMA], ids=["file", "text"])
def test_a_payload_can_be_checked_against_a_schema(schema: str, shop: Path):
    code, shown, error = toolbooth(shop, "explain", '{"a": "1"}', "--schema", schema, "--json")
    found = json.loads(shown)
    assert (code, error, found["verdict"]) == (0, "", "repaired")
    assert found["repairs"] == [{"stage": "examine", "code": "scalar-text", "path": "$.a"}]


def test_bytes_that_are_not_json_are_refused_by_the_first_stage(shop: Path):
    code, shown, _ = toolbooth(shop, "explain", "-", "--schema", SCHEMA, "--json", sent='{"a": 1')
    found = json.loads(shown)
    assert (code, found["verdict"], found["stage"]) == (1, "refused", "read")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["shop.py:server"],
            "name the tool: toolbooth explain TARGET TOOL ARGUMENTS, or give a schema with --schema FILE",
        ),
        (["shop.py:server", "oder"], "there is no tool 'oder'; did you mean 'order'?"),
        (
            ["{}", "--schema", "none.json"],
            "--schema 'none.json' cannot be read: No such file or directory",
        ),
        (
            ["shop.py:server", "order", "--schema", SCHEMA],
            "with --schema, write only ARGUMENTS, without TARGET and TOOL",
        ),
    ],
    ids=["no-tool", "unknown-tool", "no-schema", "both"],
)
def test_a_mistake_is_reported_in_one_sentence(words: list[str], told: str, shop: Path):
    assert toolbooth(shop, "explain", *words) == (2, "", f"Error: {told}")


def test_every_code_has_a_rule():
    assert set(RULES) == {*get_args(RepairCode), *get_args(ProblemCode)}


def test_the_evidence_of_the_rules_equals_that_of_the_catalogue():
    kinds = {(kind.source, kind.date) for kind in KINDS.values()}
    others = {(source, date) for _, source, date in CLIENT_KEYS.values()}
    known = kinds | others | set(WRAPPERS.values())
    for rule in RULES.values():
        for seen in rule.seen:
            found = re.fullmatch(r"(.+) \((\d{4}-\d\d-\d\d)\)", seen)
            assert found is not None
            assert found.groups() in known
