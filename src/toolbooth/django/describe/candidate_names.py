"""Generates the possible names of a tool from its route, the best first.

For `GET /api/organizers/{organizer}/orders/` these are `orders__list`, `organizer_orders__list`,
`api_organizer_orders__list`, and at the end one with a short hash.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.admindocs.views import simplify_regex

from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import english_singular
from toolbooth.django.describe.view_words import DOING, is_argument, words_of_segment

LONGEST_NAME = 48
"""Clients accept 64 characters, and some add the server's name as a prefix: `mcp__server__`."""

LONGEST_RESOURCE = 32
"""The most characters of a resource. The usual actions fit behind it, so all tools of a resource
begin with the same text.
"""

_SHORTEST_RESOURCE = 12
"""A resource is not cut to fewer characters than this to make room for a long action."""

_LENGTHS_OF_MARKS = (4, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The possible names of one tool, split into their parts."""

    resources: tuple[str, ...]
    labels: tuple[str, ...]
    """The names that its action may have, best first."""
    group: tuple[str, ...]
    """The app, the resource and its path. Tools with the same group have the same `resources`."""

    @property
    def short(self) -> str:
        """The name of the tool if no other tool wants it."""
        return self.name(0, self.labels[0])

    def name(self, level: int, label: str) -> str:
        """Return the name made of the resource at this level and a label."""
        return fitting(f"{self.resources[level]}__{label}")


def candidates_of(action: Action) -> Candidates:
    """Return the names that an action's tool may have."""
    resource = _resource(action.base)
    place, keys = _place(action)
    return Candidates(
        resources=_resources(resource, place, action),
        labels=_labels(action, keys),
        group=(app_of(action), resource, *place),
    )


def app_of(action: Action) -> str:
    """Return the label of the app that an action's view belongs to."""
    module = action.view.__module__
    config = apps.get_containing_app_config(module)
    # A view that is outside of all apps has the name of its top package.
    return _snake_case(config.label if config is not None else module.partition(".")[0])


def fitting(name: str) -> str:
    """Return a tool's name, cut if it is too long. Its action stays whole if possible."""
    resource, separator, action = name.rpartition("__")
    end = separator + action
    room = min(LONGEST_RESOURCE, LONGEST_NAME - len(end))
    # A long action leaves too little of the resource. Then the name is cut at its end.
    return cut(name, LONGEST_NAME) if room < _SHORTEST_RESOURCE else cut(resource, room) + end


def cut(text: str, room: int) -> str:
    """Return the text. If it is too long, return its beginning and a short hash of the whole
    text.
    """
    if len(text) <= room:
        return text
    # 5 characters are needed: an underscore, and 4 of the hash.
    return f"{text[: room - 5].rstrip('_')}_{_mark(text, 4)}"


def _place(action: Action) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two lists of segments of a path: those up to the resource, and the keys after the
    resource.
    """
    segments = [each for each in action.path.split("/") if each]
    own = _segments_of_action(action)
    if own:
        del segments[-own:]
    # In `/contacts/{pk}/delete/` the last segment is the action, not the resource.
    elif len(segments) > 1 and segments[-1].lower() in DOING:
        segments.pop()
    end = len(segments)
    while end and is_argument(segments[end - 1]):
        end -= 1
    return tuple(segments[:end]), tuple(segments[end:])


def _segments_of_action(action: Action) -> int:
    """Return the number of segments that an `@action` adds to the path of its resource. The method
    of the action need not have a `url_path`: a method that was added with `mapping` has none. So
    all methods of the view at this path are searched.
    """
    callback: Any = action.callback
    names: dict[str, str] = getattr(callback, "actions", None) or {}
    handlers = (getattr(action.view, name, None) for name in names.values())
    paths = (getattr(each, "url_path", None) for each in handlers)
    found = next(filter(None, paths), "")
    return len(simplify_regex(found).strip("/").split("/")) if found else 0


def _resources(resource: str, place: tuple[str, ...], action: Action) -> tuple[str, ...]:
    """Return the possible names of a resource. Each name begins with more of the path than the name
    before it. The last names end in a hash.
    """
    literals = [_word(each) for each in place if not is_argument(each)]
    if literals and _is_same(literals[-1], resource):
        literals.pop()
    kwargs = [_word_of_kwarg(each) for each in place if is_argument(each)]
    runs = [literals[-count:] for count in range(1, len(literals) + 1)]
    # If the literal segments are not enough, the names of the URL kwargs are used, then the app.
    runs += [[*filter(None, kwargs)], [app_of(action)]]
    whole = "/".join((resource, *place))
    found = [resource]
    for run in runs:
        start = "_".join(filter(None, run))
        # For `event_settings` of an event, avoid `event_event_settings`.
        is_name = start[:1].isalpha()
        if is_name and not f"{resource}_".startswith(f"{start}_"):
            found.append(f"{start}_{resource}")
    # Longer hashes follow, in case two short ones are equal.
    found += [f"{resource}_{_mark(whole, length)}" for length in _LENGTHS_OF_MARKS]
    return tuple(dict.fromkeys(found))


def _labels(action: Action, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the possible labels of an action, such as `list`, `list_get`, `list_by_owner`,
    `list_get_by_owner`, and `list` with a hash of its path.
    """
    label = _snake_case(action.label or action.name)
    names = "_".join(filter(None, map(_snake_case, keys)))
    ending = f"by_{names}" if names else "without_key"
    method = action.method.lower()
    mark = _mark(f"{method} {action.path}", 8)
    found = (label, f"{label}_{method}", f"{label}_{ending}", f"{label}_{method}_{ending}")
    return (*found, f"{label}_{mark}")


def _is_same(segment: str, resource: str) -> bool:
    """Return True if a segment of a path is the end of the resource's name, in the singular, as in
    `order` and `event_orders`.
    """
    return f"_{english_singular(resource)}".endswith(f"_{segment}")


def _word(segment: str) -> str:
    return _snake_case(words_of_segment(segment))


# A resource is named after `organizer`, not after `organizer_pk`.
_KEYS = re.compile(r"_?(pk|id|uuid|slug|key|name)$")


def _word_of_kwarg(segment: str) -> str:
    return _KEYS.sub("", _snake_case(segment))


def _resource(base: str) -> str:
    """Return a basename in snake case. Its double underscores are kept, as in `dcim__devices`. The
    name of an action contains no double underscore, so the last one in a tool's name is before the
    action.
    """
    parts = [_snake_case(part) for part in re.split("_{2,}", base)]
    return "__".join(filter(None, parts))


def _snake_case(text: str) -> str:
    """Return the text in lower-case letters, digits and underscores. If the text is not ASCII,
    return a hash of it.
    """
    if not text.isascii():
        # A hash may begin with a digit, hence the `x`.
        return f"x{_mark(text, 8)}"
    return re.sub(r"[^a-zA-Z0-9]+", "_", text).strip("_").lower()


def _mark(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
