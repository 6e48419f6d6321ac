"""Makes the results of protected tools and of registry tools in the Agent Framework."""

from __future__ import annotations

import copy
from typing import Any

from agent_framework import Content, FunctionTool, UserInputRequiredException
from agent_framework._tools import (
    _FunctionArgumentValidationError,  # pyright: ignore[reportPrivateUsage]
)

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.adapters.frameworks.agent_framework_source import as_sent
from toolbooth.errors import ToolError
from toolbooth.jsonvalue import Json, is_array
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

InvalidArguments = _FunctionArgumentValidationError

_ORIGINAL = "original_arguments_for_messages"
"""A security middleware stores the arguments that the model may see under this key."""


class _Refused(UserInputRequiredException):
    """Carries a refusal to the model. The framework passes on the text of no other exception."""

    def __init__(self, result: Content) -> None:
        super().__init__([result], str(result.result))


def refused(text: str, data: Json, tool_call_id: str | None) -> list[Content]:
    """Return the answer to a call that has failed. `tool_call_id` is None if a program has called
    the tool directly.

    Raises:
        UserInputRequiredException: the framework itself runs the call. The framework sends the
            result in the exception to the model, and counts it as an error.
    """
    content = [Content.from_text(text, additional_properties=data)]
    if tool_call_id is None:
        return content
    raise _Refused(Content.from_function_result(tool_call_id, result=content, exception=text))


def check_hidden(context: Any, arguments: Json, answer: ErrorAnswer) -> None:
    """Raise an exception if the model must not read an answer. A security middleware may have put
    hidden content into the arguments; the answer could then contain this content.

    Raises:
        InvalidArguments: the arguments have hidden content. The framework tells the model only that
            the arguments are invalid.
        ToolError: the tool has raised this error. The framework hides its message.
    """
    metadata: Json = {} if context is None else context.metadata
    if _ORIGINAL not in metadata:
        return
    if isinstance(answer.__cause__, ToolError):
        raise answer.__cause__
    if metadata[_ORIGINAL] != arguments:
        raise InvalidArguments("the arguments are invalid")


def with_data(result: Any, data: Json) -> Any:
    """Return the result of a tool with the repairs in the properties of its first part."""
    parts = result if is_array(result) else []
    if not (data and parts and isinstance(parts[0], Content)):
        return result
    first = copy.copy(parts[0])
    first.additional_properties = {**first.additional_properties, **data}
    return [first, *parts[1:]]


class _RegistryTool(FunctionTool):
    registered: Registered

    async def invoke(
        self,
        *,
        arguments: Any = None,
        context: Any = None,
        tool_call_id: str | None = None,
        skip_parsing: bool = False,
        **keywords: Any,
    ) -> Any:
        given = arguments if arguments is not None or context is None else context.arguments
        sent = as_sent(keywords if given is None else dict(given), self.parameters()["properties"])
        found = self.registered
        is_text = isinstance(sent, str)
        answer = await (found.call_text(sent) if is_text else found.call_async(sent))
        if answer.is_error:
            return refused(answer.text, answer.data, tool_call_id)
        return [Content.from_text(answer.text, additional_properties=answer.data)]


def registry_tool(registry: ToolRegistry, tool: Tool) -> FunctionTool:
    """Return a tool of a registry as a `FunctionTool`."""
    found = Registered(registry, tool)
    how: Json = {"name": found.name, "description": found.description, "input_model": found.schema}
    made = _RegistryTool(func=found.call_async, **how)
    made.registered = found
    return made
