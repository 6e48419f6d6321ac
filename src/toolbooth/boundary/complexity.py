"""Counts how much work the author's validation of a value would be, before it runs.

Pydantic validates a union of models without a tag by trying every model. If the models contain the
union again, the number of tries is multiplied at each level. A body of 200 bytes can then keep
Pydantic busy for hours. Counting the tries is quick, because it looks at each value only once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from toolbooth.boundary import messages
from toolbooth.boundary.read import text_as_json
from toolbooth.boundary.refusals import forms_with_tags_of
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, ObjectShape, Shape, item_shape

MOST_TRIES = 100_000
"""A call that needs more tries than this is refused. Three correct trees, each 14 levels deep, need
98,304.
"""

MOST_TRIES_TO_EXPLAIN = 500
"""After a refusal, the validation may still run to explain more problems. It does not run if it
needs more tries than this.
"""


def is_costly(contract: Contract, arguments: Any) -> bool:
    """Return True if the validation needs too many tries. It is then not run only to explain a
    refusal. Raises ToolInputError if it needs too many tries to run at all.
    """
    if not contract.has_recursive_unions or not is_object(arguments):
        return False
    tries, form = _Tries(), contract.shape.objects[0]
    counts = {key: tries.at_most(_shape_under(form, key), each) for key, each in arguments.items()}
    whole = sum(counts.values())
    if whole > MOST_TRIES:
        raise ToolInputError(_problems(counts), tool=contract.name)
    return whole > MOST_TRIES_TO_EXPLAIN


def is_costly_to_check(contract: Contract, corrected: Any) -> bool:
    """Return True if the validation needs too many tries. Checking a corrected call is not worth so
    much work.
    """
    try:
        return is_costly(contract, corrected)
    except ToolInputError:
        return True


def _problems(counts: dict[str, int]) -> list[Problem]:
    """Return a problem for each field that must become less deep. Fields are reported from the most
    expensive one on, until the tries of the remaining fields are below the limit.
    """
    problems: list[Problem] = []
    left = sum(counts.values())
    by_count = iter(sorted(counts, key=lambda key: counts[key], reverse=True))
    while left > MOST_TRIES:
        key = next(by_count)
        left -= counts[key]
        message = messages.too_complex(MOST_TRIES, alone=counts[key] > MOST_TRIES)
        problems.append(Problem(code="too-complex", path=(key,), message=message))
    return problems


_MAY_HAVE_FORMS = frozenset[type]((dict, list, str))
"""The types of values that a union of objects or arrays may accept. Text is one of them, because it
may contain JSON.
"""


class _TooMany(Exception):
    """Raised if a value needs more than MOST_TRIES."""


class _Tries:
    """Counts how many branches of unions are tried for a value, and caches the count of each
    value.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Any, int]] = {}
        self._texts: dict[str, Any] = {}

    def at_most(self, shape: Shape | None, value: Any) -> int:
        """Return the number of tries. Counting stops above MOST_TRIES."""
        try:
            return self.of(shape, value)
        except _TooMany:
            return MOST_TRIES + 1

    def of(self, shape: Shape | None, value: Any) -> int:
        if shape is None:
            return 0
        if shape.json_text and isinstance(value, str):
            value = self._read(value)
        forms = _forms_tried(shape, value)
        least = 1 if len(forms) > 1 else 0
        count = 0
        for form in forms:
            # Several unions may try the same form on the same value. Its count is cached, because
            # counting again would take as long as the validation.
            known = self._known.get((id(form), id(value)))
            inside = self._inside(form, value) if known is None else known[1]
            count += inside or least
        if count > MOST_TRIES:
            raise _TooMany
        return count

    def _read(self, text: str) -> Any:
        if text not in self._texts:
            self._texts[text] = text_as_json(text)
        return self._texts[text]

    def _inside(self, form: ObjectShape | ArrayShape, value: Any) -> int:
        if not value:
            return 0
        is_object_form = isinstance(form, ObjectShape)
        count = self._in_object(form, value) if is_object_form else self._in_array(form, value)
        # The value is kept, so that no other one gets its id.
        self._known[id(form), id(value)] = (value, count)
        return count

    def _in_object(self, form: ObjectShape, value: Json) -> int:
        count = 0
        for key, each in value.items():
            if type(each) in _MAY_HAVE_FORMS:
                shape = _shape_under(form, key)
                # Only JSON text has forms inside. Any other text is one value.
                if shape is not None and (shape.json_text or not isinstance(each, str)):
                    count += self.of(shape, each)
        return count

    def _in_array(self, form: ArrayShape, value: list[Any]) -> int:
        count = 0
        kinds = _kinds_with_forms(form)
        for index, each in enumerate(value):
            if type(each) in kinds:
                count += self.of(item_shape(form, index), each)
                # Compared inside the loop, so that counting stops early in a long array.
                if count > MOST_TRIES:
                    raise _TooMany
        return count


def _kinds_with_forms(form: ArrayShape) -> Collection[type]:
    """Return the types of items that need to be counted: objects and arrays, and also text if it
    may be JSON.
    """
    shapes = [each for each in (*form.prefix, form.items) if each is not None]
    has_json_text = any(each.json_text for each in shapes)
    return _MAY_HAVE_FORMS if has_json_text else _MAY_HAVE_FORMS - {str}


def _forms_tried(shape: Shape, value: Any) -> Sequence[ObjectShape | ArrayShape]:
    if is_object(value):
        forms = shape.objects
        # Not ambiguous: a tag names the form.
        return forms if len(forms) < 2 or shape.ambiguous else forms_with_tags_of(forms, value)
    return shape.arrays if is_array(value) else ()


def _shape_under(form: ObjectShape, key: str) -> Shape | None:
    declared = form.fields.get(key)
    return undeclared_shape(form, key) if declared is None else declared.shape
