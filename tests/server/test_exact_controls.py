"""Control arguments that take no repair: `preview` and `idempotency_key`.

A slip in one of them must never turn a preview into a write, or a repeated write into a second one.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_calls import codes, on_the_wire
from toolbooth import ToolRegistry
from toolbooth.compile.signature import compile_function
from toolbooth.server.controls import CONTROL_ARGUMENTS, accepting

calls: list[Any] = []

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def create(name: str, age: int = 0, notes: list[str] | None = None) -> str:
    calls.append((name, age, notes))
    return "created"


def shop(**renamed: str) -> ToolRegistry:
    """A tool that takes both arguments, flat and behind a dispatcher."""
    calls.clear()
    known = {renamed.get(own, own): own for own in ("preview", "idempotency_key")}
    schemas = {name: CONTROL_ARGUMENTS[own].schema for name, own in known.items()}
    registry = ToolRegistry("shop", help="help")
    contract = accepting(compile_function(create, name="customers__create"), schemas, known)
    registry.add(contract, create)
    registry.dispatcher("customers", {"create": "customers__create"})
    return registry


@pytest.mark.parametrize(
    "arguments",
    [{"preview": True}, {"preview": False}, {"idempotency_key": "k"}, {"idempotency_key": "null"}],
    ids=str,
)
def test_a_value_of_the_declared_type_is_accepted_and_not_passed_to_the_function(
    arguments: dict[str, Any],
) -> None:
    registry = shop()
    body = json.dumps({"name": "Ann", **arguments}).encode()
    assert on_the_wire(registry, "customers__create", body) == {
        "content": [{"type": "text", "text": "created"}],
        "isError": False,
    }
    assert calls == [("Ann", 0, None)]


@given(value=JSON_VALUES.filter(lambda each: not isinstance(each, bool)))
def test_preview_accepts_only_true_and_false(value: Any) -> None:
    for flat in (True, False):
        registry = shop()
        sent = {"name": "Ann", "preview": value}
        if not flat:
            sent = {"action": "create", "params": sent}
        name = "customers__create" if flat else "customers"
        result = on_the_wire(registry, name, json.dumps(sent).encode())
        assert result["isError"] is True
        assert "corrected" not in result["_meta"]["toolbooth"]
        assert calls == []


@given(value=JSON_VALUES.filter(lambda each: not isinstance(each, str)))
def test_idempotency_key_accepts_only_text(value: Any) -> None:
    registry = shop()
    body = json.dumps({"name": "Ann", "idempotency_key": value}).encode()
    result = on_the_wire(registry, "customers__create", body)
    assert result["isError"] is True
    assert "corrected" not in result["_meta"]["toolbooth"]
    assert calls == []


@pytest.mark.parametrize("length", [0, 129])
def test_an_idempotency_key_has_1_to_128_characters(length: int) -> None:
    body = json.dumps({"name": "Ann", "idempotency_key": "k" * length}).encode()
    meta = on_the_wire(shop(), "customers__create", body)["_meta"]["toolbooth"]
    echo = '""' if length == 0 else f'"{"k" * 78}…'
    words = f"must be text of 1 to 128 characters, not {length}; got {echo}"
    [problem] = meta["problems"]
    assert problem == {
        "code": "invalid",
        "path": "$.idempotency_key",
        "message": words,
    }
    assert "corrected" not in meta
    assert calls == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "got null"),
        ("", 'got text ""'),
        ("true", 'got text "true"'),
        ("null", 'got text "null"'),
        (1, "got an integer 1"),
        ([True], "got an array"),
    ],
    ids=str,
)
def test_wrong_control_value_is_refused_in_one_sentence(value: Any, words: str) -> None:
    registry = shop()
    body = json.dumps({"name": "Ann", "preview": value}).encode()
    result = on_the_wire(registry, "customers__create", body)
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert problem == {
        "code": "wrong-type",
        "path": "$.preview",
        "message": f"must be true or false, {words}; this argument is never corrected automatically",
    }
    assert calls == []


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("previw", "preview"),
        ("Preview", "preview"),
        ("dry_run", "preview"),
        ("dryRun", "preview"),
        ("validate_only", "preview"),
        ("validateOnly", "preview"),
        ("idempotencyKey", "idempotency_key"),
        ("Idempotency-Key", "idempotency_key"),
        ("client_request_id", "idempotency_key"),
    ],
)
@pytest.mark.parametrize("value", [True, False, None, "", "k"], ids=str)
def test_misspelt_names_are_refused_and_the_argument_is_named(
    key: str, meant: str, value: Any
) -> None:
    for name, sent in (
        ("customers__create", {"name": "Ann", key: value}),
        ("customers", {"action": "create", "name": "Ann", key: value}),
        ("customers", {"action": "create", "params": {"name": "Ann", key: value}}),
        ("customers", {"action": "create", key: value, "params": {"name": "Ann"}}),
    ):
        result = on_the_wire(shop(), name, json.dumps(sent).encode())
        [problem] = result["_meta"]["toolbooth"]["problems"]
        assert problem["code"] == "unknown-key"
        assert f'did you mean "{meant}"?' in problem["message"]
        assert calls == []


def test_a_correction_never_leaves_out_an_exact_argument() -> None:
    """Other corrections keep it, and a wrong value of it leaves no corrected call."""
    for wrapped, corrected in (
        ({"data": {"name": "Ann"}, "preview": True}, {"name": "Ann", "preview": True}),
        ({"data": {"name": "Ann", "preview": True}}, {"name": "Ann", "preview": True}),
        ({"data": {"name": "Ann", "preview": None}}, None),
        ({"data": {"name": "Ann"}, "preview": "true"}, None),
        ({"Name": "Ann", "preview": ""}, None),
        ({"name": "Ann", "age": "7.0", "preview": None}, None),
        ({"data": {"name": "Ann", "idempotency_key": 7}}, None),
    ):
        result = on_the_wire(shop(), "customers__create", json.dumps(wrapped).encode())
        assert result["isError"] is True
        assert result["_meta"]["toolbooth"].get("corrected") == corrected
        assert calls == []


def test_control_argument_inside_meta_is_refused() -> None:
    for inner in ({"preview": True}, {"dryRun": True}, {"x": {"idempotency_key": "k"}}):
        body = json.dumps({"name": "Ann", "_meta": inner}).encode()
        result = on_the_wire(shop(), "customers__create", body)
        assert codes(result) == [("nested-wrapper", "$._meta")]
        assert calls == []


def test_text_that_contains_a_swallowed_control_argument_is_refused() -> None:
    sent = {"name": 'Ann</parameter>\n<parameter name="preview">true'}
    result = on_the_wire(shop(), "customers__create", json.dumps(sent).encode())
    assert codes(result) == [("swallowed-argument", "$.name")]
    sent = {"name": "Ann", "idempotency_key": 'k</parameter>\n<parameter name="preview">true'}
    result = on_the_wire(shop(), "customers__create", json.dumps(sent).encode())
    assert codes(result) == [("swallowed-argument", "$.idempotency_key")]
    assert calls == []


def test_renamed_control_arguments_are_not_repaired_either() -> None:
    registry = shop(preview="rehearse", idempotency_key="once")
    for key, value in (("rehearse", "true"), ("rehearse", None), ("once", None), ("once", 5)):
        body = json.dumps({"name": "Ann", key: value}).encode()
        result = on_the_wire(registry, "customers__create", body)
        assert codes(result) == [("wrong-type", f"$.{key}")]
        assert calls == []
    body = b'{"name": "Ann", "dry_run": true}'
    result = on_the_wire(registry, "customers__create", body)
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert 'did you mean "rehearse"?' in problem["message"]
