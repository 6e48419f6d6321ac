"""Before and wrap validators, as authors write them, that handle an undeclared key."""

import contextlib
import json
from copy import deepcopy
from typing import Any

from validator_ways import ADAPTER, FIELDS, Legacy, Plain, Way, recased_keys


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
"""Validators in which the author's code has handled the undeclared key. The e-mail address arrives.
"""

ZZ = {"email": "a@x", "zz": "q1"}


def removed_one_by_one(d: Any) -> Any:
    for key in set(d) - FIELDS:
        d.pop(key)
    return d


def chosen_one_by_one(d: Any) -> Any:
    made: dict[str, Any] = {}
    for key, value in d.items():
        if key == "email":
            made["email"] = value
    return made


def looked_up(d: Any, name: str = "zz") -> Any:
    made = dict(d)
    made.get(name)
    return made


def looked_for(d: Any, name: str = "zz") -> Any:
    made = {**d}
    assert name in made
    return made


PASSING |= {
    "filter": (lambda d: dict(filter(lambda each: each[0] in FIELDS, d.items())), ZZ),
    "names filtered": (lambda d: {k: d[k] for k in filter(FIELDS.__contains__, d)}, ZZ),
    "removed one by one": (removed_one_by_one, ZZ),
    "chosen one by one": (chosen_one_by_one, ZZ),
    "compared": (lambda d: {k: v for k, v in d.items() if k != "zz"}, ZZ),
    "filtered in JSON": (
        lambda d: {k: v for k, v in json.loads(json.dumps(d)).items() if k in FIELDS},
        ZZ,
    ),
    "re-cased and filtered": (
        lambda d: {k.lower(): v for k, v in d.items() if k.lower() in FIELDS},
        {"EMAIL": "a@x", "zz": 1},
    ),
    "re-cased, cleaned and filtered": (
        lambda d: {k.casefold(): v.strip() for k, v in d.items() if k.casefold() in FIELDS},
        {"EMAIL": " a@x", "zz": "q1"},
    ),
    "separators replaced": (
        lambda d: {k.strip("_").replace("-", ""): v.strip() for k, v in d.items()},
        {"_e-mail": " a@x"},
    ),
    "suffix stripped": (
        lambda d: {k.removesuffix("_1").upper().lower(): v.strip() for k, v in d.items()},
        {"email_1": " a@x"},
    ),
    "made longer": (lambda d: {"e" + k: v.strip() for k, v in d.items()}, {"mail": " a@x"}),
    "made longer at its end": (
        lambda d: {k + "il": v.strip() for k, v in d.items()},
        {"ema": " a@x"},
    ),
    "looked up in a copy": (looked_up, ZZ),
    "looked for in a copy": (looked_for, ZZ),
    "filtered, then made and dumped": (
        lambda d: Plain(**{k: v for k, v in d.items() if k in FIELDS}).model_dump(),
        ZZ,
    ),
    "a name that a model declares": (
        lambda d: {"email": Legacy(**d).mail.strip()},
        {"mail": " a@x"},
    ),
    "a name that a function declares": (
        lambda d: (lambda mail: {"email": mail.strip()})(**d),
        {"mail": " a@x"},
    ),
}

PASSING_INSTANCES: dict[str, tuple[Way, dict[str, Any]]] = {
    "filtered": (lambda d: Plain(**{k: v for k, v in d.items() if k in FIELDS}), ZZ),
    "filtered and validated": (
        lambda d: ADAPTER.validate_python({k: v for k, v in d.items() if k in FIELDS}),
        ZZ,
    ),
    "removed one by one": (lambda d: Plain.model_validate(removed_one_by_one(d)), ZZ),
    "chosen one by one": (lambda d: Plain(**chosen_one_by_one(d)), ZZ),
    "popped": (lambda d: (d.pop("zz", None), Plain(**d))[1], ZZ),
    "read": (lambda d: (d.get("zz"), Plain(**d))[1], ZZ),
    "read in a copy": (lambda d: Plain(**looked_up(d)), ZZ),
    "by name": (lambda d: Plain(email=d.get("mail", "").strip()), {"mail": " a@x"}),
    "another model": (
        lambda d: Plain(email=(Legacy(**d).mail or "").strip()),
        {"mail": " a@x"},
    ),
    "re-cased": (
        lambda d: Plain(**{k.lower(): str(v).strip() for k, v in d.items()}),
        {"EMAIL": " a@x"},
    ),
}
"""The same, with an instance that the author's code creates."""
