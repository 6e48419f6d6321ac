"""Context: what a tool may ask of whoever serves it. Declared by type, injected per call, never on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One call's surroundings: who calls, and the request's own `_meta`."""

    client: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
