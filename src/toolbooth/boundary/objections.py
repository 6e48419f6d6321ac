"""Converts the errors of the author's validation to problems, with the names and paths that the
agent knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from toolbooth.boundary import messages, refusals
from toolbooth.boundary.keys import wrappers
from toolbooth.boundary.read import text_as_object
from toolbooth.boundary.values import messages as value_messages
from toolbooth.contract import DEFAULT_LIMITS, InvalidValues, Objection
from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import JsonPath, look_up
from toolbooth.shape import ObjectShape, Shape, item_shape

_OUR_CODES: dict[str, ProblemCode] = {
    "conflicting_keys": "conflicting-keys",
    "duplicate_key": "duplicate-key",
    "lossy_number": "lossy-number",
}
"""The codes of problems for errors that `compile/` itself raises during the author's validation."""


_UNDECLARED = ("extra_forbidden", "missing")
"""The kinds of errors whose path may end in an undeclared key."""


class WireLocation(NamedTuple):
    """Where an error is in the sent arguments: its path, the shape at that path, and the branch of
    a union that raised it.
    """

    path: JsonPath
    shape: Shape | None
    branch: tuple[JsonPath, str] | None
    group: tuple[str, ...] = ()
    """The published keys of a flattened model, if the error is about the model as a whole. Such a
    model has no key.
    """


IsExplained = Callable[[WireLocation, Objection], bool]
"""A function that returns True if an error only repeats a problem of the examination."""


def problems_of(
    error: InvalidValues,
    shape: Shape,
    arguments: Any,
    explained: IsExplained | None = None,
    *,
    most: int | None = None,
) -> list[tuple[WireLocation, Problem]]:
    """Return the errors of the author's validation as problems, one for each path, with published
    names. Errors for which `explained` returns True are left out. At most `most` errors are read.
    """
    located = [
        (locate(shape, each.model_path, arguments, extra=each.kind in _UNDECLARED), each)
        for each in _without_consequences(error.objections[:most])
    ]
    by_path: dict[tuple[JsonPath, tuple[str, ...]], list[tuple[WireLocation, Objection]]] = {}
    # Several branches of a union may refuse the same value. It gets only one problem.
    for each, objection in _of_nearest_branches(located):
        by_path.setdefault((each.path, each.group), []).append((each, objection))
    found = [
        (objections[0][0], _problem(objections, shape, arguments))
        for objections in by_path.values()
        if explained is None or not explained(*objections[0])
    ]
    wrapped = _names_in_wrappers(found, arguments)
    return [each for each in found if not _is_inside_a_wrapper(each, wrapped)]


def _names_in_wrappers(
    found: list[tuple[WireLocation, Problem]], arguments: Any
) -> dict[JsonPath, set[str]]:
    """Return the names inside all wrappers that were found. The keys are the paths of the objects
    that have a wrapper.
    """
    wrapped: dict[JsonPath, set[str]] = {}
    for location, problem in found:
        if problem.code == "nested-wrapper":
            wrapper = text_as_object(look_up(arguments, location.path), DEFAULT_LIMITS) or {}
            names = wrapped.setdefault(location.path[:-1], set())
            names.update(refusals.names_inside(wrapper))
    return wrapped


def _is_inside_a_wrapper(
    each: tuple[WireLocation, Problem], wrapped: dict[JsonPath, set[str]]
) -> bool:
    """Return True if the problem is a missing field, and a wrapper in the same object contains that
    field.
    """
    location, problem = each
    if not wrapped or problem.code != "missing":
        return False
    return location.path[-1] in wrapped.get(location.path[:-1], ())


def _without_consequences(objections: tuple[Objection, ...]) -> list[Objection]:
    """Leave out errors that only follow from other errors. One kind is a default factory that did
    not run because another field is invalid. The other kind is an "extra" key that is the start of
    a missing alias path.
    """
    own = [each for each in objections if each.kind != "default_factory_not_called"]
    # If there is no other error, the factory is reported: a refusal needs at least one problem.
    kept = own or list(objections)
    # For `AliasPath("address", "city")` and `{"address": {}}`, Pydantic reports `address.city` as
    # missing and, in a closed model, `address` as extra.
    path_starts: set[JsonPath] = set()
    for each in kept:
        if each.kind == "missing":
            path_starts.update(each.model_path[:end] for end in range(1, len(each.model_path)))
    return [
        each
        for each in kept
        if each.kind != "extra_forbidden" or each.model_path not in path_starts
    ]


def _of_nearest_branches(
    located: list[tuple[WireLocation, Objection]],
) -> list[tuple[WireLocation, Objection]]:
    """For each union, keep only the errors of one branch: the branch with the fewest errors. Errors
    that `compile/` itself raises are all kept, because nothing else reports them.
    """
    counts: dict[tuple[JsonPath, str], int] = {}
    for found, _ in located:
        if found.branch is not None:
            counts[found.branch] = counts.get(found.branch, 0) + 1
    nearest: dict[JsonPath, tuple[JsonPath, str]] = {}
    for branch, count in counts.items():
        # In a tie, the branch that the author wrote first is kept.
        best = nearest.setdefault(branch[0], branch)
        if count < counts[best]:
            nearest[branch[0]] = branch
    kept = {None, *nearest.values()}
    return [each for each in located if each[0].branch in kept or each[1].kind in _OUR_CODES]


def locate(
    shape: Shape | None, model_path: tuple[str | int, ...], sent: Any, *, extra: bool
) -> WireLocation:
    """Convert a path in the author's model to the path that was sent.

    The labels of union branches are not part of the sent path. The first label is kept in `branch`.
    If `extra` is true, the last step is a key, even if the model does not declare it.
    """
    path: list[str | int] = []
    here = sent
    branch: tuple[JsonPath, str] | None = None
    group: tuple[str, ...] = ()
    while model_path:
        step = model_path[0]
        if shape is None or shape.opaque:
            if not _is_label(model_path, here):
                path.append(step)
                here = look_up(here, (step,))
            model_path = model_path[1:]
        elif isinstance(step, int):
            path.append(step)
            here = look_up(here, (step,))
            shape = item_shape(shape.arrays[0], step) if shape.arrays else None
            model_path = model_path[1:]
        else:
            taken, name, below = _step(shape, model_path, here, extra=extra)
            if branch is None and len(shape.objects) > 1:
                branch = (tuple(path), step if name is None else "")
            group = _group_keys(shape, model_path[:taken]) if name is None else ()
            if name is not None:
                path.append(name)
                here = look_up(here, (name,))
            shape, model_path = below, model_path[taken:]
    return WireLocation(tuple(path), shape, branch, group)


def _is_label(model_path: tuple[str | int, ...], sent: Any) -> bool:
    """Return True if a step is not a key that was sent. This can happen if an author's validator
    gets the value. The step then names a branch of a union, or an object that the author's code put
    around the value.
    """
    step, *rest = model_path
    return bool(rest) and isinstance(step, str) and isinstance(sent, dict) and step not in sent


def _group_keys(shape: Shape, model_path: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the published keys of the flattened model at a path."""
    if all(len(form.groups) < 2 for form in shape.objects):
        return ()
    fields = (field for form in shape.objects for field in form.fields.values())
    names = (field.name for field in fields if field.model_path[: len(model_path)] == model_path)
    return tuple(dict.fromkeys(names))


def _step(
    shape: Shape, model_path: tuple[str | int, ...], sent: Any, *, extra: bool
) -> tuple[int, str | None, Shape | None]:
    """Return the number of steps up to the next published key, that key, and its shape."""
    step = str(model_path[0])
    for form in shape.objects:
        for key, declared in form.fields.items() if form.flattened else ():
            if (
                declared.model_path
                and model_path[: len(declared.model_path)] == declared.model_path
            ):
                return len(declared.model_path), declared.name or key, declared.shape
        declared = form.fields.get(step)
        if declared is not None and not declared.model_path:
            return 1, step, declared.shape
    groups = (group.model_path for form in shape.objects for group in form.groups)
    lengths = [len(path) for path in groups if model_path[: len(path)] == path]
    # The longest path wins, because a flattened model may contain another flattened one.
    if lengths:
        return max(lengths), None, shape
    open_to = next((form.additional for form in shape.objects if form.additional is not None), None)
    # A step that was not sent as a key is the label of a union branch.
    if open_to is not None and isinstance(sent, dict) and step in sent:
        return 1, step, open_to
    return 1, step if extra and len(model_path) == 1 else None, shape


def _problem(
    objections: list[tuple[WireLocation, Objection]], root: Shape, arguments: Any
) -> Problem:
    found, first = objections[0]
    path, shape = found.path, found.shape
    if first.kind == "missing":
        return Problem(code="missing", path=path, message=messages.MISSING)
    sent = look_up(arguments, path)
    if first.kind == "extra_forbidden":
        return _undeclared_key(path, sent, refusals.form_at(root, path[:-1], arguments), arguments)
    if first.kind in _OUR_CODES:
        return Problem(code=_OUR_CODES[first.kind], path=path, message=first.message)
    # Pydantic ends the path of an error in a dict's key with "[key]", which is not sent.
    if first.model_path[-1:] == ("[key]",):
        said = value_messages.invalid_key(first)
        return Problem(code="invalid", path=path, message=said, kind=f"key_{first.kind}")
    reasons = dict.fromkeys(value_messages.objection(each, shape) for _, each in objections)
    rule = value_messages.no_form_fits(list(reasons))
    if found.group:
        rule = messages.of_group(rule, found.group)
    hidden = shape is None or shape.has_secret or sent is None or isinstance(sent, dict | list)
    message = rule if hidden else messages.with_value(rule, sent)
    return Problem(code="invalid", path=path, message=message, kind=first.kind, rule=rule)


def _undeclared_key(path: JsonPath, sent: Any, form: ObjectShape | None, arguments: Any) -> Problem:
    """Report a key that the author's model does not declare."""
    key = str(path[-1])
    inner = text_as_object(sent, DEFAULT_LIMITS)
    # If another part of the schema declares this name, do not suggest it.
    known = form if form is not None and key not in form.fields else None
    beside = look_up(arguments, path[:-1])
    code, message = wrappers.undeclared_key(known, key, inner, beside, path[:-1])
    return Problem(code=code, path=path, message=message)
