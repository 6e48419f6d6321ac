"""examples/bad_server: the official client cannot even list its tools; the lint reports every
mistake in it.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import mcp
import pytest
from mcp import StdioServerParameters
from pydantic import ValidationError

from toolbooth.lint.catalogue import RULES

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bad_server"
SERVER = [sys.executable, str(EXAMPLE / "server.py")]

DEFINED = "$ ($defs CreateTicketRequest)"
LONG_NAME = "get_ticket_history_of_a_customer_by_department_and_period_in_detail"

EXPECTED = {
    "search_tickets": [
        "error root-combinator $",
        "error boolean-additional-properties $",
        "error output-dialect outputSchema",
        "note old-dialect $",
    ],
    "create_ticket": [
        "error reference $",
        "error reference $.request",
        f"error reference {DEFINED}.follow_ups[]",
        f"warning null-option {DEFINED}.customer",
        f"warning null-default {DEFINED}.customer",
        "warning wrapper-parameter $.request",
        "note recursion $.request",
        f"note recursion {DEFINED}.follow_ups[]",
        "note no-parameter-description $.request",
    ],
    "update.ticket": [
        "error untyped-enum $.state",
        "error type-list $.assignee",
        "error undeclared-required $",
        "error const $.state",
        "error tool-name $",
        'error parameter-name $["ticket-id"]',
        'error parameter-name $["$select"]',
        "warning union $.due",
    ],
    "list_tickets": [
        "error array-without-items $.tags",
        "error tuple-items $.between",
        "error complex-enum $.states",
        "error number-enum $.priority",
        "error exclusive-bound $.younger_than",
        "error boolean-bound $.older_than",
        "warning tuple-items $.near",
        "note unstated-constraint $.page_size",
        "note unstated-constraint $.page_size",
    ],
    "set_metadata": [
        "error untyped $.extra",
        "error boolean-schema $.raw",
        "error boolean-additional-properties $.settings",
        "error open-map $.labels",
        "error empty-object $.metadata",
        "error string-format $.callback",
        "warning opaque-parameter $.metadata",
        "warning json-for-simple-value $.host",
        "note no-parameter-description $.raw",
        "note no-example $.headers",
    ],
    "schedule_call": [
        "error untyped-enum $.channel",
        "error combinator $.language",
        "error empty-object $.hours",
        "error misplaced-keyword $.duration",
        "error uncommon-keyword $.hours",
        "warning mixed-object $.slot",
        "note combinator $.contact",
    ],
    LONG_NAME: [
        "error untyped $.self",
        "error tool-name $",
        "error reserved-parameter $.properties",
        "error long-tool-description $",
        "error output-not-object outputSchema",
        "warning reserved-parameter $.self",
        "warning reserved-parameter $.config",
        "warning reserved-parameter $.arguments",
        "warning leaked-parameter $.self",
        "warning opaque-parameter $.arguments",
        "note no-parameter-description $.self",
        "note no-parameter-description $.customer",
        "note large-tool $",
    ],
    "refresh": [
        "error root-untyped $",
        "error no-properties $",
        "error no-properties $",
        "error duplicate-tool $",
        "error no-tool-description $",
        "error no-tool-description $",
    ],
    "echo": ["error root-not-object $", "error no-properties $"],
    "export": [
        "error reference $.layout",
        "error reference $.template",
        "error external-reference $.layout",
        "error dangling-reference $.template",
        "error invalid-schema $.limit",
        "error header-parameter $.tenant",
        "warning long-parameter-description $.columns",
        "warning opaque-parameter $.columns",
    ],
    "filter": [
        "error deep-schema $.condition" + ".and" * 11,
        "warning wrapper-parameter $.condition",
    ],
}
"""Every finding, by tool."""

# A single server would have to be very large for these.
TOO_MANY = {"many-tools", "many-properties", "many-values", "large-listing"}


def linted(*target: str) -> dict[str, list[str]]:
    command = [
        Path(sys.executable).with_name("toolbooth"),
        "lint",
        "--format",
        "json",
        "--server",
        "helpdesk",
        *target,
    ]
    ended = subprocess.run(command, cwd=EXAMPLE, capture_output=True, text=True)
    assert ended.returncode == 1
    # A server that takes more than a second to start is mentioned, depending on the machine's load.
    assert ended.stderr in ("", f"Asking {' '.join(target[1:])} for its tools ...\n")
    found: dict[str, list[str]] = {}
    for each in json.loads(ended.stdout)["findings"]:
        found.setdefault(each["tool"], []).append(
            f"{each['severity']} {each['rule']} {each['path']}"
        )
    return found


@pytest.mark.parametrize("target", [["--", *SERVER], ["tools.json"]], ids=["running", "saved"])
def test_every_mistake_in_the_bad_server_is_found(target: list[str]):
    assert linted(*target) == EXPECTED


def test_bad_server_shows_every_rule_except_the_size_rules():
    shown = {each.split()[1] for findings in EXPECTED.values() for each in findings}
    assert RULES.keys() - shown == TOO_MANY


def test_its_readme_names_every_tool():
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXPECTED if f"`{name}`" not in readme] == []


def test_the_official_client_lists_none_of_its_tools():
    async def told() -> list[tuple[int | str, ...]]:
        async with mcp.Client(StdioServerParameters(command=SERVER[0], args=SERVER[1:])) as client:
            with pytest.raises(ValidationError) as raised:
                await client.list_tools()
            return [error["loc"] for error in raised.value.errors()]

    assert asyncio.run(told()) == [
        ("tools", 6, "outputSchema", "type"),
        ("tools", 7, "inputSchema", "type"),
        ("tools", 9, "inputSchema", "type"),
    ]
