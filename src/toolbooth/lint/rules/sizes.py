"""Rules about sizes: the number of tools, tokens, levels and values."""

from __future__ import annotations

from collections.abc import Iterator

from toolbooth.lint.listing import Listing, Tool
from toolbooth.lint.rule import Fault, fault, server_rule, tool_rule
from toolbooth.lint.schemas import as_list


@server_rule
def many_tools(listing: Listing) -> Iterator[Fault]:
    """The server has more tools than a client passes on to the model, or more than models can
    distinguish.

    Split the server, let users choose groups of tools, or put related actions behind one
    dispatcher.
    """
    count = len(listing.tools)
    # Yielded for every server: a claim has the most that its client takes, and `Claim.concerns`
    # drops the finding for clients with a greater bound. The rules below work in the same way.
    yield Fault(message=f"{count:,} tools", value=count)


@server_rule
def large_listing(listing: Listing) -> Iterator[Fault]:
    """The tools together take much of the context before the first question.

    Shorten descriptions, drop titles and rarely used parameters, split the server. Tokens are
    counted as bytes ÷ 4.
    """
    yield Fault(message=f"about {listing.tokens:,} tokens in all (bytes ÷ 4)", value=listing.tokens)


@tool_rule()
def large_tool(tool: Tool) -> Iterator[Fault]:
    """One tool takes much of the context.

    Look for a model that is written out many times, and for long descriptions. Tokens are counted
    as bytes ÷ 4.
    """
    yield Fault(message=f"about {tool.tokens:,} tokens (bytes ÷ 4)", value=tool.tokens)


@tool_rule()
def deep_schema(tool: Tool) -> Iterator[Fault]:
    """The schema has more levels than a client accepts.

    Flatten it. For deep values, accept JSON text and show an example.
    """
    deepest = max(tool.nodes, key=lambda node: node.depth)
    yield fault(deepest, f"{deepest.depth} levels deep", deepest.depth)


@tool_rule()
def many_properties(tool: Tool) -> Iterator[Fault]:
    """The schema has more properties than a client accepts.

    Split the tool.
    """
    count = sum(node.role == "property" for node in tool.nodes)
    yield Fault(message=f"{count:,} properties", value=count)


@tool_rule()
def many_values(tool: Tool) -> Iterator[Fault]:
    """The enums of a tool list more values than a client accepts.

    Accept text, describe the values in the description, and offer a tool that looks them up.
    """
    count = sum(len(as_list(node.keywords.get("enum"))) for node in tool.nodes)
    yield Fault(message=f"{count:,} enum values", value=count)
