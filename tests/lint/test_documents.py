"""The page of the rules is up to date with the rules and the evidence, and the evidence is sound."""

import importlib.util
import re
from datetime import date
from pathlib import Path

import pytest

from toolbooth.lint.catalogue import RULES
from toolbooth.lint.evidence import ANY, EFFECTS, claims_about, clients

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("lint_docs", ROOT / "scripts" / "lint_docs.py")
lint_docs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lint_docs)

CLAIMS = [claim for client in clients().values() for claim in client.claims]
PROFILES = {
    "anthropic",
    "claude-code",
    "openai",
    "openai-strict",
    "gemini",
    "vertex",
    "cursor",
    "vscode",
    "bedrock",
    "mistral",
    "llama-cpp",
    "langchain",
}


def test_the_page_of_the_rules_is_current():
    written = (ROOT / "docs" / "reference" / "lint-rules.md").read_text(encoding="utf-8")
    assert written == lint_docs.page(), "run python scripts/lint_docs.py --write"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_has_every_rule_with_every_source_and_its_date(rule):
    section = re.search(
        rf"^### {rule.id}\n(.*?)(?=^### |\Z)", lint_docs.page(), re.MULTILINE | re.DOTALL
    )[1]
    assert rule.title in section
    assert rule.remedy in section
    for claim in claims_about(rule.id):
        assert clients()[claim.client].title in section
        for source in claim.sources:
            assert source.where in section
            assert f"({source.on})" in section


def test_every_rule_has_a_title_and_a_remedy():
    assert [
        rule.id
        for rule in RULES.values()
        if not rule.title.endswith(".") or not rule.remedy.endswith(".")
    ] == []


def test_every_claim_is_about_a_rule_and_every_rule_has_one():
    assert {claim.rule for claim in CLAIMS} == RULES.keys()


def test_every_claim_has_a_source_and_no_source_is_from_the_future():
    assert [claim for claim in CLAIMS if not claim.sources or claim.effect not in EFFECTS] == []
    late = [
        source
        for claim in CLAIMS
        for source in claim.sources
        if not date(2024, 11, 1) <= source.on <= date.today()
    ]
    assert late == []


def test_every_bound_of_a_claim_is_sound():
    for claim in CLAIMS:
        assert sum(map(bool, (claim.values, claim.pattern, claim.most))) <= 1
        assert re.compile(claim.pattern)
        assert (claim.most is None and not claim.pattern) or claim.says


def test_every_client_has_a_distinct_code():
    codes = [client.code for client in clients().values() if client.id != ANY]
    assert all(re.fullmatch("[a-z]{3}", code) for code in codes)
    assert len(set(codes)) == len(codes)
    assert clients().keys() >= PROFILES
