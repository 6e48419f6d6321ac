"""`toolbooth call`: one call of a tool, as an agent would make it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command, short_errors
from toolbooth.cli.mistakes import DONE, REFUSED, Mistake
from toolbooth.cli.target import Target, ask, load_server, open_target, takes_target
from toolbooth.cli.terminal import paint


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@takes_target()
@click.argument("tool", metavar="TOOL")
@click.argument("arguments", metavar="[ARGUMENTS]", nargs=-1)
@click.option("--meta", is_flag=True, help=messages.CALL_META)
@click.option("--json", "as_json", is_flag=True, help=messages.CALL_JSON)
def call(target: Target, tool: str, arguments: tuple[str, ...], meta: bool, as_json: bool) -> int:
    """Call TOOL with ARGUMENTS (a JSON object; - reads standard input) and print what the agent
    would read.

    \b
    Examples:
      toolbooth call server.py:mcp add '{"a": 1, "b": 2}'
      toolbooth call https://example.org/mcp search '{"query": "tea"}' --token TOKEN
      toolbooth call search '{"query": "tea"}' -- npx -y @example/server
    """
    if target.kind == "object" and ":" not in target.text:
        load_server(target)  # raises Mistake, before a mistake in the other words is reported
    # Any number of words is accepted here, because click's own error for a second word would not
    # explain the cause.
    if len(arguments) > 1:
        raise Mistake(messages.too_many_words(arguments))
    body = arguments_given("".join(arguments) or "{}", is_sent_on=target.kind != "object")
    result = _result(target, tool, body)
    if as_json:
        click.echo(_pretty(result))
    else:
        _show(result)
        if meta and "_meta" in result:
            click.echo(_pretty(result["_meta"]))
    return REFUSED if result.get("isError") or "error" in result else DONE


def arguments_given(arguments: str, *, is_sent_on: bool = False) -> bytes:
    """Return the JSON text of ARGUMENTS. For `-`, this is the text of standard input.

    Only malformed JSON is refused here. The tool answers all other faults, as it would answer an
    agent. With `is_sent_on`, the official client sends the call, so JSON that this client cannot
    write is refused too.

    Raises:
        Mistake: ARGUMENTS cannot be sent.
    """
    # In this folder, such modules are imported inside functions: `toolbooth --help` and the
    # completion of a shell must not wait for Pydantic.
    from toolbooth.boundary.read import Unreadable, read_json
    from toolbooth.contract import DEFAULT_LIMITS

    body = payload(arguments)
    if arguments == "-" and not body.strip():
        raise Mistake(messages.NO_INPUT)
    try:
        read_json(body, DEFAULT_LIMITS)
    except Unreadable as error:
        if error.problem.code == "not-json":
            if (file := arguments.removeprefix("@")) and _is_file(file):
                raise Mistake(messages.arguments_are_file(file)) from None
            raise Mistake(_not_json(body, error.problem.message)) from None
        if is_sent_on:
            raise Mistake(messages.arguments_not_sent(error.problem.message)) from None
    return body


def payload(arguments: str) -> bytes:
    """Return the bytes of ARGUMENTS. For `-`, return the bytes of standard input."""
    return sys.stdin.buffer.read() if arguments == "-" else arguments.encode()


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    # The text is too long for a file name, or contains a null character.
    except (OSError, ValueError):
        return False


def _not_json(body: bytes, reason: str) -> str:
    import json

    try:
        # Parsed a second time, because this parser reports the line and the column of the fault.
        json.loads(body)
    except json.JSONDecodeError as error:
        return messages.arguments_not_json(error.msg, error.lineno, error.colno)
    # Bytes that are not UTF-8, or that are nested too deep, have no useful place for the error.
    # This parser accepts `NaN`, although it is not JSON.
    except (ValueError, RecursionError):
        pass
    return messages.arguments_not_sent(reason)


def _result(target: Target, tool: str, body: bytes) -> dict[str, Any]:
    """Return the tool result, or `{"error": ...}`. Raise Mistake if no tool has this name."""
    if target.kind == "object":
        server = load_server(target)
        found = _registry_result(server, tool, body)
        if found is not None:
            return found

    async def question() -> tuple[dict[str, Any], list[str]]:
        async with open_target(target) as there:
            result = await there.call(tool, body)
            failed = "error" in result or result.get("isError", False)
            # Servers answer a call of an unknown tool in different ways, some with the error result
            # of a tool. Only the listing shows if the tool exists.
            listed = await there.tools() if failed else []
            return result, [each.get("name", "") for each in listed]

    result, known = ask(target, question, messages.calling(tool, target.name))
    if known and tool not in known:
        raise Mistake(messages.no_tool(tool, known))
    return result


def _registry_result(server: Any, tool: str, body: bytes) -> dict[str, Any] | None:
    """Return the result if the server is a ToolRegistry, which can be called without an event loop.
    Return None for any other server.
    """
    from toolbooth.cli.target import own_stdout
    from toolbooth.errors import ToolInputError
    from toolbooth.server.listed_tools import UnknownTool
    from toolbooth.server.registry import ToolRegistry

    if not isinstance(server, ToolRegistry):
        return None
    try:
        with own_stdout(), short_errors():
            return server.call_bytes(tool, body)
    except UnknownTool:
        raise Mistake(messages.no_tool(tool, [*server.tools, *server.hidden])) from None
    except ToolInputError as error:  # a registry that answers by protocol
        return {"error": {"code": -32602, "message": str(error)}}


def _show(result: dict[str, Any]) -> None:
    """Print the text that the model reads."""
    if "error" in result:
        click.echo(paint(result["error"]["message"], "error"))
        return
    lines = [line for part in result.get("content", ()) for line in _text(part).split("\n")]
    # Servers repeat the structured content as text, so it is printed only if there is no text.
    if not lines and "structuredContent" in result:
        lines = [_pretty(result["structuredContent"])]
    if result.get("isError") and lines:
        lines[0] = paint(lines[0], "error")
    click.echo("\n".join(lines or [messages.NO_CONTENT]))


def _text(part: dict[str, Any]) -> str:
    if "text" in part:
        return part["text"]
    # An embedded resource has its text one level deeper: `{"type": "resource", "resource": {"text":
    # ...}}`.
    inner = part.get("resource", part)
    if "text" in inner:
        return inner["text"]
    words = (part.get("type"), inner.get("mimeType"), inner.get("uri"))
    return f"[{' '.join(word for word in words if word)}]"


def _pretty(value: Any) -> str:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
