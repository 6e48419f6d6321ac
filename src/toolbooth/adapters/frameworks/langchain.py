"""Protects the tools of LangChain, also when LangGraph's `ToolNode` runs them.

The class of a protected tool is derived from the class of the original tool. `ToolNode` injects
only a `ToolRuntime` into a protected tool. All further injected arguments are made from this
`ToolRuntime` by a second `ToolNode`, which has the original tool. A call is refused if the model
sends an argument that is injected. Otherwise `ToolNode` would remove this argument in silence.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from toolbooth.extras import require_framework

require_framework("langchain")

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, ConfigDict, Field, create_model

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Answer, Registered
from toolbooth.adapters.frameworks.langchain_source import Source, read_source
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool as RegisteredTool

_RUNTIME = "toolbooth_runtime"


class _Answering(BaseTool):
    """A tool whose refusals are sent to the model as a `ToolMessage` with the status "error"."""

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
        """Return the answer as a `ToolMessage`. Return only its text if a program has called the
        tool directly, without an id for the call.
        """
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
    """The first base class of a protected tool. The second one is the original class of the
    tool.
    """

    model_config = ConfigDict(defer_build=True)

    toolbooth_source: Any = Field(exclude=True, repr=False)

    @cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        """Return the names of the arguments that LangChain leaves out of traces."""
        return frozenset((_RUNTIME, *self.toolbooth_source.injected))

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """Return a Pydantic model of the arguments that `ToolNode` injects. `args_schema` describes
        the arguments that the language model sends.
        """
        return _injected_schema(frozenset(self.toolbooth_source.injected))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        source: Source = self.toolbooth_source
        arguments = source.as_arguments(tool_input)
        if isinstance(arguments.get(_RUNTIME), ToolRuntime):
            given = source.from_runtime(arguments.pop(_RUNTIME))
        else:
            # Without a `ToolNode`, the calling program itself adds the injected arguments.
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
        """Return the content of the result, and an artifact that contains the repairs."""
        has_artifact = self.toolbooth_source.tool.response_format == "content_and_artifact"
        content, artifact = made if has_artifact else (made, None)
        return content, call.beside(artifact)


def is_protected(tool: BaseTool) -> bool:
    """Return True if a tool is protected."""
    return isinstance(tool, _Guarded)


def protect(tool: BaseTool, options: Options) -> BaseTool:
    """Return a protected copy of a tool."""
    if is_protected(tool):
        return tool
    source = read_source(tool, options)
    return derived_copy(
        tool,
        _Guarded,
        protect,
        options,
        toolbooth_source=source,
        args_schema=source.guard.published,
        response_format="content_and_artifact",
    )


@cache
def _injected_schema(names: frozenset[str]) -> type[BaseModel]:
    config = ConfigDict(arbitrary_types_allowed=True)
    # `ToolNode` also reads the markers in the signature of the function. `Any` replaces them.
    fields: dict[str, Any] = dict.fromkeys(names, (Any, None))
    if names:
        fields[_RUNTIME] = (ToolRuntime, ...)
    return create_model("injected", __config__=config, **fields)


class _RegistryTool(_Answering):
    """A tool of a registry."""

    registered: Any = Field(exclude=True, repr=False)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (tool_input,), {}

    def _run(self, arguments: Any) -> Any:
        return _content(self.registered.call(arguments))

    async def _arun(self, arguments: Any) -> Any:
        return _content(await self.registered.call_async(arguments))


def registry_tool(registry: ToolRegistry, tool: RegisteredTool) -> BaseTool:
    """Return a tool of a registry as a tool of LangChain."""
    found = Registered(registry, tool)
    return _RegistryTool(
        name=found.name,
        description=found.description,
        args_schema=found.schema,
        response_format="content_and_artifact",
        registered=found,
    )


def _content(answer: Answer) -> tuple[str, Any]:
    if answer.is_error:
        raise ErrorAnswer(answer.text, answer.data)
    kept = {key: answer.result.get(key) for key in ("structuredContent", "_meta")}
    return answer.text, {key: each for key, each in kept.items() if each is not None} or None
