"""Faults of keys: keys that are added or left out, and wrappers. Faults of names are in
`name_faults.py`, and keys at a wrong level in `level_faults.py`.

All of these calls must be refused. If the declared names allow only one correction, the refusal
must have this corrected call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbooth.boundary.mistakes import MOST_PROBLEMS
from toolbooth.jsonvalue import path_text, recased
from toolbooth.shape import ArrayShape, ObjectShape
from toolbooth.testing.shapes.call_places import CallPlace, with_value, without_key
from toolbooth.testing.shapes.catalogue import CLIENT_KEYS, WRAPPERS
from toolbooth.testing.shapes.declared_names import is_near
from toolbooth.testing.shapes.expected import AgentShape, Draft, Seen
from toolbooth.testing.shapes.level_faults import level_faults
from toolbooth.testing.shapes.name_faults import name_faults

STRANGE = "zq_unheard_of"
"""A name that no tool declares, and that is not similar to a declared name."""


def key_faults(draft: Draft) -> Iterator[AgentShape]:
    """Yield every fault of the keys of every object."""
    for place in draft.places:
        form = place.form
        if form is not None and not form.exclusive_paths and not _is_authors(form):
            yield from _added_keys(draft, place, form)
            yield from _wrapped_fields(draft, place, form)
            yield from _missing_keys(draft, place, form)
            if form.additional is None and len(place.shape.objects) == 1:
                yield from name_faults(draft, place, form)
                yield from level_faults(draft, place, form)
        elif place.items is not None:
            yield from _wrapped_items(draft, place, place.items)
        elif form is None and "object" in place.shape.types:
            yield from _added_to_union(draft, place)


def _is_authors(form: ObjectShape) -> bool:
    """Return True if the author's code, or a pattern, decides which undeclared keys may be sent."""
    if form.patterns:
        return True
    return (
        form.additional is not None
        and form.additional.opaque
        and any(field.shape.opaque for field in form.fields.values())
    )


# --- keys added and left out --------------------------------------------------------------------


def _added_keys(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    for key, (value, source, date) in CLIENT_KEYS.items():
        path = path_text((*place.path, key))
        sent = with_value(draft.arguments, place.path, {**place.value, key: value})
        # If the tool declares `tool_call_id`, then `toolCallId` is its name in another case, and
        # not a key that a client added.
        if recased(key) in map(recased, form.fields):
            continue
        if not place.path:
            repair = ("client-key", path)
            seen = (key, source, date)
            yield draft.accepted_shape("client-key", place.path, sent, [repair], seen=seen)
        # Below the top level, the law refuses the keys of all clients in the same way. So one of
        # them is enough.
        elif key == "toolCallId" and form.additional is None:
            problem = ("unknown-key", path)
            yield draft.refused_shape(
                "client-key-below", place.path, sent, [problem], corrected=None
            )
    if form.additional is None and not is_near(STRANGE, form.fields):
        sent = with_value(draft.arguments, place.path, {**place.value, STRANGE: 1})
        problem = ("unknown-key", path_text((*place.path, STRANGE)))
        yield draft.refused_shape("unknown-key", place.path, sent, [problem], corrected=None)


def _added_to_union(draft: Draft, place: CallPlace) -> Iterator[AgentShape]:
    """Yield a call with a key that no branch of a union declares. The union has no tag."""
    held: Any = place.value
    if type(held) is dict and all(map(_excludes_strange, place.shape.objects)):
        sent = with_value(draft.arguments, place.path, held | {STRANGE: 1})
        yield draft.refused_shape("unknown-key", place.path, sent, None)


def _excludes_strange(form: ObjectShape) -> bool:
    return form.additional is None and not is_near(STRANGE, form.fields)


def _missing_keys(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    for key in place.value:
        field = form.fields.get(key)
        if field is not None and field.required and field.name == key:
            path = (*place.path, key)
            problems = None if place.is_union else [("missing", path_text(path))]
            sent = without_key(draft.arguments, path)
            yield draft.refused_shape("missing", path, sent, problems, corrected=None)


# --- wrappers -----------------------------------------------------------------------------------


def _wrapped_fields(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    value, fields = place.value, form.fields
    if not value or (form.additional is not None and not value.keys() <= fields.keys()):
        return  # an open object may have any key whose value is not made of declared names only
    objects = [key for key, field in fields.items() if field.shape.objects]

    def free(name: str) -> bool:
        # If the tool declares `data`, this name is no wrapper. A name similar to a declared object,
        # such as `adress`, would be a misspelt name and not a wrapper.
        return name not in fields and not is_near(name, objects)

    def wrapper(
        kind: str, name: str, held: Mapping[str, Any], seen: Seen | None = None
    ) -> AgentShape:
        sent = with_value(draft.arguments, place.path, held)
        problem = ("nested-wrapper", path_text((*place.path, name)))
        # A wrapper hides the tag that chooses the form of a union.
        corrected = draft.corrected if len(place.shape.objects) == 1 else ...
        return draft.refused_shape(
            kind, place.path, sent, [problem], corrected=corrected, seen=seen
        )

    for name, (source, date) in _wrapper_names(draft, place).items():
        if free(name):
            seen = (name, source, date)
            yield wrapper("wrapper", name, {name: value}, seen)
            # Text is read in the same way under every name. So two names are enough.
            if name in ("args", "data"):
                yield wrapper("wrapper-text", name, {name: json.dumps(value)}, seen)
    half = dict(list(value.items())[: len(value) // 2])
    if half and free("data"):
        other = {key: value[key] for key in value if key not in half}
        yield wrapper("wrapper-half", "data", {**half, "data": other})
    if form.additional is None and free("data") and free("attributes"):
        yield wrapper("wrapper-double", "data", {"data": {"attributes": value}})


def _wrapper_names(draft: Draft, place: CallPlace) -> dict[str, tuple[str, str]]:
    """Return the names of wrappers to try: those that were seen in reports, and the names of the
    tool, its models, parameters and fields.
    """
    if not place.path:
        own = [draft.tool, str(draft.schema.get("title", "")), *_group_names(place.form)]
        report = ("nested-wrapper report", "2026-11-15")
        return {**WRAPPERS, **dict.fromkeys(filter(None, own), report)}
    names = {"data": WRAPPERS["data"]}
    keys = [step for step in place.path if isinstance(step, str)]
    names |= dict.fromkeys(keys[-1:], ("pi-mcp-adapter#364", "2026-08-15"))
    # Only items of a list were seen in the form `{"item": ...}`.
    if isinstance(place.path[-1], int):
        names["item"] = ("hermes-agent#99270", "2026-08-31")
    return names


def _group_names(form: ObjectShape | None) -> list[str]:
    """Return the names of those models whose fields are sent flat."""
    groups = form.groups if form is not None else ()
    return [step for group in groups for step in group.model_path]


def _wrapped_items(draft: Draft, place: CallPlace, form: ArrayShape) -> Iterator[AgentShape]:
    """Yield a call in which each item of a list is wrapped in an object."""
    value = place.value
    items = None if form.prefix else form.items
    if items is None or items.opaque or "object" in items.types:
        return
    # A refusal lists at most MOST_PROBLEMS problems. With more items, the expected list would
    # differ from the actual one.
    if not 0 < len(value) <= MOST_PROBLEMS:
        return
    sent = with_value(draft.arguments, place.path, [{"item": each} for each in value])
    problems = [("wrong-type", path_text((*place.path, index))) for index in range(len(value))]
    # A declared text may be exactly this JSON.
    is_clear = items.types.isdisjoint(("string", "array"))
    corrected = draft.corrected if is_clear else None
    yield draft.refused_shape(
        "item-envelope",
        place.path,
        sent,
        problems,
        corrected=corrected,
        may_go_without=is_clear,
    )
