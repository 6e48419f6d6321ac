"""Context: what a tool may ask of whoever serves it. Declared by type, injected per call, never on
the wire.
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
    """Where progress goes; None where nobody asked for it."""

    def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Tell the caller how far the tool is, if the caller asked for it. May be awaited, need not
        be.
        """
        if self.report is not None:
            self.report(done, total, message)
        return _TOLD

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        """Anything, to a host that wants every parameter described before it is told that this one
        is never sent.
        """
        return core_schema.any_schema()


class _Told:
    """Nothing to wait for."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


_TOLD = _Told()
