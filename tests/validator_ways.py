"""Ways in which authors write before and wrap validators: what each does with the dict it gets."""

import contextlib
import json
import pickle
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

Way = Callable[[Any], Any]


class Plain(BaseModel):
    """The class that some ways make an instance of."""

    email: str | None = None
    age: int = 0


def updated(d: Any) -> Any:
    made: dict[str, Any] = {}
    made.update(d)
    return made


def popped_off(d: Any) -> Any:
    made: dict[str, Any] = {}
    while d:
        key, value = d.popitem()
        made[key] = value
    return made


def looped(d: Any) -> Any:
    made: dict[str, Any] = {}
    for key in d:
        if d[key] is not None:
            made[key] = d[key]
    return made


def moved(d: Any) -> Any:
    made: dict[str, Any] = {}
    for key in list(d):
        made[key] = d.pop(key)
    return made


def defaulted(d: Any) -> Any:
    return {"email": None, **d}


class Viewed(Mapping[str, Any]):
    """A mapping of the author's own, which reads by plain names to give values."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def __getitem__(self, key: str) -> Any:
        return self.given[str(key)]

    def __iter__(self) -> Iterator[str]:
        return iter([str(key) for key in self.given])

    def __len__(self) -> int:
        return len(self.given)


LOSING: dict[str, Way] = {
    "as it is": lambda d: d,
    "dict(d)": lambda d: dict(d),
    "{**d}": lambda d: {**d},
    "d | {}": lambda d: d | {},
    "{} | d": lambda d: {} | d,
    "update": updated,
    "{k: d[k] for k in d}": lambda d: {k: d[k] for k in d},
    "popitem": popped_off,
    "d.copy()": lambda d: d.copy(),
    "copy": copy,
    "deepcopy": deepcopy,
    "dict(**d)": lambda d: dict(**d),
    "items": lambda d: dict(d.items()),
    "list of items": lambda d: dict(list(d.items())),
    "items backwards": lambda d: dict(reversed(d.items())),
    "keys and values": lambda d: dict(zip(d.keys(), d.values(), strict=True)),
    "values backwards": lambda d: dict(zip(reversed(d), reversed(d.values()), strict=True)),
    "keys backwards": lambda d: {k: d[k] for k in reversed(d.keys())},
    "sorted": lambda d: {k: d[k] for k in sorted(d)},
    "set of keys": lambda d: {k: d.get(k) for k in set(d)},
    "get in a loop": lambda d: {k: d.get(k) for k in d},
    "pop in a loop": moved,
    "in, in a loop": lambda d: {k: v for k, v in d.items() if k in d},
    "setdefault in a loop": lambda d: {k: d.setdefault(k, 0) for k in list(d)},
    "two reads in a loop": looped,
    "map": lambda d: {k: d[k] for k in d},
    "str of keys": lambda d: {str(k): d[str(k)] for k in map(str, d)},
    "fromkeys": lambda d: dict.fromkeys(d) | d,
    "JSON and back": lambda d: json.loads(json.dumps(d)),
    "pickled": lambda d: pickle.loads(pickle.dumps(d)),
    "type(d)(d)": lambda d: type(d)(d),
    "OrderedDict": lambda d: OrderedDict(d),
    "UserDict": lambda d: UserDict(d),
    "ChainMap": lambda d: ChainMap({}, d),
    "MappingProxyType": lambda d: MappingProxyType(d),
    "own mapping": lambda d: Viewed(d),
    "with a default": defaulted,
    "picked": lambda d: {"email": d.get("email"), "age": d.get("age", 0)},
}
"""Ways to hand on an object that do not look at a key that nobody expects."""

LOSING_INSTANCES: dict[str, Way] = {
    "Model(**d)": lambda d: Plain(**d),
    "model_validate": lambda d: Plain.model_validate(d),
    "model_construct": lambda d: Plain.model_construct(**d),
}
"""The same, with an instance that the author's code makes."""


def recased_keys(d: Any) -> Any:
    return {key.lower(): value for key, value in d.items()}


def legacy_beside_copy(d: Any) -> Any:
    made = dict(d)
    if d.get("mail"):
        made["email"] = d.get("mail").strip()
    return made


def legacy_in_a_copy(d: Any) -> Any:
    made = dict(d)
    if "mail" in made:
        made["email"] = made["mail"]
    return made


def legacy_by_index(d: Any) -> Any:
    made = {**d}
    with contextlib.suppress(KeyError):
        made["email"] = d["mail"].strip()
    return made


def legacy_in_place(d: Any) -> Any:
    if "mail" in d:
        d["email"] = d["mail"].strip()
    return d


def legacy_of_a_copy(d: Any) -> Any:
    made = d.copy()
    made.setdefault("email", made.get("mail", "").strip())
    return made


def legacy_of_a_deepcopy(d: Any) -> Any:
    made = deepcopy(d)
    if "mail" in made:
        made["email"] = made["mail"].strip()
    return made


def renamed_with_pop(d: Any) -> Any:
    if "mail" in d:
        d["email"] = d.pop("mail")
    return d


def popped_from_a_copy(d: Any) -> Any:
    made = dict(d)
    if "mail" in made:
        made["email"] = made.pop("mail").strip()
    return made


def deleted(d: Any) -> Any:
    for key in [key for key in d if key not in Plain.model_fields]:
        del d[key]
    return d


def deleted_by_name(d: Any) -> Any:
    made = {"email": "a@x"}
    if len(d) > 1 or not d.get("email"):
        del d["note"]
    return made


def in_a_match(d: Any) -> Any:
    match d:
        case {"mail": str(mail)}:
            return {"email": mail.strip()}
        case _:
            return d


def unwrapped(d: Any) -> Any:
    made = dict(d)
    made.update(made.get("data", {}))
    return made


def only_key(d: Any) -> Any:
    if len(d) == 1:
        (key,) = d
        if isinstance(d[key], dict):
            return d[key]
    return d


PASSING: dict[str, tuple[Way, dict[str, Any]]] = {
    "re-cased": (recased_keys, {"EMAIL": "a@x"}),
    "legacy name by get beside a copy": (legacy_beside_copy, {"mail": "a@x"}),
    "legacy name read from a copy": (legacy_in_a_copy, {"mail": "a@x"}),
    "legacy name by index beside a copy": (legacy_by_index, {"mail": " a@x"}),
    "legacy name in place": (legacy_in_place, {"mail": " a@x"}),
    "legacy name from d.copy()": (legacy_of_a_copy, {"mail": " a@x"}),
    "legacy name from a deep copy": (legacy_of_a_deepcopy, {"mail": " a@x"}),
    "pop": (renamed_with_pop, {"mail": "a@x"}),
    "pop from a copy": (popped_from_a_copy, {"mail": " a@x"}),
    "removed in a loop": (deleted, {"email": "a@x", "note": "x"}),
    "removed by name": (deleted_by_name, {"email": "a@x", "note": "x"}),
    "filtered": (
        lambda d: {k: v for k, v in d.items() if k in Plain.model_fields},
        {"email": "a@x", "note": "x"},
    ),
    "prefix stripped": (
        lambda d: {k.removeprefix("contact_"): v for k, v in d.items()},
        {"contact_email": "a@x"},
    ),
    "matched": (in_a_match, {"mail": "a@x "}),
    "unwrapped in a copy": (unwrapped, {"data": {"email": "a@x"}}),
    "unwrapped": (only_key, {"data": {"email": "a@x"}}),
    "nothing undeclared": (dict, {"email": "a@x"}),
    "an undeclared key of the author's own": (lambda d: {**d, "cached": 1}, {"email": "a@x"}),
}
"""Ways in which the author's code has dealt with the undeclared key. The e-mail address arrives."""
