"""Explains keys of a union that belong to another branch than the one that was sent."""

from __future__ import annotations

from collections.abc import Sequence

from toolbooth.boundary.keys.messages import of_another_form, of_tagged_form
from toolbooth.boundary.refusals import tags_of
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, JsonPath
from toolbooth.shape import ObjectShape


def of_other_forms(
    forms: Sequence[ObjectShape], problems: list[Problem], path: JsonPath, value: Json
) -> list[Problem]:
    """Return the problems of an object that was read as one branch of a union. If an unknown key is
    declared in another branch, the message says which keys it cannot be sent with.
    """
    # In an open form, the key may be a wrapper.
    if not problems or any(form.additional is not None for form in forms):
        return problems
    return [_of_another_form(forms, problem, path, value) for problem in problems]


def _of_another_form(
    forms: Sequence[ObjectShape], problem: Problem, path: JsonPath, value: Json
) -> Problem:
    # A problem at a deeper level is about the value of one key, and not about the form.
    if problem.code not in ("unknown-key", "nested-wrapper") or problem.path[:-1] != path:
        return problem
    name = str(problem.path[-1])
    others = [form for form in forms if name in form.fields]
    if not others:
        return problem
    tag = next((each for each in sorted(tags_of(forms)) if each in value), None)
    if tag is not None:
        found = (each for form in others for each in form.fields[tag].shape.constants or ())
        message = of_tagged_form(name, tag, found)
    else:
        likeliest = max(others, key=lambda form: len(form.fields.keys() & value.keys()))
        declared = {each for form in forms for each in form.fields}
        against = [each for each in value if each in declared - likeliest.fields.keys()]
        others = [each for each in likeliest.names if each != name]
        message = of_another_form(name, tuple(against), tuple(others))
    return Problem(code="unknown-key", path=problem.path, message=message)
