"""A key that an author's code does not look at is never dropped, independent of the code around it."""

from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    OnErrorOmit,
    StringConstraints,
    WrapValidator,
    model_validator,
)

from toolbooth import compile_function, compile_json_schema, handle_bytes


class P(BaseModel):
    a: int = 0


class Picking(BaseModel):
    a: int = 0

    @model_validator(mode="before")
    @classmethod
    def pick(cls, value: Any) -> Any:
        return {"a": value.get("a", 0)}


class Folding(BaseModel):
    a: int = 0

    @model_validator(mode="before")
    @classmethod
    def fold(cls, value: Any) -> Any:
        return {key.lower(): each for key, each in value.items()}


class Listing(BaseModel):
    a: int = 0

    @model_validator(mode="before")
    @classmethod
    def listing(cls, value: Any) -> Any:
        return (
            dict(zip(value.keys(), value.values(), strict=True))
            if len(list(value))
            else value.copy()
        )


def forgiving(value: Any, handler: Any) -> Any:
    try:
        return handler(value)
    except ValueError:
        return P(a=-1)


class Stripping(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    names: dict[str, int]


Lower = Annotated[str, StringConstraints(to_lower=True)]


def outcome(hint: Any, sent: bytes) -> Any:
    received: list[Any] = []

    def tool(it: hint):
        received.append(it)

    result = handle_bytes(compile_function(tool), b'{"it": %b}' % sent)
    if not result["isError"]:
        return received[0]
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


@pytest.mark.parametrize(
    ("hint", "sent", "expected"),
    [
        pytest.param(Picking, b'{"a": 1}', Picking(a=1), id="picked"),
        pytest.param(
            Picking, b'{"a": 1, "zz": 1}', [("unknown-key", "$.it.zz")], id="left-behind-unseen"
        ),
        pytest.param(Folding, b'{"A": 1}', Folding(a=1), id="renamed-on-a-walk"),
        pytest.param(
            Listing,
            b'{"a": 1, "zz": 1}',
            [("unknown-key", "$.it.zz")],
            id="carried-along-on-a-walk",
        ),
        pytest.param(Listing, b"{}", Listing(), id="a-copy-of-nothing"),
        pytest.param(
            Annotated[P, WrapValidator(forgiving)],
            b'{"a": 1, "zz": 1}',
            [("unknown-key", "$.it.zz")],
            id="never-caught-by-the-authors-code",
        ),
        pytest.param(
            Annotated[P, WrapValidator(forgiving)],
            b'{"a": "x"}',
            P(a=-1),
            id="the-authors-own-catch",
        ),
        pytest.param(
            list[OnErrorOmit[P]],
            b'[{"a": 1, "b": 2}]',
            [("unknown-key", "$.it[0].b")],
            id="omit-and-typo",
        ),
        pytest.param(list[OnErrorOmit[int]], b'[1, "4"]', [1, 4], id="omit-and-text"),
        pytest.param(
            dict[Lower, int],
            b'{"K": 1, "k": 2}',
            [("conflicting-keys", "$.it.k")],
            id="re-cased-keys",
        ),
        pytest.param(dict[Lower, int], b'{"K": 1}', {"k": 1}, id="re-cased-key"),
        pytest.param(
            Stripping,
            b'{"names": {"k ": 1, "k": 2}}',
            [("conflicting-keys", "$.it.names.k")],
            id="stripped",
        ),
    ],
)
def test_no_key_is_lost_in_an_authors_code(hint, sent, expected):
    assert outcome(hint, sent) == expected


@pytest.mark.parametrize(
    ("node", "sent", "passes"),
    [
        pytest.param(
            {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
            b"[1]",
            True,
            id="tuple",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
            b"[1, 2]",
            False,
            id="long",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": False, "b": {}}},
            b'{"b": 1}',
            True,
            id="never-a-property",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": False}}, b'{"a": 1}', False, id="yet-sent"
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"t": {}},
                "dependentSchemas": {"t": {"properties": {"q": {}}}},
            },
            b'{"t": 1, "q": 2}',
            True,
            id="a-key-that-another-brings",
        ),
    ],
)
def test_schemas_with_never_and_with_dependencies_are_compiled(node, sent, passes):
    contract = compile_json_schema(
        {"type": "object", "properties": {"it": node}}, lambda arguments: "ok", name="tool"
    )
    assert handle_bytes(contract, b'{"it": %b}' % sent)["isError"] is not passes
