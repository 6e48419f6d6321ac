"""Context: the request of a call. A parameter with this type gets it. It is never part of the
arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of one call: the caller, and the `_meta` of the request."""

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
        # Sync tools call `context.progress(1)`, and async tools may write
        # `await context.progress(1)`. `report` has already sent it, so there is nothing to wait
        # for.
        if self.report is not None:
            self.report(done, total, message)
        return _DONE

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        """Return a schema for hosts that describe every parameter, even this one, which is never
        sent.
        """
        return core_schema.any_schema()


class _Done:
    """An awaitable that is already done."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


_DONE = _Done()
