"""Finds words for the resource and the action of a view without a router: `TreatmentList` at
`/treatments/` lists `treatments`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from toolbooth.django.describe.model_words import (
    english_plural,
    english_singular,
    model_of_view,
    names_of_rows,
    plural,
    singular,
)
from toolbooth.jsonvalue import recased

TECHNICAL = frozenset(("api", "apiview", "view", "viewset"))
"""Words at the end of a view's name that only mean that it is a view."""

_OF_MANY = frozenset(("list", "create"))
_OF_ONE = frozenset(("detail", "details", "retrieve", "update", "destroy", "delete"))
DOING = _OF_MANY | _OF_ONE
"""Words at the end of a view's name that describe its action. The tool's name contains the action
already.
"""

_METHODS = {
    "list": "list",
    "create": "create",
    "retrieve": "retrieve",
    "update": "update",
    "destroy": "destroy",
    "delete": "destroy",
}
"""Words at the start of a view's name that describe its action, as in `CreateTreatment`. The values
are the methods that a generic view then has.
"""

_MEANING = {
    "GET": {"list": "list", "detail": "retrieve", "details": "retrieve", "retrieve": "retrieve"},
    "POST": {"list": "create", "create": "create"},
    "PUT": {"detail": "update", "details": "update", "update": "update"},
    "PATCH": {"detail": "partial_update", "details": "partial_update", "update": "partial_update"},
    "DELETE": {
        "detail": "destroy",
        "details": "destroy",
        "destroy": "destroy",
        "delete": "destroy",
    },
}
"""The action of an HTTP method, by the last word of the view's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewWords:
    """The words from which a tool's name is made."""

    resource: str
    action: str


def view_words(view: type, *, method: str, does: str | None, path: str, route: str) -> ViewWords:
    """Return the words for one method of a view that has no router.

    `does` is the action of a view set or of a generic view. It is None for a plain view, which has
    only its methods. `route` is the name of its URL pattern, if it has one.
    """
    start, separator, name = (route if _split(route) else view.__name__).rpartition("__")
    found = _unjoined(_without_technical(_split(name)), path, model_of_view(view))
    words, doing = _parted(found, view, does)
    # By the convention of REST framework, routes end in these words.
    is_named_by_route = doing != [] and route.endswith(("-list", "-detail"))
    meant = does or next(filter(None, map(_MEANING[method].get, doing)), None)
    is_meant = does or is_named_by_route or (meant and _is_of_path(words, path))
    if doing and not is_meant:
        # These words belong to the resource, as in `price_list`.
        words, doing, meant = found, [], None
    resource = "_".join(words)
    if _is_of_rows(doing, path, does=None if route else does):
        resource = _of_many(resource, path, model_of_view(view))
    return ViewWords(resource=f"{start}{separator}{resource}", action=meant or method.lower())


def words_of_segment(segment: str) -> str:
    """Return a segment of a path as a word for a name, in the singular."""
    return english_singular("_".join(_split(segment)))


def is_argument(segment: str) -> bool:
    """Return True if a segment of a path contains a URL kwarg."""
    return "{" in segment


def _split(name: str) -> list[str]:
    """Return the words of a name in lower case. For example, `OwnerPetList` and `owner-pet-list`
    both become `owner`, `pet` and `list`.
    """
    # The second part of the pattern ends an abbreviation: `APIKeyList` is `api`, `key`, `list`.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "_", name)
    return [word.lower() for word in re.split(r"[\W_]+", spaced) if word]


def _without_technical(words: list[str]) -> list[str]:
    left = list(words)
    # One word always stays: the view may be called `ListView`, or only `View`.
    while len(left) > 1 and left[-1] in TECHNICAL:
        left.pop()
    return left


def _unjoined(words: list[str], path: str, model: Any) -> list[str]:
    """Return the words. If the last word joins two words, as `treatmentlist` does at
    `/treatments/`, split it.
    """
    last = words[-1] if words else ""
    noun = words_of_segment(_noun_of_path(path))
    for doing in DOING:
        thing = last.removesuffix(doing)
        if thing not in ("", last) and english_singular(thing) == noun:
            return words if last in _names_of(model) else [*words[:-1], thing, doing]
    return words


def _parted(words: list[str], view: type, does: str | None) -> tuple[list[str], list[str]]:
    """Return the words that name the resource, and the words that name its action. The words of the
    action are at the beginning or the end of the name.
    """
    names = _names_of(model_of_view(view))
    end = len(words)
    # A model may be called `CheckinList`.
    while end > 1 and words[end - 1] in DOING and "".join(words[:end]) not in names:
        end -= 1
    if end < len(words) or "".join(words) in names:
        return words[:end], words[end:]
    verbs = list(takewhile(_METHODS.__contains__, words[:-1]))
    # If a generic view does not have these actions, the words belong to the resource: `UpdateLogs`
    # may be a list.
    if does is not None and not all(hasattr(view, _METHODS[verb]) for verb in verbs):
        return words, []
    return words[len(verbs) :], verbs


def _names_of(model: Any) -> tuple[str, ...]:
    return () if model is None else tuple(map(recased, names_of_rows(model)))


def _is_of_path(words: list[str], path: str) -> bool:
    """Return True if the path confirms that these words are the resource. At `/clinics/`,
    `clinic_list` is a list of clinics. At `/price-lists/`, the resource is `price_list`.
    """
    noun = _noun_of_path(path)
    thing = recased(english_singular("_".join(words)))
    return bool(noun) and thing.endswith(recased(words_of_segment(noun)))


def _noun_of_path(path: str) -> str:
    """Return the last segment of a path that names a thing. Return an empty text if no segment
    does.
    """
    nouns = [each for each in path.split("/") if each and not is_argument(each)]
    while nouns and nouns[-1].lower() in DOING:
        nouns.pop()
    return nouns[-1] if nouns else ""


def _is_of_rows(ending: list[str], path: str, *, does: str | None) -> bool:
    """Return True if the resource of a view has many rows. `/profile/` has only one."""
    segments = path.strip("/").split("/")
    # In `/contacts/{pk}/delete/` the key is before the last segment.
    takes_key = any(map(is_argument, segments[-2:])) if ending else is_argument(segments[-1])
    if _OF_MANY.intersection(ending) or does == "list":
        return True
    return takes_key and bool(ending or does)


def _of_many(resource: str, path: str, model: Any) -> str:
    """Return the plural of a resource. The plural in the path is used if there is one. Otherwise
    the model's own plural is used if it is irregular, such as `people`, or else the regular English
    plural.
    """
    noun = "_".join(_split(_noun_of_path(path)))
    start, same, end = f"_{english_singular(resource)}".rpartition(f"_{english_singular(noun)}")
    if noun and same and not end:
        return f"{start}_{noun}".strip("_")
    if model is not None:
        one, many = ("_".join(_split(each)) for each in (singular(model), plural(model)))
        is_own = many != english_plural(one)
        start, noun = resource[: -len(one)], resource[-len(one) :]
        if is_own and noun == one and (not start or start.endswith("_")):
            return start + many
    return english_plural(resource)
