"""Faults of names: another case, a spelling mistake, a path that is written as a name, and a name
that is sent twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbooth.boundary.mistakes import MOST_PROBLEMS
from toolbooth.boundary.refusals import names_of_tool, respelt
from toolbooth.jsonvalue import JsonPath, path_text, recased
from toolbooth.shape import ArrayShape, ObjectShape, Shape, parts_of
from toolbooth.testing.shapes.call_places import CallPlace, children, with_value
from toolbooth.testing.shapes.declared_names import holds_object, is_near, undeclared_code
from toolbooth.testing.shapes.expected import AgentShape, Draft, Found


def name_faults(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    """Yield every fault of the names in an object. The object accepts no undeclared keys and is not
    declared as a union.
    """
    # A tool with both `user_id` and `userId` distinguishes names by their case. Another case would
    # then be a guess.
    if len(set(map(recased, form.names))) == len(form.names):
        for kind, recase in _CASES.items():
            yield from _names_in_another_case(draft, place, form, kind, recase)
    yield from _misspelt_name(draft, place, form)
    for key in place.value:
        yield from _path_as_name(draft, place, form, key)
        yield from _duplicate_key(draft, place, key)


def _undeclared_problems(place: CallPlace, values: Mapping[str, Any]) -> list[Found]:
    """Return the expected problems of undeclared keys. `values` has the values of these keys."""
    return [
        (undeclared_code(each), path_text((*place.path, name))) for name, each in values.items()
    ]


# --- another case -------------------------------------------------------------------------------


def _names_in_another_case(
    draft: Draft, place: CallPlace, form: ObjectShape, kind: str, recase: Callable[[str], str]
) -> Iterator[AgentShape]:
    """Yield calls in which all names of one object are written in another case. An adapter may
    cause such calls.
    """
    declared = [key for key in place.value if key in form.fields]
    names = {key: recase(key) for key in declared if recase(key) not in form.fields}
    if not names or len(names) > MOST_PROBLEMS or len(set(names.values())) < len(names):
        return
    held = {names.get(key, key): each for key, each in place.value.items()}
    sent = with_value(draft.arguments, place.path, held)
    problems = _undeclared_problems(place, {name: place.value[key] for key, name in names.items()})
    yield draft.refused_shape(kind, place.path, sent, problems, corrected=draft.corrected)


def _words(name: str) -> list[str]:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").split("_")


def _camel_case(name: str) -> str:
    first, *others = _words(name)
    return first + "".join(map(str.capitalize, others))


_CASES: dict[str, Callable[[str], str]] = {
    "camel-case": _camel_case,
    "pascal-case": lambda name: "".join(word[:1].upper() + word[1:] for word in _words(name)),
    "kebab-case": lambda name: "-".join(_words(name)).lower(),
    "snake-case": lambda name: "_".join(_words(name)).lower(),
}


# --- a slip -------------------------------------------------------------------------------------


def _misspelt_name(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    """Yield a call in which the longest name lacks one letter. No call is made if the result is
    similar to another name.
    """
    declared = [key for key in place.value if key in form.fields]
    key = max(declared, key=len, default="")
    # In a short name such as `id`, the name without one letter cannot be recognised.
    if len(key) < 5:
        return
    middle = len(key) // 2
    slip = key[:middle] + key[middle + 1 :]
    field = form.fields[key]
    others = [name for name, other in form.fields.items() if other is not field]
    if slip in form.fields or is_near(slip, others) or recased(slip) == recased(key):
        return
    value = place.value[key]
    names = {key: slip}
    held = {names.get(name, name): each for name, each in place.value.items()}
    problems = _undeclared_problems(place, {slip: value})
    # A name that is only similar is mentioned but not corrected. The keys inside a misspelt object
    # may also be declared beside it.
    corrected: Any = ... if holds_object(value) else None
    if respelt(slip, form, names_of_tool(draft.places[0].shape)) is not None:
        corrected = draft.corrected
    elif field.required:
        problems.append(("missing", path_text((*place.path, key))))
    sent = with_value(draft.arguments, place.path, held)
    yield draft.refused_shape("misspelt", place.path, sent, problems, corrected=corrected)


# --- a path as a name ---------------------------------------------------------------------------


def _path_as_name(
    draft: Draft, place: CallPlace, form: ObjectShape, key: str
) -> Iterator[AgentShape]:
    """Yield calls in which a nested field is sent under its path, such as `address.city` or
    `lines[0].sku`.
    """
    value = place.value[key]
    field = form.fields.get(key)
    if field is None or not value or not isinstance(value, dict | list):
        return
    if not _has_one_form(field.shape):
        return
    by_path = dict(_leaves(value, (key,)))
    leaves = {_path_name(path): each for path, each in by_path.items()}
    if len(leaves) > MOST_PROBLEMS or leaves.keys() & form.fields.keys():
        return
    # A key such as `a.b` would be read as two steps. A leaf that is an object, or JSON text of one,
    # is reported as a wrapper instead.
    if any(map(_is_ambiguous, by_path)) or any(map(holds_object, leaves.values())):
        return
    beside = {name: each for name, each in place.value.items() if name != key}
    sent = with_value(draft.arguments, place.path, {**beside, **leaves})
    kind = "bracketed" if isinstance(value, list) else "dotted"
    problems = _undeclared_problems(place, leaves)
    yield draft.refused_shape(kind, (*place.path, key), sent, problems, corrected=draft.corrected)


def _has_one_form(shape: Shape, depth: int = 8) -> bool:
    """Return True if there is no union of objects or arrays inside a value, and no author's code
    reads a part of it.
    """
    forms = (*shape.objects, *shape.arrays)
    if shape.opaque or len(forms) > 1 or not depth:
        return False
    if any(map(_is_open, forms)):
        return False
    return all(_has_one_form(each, depth - 1) for each in parts_of(shape))


def _is_open(form: ObjectShape | ArrayShape) -> bool:
    """Return True if an object accepts undeclared keys, or if an array has a shape for each
    position.
    """
    if isinstance(form, ObjectShape):
        return form.additional is not None
    return bool(form.prefix)


def _leaves(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Yield each value that contains no other value, with its path."""
    inner = list(children(value))
    if not inner:
        yield path, value
    for step, each in inner:
        yield from _leaves(each, (*path, step))


def _path_name(path: JsonPath) -> str:
    name = ""
    for step in path:
        name += f"[{step}]" if isinstance(step, int) else f".{step}"
    return name.lstrip(".")


def _is_ambiguous(path: JsonPath) -> bool:
    """Return True if a key in a path contains a character that is used in paths, such as a
    point.
    """
    return any(re.search(r"[.\[\]]", str(step)) for step in path)


# --- a name twice -------------------------------------------------------------------------------


def _duplicate_key(draft: Draft, place: CallPlace, key: str) -> Iterator[AgentShape]:
    """Yield a call in which a key is sent twice. One of its two values would be lost."""
    # One key of each object is enough, because the parser treats all of them in the same way.
    if key != next(iter(place.value)):
        return
    # No Python dict has the same key twice. So a second key gets a name that no call contains, and
    # this name is replaced in the text.
    marked = json.dumps(with_value(draft.arguments, place.path, {**place.value, "\0": 0}))
    sent = marked.replace(json.dumps("\0"), json.dumps(key)).encode()
    path, problem = (*place.path, key), ("duplicate-key", "$")
    yield draft.refused_shape("duplicate-key", path, sent, [problem], corrected=None, raw=True)
