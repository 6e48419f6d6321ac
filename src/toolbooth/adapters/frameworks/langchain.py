"""Protects the tools of LangChain, which LangGraph's `ToolNode` runs too.

A protected tool has a class that is derived from its own. `ToolNode` injects only a `ToolRuntime`;
the other injected arguments are made from that by a `ToolNode` of the original tool. So a call in
which the model sends one of them is refused: otherwise `ToolNode` would remove it first.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from toolbooth.extras import require

require(
    "toolbooth.adapters.frameworks.langchain",
    extra="langchain",
    modules={"langchain": "LangChain", "langgraph": "LangGraph"},
)

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, ConfigDict, Field, create_model

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.frameworks.langchain_source import Source, read_source
from toolbooth.jsonvalue import is_object
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool as RegisteredTool

_RUNTIME = "toolbooth_runtime"


class _Answering(BaseTool):
    """A tool whose refusals reach the model as the message of a failed call."""

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **how: Any) -> Any:
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **how)
        except ErrorAnswer as answer:
            return self.error_message(answer, tool_call_id)

    async def arun(
        self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **how: Any
    ) -> Any:
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **how)
        except ErrorAnswer as answer:
            return self.error_message(answer, tool_call_id)

    def error_message(self, answer: ErrorAnswer, tool_call_id: str | None) -> Any:
        """The answer as a message, or as text for a program that calls the tool."""
        if tool_call_id is None:
            return answer.text
        return ToolMessage(
            answer.text,
            artifact=answer.data or None,
            tool_call_id=tool_call_id,
            name=self.name,
            status="error",
        )


class _Guarded(_Answering):
    """Comes before the class of a tool, which is then behind the boundary."""

    toolbooth_inner: Any = Field(exclude=True, repr=False)
    toolbooth_source: Any = Field(exclude=True, repr=False)
    toolbooth_options: Any = Field(exclude=True, repr=False)
    toolbooth_format: str = Field(exclude=True, repr=False)

    @cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        """The arguments that are left out of traces."""
        return frozenset((_RUNTIME, *self.toolbooth_source.injected))

    def __reduce__(self) -> Any:
        return protect, (self.toolbooth_inner, self.toolbooth_options)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The arguments that `ToolNode` injects. Those of the model are in `args_schema`."""
        return _injected_schema(frozenset(self.toolbooth_source.injected))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        source: Source = self.toolbooth_source
        arguments = source.as_arguments(tool_input)
        if isinstance(arguments.get(_RUNTIME), ToolRuntime):
            given = source.from_runtime(arguments.pop(_RUNTIME))
        else:
            # Without a `ToolNode`, the program that calls the tool adds these to the arguments.
            given = {name: arguments.pop(name) for name in source.injected if name in arguments}
        call = source.guard.accept(arguments)
        return (), {"ready": (call, source.completed(given, tool_call_id))}

    def _run(self, *, ready: Any, config: RunnableConfig, run_manager: Any = None) -> Any:
        made = self.toolbooth_source.run(*ready, (config, run_manager))
        return self._with_data(ready[0], made)

    async def _arun(self, *, ready: Any, config: RunnableConfig, run_manager: Any = None) -> Any:
        made = await self.toolbooth_source.run_async(*ready, (config, run_manager))
        return self._with_data(ready[0], made)

    def _with_data(self, call: Call, made: Any) -> Any:
        """Add the repairs to the artifact, if that is not another kind of data."""
        content, artifact = (
            made if self.toolbooth_format == "content_and_artifact" else (made, None)
        )
        if not call.data or not (artifact is None or is_object(artifact)):
            return content, artifact
        return content, {**(artifact or {}), **call.data}


def is_protected(tool: BaseTool) -> bool:
    """Whether a tool was protected."""
    return isinstance(tool, _Guarded)


def protect(tool: BaseTool, options: Options) -> BaseTool:
    """Return a protected copy of a tool."""
    if is_protected(tool):
        return tool
    source = read_source(tool, options)
    changed = {"args_schema": source.guard.published, "response_format": "content_and_artifact"}
    made: Any = tool.model_copy(update=changed)
    object.__setattr__(made, "__class__", _guarded_class(type(tool)))
    made.__dict__.update(
        toolbooth_inner=tool,
        toolbooth_source=source,
        toolbooth_options=options,
        toolbooth_format=tool.response_format,
    )
    return made


@cache
def _guarded_class(plain: type[BaseTool]) -> type[Any]:
    return type(plain.__name__, (_Guarded, plain), {"model_config": ConfigDict(defer_build=True)})


@cache
def _injected_schema(names: frozenset[str]) -> type[BaseModel]:
    config = ConfigDict(arbitrary_types_allowed=True)
    # `Any` replaces the marker in the signature of the function, which `ToolNode` reads as well.
    fields: dict[str, Any] = dict.fromkeys(names, (Any, None))
    if names:
        fields[_RUNTIME] = (ToolRuntime, ...)
    return create_model("injected", __config__=config, **fields)


class _RegistryTool(_Answering):
    """A tool of a registry."""

    registry: Any = Field(exclude=True, repr=False)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (tool_input,), {}

    def _run(self, arguments: Any) -> Any:
        return _content(self.registry.call(self.name, arguments))

    async def _arun(self, arguments: Any) -> Any:
        return _content(await self.registry.call_async(self.name, arguments))


def registry_tool(registry: ToolRegistry, tool: RegisteredTool) -> BaseTool:
    """Return a tool of a registry as a tool of LangChain."""
    listing = tool.listing()
    return _RegistryTool(
        name=tool.name,
        description=listing.get("description", ""),
        args_schema=listing["inputSchema"],
        response_format="content_and_artifact",
        registry=registry,
    )


def _content(result: dict[str, Any]) -> tuple[Any, Any]:
    texts = [each["text"] for each in result["content"] if "text" in each]
    if result["isError"]:
        raise ErrorAnswer("\n".join(texts), result.get("_meta", {}))
    artifact = {key: result[key] for key in ("structuredContent", "_meta") if key in result}
    return "\n".join(texts), artifact or None
