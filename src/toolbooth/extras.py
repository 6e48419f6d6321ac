"""Reports a missing optional package, with the extra to install."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec


class MissingExtra(ImportError):
    """Raised if a package of an extra is not installed. The message is one sentence with the
    command that installs it.
    """


EXTRAS: dict[str, tuple[str, ...]] = {
    "fastmcp": ("fastmcp",),
    "mcp": ("mcp", "anyio", "httpx2", "starlette"),
    "django": ("django", "rest_framework", "drf_spectacular"),
    "cli": ("uvicorn",),
    "langchain": ("langchain", "langchain_core", "langgraph"),
    "openai-agents": ("agents",),
    "pydantic-ai": ("pydantic_ai",),
    "claude-agent-sdk": ("claude_agent_sdk",),
    "proxy": ("httptools",),
    "google-adk": ("google.adk",),
    "llama-index": ("llama_index",),
    "strands": ("strands",),
    "agent-framework": ("agent_framework",),
    "testing": ("pytest", "hypothesis"),
}
"""The modules of each extra. The first one is its main package."""


FRAMEWORKS: dict[str, Mapping[str, str]] = {
    "langchain": {"langchain": "LangChain", "langgraph": "LangGraph"},
    "openai-agents": {"agents": "the OpenAI Agents SDK"},
    "pydantic-ai": {"pydantic_ai": "PydanticAI"},
    "claude-agent-sdk": {"claude_agent_sdk": "the Claude Agent SDK"},
    "google-adk": {"google.adk": "Google's Agent Development Kit"},
    "llama-index": {"llama_index": "LlamaIndex"},
    "strands": {"strands": "Strands"},
    "agent-framework": {"agent_framework": "Microsoft's Agent Framework"},
}
"""What the adapter of each agent framework needs: the names of its packages, by module."""


def extra_of(module: str) -> str | None:
    """Return the extra that installs this module; None if there is none."""
    return next((extra for extra, modules in EXTRAS.items() if modules[0] == module), None)


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'toolbooth[{extra}]'"


def is_installed(module: str) -> bool:
    """Return True if a module can be found. The module itself is not imported; the packages that
    contain it are.
    """
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def require(user: str, *, extra: str, modules: Mapping[str, str]) -> None:
    """Check that all packages that `user` needs are installed. `modules` maps each module to the
    name of its package.

    Raises:
        MissingExtra: if one of the modules is not installed.
    """
    # This only looks for the modules. Importing them would be slow, and would hide the real reason
    # if one of them fails during its import.
    missing = {module: name for module, name in modules.items() if not is_installed(module)}
    if missing:
        raise MissingExtra(
            f"{user} needs {' and '.join(missing.values())}: {install_line(extra)}",
            name=next(iter(missing)),
        )


def require_framework(name: str) -> None:
    """Check that an agent framework is installed.

    Raises:
        MissingExtra: if it is not.
    """
    module = f"toolbooth.adapters.frameworks.{name.replace('-', '_')}"
    require(module, extra=name, modules=FRAMEWORKS[name])
