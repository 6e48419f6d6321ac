"""Context: the request that a tool is called for. Declared by type, injected per call, and never
part of the arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One call's surroundings: who calls, and the request's own `_meta`."""

    client: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    report: Callable[[float, float | None, str | None], None] | None = None
    """Sends progress to the client; None if the client did not ask for it."""

    def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Send progress to the client, if the client asked for it. You may await the result, but
        need not.
        """
        # The same for sync and async tools: `context.progress(1)` in one, `await
        # context.progress(1)` in the other. Once `report` has returned, there is nothing left to
        # wait for.
        if self.report is not None:
            self.report(done, total, message)
        return _DONE

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        """A schema for hosts that describe every parameter before they learn that this one is never
        sent.
        """
        return core_schema.any_schema()


class _Done:
    """Nothing to wait for."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


_DONE = _Done()
