"""A middleware for LangChain's `create_agent`. It protects every tool of the agent, also tools that
another middleware adds later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.frameworks import langchain
from toolbooth.publish import ProfileChoice, choose_profile
from toolbooth.server.observe import Observer


class ProtectTools(AgentMiddleware[Any, Any, Any]):
    """Put the tools of an agent behind the boundary. The arguments are those of `protect`."""

    def __init__(
        self,
        *,
        profile: ProfileChoice = "portable",
        observers: Iterable[Observer] = (),
        approval: bool = False,
    ) -> None:
        super().__init__()
        profile = choose_profile(profile)
        self._options = Options(profile=profile, observers=tuple(observers), approval=approval)
        self._protected: dict[str, tuple[BaseTool, BaseTool]] = {}

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show the model the schemas of the protected tools."""
        return handler(request.override(tools=[self._shown(each) for each in request.tools]))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do the same as `wrap_model_call`, for an async agent."""
        return await handler(request.override(tools=[self._shown(each) for each in request.tools]))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run the protected tool."""
        request = self._request(request)
        return request if isinstance(request, ToolMessage) else handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do the same as `wrap_tool_call`, for an async agent."""
        request = self._request(request)
        return request if isinstance(request, ToolMessage) else await handler(request)

    def _shown(self, tool: Any) -> Any:
        """Return the protected tool. A tool that is a dict is returned unchanged, because the
        provider of the model runs it.
        """
        if not isinstance(tool, BaseTool) or langchain.is_protected(tool):
            return tool
        kept = self._protected.get(tool.name)
        if kept is None or kept[0] is not tool:
            kept = self._protected[tool.name] = tool, langchain.protect(tool, self._options)
        return kept[1]

    def _request(self, request: Any) -> Any:
        """Return the request with the protected tool. If the model sends an argument that
        `ToolNode` would replace in silence, return the refusal of the call.
        """
        tool = self._shown(request.tool)
        if tool is request.tool:
            return request
        call = request.tool_call
        if not tool.toolbooth_source.injected.keys().isdisjoint(call["args"]):
            try:
                tool.toolbooth_source.guard.accept(call["args"])
            except ErrorAnswer as answer:
                return tool.error_message(answer, call["id"])
        return request.override(tool=tool)
