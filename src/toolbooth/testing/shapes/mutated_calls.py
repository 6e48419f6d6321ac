"""Random malformed calls: correct calls with up to two random changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from toolbooth.jsonvalue import JsonPath, is_array, look_up
from toolbooth.testing.shapes.call_places import paths_in, with_value, without_key

_SCALARS = [None, True, False, 0, 1, -1, 7.5, 10**6]
_TEXTS = ["", "x", "5", "true", "null", "[]", "{}", '"a"']
_CONTAINERS: list[Any] = [[], [1], ["x"], {}, {"x": 1}]
_replacements = st.sampled_from([*_SCALARS, *_TEXTS, *_CONTAINERS])
_new_keys = st.sampled_from(["zq", "data", "Name", "toolCallId"])


@st.composite
def mutated_call(draw: st.DrawFn, calls: SearchStrategy[Any]) -> Any:
    """Draw a random malformed call: a correct call with up to two random changes."""
    call = draw(calls)
    # Hypothesis shrinks towards the first entry. So most calls have exactly one change, and so has
    # the simplest counterexample.
    for _ in range(draw(st.sampled_from([1, 1, 2, 0]))):
        root, *below = paths_in(call)
        # The values inside are listed twice, because there are few possible changes at the root.
        call = _mutate(draw, call, draw(st.sampled_from([*below, *below, root])))
    return call


def _mutate(draw: st.DrawFn, call: Any, path: JsonPath) -> Any:
    value = look_up(call, path)
    ways = ["near", "replace", "list", "text"] if path else []
    ways += ["remove"] if path and isinstance(path[-1], str) else []
    ways += ["add"] if isinstance(value, dict) else []
    way = draw(st.sampled_from(ways))
    if way == "remove":
        return without_key(call, path)
    if way == "add":
        key = draw(_new_keys)
        return with_value(call, path, {**value, key: draw(_replacements)})
    made: dict[str, Callable[[], Any]] = {
        "near": lambda: _near(value),
        "replace": lambda: draw(_replacements),
        "list": lambda: [value],
        "text": lambda: json.dumps(value),
    }
    return with_value(call, path, made[way]())


def _near(value: Any) -> Any:
    """Return another value of the same type. It may be just beyond a declared bound."""
    # Before the test for `int`, because `True + 1` is 2 in Python.
    if isinstance(value, bool | None):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value < 0 else -value - 1
    if isinstance(value, str):
        return value[:-1] if len(value) > 1 else value + "xx"
    return value * 2 if is_array(value) else {}
