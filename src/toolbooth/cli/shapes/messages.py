"""The sentences of `toolbooth test`."""

from __future__ import annotations

from toolbooth.jsonvalue import near_name

ALLOW = "Call this tool in every shape, although it may write; may be given several times."
ALLOW_WRITES = "The same for all tools of a server in this process, such as one on a test database."
EXAMPLES = "A JSON file with a correct call for each tool that needs one: {TOOL: ARGUMENTS}."
JSON = "Print one JSON document per line: plan, cases, summary."

NOTHING_SENT = "Nothing was sent."
NO_WRITES_ELSEWHERE = (
    "--allow-writes is for a server in this process; for this one, name tools with --allow"
)
HOW_TO_GIVE_EXAMPLES = (
    "Tools without a correct call were left out. Write one for each into a file and pass it with "
    "--examples FILE."
)


def plan(server: str, calls: int, tools: int) -> str:
    """Return the line with the number of calls. It is printed before the first call."""
    counted = "1 tool" if tools == 1 else f"{tools:,} tools"
    return f"{server}: {calls:,} calls to {counted} will be made."


def all_calls(tool: str, calls: int, reason: str) -> str:
    """Return the line for a tool that is called in every shape."""
    return f"  {tool}: all {calls:,} calls, because it is {reason}"


def refusals_only(tool: str, calls: int, others: int) -> str:
    """Return the line for a protected tool that may write. Only calls that must be refused are
    sent.
    """
    return (
        f"  {tool}: the {calls:,} calls that must be refused; it may write, so {others:,} others "
        f"are not sent (--allow {tool} sends them)"
    )


def nothing(tool: str, calls: int) -> str:
    """Return the line for a tool that may write and may not be protected. No call is sent."""
    return (
        f"  {tool}: none; it may write and is not known to be protected, so its {calls:,} calls "
        f"are only printed (--allow {tool} sends them)"
    )


READ_ONLY = "marked read-only"
ALLOWED = "allowed by --allow"
WRITES_ALLOWED = "allowed by --allow-writes"


def would_send(tool: str, shape: str, body: str, law: str) -> str:
    """Return the line for a call that is not made."""
    return f"{tool}  {shape}\n    would send  {body or 'nothing'}\n    the law     {law}"


NOT_OBJECTS = "the arguments of a tool must be an object"


def reading(target: str) -> str:
    """Return the progress text while the list of tools is requested."""
    return f"reading the tools of {target}"


def playing(calls: int, target: str) -> str:
    """Return the progress text while calls are made."""
    return f"sending {calls:,} calls to {target}"


def unknown_tool(name: str, known: list[str]) -> str:
    """Report an unknown tool in `--allow`."""
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"the tools are {', '.join(known)}"
    return f"--allow: there is no tool {name!r}; {hint}"


def examples_unreadable(file: object, reason: object) -> str:
    """Report a file with examples that is not a JSON object whose values are objects."""
    return f"--examples {file} should hold a JSON object, {{TOOL: ARGUMENTS}}: {reason}"
