"""Context: a parameter with this type gets the request of the call. Callers never send this
parameter.
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
        you need not.
        """
        # Sync tools call `context.progress(1)`, and async tools may write
        # `await context.progress(1)`. `report` has already sent it, so there is nothing to wait
        # for.
        if self.report is not None:
            self.report(done, total, message)
        return _DONE

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        """Return a schema, because some hosts describe every parameter. Callers never send this
        one.
        """
        return core_schema.any_schema()


class _Done:
    """An awaitable with nothing left to do."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


_DONE = _Done()
