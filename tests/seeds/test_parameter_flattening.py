"""The code and the calls of the parameter-flattening decision
(docs/project/evidence/parameter-flattening.md): on our registry, on both protected hosts, and with
the decorator alone on both unprotected hosts.

The forty cases of such a decorator are in `tests/test_flattening.py`.
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import fastmcp
import mcp.server.mcpserver
import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

import toolbooth
from document_servers import EVERY_HOST, HOSTS, listed, passed, refused, serve
from toolbooth import ToolInputError, Unpack, unpack_pydantic_params
from toolbooth.testing import call_over_wire

CONTEXTS = {
    "registry": toolbooth.Context,
    "fastmcp": fastmcp.Context,
    "mcp_sdk": mcp.server.mcpserver.Context,
}
"""The class of `context` on each host."""


class SearchProductsRequest(BaseModel):
    search_query: str = Field(..., description="Search query")
    limit: int = Field(10, description="Max results")


class Product(BaseModel):
    code: str
    name: str


class SearchProductsResponse(BaseModel):
    products: list[Product]
    total_count: int


CATALOGUE = [Product(code=f"W-{number}", name=f"widget {number}") for number in range(12)]
FLAT = {"search_query": "widget", "limit": 2}
FOUND = {
    "products": [{"code": "W-0", "name": "widget 0"}, {"code": "W-1", "name": "widget 1"}],
    "total_count": 12,
}
PUBLISHED = {
    "type": "object",
    "properties": {
        "search_query": {"type": "string", "description": "Search query"},
        "limit": {"type": "integer", "description": "Max results", "default": 10},
    },
    "required": ["search_query"],
}

Seen = list[tuple[Any, Any]]


def make_tool(host: str, seen: Seen) -> Callable[..., Any]:
    """The tool of the decision, for the `Context` of a host. `seen` gets the values that reach the
    tool.
    """
    context_class = CONTEXTS[host]

    @unpack_pydantic_params
    async def search_products(
        request: Annotated[SearchProductsRequest, Unpack()],
        context: context_class,
    ) -> SearchProductsResponse:
        """Search products."""
        seen.append((request, context))
        found = [each for each in CATALOGUE if request.search_query in each.name]
        return SearchProductsResponse(products=found[: request.limit], total_count=len(found))

    return search_products


def protected(host: str, seen: Seen) -> Any:
    return serve(host, make_tool(host, seen))


def plain(host: str, seen: Seen) -> Any:
    """A server of the host without protection: the decorator alone."""
    if host == "fastmcp":
        server = FastMCP("plain")
        server.tool(make_tool(host, seen))
        return server
    sdk = MCPServer("plain", log_level="CRITICAL")
    sdk.add_tool(make_tool(host, seen))
    return sdk


EVERY_SERVER = pytest.mark.parametrize(
    ("make", "host"),
    [*((protected, host) for host in HOSTS), (plain, "fastmcp"), (plain, "mcp_sdk")],
    ids=[*HOSTS, "plain-fastmcp", "plain-mcp_sdk"],
)


CLOSED = "additionalProperties"


def without_titles(schema: Any) -> Any:
    """The plain hosts add titles and `additionalProperties` to the schema."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in ("title", CLOSED)}
    return {key: without_titles(value) for key, value in kept.items()}


@EVERY_SERVER
def test_the_fields_are_published_flat_with_descriptions_and_defaults(make, host):
    tool = listed(make(host, []))["search_products"]
    assert without_titles(tool["inputSchema"]) == PUBLISHED
    assert list(tool["outputSchema"]["properties"]) == ["products", "total_count"]


@EVERY_SERVER
def test_a_flat_call_reaches_the_tool_as_a_validated_model_with_the_context(make, host):
    seen: Seen = []
    result = call_over_wire(make(host, seen), "search_products", FLAT)
    assert passed(result) == (FOUND, [])
    [(request, context)] = seen
    assert type(request) is SearchProductsRequest
    assert request == SearchProductsRequest(**FLAT)
    assert isinstance(context, CONTEXTS[host])


@EVERY_SERVER
def test_a_field_that_is_not_sent_has_the_default_of_the_model(make, host):
    seen: Seen = []
    result = call_over_wire(make(host, seen), "search_products", {"search_query": "widget"})
    assert len(passed(result)[0]["products"]) == 10
    [(request, _)] = seen
    assert (request.limit, request.model_fields_set) == (10, {"search_query"})


@EVERY_HOST
def test_the_nested_call_that_clients_had_to_make_is_refused_with_the_flat_one(host):
    seen: Seen = []
    server = protected(host, seen)
    for request in (FLAT, json.dumps(FLAT)):
        result = call_over_wire(server, "search_products", {"request": request})
        assert refused(result) == ([("nested-wrapper", "$.request")], FLAT)
    assert seen == []
    assert passed(call_over_wire(server, "search_products", result.corrected)) == (FOUND, [])


@EVERY_HOST
def test_a_value_that_the_model_does_not_accept_is_refused(host):
    seen: Seen = []
    wrong = {"search_query": "widget", "limit": "many"}
    result = call_over_wire(protected(host, seen), "search_products", wrong)
    assert refused(result) == ([("wrong-type", "$.limit")], None)
    assert seen == []


# --- called from Python ---


def test_a_direct_call_accepts_flat_keywords_and_the_context():
    seen: Seen = []
    context = toolbooth.Context(client="me")
    call = make_tool("registry", seen)(search_query="widget", limit=10, context=context)
    response = asyncio.run(call)
    assert type(response) is SearchProductsResponse
    assert seen == [(SearchProductsRequest(search_query="widget", limit=10), context)]


def test_a_direct_call_is_validated_like_the_model():
    search_products = make_tool("registry", [])
    with pytest.raises(ToolInputError) as raised:
        asyncio.run(search_products(search_query="widget", limit="many"))
    assert [each.where for each in raised.value.problems] == ["$.limit"]


def test_the_signature_has_the_fields_as_keyword_only_parameters():
    signature = inspect.signature(make_tool("registry", []))
    keyword_only = [
        name
        for name, each in signature.parameters.items()
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    assert keyword_only[:2] == ["search_query", "limit"]
    assert "request" not in signature.parameters


def test_the_marker_works_without_parentheses_too():
    async def search(request: Annotated[SearchProductsRequest, Unpack]) -> dict[str, Any]:
        return request.model_dump()

    result = call_over_wire(serve("registry", search), "search", FLAT)
    assert passed(result) == (FLAT, [])


def test_a_traceback_shows_the_function_of_the_author():
    @unpack_pydantic_params
    def broken_search(request: Annotated[SearchProductsRequest, Unpack()]) -> str:
        raise KeyError(request.search_query)

    with pytest.raises(KeyError) as raised:
        broken_search(search_query="widget")
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert (frames[-1].name, frames[-1].filename) == ("broken_search", __file__)
    assert broken_search.__name__ == "broken_search"
