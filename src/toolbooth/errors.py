"""The exceptions, by the person who made the mistake.

ContractError    the author's mistakes in a tool, raised once, when the tool is registered
ContractWarning  the author's oversight: the tool works, but agents will struggle
ToolInputError   the caller's mistakes: holds every Problem of one call
ToolError        the tool's own failure: its text is shown to the agent
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolbooth.jsonvalue import JsonPath, in_quotes, path_text

INVALID_PARAMS = -32602
"""The JSON-RPC code of every refusal. Refusals that are tool results have it too."""

ProblemCode = Literal[
    "not-json",
    "duplicate-key",
    "too-large",
    "too-deep",
    "too-complex",
    "lossy-number",
    "not-an-object",
    "nested-wrapper",
    "unknown-key",
    "conflicting-keys",
    "swallowed-argument",
    "missing",
    "wrong-type",
    "invalid",
    "key-reused",
]

Moved = Callable[[JsonPath], JsonPath]
"""A function that converts a path in an inner call to the path in the outer call that contains it.
"""


# Problems and edits never change once they are made. Declaring that with `frozen` would make each
# of them three times as slow to create.


@dataclass(unsafe_hash=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a call: a code, a path, and a sentence for the agent."""

    code: ProblemCode
    path: JsonPath
    message: str
    kind: str | None = field(default=None, compare=False, repr=False)
    """The rule of the author's validation that raised the problem. Agents do not see it; it is for
    logs.
    """
    rule: str = field(default="", compare=False, repr=False)
    """The requirement, without the value that was sent. Two problems with the same rule are the
    same mistake.
    """
    unlisted: int = field(default=0, compare=False, repr=False)
    """How many problems are not listed because they are the same mistake in other items of the
    array.
    """

    @property
    def where(self) -> str:
        """Return the path as agents read it: `$.lines[0].sku`."""
        return path_text(self.path)


@dataclass(unsafe_hash=True, slots=True)
class Move:
    """Send a value somewhere else."""

    source: JsonPath
    target: JsonPath

    def moved(self, where: Moved) -> Move:
        """Return the same edit, with the paths of an outer call."""
        return Move(where(self.source), where(self.target))


@dataclass(unsafe_hash=True, slots=True)
class Rename:
    """Send a value under another key of the same object."""

    source: JsonPath
    name: str

    def moved(self, where: Moved) -> Rename:
        """Return the same edit, with the paths of an outer call."""
        return Rename(where(self.source), self.name)


@dataclass(unsafe_hash=True, slots=True)
class Unwrap:
    """Take the fields of an object out of it, and send them directly in another object."""

    source: JsonPath
    target: JsonPath

    def moved(self, where: Moved) -> Unwrap:
        """Return the same edit, with the paths of an outer call."""
        return Unwrap(where(self.source), where(self.target))


@dataclass(unsafe_hash=True, slots=True)
class Split:
    """Send the value of a key such as `address.city` at the path that the key names: `city` inside
    `address`.
    """

    key: str
    target: JsonPath

    def moved(self, where: Moved) -> Split:
        """Return the same edit, with the paths of an outer call."""
        return Split(self.key, where(self.target))


@dataclass(unsafe_hash=True, slots=True)
class Rewrite:
    """Replace a value by the one that was certainly meant."""

    source: JsonPath
    value: Any

    def moved(self, where: Moved) -> Rewrite:
        """Return the same edit, with the paths of an outer call."""
        return Rewrite(where(self.source), self.value)


@dataclass(unsafe_hash=True, slots=True)
class LeaveOut:
    """Do not send a value that means "nothing"."""

    source: JsonPath
    value: Any

    def moved(self, where: Moved) -> LeaveOut:
        """Return the same edit, with the paths of an outer call."""
        return LeaveOut(where(self.source), self.value)


Edit = Move | Rename | Unwrap | Split | Rewrite | LeaveOut


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The declared fields of one object that was sent."""

    types: Mapping[str, str]
    """The type of each field in words, by name. Required fields come first and are marked as
    required.
    """
    controls: tuple[str, ...] = ()
    """Arguments for the server that may also be sent in this object, such as `help`."""
    line: str = field(init=False, compare=False, repr=False)
    """All fields with their types, in one line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", ", ".join(self.parts()))

    def parts(self) -> Iterator[str]:
        """Yield each field with its type."""
        for name, words in self.types.items():
            yield f"{in_quotes(name)} ({words})"


def called(tool: str, target: Iterable[str] = ()) -> str:
    """Return the name of a tool for a sentence: `'tags__create'`. For a call of a dispatcher, the
    name is followed by what the call names: `'sales' (tags, create)`.
    """
    named = ", ".join(target)
    return f"{tool!r} ({named})" if named else repr(tool)


class ContractError(TypeError):
    """The author's tool cannot be compiled. `mistakes` lists every reason."""

    def __init__(self, owner: str, mistakes: Iterable[str]) -> None:
        self.owner = owner
        self.mistakes = tuple(mistakes)
        super().__init__(f"{owner}: " + "; ".join(self.mistakes))


class ContractWarning(UserWarning):
    """The tool works, but agents will not know what to send."""


class ToolInputError(ValueError):
    """The caller's arguments were refused.

    - `tool` is the tool as the client calls it. `target` has the names in a call of a dispatcher.
    - `corrected` is the whole call to send instead, if Toolbooth can derive it and it holds no
      secret.
    - `edits` are the steps from the call that was sent to the corrected one.
    - `form` is an example of a call, with placeholders for values. It is given if nothing in the
      call was right.
    - `declared` has the declared fields of each object with a problem, by path.
    - `repairs` has the code and the path of each repair that was made.
    - `more` is the number of problems that are not listed.
    - `untouched` is False if code with side effects may have run.

    An error is never changed: `moved`, `under` and `replaced` return new ones.
    """

    def __init__(
        self,
        problems: Iterable[Problem],
        *,
        tool: str = "",
        target: Iterable[str] = (),
        declared: Mapping[JsonPath, Declared] | None = None,
        corrected: Mapping[str, Any] | None = None,
        edits: Iterable[Edit] = (),
        form: Mapping[str, Any] | None = None,
        repairs: Iterable[tuple[str, JsonPath]] = (),
        is_empty: bool = False,
        more: int = 0,
        untouched: bool = True,
    ) -> None:
        # Callers may pass lists, tuples and generators. The parts are read several times, for the
        # log and the answer, so they are stored as tuples.
        self.problems = tuple(problems)
        self.tool = tool
        self.target = tuple(target)
        self.declared: Mapping[JsonPath, Declared] = declared or {}
        self.more = more
        self.untouched = untouched
        self.corrected = corrected
        self.edits = tuple(edits)
        self.form = form
        self.repairs = tuple(repairs)
        self.is_empty = is_empty
        """True if no arguments were sent, but some are required."""

    def __str__(self) -> str:
        # This text is for logs and tracebacks. Agents get the text of `boundary/render.py`.
        return "; ".join(f"{problem.where}: {problem.message}" for problem in self.problems)

    def replaced(self, **changes: Any) -> ToolInputError:
        """Return a copy with some parts changed."""
        parts: dict[str, Any] = {
            "problems": self.problems,
            "tool": self.tool,
            "target": self.target,
            "declared": self.declared,
            "corrected": self.corrected,
            "edits": self.edits,
            "form": self.form,
            "repairs": self.repairs,
            "is_empty": self.is_empty,
            "more": self.more,
            "untouched": self.untouched,
        }
        return ToolInputError(**(parts | changes))

    def moved(self, where: Moved) -> ToolInputError:
        """Return a copy with every path changed to the path in an outer call."""
        problems = [replace(each, path=where(each.path)) for each in self.problems]
        declared = {where(path): each for path, each in self.declared.items()}
        edits = [each.moved(where) for each in self.edits]
        repairs = [(code, where(path)) for code, path in self.repairs]
        return self.replaced(problems=problems, declared=declared, edits=edits, repairs=repairs)

    def under(self, prefix: JsonPath) -> ToolInputError:
        """Return a copy for an outer call that holds these arguments at the path `prefix`."""
        return self.moved(lambda path: (*prefix, *path))


class ToolError(Exception):
    """A tool's own failure, in words that the agent may read. Raise `ToolError(tool, message)`, or
    only `ToolError(message)`. `target` has the names in a call of a dispatcher.
    """

    def __init__(
        self,
        tool: str,
        message: str | None = None,
        details: Any = None,
        *,
        target: Iterable[str] = (),
    ) -> None:
        self.tool = tool if message is not None else ""
        self.target = tuple(target)
        self.message = tool if message is None else message
        self.details = details
        words = f"Tool {called(tool, self.target)} failed: {message}"
        super().__init__(words if self.tool else self.message)
