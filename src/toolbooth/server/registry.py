"""ToolRegistry: the tools of one server, and the one way to call them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

import orjson
from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

from toolbooth.boundary.call import is_async
from toolbooth.contract import Contract
from toolbooth.errors import ContractError
from toolbooth.publish import input_schema
from toolbooth.server.observe import Observer
from toolbooth.sources.signature import Hints, compile_function

F = TypeVar("F", bound=Callable[..., Any])
Errors = Literal["result", "protocol"]

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What the specification allows; `toolbooth lint` knows which clients allow less."""


class UnknownTool(LookupError):
    """No tool of this name; says which one may be meant."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One registered tool."""

    contract: Contract
    function: Callable[..., Any]
    title: str | None = None
    annotations: Mapping[str, Any] | None = None
    timeout: float | None = None
    is_dispatcher: bool = False

    @property
    def name(self) -> str:
        return self.contract.name

    @cached_property
    def is_async(self) -> bool:
        """Whether calling gives something to await."""
        return is_async(self.function)

    @cached_property
    def header_params(self) -> dict[tuple[str, ...], tuple[str, str]]:
        """The parameters that are mirrored in `Mcp-Param-*` headers: path -> header token and JSON type."""
        return dict(_header_params(input_schema(self.contract), ()))

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the structured result, where the return annotation describes an object."""
        raw = inspect.signature(self.function).return_annotation
        hint = Hints(self.function).returns(raw)
        if hint in (inspect.Signature.empty, None, Any, str, dict):
            return None
        try:
            schema = TypeAdapter[Any](hint).json_schema(mode="serialization")
        except (PydanticUserError, PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
            return None
        return schema if schema.get("type") == "object" else None

    def listing(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        made: dict[str, Any] = {"name": self.name}
        if self.title:
            made["title"] = self.title
        if self.contract.description:
            made["description"] = self.contract.description
        made["inputSchema"] = input_schema(self.contract)
        if self.output_schema:
            made["outputSchema"] = self.output_schema
        if self.annotations:
            made["annotations"] = dict(self.annotations)
        return made


def _header_params(
    schema: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, str]]]:
    for name, node in schema.get("properties", {}).items():
        token = node.get("x-mcp-header")
        if isinstance(token, str) and node.get("type") in ("string", "integer", "boolean"):
            yield (*path, name), (token, node["type"])
        yield from _header_params(node, (*path, name))


class ToolRegistry:
    """The tools of one server. `errors` chooses how a refusal is answered: as a tool result, or as JSON-RPC -32602."""

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.1.0",
        instructions: str | None = None,
        errors: Errors = "result",
        timeout: float | None = None,
        page_size: int = 1000,
    ) -> None:
        self.name = name
        self.version = version
        self.instructions = instructions
        self.errors = errors
        self.timeout = timeout
        self.page_size = page_size
        self.tools: dict[str, Tool] = {}
        self.observers: list[Observer] = []
        self._pages: dict[tuple[int, str], bytes] = {}
        self._listed_at = 0
        self.changes = 0  # counts registrations: what was made from an older list is made anew

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Register a function: `@registry.tool`, `@registry.tool(name=...)` or `registry.tool(provider.method)`.

        Raises:
            ContractError: with every mistake in the signature, each with its remedy.
        """

        def register(found: F) -> F:
            contract = compile_function(found, name=name, description=description)
            self.add(contract, title=title, annotations=annotations, timeout=timeout)
            return found

        return register if function is None else register(function)

    def add(
        self,
        contract: Contract,
        function: Callable[..., Any] | None = None,
        *,
        title: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        is_dispatcher: bool = False,
    ) -> Tool:
        """Register a compiled contract with the function that it is for."""
        chosen = function or contract.function
        mistakes: list[str] = []
        if chosen is None:
            mistakes.append("there is no function to call; pass one")
        if not TOOL_NAME.fullmatch(contract.name):
            mistakes.append(f"{contract.name!r} is no tool name (letters, digits, _ - .; 128 at most); pass name=")
        if contract.name in self.tools:
            mistakes.append(f"a tool named {contract.name!r} is registered already; pass another name=")
        if mistakes or chosen is None:
            raise ContractError(contract.name, mistakes)
        made = Tool(
            contract=contract,
            function=chosen,
            title=title,
            annotations=annotations,
            timeout=timeout if timeout is not None else self.timeout,
            is_dispatcher=is_dispatcher,
        )
        self.tools[contract.name] = made
        self.changes += 1
        return made

    def find(self, name: str) -> Tool:
        """The tool of this name. Raises UnknownTool."""
        found = self.tools.get(name)
        if found is None:
            near = difflib.get_close_matches(name[:128], list(self.tools), n=1, cutoff=0.6)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownTool(f"there is no tool {name[:128]!r}{hint}")
        return found

    def encoded_listing(self, start: int, version: str) -> bytes:
        """One page of `tools/list` as JSON, made once."""
        if self._listed_at != self.changes:
            self._pages.clear()
            self._listed_at = self.changes
        if (start, version) not in self._pages:
            page = list(self.tools.values())[start : start + self.page_size]
            self._pages[start, version] = orjson.dumps([tool.listing() for tool in page])
        return self._pages[start, version]

    def observe(self, observer: Observer) -> Observer:
        """Have `observer` called with a record of every call; usable as a decorator."""
        self.observers.append(observer)
        return observer
