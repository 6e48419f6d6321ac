"""What can go wrong, by whose doing.

ContractError    the author's mistake, raised once at registration with all of them
ContractWarning  the author's oversight: the tool works, agents will struggle
ToolInputError   the caller's: holds every Problem of one call
ToolError        the tool's own: its text is shown to the agent
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

INVALID_PARAMS = -32602
"""The JSON-RPC code that every refusal carries, in either form."""

ProblemCode = Literal[
    "not-json",
    "duplicate-key",
    "too-large",
    "too-deep",
    "lossy-number",
    "not-an-object",
    "nested-wrapper",
    "unknown-key",
    "conflicting-keys",
    "missing",
    "wrong-type",
    "invalid",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a call: a code, where it stands, and a sentence for the agent."""

    code: ProblemCode
    path: str
    message: str


class ContractError(TypeError):
    """The author's tool cannot be compiled; `mistakes` lists every reason."""

    def __init__(self, owner: str, mistakes: Iterable[str]) -> None:
        self.owner = owner
        self.mistakes = tuple(mistakes)
        super().__init__(f"{owner}: " + "; ".join(self.mistakes))


class ContractWarning(UserWarning):
    """The tool works, but agents will not know what to send."""


class ToolInputError(ValueError):
    """The caller's arguments were refused; nothing was called, or, where it is not `untouched`, nothing is claimed.

    `corrected` holds the whole call to send instead, where it can be derived and holds no secret;
    `edits` says the same in words; `declared` has the field names of each object concerned, by path;
    `more` counts problems beyond those listed.
    """

    def __init__(
        self,
        problems: Iterable[Problem],
        *,
        tool: str = "",
        declared: Mapping[str, tuple[str, ...]] | None = None,
        corrected: Mapping[str, Any] | None = None,
        edits: Iterable[str] = (),
        more: int = 0,
        untouched: bool = True,
    ) -> None:
        self.problems = tuple(problems)
        self.tool = tool
        self.declared = dict(declared or {})
        self.more = more
        self.untouched = untouched
        self.corrected = corrected
        self.edits = tuple(edits)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "; ".join(f"{problem.path}: {problem.message}" for problem in self.problems)


class ToolError(Exception):
    """A tool's own failure, in words that the agent may read: `ToolError(tool, message)`, or only the message."""

    def __init__(self, tool: str, message: str | None = None, details: Any = None) -> None:
        self.tool = tool if message is not None else ""
        self.message = tool if message is None else message
        self.details = details
        super().__init__(f"Tool {tool!r} failed: {message}" if self.tool else self.message)
