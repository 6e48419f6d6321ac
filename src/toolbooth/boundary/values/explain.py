"""The last stage of a refusal: adds advice to the problems. For a wrong value, the advice is its
possible meaning, an example, or advice that the author wrote. If nothing in a call is right, the
refusal gets a template of the call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from toolbooth.boundary.cures.places import Place, place_of
from toolbooth.boundary.keys.messages import (
    unknown_field,
    unknown_for_items,
    unknown_for_missing,
)
from toolbooth.boundary.refusals import (
    field_at,
    form_at,
    likely_forms,
    possible_forms,
    to_mention,
)
from toolbooth.boundary.secrecy import hide_secrets
from toolbooth.boundary.values import messages
from toolbooth.boundary.values.blank_form import blank_form
from toolbooth.boundary.values.branches import declared_by_forms, with_every_form
from toolbooth.boundary.values.example import example_at
from toolbooth.boundary.values.hints import UNITS, hint
from toolbooth.contract import Contract
from toolbooth.errors import (
    Declared,
    Edit,
    Move,
    Problem,
    Rename,
    Rewrite,
    Split,
    ToolInputError,
    Unwrap,
)
from toolbooth.jsonvalue import JsonPath, is_array, is_object, look_up
from toolbooth.shape import ObjectShape, Shape
from toolbooth.shape_check import fits

_MOST_KEPT = 500
"""Advice is cached for at most this many paths of a tool. An open object may have any number of
paths.
"""

_UNKNOWN = ("missing", "unknown-key", "nested-wrapper")
"""Codes of problems which show that the caller does not know the fields."""


def explained(
    contract: Contract,
    arguments: Any,
    problems: list[Problem],
    *,
    declared: dict[JsonPath, Declared],
    corrected: Any = None,
    edits: Sequence[Edit] = (),
    more: int = 0,
) -> ToolInputError:
    """Return the refusal with advice and without secrets. If there is a corrected call, the only
    advice is which assumptions it makes.
    """
    form = None
    if edits:
        problems = _with_time_zone(problems, edits, arguments)
        problems = _as_corrected(problems, edits, arguments)
    if corrected is None:
        problems = _with_advice(problems, edits, contract, arguments)
    if contract.has_forms:
        problems = with_every_form(problems, contract, arguments)
    if corrected is None:
        # An edit is certain, so the refusal needs neither a question nor a blank form.
        if not edits:
            problems = _with_question(problems, contract, arguments)
            problems = _with_items(problems, contract, arguments)
            form = None if more else _form(problems, contract, arguments)
        if contract.has_forms and declared:
            declared = declared_by_forms(declared, contract, arguments)
    refusal = ToolInputError(
        problems,
        tool=contract.name,
        declared=declared,
        corrected=corrected,
        edits=edits,
        form=form,
        is_empty=form is not None and not arguments,
        more=more,
    )
    return hide_secrets(refusal, contract.shape, arguments)


# --- values -------------------------------------------------------------------------------------


def _with_advice(
    found: list[Problem], edits: Sequence[Edit], contract: Contract, arguments: Any
) -> list[Problem]:
    edited = {_source(edit) for edit in edits}
    problems: list[Problem] = []
    for each in found:
        instead = _instead(contract, each)
        if instead is not None:
            each = replace(each, message=messages.with_advice(each.message, (instead,)))
        needs_advice = each.code == "wrong-type" or messages.can_be_shown(each.kind)
        # The edit already shows the right value.
        if needs_advice and each.path not in edited:
            message = messages.with_advice(each.message, _advice(contract, each.path, arguments))
            # `dataclasses.replace` takes five times as long.
            each = Problem(
                code=each.code,
                path=each.path,
                message=message,
                kind=each.kind,
                rule=each.rule,
                unlisted=each.unlisted,
            )
        problems.append(each)
    return problems


def _with_time_zone(
    problems: list[Problem], edits: Sequence[Edit], arguments: Any
) -> list[Problem]:
    """If a number is corrected to a date and time, add the assumed time zone to its problem."""
    for edit in edits:
        if not isinstance(edit, Rewrite):
            continue
        number = _number_for_time(edit, arguments)
        if number:
            unit, _ = UNITS[len(number)]
            advice = messages.as_utc(number, unit)
            problems = [_about(each, edit.source, advice) for each in problems]
    return problems


def _as_corrected(problems: list[Problem], edits: Sequence[Edit], arguments: Any) -> list[Problem]:
    """Reword the problems so that they agree with the edits."""
    made: list[Problem] = []
    for each in problems:
        message = ""
        if each.code == "missing":
            message = _sent_instead(each.path, edits, arguments)
        # `address_city` is similar to `address`, but is sent as the `city` in it.
        elif each.code == "unknown-key" and _is_moved(each.path, edits):
            message = unknown_field(str(each.path[-1]), None)
        made.append(replace(each, message=message, rule=message) if message else each)
    return made


def _sent_instead(missing: JsonPath, edits: Sequence[Edit], arguments: Any) -> str:
    """Return the words that say where a missing field was sent. An open object, for example,
    accepts it under a wrong name. Return empty text if the field was not sent anywhere.
    """
    for edit in edits:
        if isinstance(edit, Rename) and missing == (*edit.source[:-1], edit.name):
            return messages.sent_as(str(edit.source[-1]))
        if isinstance(edit, Unwrap) and _is_inside(missing, edit, arguments):
            return messages.sent_inside(str(edit.source[-1]))
    return ""


def _is_inside(missing: JsonPath, edit: Unwrap, arguments: Any) -> bool:
    return len(missing) == 1 and look_up(arguments, (*edit.source, *missing)) is not None


def _is_moved(path: JsonPath, edits: Sequence[Edit]) -> bool:
    """Return True if an edit moves the key at a path to another object."""
    for edit in edits:
        if isinstance(edit, Split):
            if path[-1:] == (edit.key,):
                return True
        elif isinstance(edit, Move) and edit.source == path:
            return True
    return False


def _number_for_time(edit: Rewrite, arguments: Any) -> str:
    """Return the digits of a number that an edit replaces by a date and time. Return empty text for
    any other edit.
    """
    sent = look_up(arguments, edit.source)
    digits = str(sent) if type(sent) in (int, str) else ""
    is_time = digits.isdecimal() and len(digits) in UNITS and str(edit.value).endswith("Z")
    return digits if is_time else ""


def _about(problem: Problem, source: JsonPath, advice: str) -> Problem:
    """Add the advice to the problem, if the problem is about the value at the path `source`, or
    about an object that contains this value.
    """
    if problem.path != source[: len(problem.path)]:
        return problem
    # A question keeps its question mark.
    if problem.message.endswith("?"):
        return replace(problem, message=f"{problem.message} {advice}")
    return replace(problem, message=messages.with_advice(problem.message, (advice,)))


def with_meaning(problem: Problem, contract: Contract, arguments: Any) -> Problem:
    """Add the possible meaning of a value to a problem that the tool itself raised for this
    value.
    """
    place, _ = _place(contract, problem.path, arguments) if problem.path else (None, ())
    if place is None or problem.code != "invalid":
        return problem
    meaning = hint(place, look_up(arguments, problem.path))
    message = messages.with_advice(problem.message, (meaning,)) if meaning else problem.message
    return replace(problem, message=message)


def _instead(contract: Contract, problem: Problem) -> str | None:
    if problem.code != "unknown-key" or contract.about_unknown is None:
        return None
    return contract.about_unknown(problem.path)


def _source(edit: Edit) -> JsonPath:
    return (edit.key,) if isinstance(edit, Split) else edit.source


def _advice(contract: Contract, path: JsonPath, arguments: Any) -> tuple[str, ...]:
    """Return the advice for the value at a path."""
    place, usual = _place(contract, path, arguments)
    meaning = "" if place is None else hint(place, look_up(arguments, path))
    return (meaning,) if meaning else usual


def _place(
    contract: Contract, path: JsonPath, arguments: Any
) -> tuple[Place | None, tuple[str, ...]]:
    """Return what is declared at a path, and the advice for any wrong value there. Both are cached,
    unless they depend on the other arguments.
    """
    if contract.has_forms:
        return _found_place(contract, path, arguments)
    # All items of an array share one entry: `lines[0].sku` and `lines[99].sku` have the same
    # advice.
    generic = tuple(map(_any_index, path))
    known = contract.cached_advice.get(generic)
    if known is None:
        known = _found_place(contract, path, arguments)
        if len(contract.cached_advice) < _MOST_KEPT:
            contract.cached_advice[generic] = known
    return known


def _any_index(step: str | int) -> str | int:
    return 0 if isinstance(step, int) else step


def _found_place(
    contract: Contract, path: JsonPath, arguments: Any
) -> tuple[Place | None, tuple[str, ...]]:
    shape, field = field_at(contract.shape, path, arguments)
    if shape is None or shape.has_secret or shape.named_by:  # the message has the advice
        return None, ()
    # Nothing may be sent here, which the message says already.
    if not shape.types and not shape.opaque:
        return None, ()
    # The advice "leave it out" would turn a preview into a write.
    if field is not None and field.exact:
        return None, ()
    required = field is None or field.required
    place = place_of(shape, contract.schema, path, field)
    advice: list[str] = []
    if not shape.is_row_key and (example := example_at(contract, place)):
        advice.append(messages.example(example))
    if not required:
        advice.append(messages.UNKNOWN)
    # This field is required, so it cannot be left out, but it may be null.
    elif "null" in shape.types and field is not None and not shape.opaque:
        advice.append(messages.NULL_IF_UNKNOWN)
    return place, tuple(advice)


# --- names --------------------------------------------------------------------------------------


def _with_question(problems: list[Problem], contract: Contract, arguments: Any) -> list[Problem]:
    """Ask the agent about a possible misspelling. This is done if an object has one unknown key and
    one missing field, and the value of the key fits the field.
    """
    missing = [each.path for each in problems if each.code == "missing"]
    unknown = [each for each in problems if each.code in ("unknown-key", "nested-wrapper")]
    # If there are several, each pair would be a guess.
    if len(missing) != 1 or len(unknown) != 1 or unknown[0].path[:-1] != missing[0][:-1]:
        return problems
    [problem], [(*above, last)] = unknown, missing
    key, name = str(problem.path[-1]), str(last)
    shape, _ = field_at(contract.shape, tuple(above), arguments)
    beside = look_up(arguments, problem.path[:-1])
    if shape is None or not shape.objects or not is_object(beside):
        return problems
    forms = likely_forms(shape.objects, beside)
    # If the forms of a union need different fields, one of them would be a guess.
    if not all(name in form.fields for form in forms):
        return problems
    # A similar declared name was already suggested, and is more likely.
    if to_mention(key, forms[0], beside) is not None:
        return problems
    value = look_up(arguments, problem.path)
    if not any(_fits(form.fields[name].shape, value) for form in forms):
        return problems
    asked = replace(problem, message=unknown_for_missing(key, name))
    at = problems.index(problem)
    return [*problems[:at], asked, *problems[at + 1 :]]


def _with_items(problems: list[Problem], contract: Contract, arguments: Any) -> list[Problem]:
    """If fields of an array item were sent beside the missing array, say in the problems that they
    belong inside the items.
    """
    missing = [each.path for each in problems if each.code == "missing"]
    if len(missing) != 1:
        return problems
    unknown = [each for each in problems if each.code in ("unknown-key", "nested-wrapper")]
    if not unknown:
        return problems
    [(*above, name)] = missing
    form = form_at(contract.shape, tuple(above), arguments)
    fields = _fields_of_items(form, str(name))
    for each in unknown:
        is_beside = each.code == "unknown-key" and each.path[:-1] == tuple(above)
        if not is_beside or each.path[-1] not in fields:
            return problems
    made: list[Problem] = []
    for each in problems:
        if each.code == "unknown-key":
            each = replace(each, message=unknown_for_items(str(each.path[-1]), str(name)))
        made.append(each)
    return made


def _fields_of_items(form: ObjectShape | None, name: str) -> Collection[str]:
    """Return the fields of the objects in the array `name`. Return nothing if the array has other
    items.
    """
    if form is None or name not in form.fields:
        return ()
    arrays = form.fields[name].shape.arrays
    items = arrays[0].items if len(arrays) == 1 else None
    return items.objects[0].fields if items is not None and len(items.objects) == 1 else ()


def _fits(shape: Shape, value: Any) -> bool:
    try:
        return not shape.opaque and fits(shape, value)
    except ValueError:  # the compiled check cannot read numbers that are kept as written
        return False


# --- the form of a call ---------------------------------------------------------------------------


def _form(problems: list[Problem], contract: Contract, arguments: Any) -> Any:
    """Return a template of the call if nothing in the call is right. Otherwise return None."""
    codes = {each.code for each in problems}
    # A value under its declared name shows that the caller knows the fields.
    if codes.isdisjoint(_UNKNOWN) or "swallowed-argument" in codes:
        return None
    if not is_object(arguments) or not contract.shape.objects:
        return None
    form = possible_forms(contract.shape.objects, arguments)[0]
    wrong = {each.path for each in problems}
    if any(_has_right(form, key, each, wrong) for key, each in arguments.items()):
        return None
    # If no field is required, the list of fields is enough.
    needs_some = any(form.fields[name].required for name in form.names)
    return blank_form(form) if needs_some else None


def _has_right(form: ObjectShape, key: str, value: Any, wrong: set[JsonPath]) -> bool:
    """Return True if a key shows that the caller knows the fields. Declared fields inside a wrapper
    count too.
    """
    if key not in form.fields and is_object(value) and not form.fields.keys().isdisjoint(value):
        return True
    # `page` and similar arguments are for the server. They do not show that the tool's own fields
    # are known.
    return key not in form.controls and _is_right(value, (key,), wrong)


def _is_right(value: Any, path: JsonPath, wrong: set[JsonPath]) -> bool:
    """Return True if some part of a value is right."""
    if path in wrong:
        return False
    if is_object(value):
        return any(_is_right(each, (*path, key), wrong) for key, each in value.items())
    if is_array(value):
        return any(_is_right(each, (*path, at), wrong) for at, each in enumerate(value))
    return True
