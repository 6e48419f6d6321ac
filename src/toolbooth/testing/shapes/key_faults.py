"""What goes wrong with keys: wrappers, names in another case, paths written as names, keys at the
wrong level.

None of it may pass. A corrected call is prescribed where the declared names leave one way to put
things right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from toolbooth.boundary.examine import MOST_PROBLEMS
from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.jsonvalue import JsonPath, likeness, path_text
from toolbooth.shape import ArrayShape, ObjectShape, Shape
from toolbooth.testing.shapes.call_places import Place, changed, without
from toolbooth.testing.shapes.catalogue import CLIENT_KEYS, WRAPPERS
from toolbooth.testing.shapes.expected import AgentShape, Draft, Found, Seen

STRANGE = "zq_unheard_of"
"""A name that nothing declares, nor anything like it."""


def key_faults(draft: Draft) -> Iterator[AgentShape]:
    """Every fault of the keys of every object."""
    for place in draft.places:
        if (
            place.form is not None
            and not place.form.exclusive_paths
            and not _is_authors(place.form)
        ):
            yield from _added(draft, place, place.form)
            yield from _wrapped(draft, place, place.form)
            yield from _missing(draft, place, place.form)
            if place.form.additional is None and len(place.shape.objects) == 1:
                yield from _renamed(draft, place, place.form)
                yield from _moved(draft, place, place.form)
        elif place.items is not None:
            yield from _items_wrapped(draft, place, place.items)
        elif place.form is None and "object" in place.shape.types:
            yield from _added_to_any(draft, place)


def _is_authors(form: ObjectShape) -> bool:
    """Whether the author's code takes what stands beside the fields, so that it decides."""
    return (
        form.additional is not None
        and form.additional.opaque
        and any(field.shape.opaque for field in form.fields.values())
    )


def _undeclared(value: Any) -> str:
    """The code of an undeclared key: one that holds an object is always a wrapper."""
    return "unknown-key" if text_as_object(value, DEFAULT_LIMITS) is None else "nested-wrapper"


def _plain(name: str) -> str:
    return re.sub("[_ -]", "", name).lower()


def is_near(name: str, names: Iterable[str]) -> bool:
    """Whether one could be a slip for another, so that a correction might take it for that."""
    return any(likeness(_plain(name), _plain(each)) >= 0.7 for each in names)


# --- keys added and left out --------------------------------------------------------------------


def _added(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    for key, (value, source, date) in CLIENT_KEYS.items():
        path = (*place.path, key)
        sent = changed(draft.arguments, place.path, {**place.value, key: value})
        if _plain(key) in map(_plain, form.fields):
            continue
        if not place.path:
            yield draft.taken(
                "client-key",
                place.path,
                sent,
                [("client-key", path_text(path))],
                seen=(key, source, date),
            )
        elif key == "toolCallId" and form.additional is None:
            yield draft.refused(
                "client-key-below",
                place.path,
                sent,
                [("unknown-key", path_text(path))],
                corrected=None,
            )
    if form.additional is None and not is_near(STRANGE, form.fields):
        sent = changed(draft.arguments, place.path, {**place.value, STRANGE: 1})
        problem = ("unknown-key", path_text((*place.path, STRANGE)))
        yield draft.refused("unknown-key", place.path, sent, [problem], corrected=None)


def _added_to_any(draft: Draft, place: Place) -> Iterator[AgentShape]:
    """A union without a tag: whichever form is meant, none has this key."""
    sent: Any = place.value
    forms = place.shape.objects
    if type(sent) is dict and all(
        form.additional is None and not is_near(STRANGE, form.fields) for form in forms
    ):
        yield draft.refused(
            "unknown-key",
            place.path,
            changed(draft.arguments, place.path, sent | {STRANGE: 1}),
            None,
        )


def _missing(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    for key in place.value:
        field = form.fields.get(key)
        if field is not None and field.required and field.name == key:
            path = (*place.path, key)
            said = None if place.is_union else [("missing", path_text(path))]
            yield draft.refused(
                "missing", path, without(draft.arguments, path), said, corrected=None
            )


# --- wrappers -----------------------------------------------------------------------------------


def _wrapped(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    value, fields = place.value, form.fields
    if not value or (form.additional is not None and not value.keys() <= fields.keys()):
        return  # an open object may hold anything that is not made of declared names alone
    objects = [key for key, field in fields.items() if field.shape.objects]

    def free(name: str) -> bool:
        return name not in fields and not is_near(name, objects)

    def wrapper(
        kind: str, name: str, held: Mapping[str, Any], seen: Seen | None = None
    ) -> AgentShape:
        sent = changed(draft.arguments, place.path, held)
        problem = ("nested-wrapper", path_text((*place.path, name)))
        # A wrapper hides the tag by which the form of a union is known.
        corrected = draft.corrected if len(place.shape.objects) == 1 else ...
        return draft.refused(kind, place.path, sent, [problem], corrected=corrected, seen=seen)

    for name, (source, date) in _wrapper_names(draft, place).items():
        if free(name):
            seen = (name, source, date)
            yield wrapper("wrapper", name, {name: value}, seen)
            if name in ("args", "data"):
                yield wrapper("wrapper-text", name, {name: json.dumps(value)}, seen)
    half = dict(list(value.items())[: len(value) // 2])
    if half and free("data"):
        other = {key: value[key] for key in value if key not in half}
        yield wrapper("wrapper-half", "data", {**half, "data": other})
    if form.additional is None and free("data") and free("attributes"):
        yield wrapper("wrapper-double", "data", {"data": {"attributes": value}})


def _wrapper_names(draft: Draft, place: Place) -> dict[str, tuple[str, str]]:
    """The names that were seen, and the tool's own: of itself, its models, its parameters and
    fields.
    """
    if not place.path:
        groups = [
            step
            for form in [place.form]
            if form
            for group in form.groups
            for step in group.model_path
        ]
        own = [draft.tool, str(draft.schema.get("title", "")), *groups]
        return {
            **WRAPPERS,
            **dict.fromkeys(filter(None, own), ("nested-wrapper report", "2026-11-15")),
        }
    last = [step for step in place.path if isinstance(step, str)][-1:]
    own = {
        name: ("hermes-agent#99270", "2026-08-31")
        for name in ["item"]
        if isinstance(place.path[-1], int)
    }
    return {
        "data": WRAPPERS["data"],
        **dict.fromkeys(last, ("pi-mcp-adapter#364", "2026-08-15")),
        **own,
    }


def _items_wrapped(draft: Draft, place: Place, form: ArrayShape) -> Iterator[AgentShape]:
    """Each item, no object itself, in an object of its own."""
    value, items = place.value, None if form.prefix else form.items
    if (
        not value
        or len(value) > MOST_PROBLEMS
        or items is None
        or items.opaque
        or "object" in items.types
    ):
        return
    sent = changed(draft.arguments, place.path, [{"item": each} for each in value])
    problems = [("wrong-type", path_text((*place.path, index))) for index in range(len(value))]
    yield draft.refused("item-envelope", place.path, sent, problems, corrected=None)


# --- names --------------------------------------------------------------------------------------


def _renamed(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    if len({_plain(key) for key in form.names}) == len(form.names):
        for kind, recase in _CASES.items():
            yield from _recased(draft, place, form, kind, recase)
    yield from _misspelt(draft, place, form)
    for key in place.value:
        yield from _spelt_out(draft, place, form, key)
        yield from _twice(draft, place, key)


def _recased(
    draft: Draft, place: Place, form: ObjectShape, kind: str, recase: Callable[[str], str]
) -> Iterator[AgentShape]:
    """All the names of one object in another case: an adapter does not choose among them."""
    names = {
        key: recase(key)
        for key in place.value
        if key in form.fields and recase(key) not in form.fields
    }
    if not names or len(names) > MOST_PROBLEMS or len(set(names.values())) < len(names):
        return
    sent = changed(
        draft.arguments,
        place.path,
        {names.get(key, key): each for key, each in place.value.items()},
    )
    problems = [
        (_undeclared(place.value[key]), path_text((*place.path, name)))
        for key, name in names.items()
    ]
    yield draft.refused(kind, place.path, sent, problems, corrected=draft.corrected)


def _words(name: str) -> list[str]:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").split("_")


_CASES: dict[str, Callable[[str], str]] = {
    "camel-case": lambda name: "".join(
        [*_words(name)[:1], *(word.capitalize() for word in _words(name)[1:])]
    ),
    "pascal-case": lambda name: "".join(word[:1].upper() + word[1:] for word in _words(name)),
    "kebab-case": lambda name: "-".join(word.lower() for word in _words(name)),
    "snake-case": lambda name: "_".join(word.lower() for word in _words(name)),
}


def _misspelt(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    """The longest name without one letter in its middle, where no other name is like it."""
    key = max((key for key in place.value if key in form.fields), key=len, default="")
    slip = key[: len(key) // 2] + key[len(key) // 2 + 1 :]
    others = (
        [name for name in form.fields if form.fields[name] is not form.fields[key]] if key else []
    )
    if len(key) < 5 or slip in form.fields or is_near(slip, others) or _plain(slip) == _plain(key):
        return
    value = place.value[key]
    sent = changed(
        draft.arguments,
        place.path,
        {slip if each == key else each: place.value[each] for each in place.value},
    )
    problems = [(_undeclared(value), path_text((*place.path, slip)))]
    if form.fields[key].required:
        problems.append(("missing", path_text((*place.path, key))))
    # A similar name may be mentioned, but it is not proof of what was meant. What a misspelt object
    # holds may still be declared beside it.
    corrected = None if text_as_object(value, DEFAULT_LIMITS) is None else ...
    yield draft.refused("misspelt", place.path, sent, problems, corrected=corrected)


def _spelt_out(draft: Draft, place: Place, form: ObjectShape, key: str) -> Iterator[AgentShape]:
    """A nested field by its path: `address.city`, `lines[0].sku`."""
    value = place.value[key]
    field = form.fields.get(key)
    if (
        field is None
        or not value
        or not isinstance(value, dict | list)
        or not _is_plain_below(field.shape)
    ):
        return
    leaves = {_spelt(path): each for path, each in _leaves(value, (key,))}
    odd = any(
        re.search(r"[.\[\]]", str(step)) for path, _ in _leaves(value, (key,)) for step in path
    )
    if odd or len(leaves) > MOST_PROBLEMS or leaves.keys() & form.fields.keys():
        return
    beside = {each: place.value[each] for each in place.value if each != key}
    sent = changed(draft.arguments, place.path, {**beside, **leaves})
    problems = [
        (_undeclared(each), path_text((*place.path, name))) for name, each in leaves.items()
    ]
    if all(code == "unknown-key" for code, _ in problems):
        kind = "bracketed" if isinstance(value, list) else "dotted"
        yield draft.refused(kind, (*place.path, key), sent, problems, corrected=draft.corrected)


def _is_plain_below(shape: Shape, depth: int = 8) -> bool:
    """Whether every object and array below has one form, nothing of it the author's."""
    if shape.opaque or len(shape.objects) + len(shape.arrays) > 1 or not depth:
        return False
    below = [field.shape for form in shape.objects for field in form.fields.values()]
    below += [form.items for form in shape.arrays if form.items is not None]
    unknown = any(form.additional is not None for form in shape.objects) or any(
        form.prefix for form in shape.arrays
    )
    return not unknown and all(_is_plain_below(each, depth - 1) for each in below)


def _leaves(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    if isinstance(value, dict) and value:
        for key, each in cast("dict[str, Any]", value).items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _leaves(each, (*path, index))
    else:
        yield path, value


def _spelt(path: JsonPath) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(
        "."
    )


def _twice(draft: Draft, place: Place, key: str) -> Iterator[AgentShape]:
    """The same key again, with another value: whichever won, one would be lost."""
    if key != next(iter(place.value)):
        return
    marked = json.dumps(changed(draft.arguments, place.path, {**place.value, "\0": 0}))
    sent = marked.replace(json.dumps("\0"), json.dumps(key)).encode()
    yield draft.refused(
        "duplicate-key",
        (*place.path, key),
        sent,
        [("duplicate-key", "$")],
        corrected=None,
        raw=True,
    )


# --- levels -------------------------------------------------------------------------------------


def _moved(draft: Draft, place: Place, form: ObjectShape) -> Iterator[AgentShape]:
    """Between an object and the objects that are its fields, all of one form."""
    inner = {
        key: field.shape.objects[0]
        for key, field in form.fields.items()
        if field.name == key and len(field.shape.objects) == 1 and not field.shape.opaque
    }
    for key, below in inner.items():
        value = place.value.get(key)
        if isinstance(value, dict) and below.additional is None and not below.exclusive_paths:
            held = cast("dict[str, Any]", value)
            yield from _up(draft, place, form, inner, key, held)
            yield from _down(draft, place, form, key, below, held)


def _up(
    draft: Draft,
    place: Place,
    form: ObjectShape,
    inner: Mapping[str, ObjectShape],
    key: str,
    held: dict[str, Any],
) -> Iterator[AgentShape]:
    """A field beside its object; then all of them, without the object."""

    def movable(name: str) -> bool:
        homes = [other for other in inner.values() if name in other.fields]
        plain = text_as_object(held[name], DEFAULT_LIMITS) is None
        return (
            plain and len(homes) == 1 and name not in form.fields and not is_near(name, form.fields)
        )

    names = [name for name in held if movable(name)]
    for name in names[:1]:
        rest = {each: held[each] for each in held if each != name}
        sent = changed(draft.arguments, place.path, {**place.value, key: rest, name: held[name]})
        yield draft.refused(
            "one-level-up",
            (*place.path, key, name),
            sent,
            _unknown(place, [name]),
            corrected=draft.corrected,
        )
    if names and len(names) == len(held) <= MOST_PROBLEMS:
        beside = {each: place.value[each] for each in place.value if each != key}
        sent = changed(draft.arguments, place.path, {**beside, **held})
        yield draft.refused(
            "flattened", (*place.path, key), sent, _unknown(place, names), corrected=draft.corrected
        )


def _unknown(place: Place, names: Iterable[str]) -> list[Found]:
    return [("unknown-key", path_text((*place.path, name))) for name in names]


def _down(
    draft: Draft,
    place: Place,
    form: ObjectShape,
    key: str,
    below: ObjectShape,
    held: dict[str, Any],
) -> Iterator[AgentShape]:
    """A field inside the object beside it."""
    declared = set(names_below(below))
    for name in place.value:
        if (
            name != key
            and name in form.fields
            and text_as_object(place.value[name], DEFAULT_LIMITS) is None
            and not is_near(name, declared)
        ):
            beside = {each: place.value[each] for each in place.value if each != name}
            sent = changed(
                draft.arguments, place.path, {**beside, key: {**held, name: place.value[name]}}
            )
            problem = ("unknown-key", path_text((*place.path, key, name)))
            yield draft.refused(
                "one-level-down", (*place.path, name), sent, [problem], corrected=draft.corrected
            )
            return


def names_below(form: ObjectShape, depth: int = 8) -> Iterator[str]:
    yield from form.fields
    for field in form.fields.values():
        for each in field.shape.objects if depth else ():
            yield from names_below(each, depth - 1)
