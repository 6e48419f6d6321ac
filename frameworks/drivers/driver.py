"""What the contract suite needs of a framework. Each framework has a module beside this one with a
`Driver` class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Run = Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Outcome:
    """What came of one call."""

    text: str
    """What the model reads."""
    is_error: bool | None
    """Whether the framework marks it as an error for the model; None if it has no such mark."""
    data: dict[str, Any] = field(default_factory=dict)
    """Toolbooth's data beside the text (`repairs`, `problems`), where the framework carries any."""


@dataclass(frozen=True)
class ScriptedCall:
    """One tool call of the scripted model: its arguments are the text that a model would write."""

    tool: str
    arguments: str


class Driver(Protocol):
    """A framework, as its own documentation says it is used. The plain side uses nothing of
    Toolbooth."""

    package: str
    """The package whose version is in the table."""
    carries_data: bool
    """Whether the framework carries data beside the text."""

    def tool(self, function: Callable[..., Any]) -> Any:
        """Make a tool of a sync or async function, as a user of the framework would."""
        ...

    def tool_of_schema(self, name: str, schema: dict[str, Any], run: Run) -> Any:
        """Make a tool that has only a JSON Schema, as adapters of foreign MCP servers do. `run`
        gets the arguments that the framework passes on."""
        ...

    def published(self, tool: Any) -> dict[str, Any]:
        """The schema of the arguments that the framework sends to the model."""
        ...

    async def step(self, tool: Any, arguments: str) -> Outcome:
        """Call the tool as the framework itself does with the model's arguments."""
        ...

    async def loop(self, tools: Sequence[Any], calls: Sequence[ScriptedCall]) -> list[Outcome]:
        """Run the framework's agent loop with a model that makes these calls, one per turn, and
        then ends. No network. The outcomes are what the model was sent back."""
        ...
