"""`toolbooth lint --format sarif`: one run of SARIF 2.1.0, as code scanning reads it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from toolbooth.lint.check import lint
from toolbooth.lint.sarif import as_sarif

TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))
LEVELS = {"none", "note", "warning", "error"}

TOOLS: list[dict[str, Any]] = [
    {
        "name": "search",
        "description": "Find products.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "description": 'e.g. ["tea"]'},
                "from": {"type": ["string", "null"], "description": "a | b"},
                "limit": {"type": "integer", "maximum": 50, "description": "How many"},
            },
        },
    }
]


def linted(folder: Path, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [TOOLBOOTH, "lint", *words, "--format", "sarif"]
    return subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True)


def test_a_finding_is_a_result_with_its_rule_level_and_place():
    report = lint(TOOLS, only=["vscode"])
    log = as_sarif(report, version="1.2.3", least="warning", uri="tools.json")
    assert log == snapshot(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "toolbooth lint",
                            "version": "1.2.3",
                            "rules": [
                                {
                                    "id": "array-without-items",
                                    "shortDescription": {
                                        "text": "An array does not declare its items."
                                    },
                                    "fullDescription": {"text": "Give it `items`, with a type."},
                                    "help": {
                                        "text": """\
array-without-items (error)

An array does not declare its items.
Give it `items`, with a type.
--fix publishes the portable form of the schema.

- Refused by OpenAI API, OpenAI strict mode: streamnative/streamnative-mcp-server#26 (2025-05-13), langgenius/dify#32894 (2026-03-03)
- Refused by Gemini API, Vertex AI: ogx-ai/ogx#3004 (2025-08-01)
- Refused by VS Code Copilot: microsoft/vscode#246119 (2025-04-08), microsoft/vscode#325618 (2026-07-13)\
"""
                                    },
                                    "defaultConfiguration": {"level": "error"},
                                }
                            ],
                        }
                    },
                    "results": [
                        {
                            "ruleId": "array-without-items",
                            "ruleIndex": 0,
                            "level": "error",
                            "message": {
                                "text": "search $.tags: an array without items; refused by VS Code Copilot"
                            },
                            "locations": [
                                {
                                    "logicalLocations": [
                                        {
                                            "name": "$.tags",
                                            "fullyQualifiedName": "search/$.tags",
                                            "kind": "parameter",
                                        }
                                    ],
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "tools.json"},
                                        "region": {"startLine": 1},
                                    },
                                }
                            ],
                            "partialFingerprints": {
                                "primaryLocationLineHash": "4273d447cd83239d0df524a8b5a31793"
                            },
                        }
                    ],
                }
            ],
        }
    )


def test_notes_are_results_only_on_request():
    report = lint(TOOLS, only=["vscode"])
    with_notes = as_sarif(report, version="1", least="note")["runs"][0]
    assert [each["level"] for each in with_notes["results"]] == ["error", "note"]
    without = as_sarif(report, version="1", least="warning")["runs"][0]
    assert [each["level"] for each in without["results"]] == ["error"]
    assert [rule["id"] for rule in without["tool"]["driver"]["rules"]] == ["array-without-items"]


def test_a_finding_of_a_whole_server_has_a_place_too():
    tools = [{"name": "t", "inputSchema": {"type": "object", "properties": {}}}] * 2
    [duplicate] = [
        each
        for each in as_sarif(lint(tools), version="1", least="note")["runs"][0]["results"]
        if each["ruleId"] == "duplicate-tool"
    ]
    assert duplicate["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "t/$"


def test_every_result_of_the_bad_server_has_the_required_sarif_fields():
    folder = Path(__file__).resolve().parents[2] / "examples" / "bad_server"
    done = linted(folder, "tools.json", "--notes")
    assert (done.returncode, done.stderr) == (1, "")
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "toolbooth lint"
    assert {rule["defaultConfiguration"]["level"] for rule in rules} <= LEVELS
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in LEVELS
        assert result["message"]["text"]
        [location] = result["locations"]
        assert location["physicalLocation"]["artifactLocation"] == {"uri": "tools.json"}
        assert location["logicalLocations"][0]["name"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    # The two tools of one name have the same findings.
    assert len(set(prints)) >= len(prints) - 5


@pytest.mark.parametrize(
    ("name", "uri"), [("tools.json", "tools.json"), ("my tools.json", "my%20tools.json")]
)
def test_the_place_of_a_saved_listing_is_its_file(name: str, uri: str, tmp_path: Path):
    (tmp_path / name).write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    [first, *_] = json.loads(linted(tmp_path, name).stdout)["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": 1},
    }


def test_the_place_of_a_server_in_a_module_is_its_file(tmp_path: Path):
    (tmp_path / "shop.py").write_text(
        "from toolbooth import ToolRegistry\n"
        "registry = ToolRegistry('shop')\n"
        "@registry.tool\n"
        "def show(tags: list[str]) -> str:\n"
        "    return tags[0]\n"
    )
    [first, *_] = json.loads(linted(tmp_path, "shop.py:registry").stdout)["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "shop.py"}


def test_standard_input_has_no_file(tmp_path: Path):
    done = linted(tmp_path, "-", given=json.dumps(TOOLS))
    [first, *_] = json.loads(done.stdout)["runs"][0]["results"]
    assert "physicalLocation" not in first["locations"][0]


def test_a_good_server_is_a_run_without_results(tmp_path: Path):
    good = {**TOOLS[0], "inputSchema": {"type": "object", "properties": {}}}
    done = linted(tmp_path, "-", given=json.dumps([good]))
    assert (done.returncode, done.stderr) == (0, "")
    run = json.loads(done.stdout)["runs"][0]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
