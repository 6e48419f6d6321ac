"""Recognises errors of the author's validation that only repeat a problem of the examination."""

from __future__ import annotations

from collections.abc import Collection

from toolbooth.boundary.examination import Examination
from toolbooth.boundary.objections import WireLocation
from toolbooth.boundary.refusals import tags_of
from toolbooth.contract import Objection
from toolbooth.jsonvalue import JsonPath

KEY_PROBLEMS = ("unknown-key", "nested-wrapper", "conflicting-keys")
"""The codes of problems whose messages contain names but never a value."""


def repeats_examination(exam: Examination, found: WireLocation, objection: Objection) -> bool:
    """Return True if an error of the author's validation only repeats a problem of the
    examination.
    """
    lacking = _lacking(found, objection)
    if not exam.wrapped_names.isdisjoint(lacking):
        return True
    path = found.path if found.branch is None else found.branch[0]
    above = any(path[: len(place)] == place for place in exam.problem_paths if place)
    # Undeclared keys are not among the values that were validated. So what else an object of a
    # union lacks is a problem of its own.
    is_in_union = found.branch is not None or objection.kind == "union_tag_not_found"
    if lacking and is_in_union and _has_only_undeclared_keys(exam, path):
        return above or found.path in exam.problem_paths
    return above or any(place[: len(path)] == path for place in exam.problem_paths if place)


def _lacking(found: WireLocation, objection: Objection) -> Collection[str | int]:
    """Return the name of the field that is missing. If the tag of a union is missing, return the
    possible tags.
    """
    if objection.kind == "missing":
        return found.path[-1:]
    if objection.kind == "union_tag_not_found" and found.shape is not None:
        return tags_of(found.shape.objects)
    return ()


def _has_only_undeclared_keys(exam: Examination, path: JsonPath) -> bool:
    """Return True if all problems of the object at a path are about keys."""
    return all(
        each.code in KEY_PROBLEMS for each in exam.problems if each.path[: len(path)] == path
    )
