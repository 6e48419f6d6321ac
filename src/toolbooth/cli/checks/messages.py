"""The sentences of `toolbooth doctor`."""

from __future__ import annotations

from collections.abc import Iterable

JSON = "Print one JSON document with all findings."

NO_TARGET = "only the installation was checked; name a TARGET to check a server"
ALL_WELL = "Nothing to do."
PROTECT_IT = "toolbooth.protect(server) puts every tool behind the boundary"
NOT_KNOWN = (
    "whether its tools are protected cannot be seen from outside; `toolbooth test` finds out"
)
REGISTER_TOOLS = (
    "register a tool, or import the modules that register them before the server is used"
)
CORRECT_SCHEMA = "correct the schema: calls cannot be checked with it"
LOOK_AT_LINT = "`toolbooth lint TARGET` shows what, and why"


def version(name: str, installed: str) -> str:
    """Report an installed package."""
    return f"{name} {installed}"


def tested(name: str, installed: str, known: str) -> str:
    """Report a host whose version differs from the version in the tests."""
    return f"{name} {installed} is installed; this Toolbooth is tested with {known}"


def install_tested(name: str, known: str) -> str:
    """Return the command that installs the tested version."""
    return f"if something breaks: pip install {name}=={known}, or upgrade Toolbooth"


def extras(installed: Iterable[str]) -> str:
    """Report the extras that are completely installed."""
    return f"extras installed: {', '.join(installed) or 'none'}"


def incomplete_extra(extra: str, missing: Iterable[str]) -> str:
    """Report an extra that is only partly installed."""
    return f"the extra {extra!r} is incomplete; missing: {', '.join(missing)}"


def loads(name: str, kind: str, tools: int) -> str:
    """Report a target that was loaded or reached."""
    counted = "1 tool" if tools == 1 else f"{tools:,} tools"
    return f"{name} ({kind}) lists {counted}"


def no_tools(name: str) -> str:
    """Report a server without tools."""
    return f"{name} has no tools"


def revisions(names: Iterable[str]) -> str:
    """Report the supported revisions of MCP."""
    return f"speaks MCP {', '.join(names)}"


def protected(name: str) -> str:
    """Report a server whose tools are behind the boundary."""
    return f"the tools of {name} are behind the boundary"


def unprotected(name: str) -> str:
    """Report a server that is not protected, so that arguments may be lost."""
    return f"the tools of {name} are not behind the boundary"


def schemas_compile(count: int) -> str:
    """Report that every inputSchema can be compiled."""
    return "1 schema compiles" if count == 1 else f"{count:,} schemas compile"


def schema_fails(tool: str, reason: object) -> str:
    """Report an inputSchema that cannot be compiled."""
    return f"the schema of {tool} does not compile: {reason}"


def lint_errors(client: str, refused: int, tools: int) -> str:
    """Report tools that a client refuses."""
    return f"{client} refuses {refused:,} of {tools:,} tools"


NO_LINT_ERRORS = "no tool is refused by a known client"
