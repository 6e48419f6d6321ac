"""What `correct.py` has found out so far: the edits, and whether everything has found a place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from toolbooth.boundary import refusals
from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.readings import NO_READING, only_reading
from toolbooth.contract import Contract, Limits
from toolbooth.errors import Edit
from toolbooth.jsonvalue import JsonPath
from toolbooth.shape import ObjectShape, Shape

MOST_EDITS = 20
"""Past this many, edits are no longer listed."""

MOST_SOUGHT = 200
_MOST_TRIALS = 2_000


class Correction:
    """The edits found so far, and whether everything sent has found a place.

    `sought` has the different keys that were looked for, `trials` an entry for each trial. All
    trials share both: neither undeclared keys nor trials within trials may cost without end.
    """

    __slots__ = ("complete", "contract", "edits", "names", "sought", "trials", "unclear", "wrong")

    def __init__(
        self,
        contract: Contract,
        wrong: Collection[JsonPath],
        sought: set[tuple[int, str]],
        trials: list[None],
    ) -> None:
        self.contract = contract
        self.wrong = wrong
        self.unclear = False
        self.names = refusals.names_of_tool(contract.shape)
        self.sought = sought
        self.trials = trials
        self.edits: list[Edit] = []
        self.complete = len(trials) < _MOST_TRIALS

    def trial(self) -> Correction:
        """A correction that may be thrown away."""
        self.trials.append(None)
        made = Correction(self.contract, self.wrong, self.sought, self.trials)
        made.unclear = self.unclear
        return made

    @property
    def limits(self) -> Limits:
        return self.contract.limits

    def reading(self, shape: Shape, path: JsonPath, value: Any, *, required: bool) -> Any:
        """What a wrong value certainly means at a place."""
        if self.unclear:
            return NO_READING
        place = Place(shape, self.contract.schema, path, required)
        return only_reading(place, value, self.limits)

    def has_wrong(self, origin: JsonPath) -> bool:
        """Whether a value that is not accepted was sent here or below."""
        return any(path[: len(origin)] == origin for path in self.wrong)

    def may_seek(self, form: ObjectShape, key: str) -> bool:
        """Whether a place for this key is still to be looked for; a call with very many strange
        keys is no slip.
        """
        self.sought.add((id(form), key))
        return len(self.sought) <= MOST_SOUGHT

    def edit(self, edit: Edit) -> None:
        if len(self.edits) < MOST_EDITS and edit not in self.edits:
            self.edits.append(edit)
