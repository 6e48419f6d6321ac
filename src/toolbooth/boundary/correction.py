"""The state of a correction in `correct.py`: the edits, and whether every value has a place."""

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
"""Past this many, edits are no longer listed."""

MOST_SOUGHT = 200
"""Different undeclared keys that are looked for; a call with more of them is no slip."""

_MOST_TRIALS = 2_000
_TRIALS_AT_LEAST = 60
_BYTES_PER_TRIAL = 24
_MOST_COMPARED = 400
_MOST_READ = 1_000
_MOST_UNREAD = 40


class Hopeless(Exception):
    """No corrected call will come of it."""


class Budget:
    """How much may still be tried to find a corrected call. All trials share it, so that neither
    undeclared keys nor trials within trials cost without end. `size`: the bytes of the call.
    """

    __slots__ = ("compared", "read", "sought", "trials", "unread")

    def __init__(self, size: int) -> None:
        self.sought = set[tuple[int, str]]()
        # A longer call may be tried more often, in proportion: the work stays linear in the bytes
        # that were sent.
        self.trials = min(_MOST_TRIALS, _TRIALS_AT_LEAST + size // _BYTES_PER_TRIAL)
        self.compared = 0
        self.read = _MOST_READ
        self.unread = _MOST_UNREAD

    def may_compare(self, form: ObjectShape) -> bool:
        """Whether a key may be compared with the declared names of an object."""
        self.compared += len(form.fields)
        return self.compared <= _MOST_COMPARED or self.compared == len(form.fields)

    def spend_reading(self) -> None:
        """A wrong value was looked at for its meaning."""
        self.read -= 1
        if self.read < 0:
            raise Hopeless

    def spend_unread(self) -> None:
        """A wrong value has none."""
        self.unread -= 1
        if self.unread < 0:
            raise Hopeless


class Correction:
    """The edits found so far, and whether everything sent has found a place."""

    __slots__ = ("_edits", "budget", "complete", "contract", "names", "unclear", "wrong")

    def __init__(self, contract: Contract, wrong: Collection[JsonPath], budget: Budget) -> None:
        self.contract = contract
        self.wrong = wrong
        self.unclear = False
        self.names = refusals.names_of_tool(contract.shape)
        self.budget = budget
        self._edits: dict[tuple[type[Edit], JsonPath], Edit] = {}
        # With no trials left, every further correction is incomplete from the start, which ends
        # trials within trials.
        self.complete = budget.trials > 0

    def trial(self) -> Correction:
        """A correction that may be thrown away."""
        self.budget.trials -= 1
        made = Correction(self.contract, self.wrong, self.budget)
        made.unclear = self.unclear
        return made

    @property
    def limits(self) -> Limits:
        return self.contract.limits

    def reading(self, shape: Shape, path: JsonPath, value: Any, field: Field | None) -> Any:
        """Return the only meaning of a wrong value at a place, if there is one; `field`: the field
        of the place, if it has one.
        """
        found = NO_READING
        if not self.unclear:
            self.budget.spend_reading()
            place = place_of(shape, self.contract.schema, path, field)
            found = only_reading(place, value, self.limits)
        # A value without a meaning is counted twice: after 40 of them, no corrected call will be
        # found.
        if found is NO_READING:
            self.budget.spend_unread()
        return found

    def has_wrong(self, origin: JsonPath) -> bool:
        """Whether a value that is not accepted was sent here or below."""
        return any(path[: len(origin)] == origin for path in self.wrong)

    def may_seek(self, form: ObjectShape, key: str) -> bool:
        """Whether a place for this key is still to be looked for; a call with very many strange
        keys is no slip.
        """
        self.budget.sought.add((id(form), key))
        return len(self.budget.sought) <= MOST_SOUGHT

    @property
    def edits(self) -> list[Edit]:
        """The edits found so far."""
        return [*self._edits.values()]

    def edit(self, edit: Edit) -> None:
        if len(self._edits) < MOST_EDITS:
            # A key such as `address.city` is one key, and its edit is about the place that it
            # names.
            about = (edit.key, *edit.target) if isinstance(edit, Split) else edit.source
            self._edits.setdefault((type(edit), about), edit)
