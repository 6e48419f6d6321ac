"""One shape that a call may arrive in, and the outcome that the law prescribes for it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Literal

from toolbooth.contract import Contract
from toolbooth.jsonvalue import JsonPath, path_text
from toolbooth.testing.shapes.call_places import CallPlace, places
from toolbooth.testing.shapes.catalogue import KINDS

Outcome = Literal["passed", "repaired", "refused"]
Found = tuple[str, str]
"""A code and a path, of a repair or of a problem."""
Seen = tuple[str, str, str]
"""One of several of a kind: its name, where it was seen, and when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOutcome:
    """What the law says must become of a call."""

    outcome: Outcome
    means: Any = None
    """Passed and repaired: the correct call that it is to be taken as. What becomes of that one
    becomes of this one.
    """
    repairs: tuple[Found, ...] = ()
    problems: tuple[Found, ...] | None = ()
    """None: it must be refused, but a union leaves open in which words."""
    corrected: Any = ...
    """The call to send instead; None: there must be none, for it would be a guess or show a secret;
    ...: not said.
    """
    may_go_without: bool = False
    """There may be no corrected call, but if there is one, it must be this."""

    def __str__(self) -> str:
        if self.outcome != "refused":
            return f"repaired: {found_text(self.repairs)}" if self.repairs else "passed as it is"
        refusal = f"refused: {found_text(self.problems)}" if self.problems else "refused"
        if self.corrected in (None, ...):
            return refusal
        return f"{refusal}; send instead {json.dumps(self.corrected)}"


def found_text(found: Iterable[Found]) -> str:
    return ", ".join(f"{code} at {path}" for code, path in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentShape:
    """One thing that clients or models send instead of a correct call."""

    id: str
    """Stable and readable: `wrapper/data`, `json-text@$.lines`."""
    kind: str
    path: str
    body: bytes
    """The JSON text of `arguments`."""
    source: str
    """Where it was seen."""
    date: str
    law: ExpectedOutcome
    raw: bool = False
    """Only the bytes show it: a host that parses them decides before any hook. On our own server
    the law holds.
    """

    @property
    def arguments(self) -> Any:
        """What was sent, as a host parses it; None for nothing."""
        return json.loads(self.body) if self.body else None

    @property
    def says(self) -> str:
        """What went wrong, in a few words."""
        return KINDS[self.kind].says


class Draft:
    """Writes the shapes of one correct call."""

    def __init__(self, contract: Contract, arguments: dict[str, Any]) -> None:
        self.tool = contract.name
        self.schema = contract.schema
        self.arguments = arguments
        self.places: list[CallPlace] = places(contract.shape, arguments)
        self.corrected = self._corrected_call(contract)

    def _corrected_call(self, contract: Contract) -> dict[str, Any] | EllipsisType | None:
        """The correct call itself, unless it holds a secret, or what can be written in more than
        one way.
        """
        if any(place.shape.secret and place.value is not None for place in self.places):
            return None  # where a secret is involved, only edits
        aliased = any(
            place.field is not None and place.field.name != place.path[-1] for place in self.places
        )
        texts = any(place.shape.json_text for place in self.places)
        return ... if contract.shape.has_secret or aliased or texts else self.arguments

    def accepted_shape(
        self,
        kind: str,
        path: JsonPath,
        sent: Any,
        repairs: Iterable[Found] = (),
        *,
        means: Any = ...,
        seen: Seen | None = None,
        raw: bool = False,
    ) -> AgentShape:
        """What has one meaning: passed, or repaired."""
        made = tuple(repairs)
        meant = self.arguments if means is ... else means
        law = ExpectedOutcome(outcome="repaired" if made else "passed", means=meant, repairs=made)
        return self._shape(kind, path, sent, law, seen, raw=raw)

    def refused_shape(
        self,
        kind: str,
        path: JsonPath,
        sent: Any,
        problems: Iterable[Found] | None,
        *,
        corrected: Any = ...,
        may_go_without: bool = False,
        seen: Seen | None = None,
        raw: bool = False,
    ) -> AgentShape:
        """What would be a guess."""
        said = None if problems is None else tuple(problems)
        law = ExpectedOutcome(
            outcome="refused", problems=said, corrected=corrected, may_go_without=may_go_without
        )
        return self._shape(kind, path, sent, law, seen, raw=raw)

    def _shape(
        self,
        kind: str,
        path: JsonPath,
        sent: Any,
        law: ExpectedOutcome,
        seen: Seen | None,
        *,
        raw: bool,
    ) -> AgentShape:
        """`sent` is bytes where no value could say it."""
        variant, source, date = seen or ("", KINDS[kind].source, KINDS[kind].date)
        name = f"{kind}/{variant}" if variant else kind
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        return AgentShape(
            id=f"{name}@{path_text(path)}" if path else name,
            kind=kind,
            path=path_text(path),
            body=body,
            source=source,
            date=date,
            law=law,
            raw=raw,
        )
