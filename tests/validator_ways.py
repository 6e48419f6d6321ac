"""Before and wrap validators, as authors write them, that do not look at an undeclared key. Those
that handle it are in `passing_ways.py`.
"""

import functools
import itertools
import json
import operator
import pickle
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.dataclasses import dataclass as pydantic_dataclass

Way = Callable[[Any], Any]


class Plain(BaseModel):
    """The class that some validators create an instance of."""

    email: str | None = None
    age: int = 0


class Legacy(BaseModel):
    """A class that declares an old name, too."""

    mail: str | None = None
    email: str | None = None
    age: int = 0


@dataclass
class Checked:
    """A class that refuses undeclared keys itself."""

    email: str | None = None
    age: int = 0


@pydantic_dataclass
class Unchecked:
    """A class that drops undeclared keys."""

    email: str | None = None
    age: int = 0


FIELDS = {"email", "age"}
ADAPTER = TypeAdapter(Plain)


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
    """A mapping of the author's own, which returns values by plain names."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def __getitem__(self, key: str) -> Any:
        return self.given[str(key)]

    def __iter__(self) -> Iterator[str]:
        return iter([str(key) for key in self.given])

    def __len__(self) -> int:
        return len(self.given)


def merged(d: Any) -> Any:
    made: dict[str, Any] = {}
    made |= d
    return made


def swallowing(email: Any = None, age: int = 0, **_: Any) -> Any:
    return {"email": email, "age": age}


def noted_and_picked(d: Any) -> Any:
    repr(dict(d))
    return {"email": d.get("email"), "age": d.get("age", 0)}


def got(d: Any) -> Any:
    values = operator.itemgetter(*d)(d) if len(d) > 1 else tuple(d.values())
    return dict(zip(d, values, strict=True))


def recased_keys(d: Any) -> Any:
    return {key.lower(): value for key, value in d.items()}


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
    "noted and picked": noted_and_picked,
    "|=": merged,
    "reduce": lambda d: functools.reduce(lambda made, each: {**made, each: d[each]}, d, {}),
    "sorted items": lambda d: dict(sorted(d.items(), key=lambda each: each[0])),
    "itemgetter": got,
    "chain": lambda d: dict(itertools.chain(d.items())),
    "partial": lambda d: functools.partial(dict, **d)(),
    "defaultdict": lambda d: defaultdict(int, d),
    "f-string": lambda d: {f"{k}": v for k, v in d.items()},
    "deep copy of a copy": lambda d: deepcopy({**d}),
    "pickled copy": lambda d: pickle.loads(pickle.dumps({**d})),
    "shallow copy of a key": lambda d: {copy(k): v for k, v in d.items()},
    "a function that takes everything": lambda d: swallowing(**d),
    "Model(**d).model_dump()": lambda d: Plain(**d).model_dump(),
    "model_validate(d).model_dump()": lambda d: Plain.model_validate(d).model_dump(),
    "model_validate(dict(d)).model_dump()": lambda d: Plain.model_validate(dict(d)).model_dump(),
    "dict(Model(**d))": lambda d: dict(Plain(**d)),
    "a dataclass of Pydantic": lambda d: vars(Unchecked(**d)),
}
"""Validators that pass an object on without looking at an undeclared key."""

LOSING_INSTANCES: dict[str, Way] = {
    "Model(**d)": lambda d: Plain(**d),
    "model_validate": lambda d: Plain.model_validate(d),
    "model_construct": lambda d: Plain.model_construct(**d),
    "Model(**dict(d))": lambda d: Plain(**dict(d)),
    "Model(**{**d, ...})": lambda d: Plain(**{**d, "age": 3}),
    "Model(**copied in a loop)": lambda d: Plain(**looped(d)),
    "Model(**d.copy())": lambda d: Plain(**d.copy()),
    "Model(**JSON and back)": lambda d: Plain(**json.loads(json.dumps(d))),
    "model_validate_json": lambda d: Plain.model_validate_json(json.dumps(d)),
    "model_validate(dict(d))": lambda d: Plain.model_validate(dict(d)),
    "TypeAdapter": lambda d: ADAPTER.validate_python(d),
    "TypeAdapter of a copy": lambda d: ADAPTER.validate_python({**d}),
    "TypeAdapter of a list": lambda d: TypeAdapter(list[Plain]).validate_python([d])[0],
    "model_copy": lambda d: Plain(**d).model_copy(update={"age": 4}),
    "ChainMap": lambda d: Plain(**ChainMap(d)),
    "partial": lambda d: functools.partial(Plain, **d)(),
    "a special case": lambda d: Plain(**{k: v if k != "age" else int(v) for k, v in d.items()}),
    "another model": lambda d: Plain(**Legacy(**d).model_dump(exclude={"mail"})),
    "re-cased": lambda d: Plain(**recased_keys(d)),
}
"""The same, with an instance that the author's code creates."""
