"""Lists the declared fields of an object in a refusal: each name with its type in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from toolbooth.boundary.keys.messages import REQUIRED, type_in_words
from toolbooth.errors import Declared
from toolbooth.shape import ObjectShape


@lru_cache(maxsize=1024)  # agents repeat the same mistakes, so the result is cached
def declared_in(*forms: ObjectShape) -> Declared:
    """Return the declared fields of an object that may match any of these types of a union."""
    return _listed(_names(forms), forms)


def declared_among(names: Iterable[str], forms: tuple[ObjectShape, ...]) -> Declared:
    """Return those declared fields whose names are in `names`."""
    chosen = set(names)
    return _listed([name for name in _names(forms) if name in chosen], forms)


def _names(forms: tuple[ObjectShape, ...]) -> Iterable[str]:
    return dict.fromkeys(name for form in forms for name in form.names)


def _listed(names: Iterable[str], forms: tuple[ObjectShape, ...]) -> Declared:
    types: dict[str, str] = {}
    controls: list[str] = []
    for name in names:
        fields = [form.fields[name] for form in forms if name in form.fields]
        if any(name in form.controls for form in forms):
            controls.append(name)
        else:
            # A field is required only if every form of a union requires it.
            required = len(fields) == len(forms) and all(each.required for each in fields)
            # In another form of a union, a field of this name may have another type.
            words = dict.fromkeys(type_in_words(each.shape) for each in fields)
            types[name] = f"{' or '.join(words)}{REQUIRED if required else ''}"
    # A long list is cut at its end, so the fields that an agent needs least come last.
    required_first = sorted(types.items(), key=lambda each: not each[1].endswith(REQUIRED))
    return Declared(types=dict(required_first), controls=tuple(controls))
