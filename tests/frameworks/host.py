"""The parts of a framework that the contract suite needs: its tools, the step that calls a tool, and its loop."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]


class Stopped(Exception):
    """The framework's own reader refuses a call, or cannot carry it, before any tool is called."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text for the model. `is_error` is None if the framework does not mark errors; `data` is what
    it carries for programs, empty if it carries nothing.
    """

    text: str
    is_error: bool | None = None
    data: Json = field(default_factory=dict)


class Host(Protocol):
    """One framework."""

    name: str
    reads_text: bool
    """Whether a tool gets the text that the model wrote."""

    def tool(self, function: Callable[..., Any], name: str) -> Any:
        """A tool of the framework, from a function."""
        ...

    def foreign(self, schema: Json, name: str, answer: Callable[[Any], str]) -> Any:
        """A tool from a JSON Schema; `answer` gets the arguments and returns the result."""
        ...

    def schema(self, tool: Any) -> Json:
        """The schema that the model is shown."""
        ...

    async def step(self, tool: Any, arguments: Any) -> Answer:
        """Call a tool as the framework does."""
        ...

    ROWS: dict[str, tuple[Any, str] | str]
    """Why calls of the corpus may be answered otherwise than by a registry: the object of the
    framework, and the text in its source, that are the reason; or the name of a program.
    """
    UNMADE: frozenset[str]
    """The tools of the corpus that the framework cannot make."""
    CARRIES_DATA: bool
    """Whether it can carry data beside the text of a result."""
    CARRIES_REFUSALS: bool
    """Whether it can do so beside the text of a refusal."""

    def subclassed(self, function: Callable[..., Any], name: str) -> Any:
        """A tool of a user's own class."""
        ...

    def injecting(self) -> tuple[Any, Sequence[str], str]:
        """A tool `add` of `number` and of arguments that the framework injects, the names of these, and
        the text of a call with 1.
        """
        ...

    def approved(
        self, function: Callable[..., Any], name: str, shown: list[Any]
    ) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
        """A protected tool with an approver that approves everything and adds the arguments that
        it sees to `shown`, and a function that runs these calls in the loop.
        """
        ...

    def picklable(self, function: Callable[..., Any], name: str) -> Any:
        """A tool that can be pickled without protection; None if there is none."""
        ...

    def timed(
        self, function: Callable[..., Any], name: str, seconds: float, arguments: Json
    ) -> str:
        """The outcome of a call past the framework's time limit."""
        ...

    async def stream(self, tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
        """The texts of the tools' answers in a run that is streamed."""
        ...

    async def loop(self, tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        """Run the framework's agent with a model that makes these calls, one after another."""
        ...


NOT_UTF8 = "text that is not UTF-8"
NOT_READ = "text that the framework cannot read"
NOT_AN_OBJECT = "arguments that are not an object"
NOT_MADE = "a tool that the framework cannot make"
READ = "a key that is sent twice, or digits that Python does not keep"
"""The reasons. For the last one, the verdict equals that of a registry that gets the values that
`json.loads` has read.
"""


def stopped(host: Host, text: str) -> str | None:
    """The reason if this answer is a refusal by the framework itself, before the tool is called."""
    return host.stopped(text) if hasattr(host, "stopped") else None


def line_of(where: tuple[Any, str] | str) -> str:
    """The file of the framework, and the line that has the text."""
    if isinstance(where, str):
        return where
    owner, text = where
    lines, start = inspect.getsourcelines(owner)
    path = Path(inspect.getsourcefile(owner) or "").as_posix()
    file = re.sub(r".*/(site-packages|python3\.\d+)/", "", path)
    (number,) = [start + index for index, line in enumerate(lines) if text in line][:1]
    return f"{file}:{number}"


def arguments_of(host: Host, body: bytes) -> Any:
    """The arguments as the framework hands them to a tool.

    Raises:
        Stopped: it cannot.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Stopped(NOT_UTF8) from error
    if host.reads_text:
        return text
    try:
        value = getattr(host, "read_arguments", json.loads)(text or "{}")
    except (ValueError, RecursionError) as error:
        raise Stopped(NOT_READ) from error
    if not isinstance(value, dict) and not hasattr(host, "read_arguments"):
        raise Stopped(NOT_AN_OBJECT)
    return value


def timed_run(run: Coroutine[Any, Any, object], seconds: float) -> str:
    """Run a loop with a time limit. Return the name of the error that the limit has raised."""

    async def limited() -> str:
        try:
            async with asyncio.timeout(seconds):
                await run
        except TimeoutError as error:
            return type(error).__name__
        return "no limit"

    return asyncio.run(limited())
