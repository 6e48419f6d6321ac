"""A redacted record never contains a secret, whatever its place and form in the arguments."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolbooth import ToolRegistry

SECRET = "hunter2"
NAMES = (Path(__file__).parent.parent / "names" / "secret.txt").read_text().split()
OTHERS = (Path(__file__).parent.parent / "names" / "not_secret.txt").read_text().split()

names = st.sampled_from(NAMES)
others = st.sampled_from(OTHERS)
plain = st.sampled_from(
    ["tea", "", "5 o'clock", "a\nb", 'a "b"', "ü", "{", "[1", "\\", 5, 1.5, None]
)


def held(holder: Any) -> Any:
    """Return a secret under its name, in each way in which tools receive one."""
    return st.one_of(
        names.map(lambda name: {name: holder}),
        names.map(lambda name: {"name": name, "value": SECRET}),
        names.map(lambda name: [[name, SECRET], ["Accept", "*/*"]]),
        names.map(lambda name: f"{name}: {SECRET}"),
        names.map(lambda name: f"curl -H '{name}: {SECRET}' https://example.com"),
        names.map(lambda name: f"https://example.com/?page=2&{name}={SECRET}&x=1"),
        names.map(lambda name: f"{name}={SECRET} run"),
        st.just(f"https://ann:{SECRET}@example.com/"),
        st.just(f"Bearer abcdefgh{SECRET}"),
    )


def around(inner: Any) -> Any:
    """Possible surroundings of it, JSON text included."""
    return st.one_of(
        st.tuples(others, inner, plain).map(lambda each: {each[0]: each[1], "note": each[2]}),
        st.tuples(plain, inner).map(list),
        inner.map(json.dumps),
        inner.map(lambda value: json.dumps(value, indent=1)),
        inner.map(lambda value: f"  {json.dumps(value, ensure_ascii=False)}\n"),
    )


secrets = st.recursive(held(SECRET) | held([SECRET, 5]) | held({"a": SECRET}), around, max_leaves=4)


@cache
def recording() -> tuple[ToolRegistry, list[str]]:
    registry = ToolRegistry("shop")
    kept: list[str] = []

    @registry.tool
    def anything(value: Any) -> None: ...

    @registry.tool
    def text(value: str) -> None: ...

    @registry.tool
    def table(value: dict[str, Any]) -> None: ...

    @registry.tool
    def number(value: int | list[int]) -> None: ...

    registry.observe(lambda record: kept.append(record.arguments or ""), arguments="redacted")
    return registry, kept


@given(value=secrets, tool=st.sampled_from(["anything", "text", "table", "number"]))
def test_no_record_contains_a_secret(value, tool):
    registry, kept = recording()
    kept.clear()
    registry.dispatch(tool, {"value": value})
    registry.dispatch(tool, {"undeclared": value})
    assert [each for each in kept if SECRET in each] == []
    assert len(kept) == 2


values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(others, inner, max_size=3),
    max_leaves=8,
)


@given(value=values, as_text=st.booleans())
def test_record_without_secrets_equals_the_arguments(value, as_text):
    registry, kept = recording()
    kept.clear()
    sent = {"value": json.dumps(value) if as_text else value}
    registry.dispatch("anything", sent)
    assert json.loads(kept[0]) == sent
