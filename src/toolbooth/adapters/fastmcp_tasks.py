"""Protects calls of a FastMCP server that become tasks. The boundary checks a call before its task
is created. The arguments are queued as they were sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from fastmcp import Context as HostContext
from fastmcp import FastMCP
from fastmcp.server.dependencies import extract_version_spec
from fastmcp.server.extensions import ServerExtension
from fastmcp.server.transforms import VersionSpec
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.tasks import TASKS_EXTENSION_ID
from mcp_types import CallToolRequestParams

from toolbooth.adapters.fastmcp_tool import GuardedTool, QueuedTool
from toolbooth.adapters.sdk.accept_call import queue_arguments
from toolbooth.adapters.sdk.listing import checking_taken
from toolbooth.adapters.sdk.original_request import RequestScope
from toolbooth.errors import ToolInputError


def guard_tasks(server: FastMCP[Any]) -> None:
    """Check calls before they become tasks, and queue their arguments as sent."""
    collect = server.get_tasks
    install = server._install_extension  # pyright: ignore[reportPrivateUsage]

    async def get_tasks() -> Sequence[FastMCPComponent]:
        return [_queued_tool(each) for each in await collect()]

    def install_extension(extension: ServerExtension, **how: Any) -> None:
        install(extension, **how)
        _guard_extension(extension)

    patched: Any = server
    patched.get_tasks = get_tasks
    # Every extension is installed here, also those of providers; FastMCP offers no hook.
    patched._install_extension = install_extension
    for extension in server._extensions.values():  # pyright: ignore[reportPrivateUsage]
        _guard_extension(extension)


def _queued_tool(component: FastMCPComponent) -> FastMCPComponent:
    if not isinstance(component, GuardedTool) or isinstance(component, QueuedTool):
        return component
    return QueuedTool(**{name: getattr(component, name) for name in GuardedTool.model_fields})


def _guard_extension(extension: ServerExtension) -> None:
    """Make the tasks extension check the arguments, and queue them as they were sent. A call that
    does not become a task is passed on unchanged.
    """
    # Each extension is guarded once, although it may be found here and installed again later.
    if extension.identifier != TASKS_EXTENSION_ID or "intercept_tool_call" in vars(extension):
        return
    intercept = extension.intercept_tool_call

    async def guarded(params: CallToolRequestParams, context: HostContext, call_next: Any) -> Any:
        tool = await _task_tool(params, context)
        if tool is None:
            return await intercept(params, context, call_next)
        with RequestScope() as original:
            try:
                sent = params.arguments or {}
                queue = partial(queue_arguments, tool.contract_here(), sent, original)
                arguments = await checking_taken(queue, sent, original)
            except ToolInputError as error:
                shown = tool.host_error(error, original) or error
                raise shown from shown.__cause__
        # The worker may be another process, and accepts the arguments itself, as they were sent.
        # The check here comes first so that a refusal does not become a task.
        queued = params.model_copy(update={"arguments": arguments})
        return await intercept(queued, context, call_next)

    patched: Any = extension
    patched.intercept_tool_call = guarded


async def _task_tool(params: CallToolRequestParams, context: HostContext) -> QueuedTool | None:
    """Return the tool that a worker will run. Return None if the client does not accept tasks, or
    if the tool cannot run as a task.
    """
    if context.client_extension_settings(TASKS_EXTENSION_ID) is None:
        return None
    version = extract_version_spec(params.meta)
    found = await context.fastmcp.get_tool(
        params.name, VersionSpec(eq=version) if version else None
    )
    if found is None or not found.task_config.supports_tasks():
        return None
    every = [each for each in await context.fastmcp.get_tasks() if each.key == found.key]
    return next((each for each in every if isinstance(each, QueuedTool)), None)
