"""pydantic-ai: the transformers of its model profiles, as MCP tools get them and in strict mode."""

import warnings
from functools import partial
from typing import Any

from gemini import as_json_schema
from loop import Tool, run
from pydantic_ai.profiles.google import GoogleOpenAPISchemaTransformer
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

OPENAI = OpenAIProvider.model_profile("gpt-5")["json_schema_transformer"]
GOOGLE = GoogleProvider.model_profile("gemini-3-pro-preview")["json_schema_transformer"]
ANTHROPIC = AnthropicProvider.model_profile("claude-sonnet-4-6")["json_schema_transformer"]


def transformed(transformer: Any, strict: bool | None, tool: Tool) -> Any:
    with warnings.catch_warnings(
        action="ignore"
    ):  # about dicts that become empty in strict mode: this run detects them
        return transformer(tool["inputSchema"], strict=strict).walk()


if __name__ == "__main__":
    run(
        {
            "pydantic-ai OpenAI": partial(transformed, OPENAI, None),
            "pydantic-ai OpenAI strict": partial(transformed, OPENAI, True),
            "pydantic-ai Google": partial(transformed, GOOGLE, None),
            # Gemini Live does not accept JSON Schema, only Gemini's own language.
            "pydantic-ai Google Live": partial(transformed, GoogleOpenAPISchemaTransformer, None),
            "pydantic-ai Anthropic": partial(transformed, ANTHROPIC, None),
            "pydantic-ai Anthropic strict": partial(transformed, ANTHROPIC, True),
        },
        read=as_json_schema,
    )
