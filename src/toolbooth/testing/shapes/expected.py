"""AgentShape: one malformed variant of a correct call, with the outcome that the law requires
(docs/reference/law.md).
"""

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
"""A repair or a problem: its code and its path."""
Seen = tuple[str, str, str]
"""An example of a kind of fault: its name, its source and its date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOutcome:
    """The outcome that the law requires for a call."""

    outcome: Outcome
    means: Any = None
    """Only for a call that is accepted: the correct call that means the same. Both calls must have
    the same result.
    """
    repairs: tuple[Found, ...] = ()
    problems: tuple[Found, ...] | None = ()
    """The problems that a refusal must report. None if this is open because of a union."""
    corrected: Any = ...
    """The corrected call that a refusal must have. None means that there must be none, because it
    would be a guess or show a secret. `...` means that the law leaves this open.
    """
    may_go_without: bool = False
    """True if the refusal may have no corrected call. If it has one, it must be `corrected`."""

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
    """One malformed variant of a correct call, as clients or models send it."""

    id: str
    """A readable id that stays the same, such as `wrapper/data` or `json-text@$.lines`."""
    kind: str
    path: str
    body: bytes
    """The JSON text of `arguments`."""
    source: str
    """The report or measurement that shows this fault."""
    date: str
    law: ExpectedOutcome
    raw: bool = False
    """True if the fault is visible only in the bytes. A host that parses the bytes itself decides
    what happens; on our own server the law applies.
    """

    @property
    def arguments(self) -> Any:
        """Return the arguments as a host would parse them. Return None if no arguments are sent."""
        return json.loads(self.body) if self.body else None

    @property
    def says(self) -> str:
        """Return a short description of the fault."""
        return KINDS[self.kind].says


class Draft:
    """Makes the malformed variants of one correct call."""

    def __init__(self, contract: Contract, arguments: dict[str, Any]) -> None:
        self.tool = contract.name
        self.schema = contract.schema
        self.arguments = arguments
        self.places: list[CallPlace] = places(contract.shape, arguments)
        self.corrected = self._corrected_call(contract)

    def _corrected_call(self, contract: Contract) -> dict[str, Any] | EllipsisType | None:
        """Return the corrected call that refusals must have. Return None if the call contains a
        secret, because then a refusal has only edits. Return `...` if the call can be written in
        several ways.
        """
        if any(place.shape.secret and place.value is not None for place in self.places):
            return None  # where a secret is involved, only edits
        # A field may be sent under several names. The corrected call may have another one than the
        # example.
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
        """Return a variant whose meaning is clear. It must be accepted, with or without a
        repair.
        """
        made = tuple(repairs)
        # The default is `...` and not None, because null is a JSON value.
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
        """Return a variant that must be refused, because its meaning would be a guess."""
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
        """Return a malformed variant. `sent` is bytes if no Python value can be written like
        this.
        """
        # Most kinds have one source. Wrappers and keys of clients have one source for each name.
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
