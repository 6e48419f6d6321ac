"""CrewAI. It is only measured."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"

from crewai.tools import BaseTool
from crewai.tools import tool as make_tool
from crewai.utilities.agent_utils import parse_tool_call_args
from host import Answer

name = "crewai"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> BaseTool:
    return make_tool(name)(function)


async def step(tool: BaseTool, arguments: Any) -> Answer:
    """The framework reads the text of the model, then calls the function."""
    read, failed = parse_tool_call_args(json.dumps(arguments), tool.name, "c1", tool)
    assert read is not None, failed
    return Answer(str(tool.run(**read)))
