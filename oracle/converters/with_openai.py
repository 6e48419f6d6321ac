"""openai: its strict schemas. Its helpers accept only models, so this makes a model with the schema
of the tool.
"""

from typing import Any

import openai
from loop import Tool, run
from pydantic import BaseModel


def strict(tool: Tool) -> Any:
    class Published(BaseModel):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return tool["inputSchema"]

    return openai.pydantic_function_tool(Published, name=tool["name"])["function"]["parameters"]


if __name__ == "__main__":
    run({"openai strict": strict})
