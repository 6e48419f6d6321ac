"""The law of undeclared keys for random validators: steps that copy, read, filter and create
models, one after the other. A key is never lost without a refusal, and never refused after it was
read by name or removed.
"""

import copy
import json
import pickle
from collections import ChainMap, OrderedDict
from collections.abc import Callable
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from validator_places import PLACES, in_mode, outcome
from validator_ways import Plain, Way

FIELDS = ("email", "age")

COPIES: dict[str, Way] = {
    "itself": lambda d: d,
    "dict": dict,
    "{**d}": lambda d: {**d},
    "|": lambda d: d | {},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "loop": lambda d: {key: d[key] for key in d},
    "items": lambda d: dict(d.items()),
    "sorted": lambda d: dict(sorted(d.items(), key=lambda each: each[0])),
    "ordered": OrderedDict,
    "chained": lambda d: dict(ChainMap({}, d)),
    "zip": lambda d: dict(zip(d.keys(), d.values(), strict=True)),
    "expanded": lambda d: dict(**d),
}
UNTRACED: dict[str, Way] = {
    "JSON": lambda d: json.loads(json.dumps(d)),
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
}
"""Copies in which a read by name is not noticed."""

READS: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda d, name: d.get(name),
    "in": lambda d, name: name in d,
    "[]": lambda d, name: [d[name] for each in d if each == name],
    "setdefault": lambda d, name: d.setdefault(name, 0),
}
REMOVALS: dict[str, Callable[[Any, str], Any]] = {
    "pop": lambda d, name: (d.pop(name, None), d)[1],
    "filter": lambda d, _: {key: each for key, each in d.items() if key in FIELDS},
    "not the name": lambda d, name: {key: each for key, each in d.items() if key != name},
}
ENDS: dict[str, Way] = {
    "object": lambda d: d,
    "Model(**d)": lambda d: Plain(**d),
    "model_validate": Plain.model_validate,
    "adapter": TypeAdapter(Plain).validate_python,
    "dumped": lambda d: Plain(**d).model_dump(),
    "validated and dumped": lambda d: Plain.model_validate(d).model_dump(),
}

names = st.sampled_from(["zz", "mail", "Email", "emial", "data", "age_", "é"])
values = st.sampled_from(["q1", 5, True, None, ["a"], {"email": "b@x"}, {"x": 1}])
declared = st.fixed_dictionaries(
    {"email": st.sampled_from(["a@x", "b@x"])}, optional={"age": st.integers(2, 9)}
)
copies = st.lists(st.sampled_from(list(COPIES)), max_size=3)
ends = st.sampled_from(list(ENDS))
places = st.sampled_from(list(PLACES))
modes = st.sampled_from(["before", "wrap"])


def hint_of(place: str, mode: str, way: Way) -> Any:
    hint, lift, _, _ = PLACES[place]
    return in_mode(mode, hint, lift(way))


def sent_at(place: str, item: dict[str, Any]) -> str:
    return PLACES[place][2] % json.dumps(item)


def run(steps: list[Way], d: Any) -> Any:
    for step in steps:
        d = step(d)
    return d


@settings(deadline=None)
@given(
    before=copies, untraced=st.lists(st.sampled_from(list(UNTRACED)), max_size=1), after=copies,
    end=ends, place=places, mode=modes, fields=declared, name=names, value=values,
)  # fmt: skip
def test_key_that_no_validator_reads_is_never_lost(
    before, untraced, after, end, place, mode, fields, name, value
):
    steps = [COPIES[each] for each in before]
    # After such a copy, the dropped keys are only known if the model itself is passed on.
    if "dumped" not in end:
        steps += [UNTRACED[each] for each in untraced]
    steps += [*(COPIES[each] for each in after), ENDS[end]]
    hint = hint_of(place, mode, lambda d: run(steps, d))
    found = outcome(hint, sent_at(place, {**fields, name: value}))
    code = "nested-wrapper" if isinstance(value, dict) else "unknown-key"
    path = f"$.it{PLACES[place][3]}" + (f'["{name}"]' if name == "é" else f".{name}")
    assert found == [(code, path)]
    assert outcome(hint, sent_at(place, fields)) is not None
    event(end)


@settings(deadline=None)
@given(
    before=copies, dealt_with=st.sampled_from([*READS, *REMOVALS]), after=copies,
    end=ends, place=places, mode=modes, fields=declared, name=names, value=values,
)  # fmt: skip
def test_a_key_that_was_read_by_name_or_removed_is_never_refused(
    before, dealt_with, after, end, place, mode, fields, name, value
):
    def deal(d: Any) -> Any:
        if dealt_with in READS:
            READS[dealt_with](d, name)
            return d
        return REMOVALS[dealt_with](d, name)

    steps = [*(COPIES[each] for each in before), deal, *(COPIES[each] for each in after), ENDS[end]]
    hint = hint_of(place, mode, lambda d: run(steps, d))
    found = outcome(hint, sent_at(place, {**fields, name: value}))
    assert fields["email"] in repr(found)
    assert "unknown-key" not in repr(found)
    event(dealt_with)
