"""The state of a correction in `correct.py`: the edits, and whether every sent value has been put
somewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from toolbooth.boundary import refusals
from toolbooth.boundary.cures.places import place_of
from toolbooth.boundary.cures.readings import NO_READING, only_reading
from toolbooth.contract import Contract, Limits
from toolbooth.errors import Edit, Split
from toolbooth.jsonvalue import JsonPath
from toolbooth.shape import Field, ObjectShape, Shape

MOST_EDITS = 20
"""At most this many edits are listed."""

MOST_SOUGHT = 200
"""At most this many different undeclared keys are looked up. If a call has more, no agent has made
it by mistake.
"""

_MOST_TRIALS = 2_000
_TRIALS_AT_LEAST = 60
_BYTES_PER_TRIAL = 24
_MOST_COMPARED = 400
_MOST_READ = 1_000
_MOST_UNREAD = 40


class Hopeless(Exception):
    """Raised if no corrected call can be found."""


class Budget:
    """How many attempts are left to find a corrected call. All trials share one budget, so many
    undeclared keys, or trials inside trials, cannot take unlimited time. `size` is the number of
    bytes of the call.
    """

    __slots__ = ("compared", "read", "sought", "trials", "unread")

    def __init__(self, size: int) -> None:
        self.sought = set[tuple[int, str]]()
        # The number of attempts grows with the length of the call, so the work stays linear in the
        # bytes that were sent.
        self.trials = min(_MOST_TRIALS, _TRIALS_AT_LEAST + size // _BYTES_PER_TRIAL)
        self.compared = 0
        self.read = _MOST_READ
        self.unread = _MOST_UNREAD

    def may_compare(self, form: ObjectShape) -> bool:
        """Return True if a key may still be compared with the declared names of an object."""
        self.compared += len(form.fields)
        return self.compared <= _MOST_COMPARED or self.compared == len(form.fields)

    def spend_reading(self) -> None:
        """Count a wrong value whose meaning was looked up."""
        self.read -= 1
        if self.read < 0:
            raise Hopeless

    def spend_unread(self) -> None:
        """Count a wrong value for which no meaning was found."""
        self.unread -= 1
        if self.unread < 0:
            raise Hopeless


class Correction:
    """The edits so far, and a flag that is true as long as every sent value has been put
    somewhere.
    """

    __slots__ = ("_edits", "budget", "complete", "contract", "names", "unclear", "wrong")

    def __init__(self, contract: Contract, wrong: Collection[JsonPath], budget: Budget) -> None:
        self.contract = contract
        self.wrong = wrong
        self.unclear = False
        self.names = refusals.names_of_tool(contract.shape)
        self.budget = budget
        self._edits: dict[tuple[type[Edit], JsonPath], Edit] = {}
        # If no trials are left, every new correction starts as incomplete. This ends trials within
        # trials.
        self.complete = budget.trials > 0

    def trial(self) -> Correction:
        """Return a new correction whose edits may be discarded."""
        self.budget.trials -= 1
        made = Correction(self.contract, self.wrong, self.budget)
        made.unclear = self.unclear
        return made

    @property
    def limits(self) -> Limits:
        return self.contract.limits

    def reading(self, shape: Shape, path: JsonPath, value: Any, field: Field | None) -> Any:
        """Return the meaning of a wrong value at a path, if it has exactly one. `field` is None if
        the path does not end in a declared field.
        """
        found = NO_READING
        if not self.unclear:
            self.budget.spend_reading()
            place = place_of(shape, self.contract.schema, path, field)
            found = only_reading(place, value, self.limits)
        # A value without a meaning counts twice: after 40 of them, the search for a corrected call
        # ends.
        if found is NO_READING:
            self.budget.spend_unread()
        return found

    def has_wrong(self, origin: JsonPath) -> bool:
        """Return True if the value at this path, or a value inside it, is not accepted."""
        return any(path[: len(origin)] == origin for path in self.wrong)

    def may_seek(self, form: ObjectShape, key: str) -> bool:
        """Return True if this key may still be looked up. With very many unknown keys, the search
        stops.
        """
        self.budget.sought.add((id(form), key))
        return len(self.budget.sought) <= MOST_SOUGHT

    @property
    def edits(self) -> list[Edit]:
        """Return the edits found so far."""
        return [*self._edits.values()]

    def edit(self, edit: Edit) -> None:
        if len(self._edits) < MOST_EDITS:
            # `address.city` is sent as one key. Its edit names the path that the key spells.
            about = (edit.key, *edit.target) if isinstance(edit, Split) else edit.source
            self._edits.setdefault((type(edit), about), edit)
