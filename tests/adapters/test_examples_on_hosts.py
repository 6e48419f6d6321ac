"""Protected servers: authors are warned about parameters without an example, by the schema that the
host lists; `JsonText` publishes its choices there too.
"""

import asyncio
import warnings
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from pydantic import Field

from toolbooth import ContractWarning, JsonText, protect
from toolbooth.testing import call_over_wire


def file_ticket(
    tags: Annotated[list[str], 'Tags, e.g. ["security"]'],
    owners: list[str],
    labels: list[str],
    meta: Annotated[dict[str, str], Field(description='e.g. {"priority": "high"}')],
) -> str:
    """File a ticket.

    Args:
        owners: e.g. ["ann"]
    """
    return "filed"


def warned(server: Any) -> list[str]:
    """Return the parameters that are named when a server with one tool is protected."""
    server.tool()(file_ticket)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        protect(server)
    assert {each.category for each in caught} == {ContractWarning}
    assert {each.filename for each in caught} == {__file__}
    return [str(each.message).split("'")[1] for each in caught]


def test_examples_in_texts_and_docstrings_that_fastmcp_reads_count():
    assert warned(FastMCP("tickets")) == ["labels"]


def test_the_sdk_lists_only_the_descriptions_of_fields():
    assert warned(MCPServer("tickets")) == ["tags", "owners", "labels"]


@pytest.mark.parametrize("kind", [FastMCP, MCPServer])
def test_warning_about_a_later_tool_points_at_the_file_of_its_author(kind):
    server = protect(kind("tickets"))
    with pytest.warns(ContractWarning) as caught:
        server.tool()(file_ticket)
    assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize("kind", [FastMCP, MCPServer])
def test_json_text_publishes_its_choices_and_takes_both_forms(kind):
    server = kind("hosts")

    @server.tool()
    def search(status: Annotated[list[Literal["active", "inactive"]], JsonText()]) -> str:
        """Search."""
        return ",".join(status)

    protect(server)
    [listed] = asyncio.run(server.list_tools())
    schema = listed.parameters if kind is FastMCP else listed.input_schema
    said = 'Takes a JSON list of "active", "inactive", e.g. ["active"]'
    assert schema["properties"]["status"]["description"] == said
    for status in ('["active", "inactive"]', ["active", "inactive"]):
        result = call_over_wire(server, "search", {"status": status})
        assert (result.text, result.repairs) == ("active,inactive", ())
