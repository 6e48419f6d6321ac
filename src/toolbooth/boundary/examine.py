"""Stage 2: examines the arguments from the top down. For each value, keys that a client added are
removed first, then the value is repaired, and then it may be refused.

In: the arguments as read. Out: the repaired arguments, the repairs and the problems. Parts that
pass the compiled check are not examined.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import jiter

from toolbooth.boundary import messages, refusals, repairs
from toolbooth.boundary.examination import MOST_SLIPS, Examination, Kind
from toolbooth.boundary.integers import short_integer
from toolbooth.boundary.keys import wrappers
from toolbooth.boundary.keys.declared import declared_in
from toolbooth.boundary.messages import MOST_COUNTED
from toolbooth.boundary.mistakes import mistake_at
from toolbooth.boundary.numbers import declared_number, free_numbers
from toolbooth.boundary.other_forms import of_other_forms
from toolbooth.boundary.read import text_as_object
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Limits
from toolbooth.errors import ProblemCode
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object, look_up, path_text
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, Field, ObjectShape, Shape, is_integer_only
from toolbooth.shape_check import fits, plain_fields, plain_types

_WITHOUT_NUMBERS = (str, bool, int, type(None))
"""Types of values that contain no number with a point, so that no digit can be lost."""

_MOST_IN_A_ROW = 8
"""If this many items in a row fail the compiled check, the check is not tried on the remaining
items.
"""


def examine(
    shape: Shape, arguments: Json, limits: Limits, *, thorough: bool
) -> tuple[Any, Examination]:
    """Examine the arguments of one call. Return the repaired arguments, and the findings."""
    exam = Examination(limits, thorough=thorough)
    made = _objects(shape, arguments, (), exam)
    if exam.mistakes is not None:
        exam.close()
    return made, exam


def _value(shape: Shape, value: Any, path: JsonPath, exam: Examination) -> Any:
    """Examine the value at one path."""
    if shape.opaque:
        # A value here is never repaired or refused for its type, but a number could still lose
        # digits.
        return free_numbers(shape, value, path, exam.refuse) if exam.thorough else value
    if isinstance(value, str) and ("string" not in shape.types or shape.json_text):
        return _value_in_text(shape, value, path, exam)
    if shape.objects and is_object(value):
        return _objects(shape, value, path, exam)
    if shape.arrays and is_array(value):
        return _arrays(shape, value, path, exam)
    if not repairs.admits(shape, value):
        exam.refuse_type(shape, value, path)
        if type(value) in _WITHOUT_NUMBERS:
            return value
        # The value is refused already. Its numbers still become plain numbers, because the author's
        # validation runs on the whole call and cannot read numbers as written.
        return free_numbers(None, value, path, exam.fresh().refuse)
    if isinstance(value, float | jiter.LosslessFloat):
        return declared_number(shape, value, path, exam.refuse, as_sent=exam.as_sent)
    # Pydantic would read "1700000000" as seconds since 1970, and a longer number as milliseconds.
    # That is a guess.
    if shape.temporal and isinstance(value, str) and refusals.is_number_text(value):
        exam.refuse("wrong-type", path, messages.number_for_time(shape, value))
    if shape.named_by and isinstance(value, str) and value and not refusals.is_uuid(value):
        _refuse_text(shape, value, path, exam, repairs.WRONG_TYPE)
    return value


def _value_in_text(shape: Shape, value: str, path: JsonPath, exam: Examination) -> Any:
    """Examine a text, where the declared type is another one or JSON text."""
    # Values inside the text are as deep as the text itself, or deeper.
    found = repairs.text(shape, value, exam.limits.below(len(path)))
    if isinstance(found, repairs.Unrepairable):
        _refuse_text(shape, value, path, exam, found)
        return value
    decoded, code = found
    if not exam.take_text(decoded):
        return value
    if decoded is None and "null" not in shape.types:
        exam.refuse_type(shape, value, path)
        return value
    if not shape.json_text:
        exam.repair(code, path)
    if type(decoded) in plain_types(shape):
        return decoded
    inner = exam.fresh()
    inner.thorough = True  # numbers inside the text were not read with the call
    made = _value(shape, decoded, path, inner)
    exam.take(inner)
    return made


def _refuse_text(
    shape: Shape, value: str, path: JsonPath, exam: Examination, why: repairs.Unrepairable
) -> None:
    """Refuse a text where text is not declared. If an object is declared, the message may advise
    sending the text as one of its fields.
    """
    exam.has_names = exam.has_names or bool(shape.named_by)
    if exam.is_only_counted(why.code, path, shape):
        return
    message = messages.wrong_type(shape, value, why.message)
    if shape.named_by and refusals.is_name(value):
        message = messages.name_it(message, shape.named_by, value)
    exam.add(why.code, path, message, messages.wants(shape))


def _objects(shape: Shape, value: Json, path: JsonPath, exam: Examination) -> Any:
    """Examine an object. If a union is declared, use the branch that fits best."""
    # An empty object contains nothing wrong. The author's validation finds missing fields.
    if not value:
        return value
    if len(shape.objects) == 1:
        return _object(shape.objects[0], value, path, exam)
    possible = exam.possible_forms(shape.objects, value)
    # The call is refused in any case, and further problems are only counted.
    if exam.is_full:
        return _guessed(_object, possible[0], value, path, exam)
    trials = [(form, _object) for form in possible]
    first = len(exam.problems)
    made = _best(shape, trials, value, path, exam)
    own = exam.problems[first:]
    exam.problems[first:] = of_other_forms(shape.objects, own, path, value)
    return made


def _arrays(shape: Shape, value: list[Any], path: JsonPath, exam: Examination) -> Any:
    if not exam.thorough and fits(shape, value):
        return value
    if len(shape.arrays) == 1:
        return _array(shape.arrays[0], value, path, exam)
    if exam.is_full:
        return _guessed(_array, shape.arrays[0], value, path, exam)
    return _best(shape, [(form, _array) for form in shape.arrays], value, path, exam)


def _guessed(walk: Any, form: Any, value: Any, path: JsonPath, exam: Examination) -> Any:
    """Examine a value by the first branch of a union only. The other branches are not tried."""
    outer, exam.is_guess = exam.is_guess, True
    made = walk(form, value, path, exam)
    exam.is_guess = outer
    return made


def _best(
    shape: Shape, trials: list[tuple[Any, Any]], value: Any, path: JsonPath, exam: Examination
) -> Any:
    """Try every branch of a union. Use repairs only if exactly one branch fits with them."""
    tried: list[tuple[Any, Examination]] = []
    for form, walk in trials:
        made, own = _tried(shape, form, walk, value, path, exam)
        # A form that fits without any repair wins at once, in the author's order.
        if not own.problems and not own.repairs:
            return made
        tried.append((made, own))
    clean = [(made, own) for made, own in tried if not own.problems]
    # If no form fits, the one with the fewest problems was probably meant.
    made, own = clean[0] if clean else min(tried, key=_problem_count)
    exam.take(own)
    # Two forms fit after repairs, but with different values: then no repair is certain.
    ambiguous = any(other != made for other, _ in clean) or (
        clean and _reads_otherwise(trials, tried, made, value, path, exam)
    )
    if ambiguous:
        exam.refuse("wrong-type", path, messages.AMBIGUOUS)
    return made


def _tried(
    shape: Shape, form: Any, walk: Any, value: Any, path: JsonPath, exam: Examination
) -> tuple[Any, Examination]:
    """Try one branch of a union on a value. The result is cached, so each branch is tried only once
    on each value.
    """
    trial = (id(form), id(value), exam.thorough, exam.as_sent or shape.ambiguous)
    found = exam.known.get(trial)
    if found is None:
        own = exam.fresh(shape)
        made = walk(form, value, path, own)
        # The value is kept, so that no other one gets its id.
        found = exam.known[trial] = (value, made, own)
    return found[1], found[2]


def _problem_count(trial: tuple[Any, Examination]) -> int:
    _, own = trial
    return len(own.problems) + own.more


def _reads_otherwise(
    trials: list[tuple[Any, Any]],
    tried: list[tuple[Any, Examination]],
    made: Any,
    value: Any,
    path: JsonPath,
    exam: Examination,
) -> bool:
    """Return True if the object also fits another branch of the union. Some empty keys were left
    out of the object before, and the other branch does not declare these keys.
    """
    if not is_object(made) or len(made) == len(value):
        return False
    for (form, walk), (_, own) in zip(trials, tried, strict=True):
        again = exam.fresh()
        if (
            own.problems
            and walk(form, made, path, again) == made
            and not again.problems
            and not again.repairs
        ):
            return _has_all(form, made)
    return False


def _has_all(form: ObjectShape, made: Json) -> bool:
    return all(name in made for name in form.names if form.fields[name].required)


def _object(form: ObjectShape, value: Json, path: JsonPath, exam: Examination) -> Json:
    made = value.copy()  # most values stay as they are
    sent: dict[int, str] = {}
    # A field can be sent twice only if it has an alias.
    aliased = len(form.fields) > len(form.names)
    fields, plain = form.fields, plain_fields(form)
    for key, each in value.items():
        if type(each) in plain.get(key, ()):
            continue
        if exam.more >= MOST_COUNTED:
            break
        declared = fields.get(key)
        if declared is None:
            kept = _undeclared_key(form, key, value, path, exam)
            if kept is NOT_SENT and len(exam.slips) < MOST_SLIPS:
                exam.slips.append((made, form, key, each, path))
        elif aliased and sent.setdefault(id(declared), key) != key:
            exam.refuse(
                "conflicting-keys", (*path, key), messages.conflicting(key, sent[id(declared)])
            )
            kept = NOT_SENT
        else:
            kept = _field(declared, each, (*path, key), exam)
        # The problem is reported already. The author's validation would only report the key again.
        if kept is NOT_SENT:
            del made[key]
        elif kept is not each:
            made[key] = kept
    if form.exclusive_paths:
        _refuse_conflicts(form, made, path, exam)
    return made


def _refuse_conflicts(form: ObjectShape, made: Json, path: JsonPath, exam: Examination) -> None:
    """Refuse a call that sends one field at two paths. The author's model would read only one of
    them and ignore the other.
    """
    for paths in form.exclusive_paths:
        sent = [each for each in paths if look_up(made, each) is not None]
        for other in sent[1:]:
            exam.refuse(
                "conflicting-keys",
                (*path, *other),
                messages.conflicting(path_text(other), path_text(sent[0])),
            )
            # The author's model may report either of them. Both are reported already.
            exam.problem_paths.append((*path, *sent[0]))


def _field(declared: Field, value: Any, path: JsonPath, exam: Examination) -> Any:
    shape = declared.shape
    if declared.exact and type(value) not in plain_types(shape):
        exam.refuse("wrong-type", path, messages.not_exact(shape, value))
        return NOT_SENT
    # This is the usual object. `_value` would call the same function after more checks.
    if len(shape.objects) == 1 and is_object(value) and not shape.opaque:
        return _object(shape.objects[0], value, path, exam)
    if value == "null" and _is_null_text(declared):
        if not shape.json_text:
            exam.repair("json-text", path)
        value = None
    code = repairs.left_out(declared, value)
    if code is not None:
        exam.repair(code, path)
        # As if the key had not been sent, so the author's default applies.
        return NOT_SENT
    return _value(shape, value, path, exam)


def _is_null_text(declared: Field) -> bool:
    """Return True if the text "null" can only mean null for this field
    (anthropics/claude-code#95239, 2026-09-17).
    """
    shape = declared.shape
    return (
        not shape.opaque
        and not declared.required
        and not declared.verbatim
        and "string" not in shape.types
    )


def _undeclared_key(
    form: ObjectShape, key: str, beside: Json, path: JsonPath, exam: Examination
) -> Any:
    """Examine an undeclared key of `beside`. If the client added it, it is removed. If the object
    is open, it is kept. Otherwise it is refused.
    """
    value: Any = beside[key]
    kind: Kind | None = None
    if not path and repairs.is_client_key(key, value, form):
        exam.repair("client-key", (key,))
        return NOT_SENT
    # Most keys of a hostile call are only counted: looking into a million of them costs too much.
    if exam.mistakes is not None and form.additional is None:
        # Text may contain an object, so its type does not show the kind of mistake.
        if type(value) is not str or value[:1].isalnum():
            kind = (id(form), key, value.__class__)
            entry = exam.repeated.get(kind)
            if entry is not None and exam.repeats(entry, path):
                return NOT_SENT
        if not exam.mistakes.may_list(key):
            exam.more += 1
            return NOT_SENT
    place = (*path, key)
    inner = text_as_object(value, exam.limits)
    shape = undeclared_shape(form, key)
    if shape is not None and not wrappers.is_wrapper(form, key, inner, beside):
        return _value(shape, value, place, exam)
    code: ProblemCode = "unknown-key" if inner is None else "nested-wrapper"
    if exam.is_only_counted(code, place):
        if kind is not None:
            exam.expect(kind, path, mistake_at(code, place))
        return NOT_SENT
    exam.declared[path] = declared_in(form)
    if inner is not None:
        exam.wrapped_names |= refusals.names_inside(inner)
    compares = exam.may_compare(form)
    code, message = wrappers.undeclared_key(form, key, inner, beside, path, compares=compares)
    exam.add(code, place, message)
    return NOT_SENT


def _array(form: ArrayShape, value: list[Any], path: JsonPath, exam: Examination) -> list[Any]:
    made: list[Any] = []
    items, prefix, thorough = form.items, len(form.prefix), exam.thorough
    plain = () if items is None else _plain_items(items)
    in_a_row = 0
    for index, each in enumerate(value):
        if exam.more >= MOST_COUNTED:
            break
        if index < prefix:
            made.append(_value(form.prefix[index], each, (*path, index), exam))
        elif form.closed and index < len(value) - form.last:
            exam.refuse("unknown-key", (*path, index), messages.never_read(form))
        elif items is None:
            free = free_numbers(None, each, (*path, index), exam.refuse) if thorough else each
            made.append(free)
        elif type(each) in plain:
            made.append(each)
        elif not thorough and in_a_row < _MOST_IN_A_ROW and fits(items, each):
            in_a_row = 0
            made.append(each)
        else:
            in_a_row += 1
            made.append(_item(items, each, (*path, index), exam))
    return made


def _plain_items(shape: Shape) -> Collection[type]:
    """Return the types of items that need no further check. Float is left out, because a float may
    have to become an integer.
    """
    return plain_types(shape) - {float} if shape.constants is None else ()


def _item(shape: Shape, value: Any, path: JsonPath, exam: Examination) -> Any:
    if is_object(value) and len(shape.objects) == 1 and not shape.opaque:
        return _object(shape.objects[0], value, path, exam)
    if type(value) is jiter.LosslessFloat and is_integer_only(shape) and not exam.as_sent:
        whole = None if shape.ambiguous or shape.opaque else short_integer(value)
        if whole is not None:
            return whole
    return _value(shape, value, path, exam)
