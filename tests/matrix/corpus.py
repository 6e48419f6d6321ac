"""The shape corpus as calls of tools on a server: the arguments, and the required outcome.

One tool for each contract of the corpus, in three kinds: a function, a model's fields, a JSON
Schema. Every tool returns the values it received, as text. `python corpus.py HOST (stdio|http)`
serves them; over HTTP it prints its port.
"""

import asyncio
import importlib
import inspect
import json
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import update_wrapper
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import ToolResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SdkTool

from toolbooth import Unpack, compile_function, compile_json_schema, compile_model
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.server import asgi, stdio
from toolbooth.server.registry import ToolRegistry

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent)
)  # the corpus itself is in modules there
wire_contracts, wire_depths, wire_hostile, wire_outcomes = (
    importlib.import_module(f"wire_{each}")
    for each in ("contracts", "depths", "hostile", "outcomes")
)

HOSTS = ("registry", "fastmcp", "mcp_sdk")


# --- calls -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the bytes of `arguments` and its outcome in the words of the corpus."""

    id: str
    tool: str
    body: bytes
    expected: dict[str, Any]
    raw: bool
    """Written as text, because the bytes matter."""


PARSE_ERROR = {"error": -32700}
DEEP = (250, 500, 900)


def calls() -> list[Call]:
    """Return all calls. If even a forgiving reader cannot find a call in a frame, no server can
    answer for the tool.
    """
    every = [*_everywhere(), *_singles(), *_hostile()]
    return [call if _is_call(call.body) else replace(call, expected=PARSE_ERROR) for call in every]


def _is_call(body: bytes) -> bool:
    try:
        json.loads(
            b'{"arguments":%s}' % (body or b"{}").decode(errors="replace").encode(), parse_int=len
        )
    except (ValueError, RecursionError):
        return False
    return True


def _everywhere() -> Iterator[Call]:
    for case in wire_depths.everywhere():
        fragment = case["text"] if "text" in case else json.dumps(case["fragment"])
        for depth in case.get("at", wire_depths.DEPTHS):
            if depth in case.get("not_at", ()):
                continue
            body = (wire_depths.DEPTHS[depth][0] % fragment).encode()
            for source in wire_depths.SOURCES:
                expected = wire_depths.expected(case, source, depth)
                yield Call(
                    f"{case['id']}@{source}.{depth}",
                    f"{source}.{depth}",
                    body,
                    expected,
                    "text" in case,
                )


def _singles() -> Iterator[Call]:
    for case in wire_contracts.single_cases():
        if case["outcome"] == "refused":
            told = {"problems": sorted(case["problems"]), "corrected": case["corrected"]}
        else:
            told = {
                "received": case.get("received", case.get("arguments")),
                "repairs": case.get("repairs", []),
            }
        expected = {"outcome": case["outcome"], **told}
        name = f"{case['file']}/{case['contract']}/{case['id']}"
        yield Call(
            name, case["contract"], wire_contracts.body_of(case), expected, "arguments" not in case
        )


def _hostile() -> Iterator[Call]:
    for name, (text, problems) in wire_hostile.HOSTILE.items():
        expected = {"outcome": "refused", "problems": problems, "corrected": None}
        if (
            len(text) < 4_000_000
        ):  # longer ones depend on the transport: tests/adapters/test_original_request.py
            yield Call(f"hostile/{name}", "chained", text.encode(), expected, True)
    for depth in DEEP:
        expected = {"outcome": "refused", "problems": [["too-deep", "$"]], "corrected": None}
        body = b'{"value": %s1%s}' % (b"[" * depth, b"]" * depth)
        yield Call(f"hostile/{depth} arrays deep", "anything", body, expected, True)


def outcome(result: dict[str, Any]) -> dict[str, Any]:
    """Return a tool result in the words of the corpus."""
    meta = result.get("_meta", {}).get("toolbooth", {})
    text = result["content"][0]["text"]
    if "problems" in meta:
        problems = sorted([each["code"], each["path"]] for each in meta["problems"])
        return {"outcome": "refused", "problems": problems, "corrected": meta.get("corrected")}
    if result.get("isError"):
        return {"outcome": "failed", "text": text}
    repairs = [[each["code"], each["path"]] for each in meta.get("repairs", [])]
    return {
        "outcome": "repaired" if repairs else "passed",
        "received": json.loads(text),
        "repairs": repairs,
    }


# --- tools -----------------------------------------------------------------------------------------------------


def answer(received: Any) -> str:
    """Return a tool's description of the values it was called with; a date as the text that a JSON
    Schema's is.
    """
    return json.dumps(wire_depths.plain_dates(wire_outcomes.dump(received)))


async def _answer(received: Any) -> str:
    return answer(received)


def functions() -> dict[str, Callable[..., Any]]:
    made = {each.__name__: each for each in (*wire_contracts.FUNCTIONS, wire_hostile.chained)}
    for depth, model in zip(wire_depths.DEPTHS, wire_depths.MODELS, strict=True):
        made[f"signature.{depth}"] = wire_depths.signature_of(model)
        made[f"unpack.{depth}"] = wire_depths.unpacking(model)
    return {name: _answering(function) for name, function in made.items()}


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    async def tool(**received: Any) -> str:
        return answer(received)

    made: Any = update_wrapper(tool, function)
    made.__annotations__ = {**function.__annotations__, "return": str}
    made.__signature__ = inspect.signature(function).replace(return_annotation=str)
    return made


def models() -> dict[str, Any]:
    sources = {
        "model": wire_depths.MODELS,
        "dataclass": wire_depths.CLASSES,
        "typed-dict": wire_depths.DICTS,
    }
    made = {
        f"{source}.{depth}": each
        for source, types in sources.items()
        for depth, each in zip(wire_depths.DEPTHS, types, strict=True)
    }
    return {
        **made,
        **{
            name: getattr(wire_contracts, name)
            for name in wire_contracts.CONTRACTS
            if name[0].isupper()
        },
    }


def _taking(model: Any) -> Callable[..., Any]:
    async def tool(request: Annotated[model, Unpack()]) -> str:
        return answer(request)

    return tool


def schemas() -> dict[str, Any]:
    made = {
        f"json-schema.{depth}": each
        for depth, each in zip(wire_depths.DEPTHS, wire_depths.SCHEMAS, strict=True)
    }
    named = {
        "foreign_key": "FOREIGN_KEY",
        "open_schema": "OPEN_SCHEMA",
        "open_integers": "OPEN_INTEGERS",
    }
    named |= {"combined": "COMBINED", "referred": "REFERRED"}
    made |= {name: getattr(wire_contracts, constant) for name, constant in named.items()}
    number = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    return {
        **made,
        "nullable_schema": wire_depths.holding("n", number),
        "bare_schema": {"type": "object"},
    }


# --- servers ---------------------------------------------------------------------------------------------------


class FastMCPForeign(FastMCPTool):
    """A tool that FastMCP knows by its schema alone, like a proxied one."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(answer(arguments))


class SdkForeign(SdkTool):
    """The same for the SDK."""

    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        return (
            self.fn_metadata.convert_result(answer(arguments))
            if convert_result
            else answer(arguments)
        )


def registry() -> ToolRegistry:
    made = ToolRegistry("corpus")
    for name, function in functions().items():
        made.add(compile_function(function, name=name))
    for name, model in models().items():
        made.add(compile_model(model, name=name), _answer)
    for name, schema in schemas().items():
        made.add(compile_json_schema(schema, name=name), _answer)
    return made


def on_fastmcp() -> FastMCP:
    made = fastmcp.protect(FastMCP("corpus", mask_error_details=True))
    for name, function in functions().items():
        made.tool(function, name=name)
    for name, model in models().items():
        made.tool(_taking(model), name=name)
    for name, schema in schemas().items():
        made.add_tool(FastMCPForeign(name=name, parameters=schema))
    return made


def on_mcp_sdk() -> MCPServer:
    stub = SdkTool.from_function(lambda: "", name="stub")
    same = {name: getattr(stub, name) for name in SdkTool.model_fields}
    foreign = [
        SdkForeign(**{**same, "name": name, "parameters": each}) for name, each in schemas().items()
    ]
    made = mcp_sdk.protect(MCPServer("corpus", tools=foreign, log_level="CRITICAL"))
    for name, function in functions().items():
        made.add_tool(function, name=name)
    for name, model in models().items():
        made.add_tool(_taking(model), name=name)
    return made


MAKERS: dict[str, Callable[[], Any]] = {
    "registry": registry,
    "fastmcp": on_fastmcp,
    "mcp_sdk": on_mcp_sdk,
}


def app_of(host: str) -> Any:
    server = MAKERS[host]()
    if host == "registry":
        return asgi.app(server)
    return (
        server.http_app(json_response=True)
        if host == "fastmcp"
        else server.streamable_http_app(json_response=True)
    )


def serve(host: str, transport: str) -> None:
    if transport == "http":
        with socket.create_server(("127.0.0.1", 0)) as door:
            # An answer is written in two pieces; the second must not wait until the first is
            # acknowledged.
            door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            app = app_of(host)
            print(door.getsockname()[1], flush=True)
            # A busy machine may keep a client from its next call for longer than the usual five
            # seconds.
            config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=600, ws="none")
            asyncio.run(uvicorn.Server(config).serve(sockets=[door]))
    elif host == "registry":
        stdio.serve(registry())
    else:
        MAKERS[host]().run("stdio")


if __name__ == "__main__":
    serve(*sys.argv[1:])
