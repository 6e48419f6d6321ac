"""Agno. It is only measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agno.tools.function import Function
from agno.utils.functions import get_function_call
from host import Answer

name = "agno"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> Function:
    return Function.from_callable(function, name)


async def step(tool: Function, arguments: Any) -> Answer:
    """The framework reads the text of the model, then calls the function."""
    call = get_function_call(tool.name, json.dumps(arguments), functions={tool.name: tool})
    assert call is not None
    done = await call.aexecute()
    return Answer(str(done.result if done.error is None else done.error))
