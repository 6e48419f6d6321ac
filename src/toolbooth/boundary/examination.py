"""The findings of the examination of one call: the repairs, the problems, and what is needed to
explain them.
"""

from __future__ import annotations

from typing import Any

from toolbooth.boundary import messages, refusals
from toolbooth.boundary.mend import Slip
from toolbooth.boundary.mistakes import MOST_PROBLEMS, Mistake, Mistakes, mistake_at, mistake_of
from toolbooth.boundary.read import count_values
from toolbooth.boundary.repairs import Repair, RepairCode
from toolbooth.contract import Limits
from toolbooth.errors import Declared, Problem, ProblemCode
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.shape import ObjectShape, Shape

MOST_REPAIRS = 1_000
"""At most this many repairs are listed. Further ones are made, but not listed."""

MOST_SLIPS = 1_000
"""Only a call with at most this many undeclared keys is corrected by `mend.py`."""

_MOST_COMPARED = 400
"""In one call, undeclared keys are compared with at most this many declared names, to suggest
similar ones.
"""


Trial = tuple[int, int, bool, bool]
"""The key under which a trial is cached: the id of a branch of a union, the id of a value, and two
flags for how numbers are read.
"""


Forms = tuple[ObjectShape, ...]
"""The object types of one union."""


Kind = tuple[int, str, type | None]
"""Identifies problems that are alike: the id of the shape or object type, the code or the key, and
the Python type of the key's value.
"""


class Examination:
    """The findings of one examination. Some are kept for a trial, in which one branch of a union is
    tried on a value.

    - `problem_paths`: the path of each problem.
    - `slips`: the undeclared keys of the arguments. Keys inside a union branch or JSON text are not
      included.
    - `declared`: the declared fields of every object that has an undeclared key.
    - `wrapped_names`: the keys inside wrappers. A field that seems to be missing may be one of
      them.
    - `more`: the number of problems that are not listed.
    - `has_names`: True if some text may be meant for a field of an object.
    - `thorough`: True if every number must be examined, so that the compiled check is not enough.
    - `as_sent`: True if the branch of a union is not known. Then the type of a number is not known
      either.
    - `compared`: the number of declared names that were compared with undeclared keys.
    - `is_guess`: True inside a union whose branches are not all tried. Its problems are only
      counted.
    - `mistakes`: the different mistakes in the list of problems. None until the list is long.
    - `repeated`: problems that were counted but not listed, by what they have in common.
    - `known`: the result of each branch of a union that was tried on a value.
    - `likely`: the branches of a union that an object may match.
    - `text_values`: the number of values that were read from JSON text. Reading them is slow, so it
      is limited.

    All trials share the last three, so that nested unions do not multiply the work.
    """

    __slots__ = (
        "as_sent",
        "compared",
        "declared",
        "has_names",
        "is_guess",
        "known",
        "likely",
        "limits",
        "mistakes",
        "more",
        "problem_paths",
        "problems",
        "repairs",
        "repeated",
        "slips",
        "text_values",
        "thorough",
        "wrapped_names",
    )

    def __init__(self, limits: Limits, *, thorough: bool, as_sent: bool = False) -> None:
        self.limits = limits
        self.thorough = thorough
        self.as_sent = as_sent
        self.repairs: list[Repair] = []
        self.problems: list[Problem] = []
        self.problem_paths: list[JsonPath] = []
        self.slips: list[Slip] = []
        self.declared: dict[JsonPath, Declared] = {}
        self.wrapped_names: set[str] = set()
        self.more = 0
        self.has_names = False
        self.is_guess = False
        self.mistakes: Mistakes | None = None
        self.repeated: dict[Kind, list[Any]] = {}
        self.compared = 0
        # A list, not a number: the trials of this call share it and add to the same count.
        self.text_values = [0]
        self.known: dict[Trial, tuple[Any, Any, Examination]] = {}
        self.likely: dict[tuple[Forms, int], tuple[Any, Forms]] = {}

    @property
    def only_slips(self) -> bool:
        """Return True if the call has only problems with undeclared keys, and `slips` has all of
        them.
        """
        # Problems past the cap count as well. If one of them is no slip, `mend` must not run.
        all_slips = len(self.slips) == len(self.problems) + self.more
        return all_slips and not self.repairs and not self.thorough

    @property
    def only_wrong_values(self) -> bool:
        """Return True if the call has only values of a wrong type, and all of them are listed."""
        if self.more or self.repairs or self.thorough or self.has_names:
            return False
        return all(each.code == "wrong-type" for each in self.problems)

    def fresh(self, shape: Shape | None = None) -> Examination:
        """Return an empty examination, for a trial of one branch of a union. `shape` is the shape
        of the union, if it is known.
        """
        # Once a branch is unknown, the types are unknown at every level below it.
        as_sent = self.as_sent or (shape is not None and shape.ambiguous)
        made = Examination(self.limits, thorough=self.thorough, as_sent=as_sent)
        made.known = self.known
        made.text_values = self.text_values
        made.likely = self.likely
        return made

    def take(self, other: Examination) -> None:
        """Add the findings of a trial. Problems that would make the list too long are only
        counted.
        """
        self.repairs += other.repairs
        room = max(0, MOST_PROBLEMS - len(self.problems))
        self.problems += other.problems[:room]
        self.problem_paths += other.problem_paths[:room]
        self.more += other.more
        for each in other.problems[room:]:
            if not self._is_counted(mistake_of(each)):
                self.problems.append(each)
                self.problem_paths.append(each.path)
        if other.mistakes is not None:
            self._known_mistakes().take(other.mistakes)
        for *_, mistake, count in other.repeated.values():
            self._known_mistakes().add(mistake, count)
        self.declared.update(other.declared)
        self.wrapped_names |= other.wrapped_names
        self.has_names = self.has_names or other.has_names

    def possible_forms(self, forms: Forms, value: Json) -> Forms:
        """Return the branches of a union that an object may match. The result is cached for each
        object.
        """
        # An object of a call cannot be hashed, so its id is the key.
        place = (forms, id(value))
        found = self.likely.get(place)
        if found is None:
            # The value is kept, so that no other one gets its id.
            found = self.likely[place] = (value, refusals.possible_forms(forms, value))
        return found[1]

    def repair(self, code: RepairCode, path: JsonPath) -> None:
        if len(self.repairs) < MOST_REPAIRS:
            self.repairs.append(Repair(code=code, path=path))

    def refuse(self, code: ProblemCode, path: JsonPath, message: str) -> None:
        if not self.is_only_counted(code, path):
            self.add(code, path, message)

    def refuse_type(self, shape: Shape, value: Any, path: JsonPath) -> None:
        # The sentence is not even made for a problem that is only counted: a list of a million
        # wrong items would need a million sentences.
        if not self.is_only_counted("wrong-type", path, shape):
            message = messages.wrong_type(shape, value)
            self.add("wrong-type", path, message, messages.wants(shape))

    def is_only_counted(
        self, code: ProblemCode, path: JsonPath, shape: Shape | None = None
    ) -> bool:
        """Return True if a problem is not to be listed. In this case, this method has counted it.
        `shape` is the declared shape if the problem is a value of a wrong type.
        """
        if len(self.problems) < MOST_PROBLEMS:
            return False
        kind = (id(shape), code, None)
        entry = self.repeated.get(kind)
        if entry is not None and self.repeats(entry, path):
            return True
        mistake = mistake_at(code, path, "" if shape is None else messages.wants(shape))
        is_counted = self._is_counted(mistake)
        if is_counted and shape is not None:
            self.expect(kind, path, mistake)
        return is_counted

    def expect(self, kind: Kind, path: JsonPath, mistake: Mistake) -> None:
        """Remember a problem that was counted, so that `repeats` recognises the next one like
        it.
        """
        self.repeated.setdefault(
            kind, [*(path[:1] or (None,)), *(path[-1:] or (None,)), len(path), mistake, 0]
        )

    def repeats(self, entry: list[Any], path: JsonPath) -> bool:
        """Return True if an equal problem of another item of the same array was counted before.
        Then this problem is counted too. This is a short cut, because there may be ten thousand
        such problems.
        """
        if entry[2] != len(path):
            return False
        # One shape may be declared for several fields, but not for a field and its items.
        if path and (entry[0] != path[0] or (entry[1] != path[-1] and type(path[-1]) is str)):
            return False
        entry[4] += 1
        self.more += 1
        return True

    def _is_counted(self, mistake: Mistake) -> bool:
        is_counted = self._known_mistakes().count(mistake, may_list=not self.is_guess)
        self.more += is_counted
        return is_counted

    def _known_mistakes(self) -> Mistakes:
        if self.mistakes is None:
            self.mistakes = Mistakes(self.problems)
        return self.mistakes

    def add(self, code: ProblemCode, path: JsonPath, message: str, rule: str = "") -> None:
        """Add a problem to the list."""
        self.problems.append(Problem(code=code, path=path, message=message, rule=rule))
        self.problem_paths.append(path)

    def close(self) -> None:
        """Store in each listed mistake how many problems of its kind are not listed."""
        mistakes = self._known_mistakes()
        for *_, mistake, count in self.repeated.values():
            mistakes.add(mistake, count)
        self.problems = mistakes.counted(self.problems)

    @property
    def has_stopped(self) -> bool:
        """Return True if the rest of the call is not examined, because there are too many problems
        or too many values in JSON text.
        """
        return self.more >= messages.MOST_COUNTED or self.has_too_much_text

    @property
    def has_too_much_text(self) -> bool:
        """Return True if more values were read from JSON text than a call may have."""
        return self.text_values[0] > self.limits.max_values

    def take_text(self, value: Any) -> bool:
        """Count a text, and all values of an object or array that was read from it. Return True if
        the limit is not exceeded.
        """
        is_scalar = not is_object(value) and not is_array(value)
        inside = 0 if is_scalar else count_values(value, self.limits.max_values)
        # The text itself counts too, or a million texts such as "5" would all be read.
        self.text_values[0] += 1 + inside
        if not self.has_too_much_text:
            return True
        self.more = messages.MOST_COUNTED  # nothing else is looked at
        return False

    @property
    def is_full(self) -> bool:
        """Return True if the list of problems is full. Further problems are only counted, unless
        they are new mistakes.
        """
        return len(self.problems) >= MOST_PROBLEMS

    def may_compare(self, form: ObjectShape) -> bool:
        """Return True if an undeclared key may be compared with the declared names of its
        object.
        """
        self.compared += len(form.fields)
        # The first object is compared in any case, however many fields it declares.
        return self.compared <= _MOST_COMPARED or self.compared == len(form.fields)
