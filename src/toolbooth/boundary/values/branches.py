"""Reports problems of objects for which a union is declared. A refusal then names every branch that
is still possible, and not only the missing fields of one branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbooth.boundary.keys.declared import declared_in
from toolbooth.boundary.refusals import field_at, likely_forms, tags_of
from toolbooth.boundary.values import messages
from toolbooth.contract import Contract
from toolbooth.errors import Declared, Problem
from toolbooth.jsonvalue import Json, JsonPath, is_object, look_up, same_json
from toolbooth.shape import ObjectShape

_LACKS = ("missing", "invalid")


def with_every_form(problems: list[Problem], contract: Contract, arguments: Any) -> list[Problem]:
    """Replace the problems of each object for which a union is declared. Such an object gets one
    problem, which names all possible branches.
    """
    kept: list[Problem] = []
    done: set[JsonPath] = set()
    for each in problems:
        place = _object_of(each)
        # One sentence names the missing fields of every form. Other problems of the same object
        # would only repeat part of it.
        if place in done and each.code in _LACKS:
            continue
        named = None
        if each.path and each.code in _LACKS:
            named = _named(each, place, contract, arguments)
        if named is not None:
            done.add(place)
        kept.append(each if named is None else named)
    return kept


def _object_of(problem: Problem) -> JsonPath:
    """Return the path of the object that a problem is about."""
    # Pydantic reports a wrong tag at the object, and all other errors at a key.
    is_tagged = (problem.kind or "").startswith("union_tag_")
    return problem.path if is_tagged else problem.path[:-1]


def _named(problem: Problem, place: JsonPath, contract: Contract, arguments: Any) -> Problem | None:
    """Return a problem that names the possible branches of a union. Return None if only one branch
    is possible, or if the problem is about something else.
    """
    shape, _ = field_at(contract.shape, place, arguments)
    value = look_up(arguments, place)
    if shape is None or len(shape.objects) < 2 or not is_object(value):
        return None
    # Sorted, because a set has no order, and the same call must always get the same sentence.
    tags = sorted(tags_of(shape.objects))
    if tags:
        return _by_tag(problem, place, shape.objects, tags[0], value)
    return _by_fields(problem, shape.objects, value) if problem.code == "missing" else None


def _by_tag(
    problem: Problem, place: JsonPath, forms: tuple[ObjectShape, ...], tag: str, value: Json
) -> Problem | None:
    sent = value.get(tag)
    found = [each for form in forms for each in form.fields[tag].shape.constants or ()]
    # The tag is valid, so the problem is about another field of this form.
    if any(same_json(sent, each) for each in found):
        return None
    rule = messages.forms_by_tag(forms, tag, value)
    message = messages.with_tag_sent(rule, value.get(tag))
    code = "invalid" if tag in value else "missing"
    # The path is that of the tag, because the agent must change this key.
    return replace(problem, code=code, path=(*place, tag), message=message, rule=rule)


def _by_fields(problem: Problem, forms: tuple[ObjectShape, ...], value: Json) -> Problem | None:
    possible = likely_forms(forms, value)
    lacking = [_lacking(form, value) for form in possible]
    # A form without missing fields was refused for another reason.
    if len(possible) < 2 or not all(lacking):
        return None
    return replace(problem, message=messages.forms_by_fields(lacking))


def _lacking(form: ObjectShape, value: Json) -> tuple[str, ...]:
    """Return the required fields that were not sent."""
    return tuple(name for name in form.names if form.fields[name].required and name not in value)


def declared_by_forms(
    found: Mapping[JsonPath, Declared], contract: Contract, arguments: Any
) -> dict[JsonPath, Declared]:
    """Return the declared fields of each object. For a union, they are from all branches that the
    object may match.
    """
    declared = dict(found)
    for path in declared:
        shape, _ = field_at(contract.shape, path, arguments)
        value = look_up(arguments, path)
        if shape is not None and len(shape.objects) > 1 and is_object(value):
            declared[path] = declared_in(*likely_forms(shape.objects, value))
    return declared
