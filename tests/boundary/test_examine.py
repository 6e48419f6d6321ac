"""The descent over the shape: unions, numbers, and the limits of the listed problems and repairs."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, Field

from toolbooth import Unpack, compile_function, handle_bytes
from toolbooth.boundary.repairs import CLIENT_KEYS


def outcome(function: Callable[..., Any], body: bytes) -> Any:
    """Return the value that the tool received, with the repairs, or the problems."""
    received: list[Any] = []
    result = handle_bytes(
        compile_function(function), body, lambda **values: received.append(values)
    )
    meta = result.get("_meta", {}).get("toolbooth", {})
    if result["isError"]:
        assert received == []
        return [(each["code"], each["path"], each["message"]) for each in meta["problems"]]
    return received[0], [(each["code"], each["path"]) for each in meta.get("repairs", [])]


# --- unions ---


class Count(BaseModel):
    value: int = 0


class Nullable(BaseModel):
    value: int | None


class Numbers(BaseModel):
    ids: list[int]


def test_text_that_two_forms_of_a_union_read_differently_is_refused():
    def tool(it: Count | Nullable): ...

    assert outcome(tool, b'{"it": {"value": "null"}}') == [
        (
            "wrong-type",
            "$.it",
            "can be read in more than one way; send every value in its own JSON type",
        )
    ]
    assert outcome(tool, b'{"it": {"value": null}}') == ({"it": Nullable(value=None)}, [])
    assert outcome(tool, b'{"it": {"value": "5"}}') == (
        {"it": Count(value=5)},
        [("scalar-text", "$.it.value")],
    )


def test_the_matching_array_of_a_union_is_chosen():
    def tool(ids: list[int] | list[str]): ...

    assert outcome(tool, b'{"ids": [1, 2]}') == ({"ids": [1, 2]}, [])
    assert outcome(tool, b'{"ids": ["1", "2"]}') == ({"ids": ["1", "2"]}, [])
    assert outcome(tool, b'{"ids": [true]}') == [
        ("wrong-type", "$.ids[0]", "must be an integer, got true")
    ]


# --- 5.0 is the integer 5 ---


def arrays(it: list[int] | list[str]): ...
def models(it: Numbers | Nullable): ...
def tables(it: dict[str, list[int]] | dict[str, str]): ...
def nested(it: list[Numbers] | list[str]): ...


@pytest.mark.parametrize(
    ("tool", "sent", "expected"),
    [
        pytest.param(arrays, b"[5.0]", [5], id="list-in-a-union-of-lists"),
        pytest.param(models, b'{"ids": [5.0]}', Numbers(ids=[5]), id="list-in-a-union-of-models"),
        pytest.param(models, b'{"value": 5.0}', Nullable(value=5), id="field-in-a-union-of-models"),
        pytest.param(tables, b'{"a": [5.0]}', {"a": [5]}, id="list-in-a-union-of-dicts"),
        pytest.param(
            nested, b'[{"ids": [5.0]}]', [Numbers(ids=[5])], id="model-in-a-union-of-lists"
        ),
    ],
)
def test_an_integer_written_with_a_point_is_the_same_number_in_every_union(tool, sent, expected):
    assert outcome(tool, b'{"it": %b}' % sent) == ({"it": expected}, [])


def test_a_number_with_a_point_becomes_an_integer_only_where_one_is_declared():
    def tool(
        count: int | str,
        ids: list[int],
        pair: tuple[int, Any],
        content: Any,
        rates: dict[str, float],
    ): ...

    body = b'{"count": 5.0, "ids": [1, 2.0], "pair": [5.0, [5.0]], "content": {"a": [5.0]}, "rates": {"a": 5.0}}'
    received, repairs = outcome(tool, body)
    assert repr(received) == repr(
        {
            "count": 5,
            "ids": [1, 2],
            "pair": (5, [5.0]),
            "content": {"a": [5.0]},
            "rates": {"a": 5.0},
        }
    )
    assert repairs == []


# --- text ---


def test_text_null_is_refused_for_a_required_integer():
    def tool(ids: list[int], count: int): ...

    assert outcome(tool, b'{"ids": ["null"], "count": "null"}') == [
        ("wrong-type", "$.ids[0]", 'must be an integer, got text "null"; e.g. 2'),
        ("wrong-type", "$.count", 'must be an integer, got text "null"; e.g. 2'),
    ]


# --- bounds ---


def test_past_a_thousand_repairs_are_made_and_no_longer_listed():
    def tool(ids: list[int]): ...

    received, repairs = outcome(tool, json.dumps({"ids": [str(n) for n in range(1_200)]}).encode())
    assert received == {"ids": list(range(1_200))}
    assert repairs == [("scalar-text", f"$.ids[{n}]") for n in range(1_000)]


def test_past_forty_problems_are_counted_each_once():
    def tool(ids: list[int]): ...

    result = handle_bytes(compile_function(tool), json.dumps({"ids": ["x"] * 50}).encode())
    assert result["content"][0]["text"].startswith(
        "Refused: 50 problems in the arguments of 'tool'."
    )


class Rivals(BaseModel):
    second: int = Field(0, validation_alias=AliasChoices("s", AliasPath("o", "p"), "z"))
    third: int = Field(0, validation_alias=AliasPath("o", "t"))
    after: int = Field(0, validation_alias=AliasPath("gap", 1))
    either: int = Field(0, validation_alias=AliasChoices(AliasPath("l", 0), AliasPath("l", 1)))


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(
            {"s": 1, "o": {"t": 3}}, Rivals.model_construct(second=1, third=3), id="one-path-each"
        ),
        pytest.param(
            {"o": {"p": 2, "t": 3}}, Rivals.model_construct(second=2, third=3), id="by-path"
        ),
        pytest.param(
            {"s": 1, "o": {"p": 2, "t": 3}}, [("conflicting-keys", "$.it.o.p")], id="name-and-path"
        ),
        pytest.param(
            {"s": 1, "o": '{"p": 2}'},
            [("conflicting-keys", "$.it.o.p")],
            id="name-and-path-in-text",
        ),
        pytest.param({"o": {"p": 2}, "z": 1}, [("conflicting-keys", "$.it.z")], id="path-and-name"),
        pytest.param({"s": 1, "z": 1}, [("conflicting-keys", "$.it.z")], id="name-and-name"),
        pytest.param(
            {"gap": [7, 2]}, [("wrong-type", "$.it.gap[0]")], id="an-item-that-no-path-reads"
        ),
        pytest.param(
            {"gap": [None, 2]}, Rivals.model_construct(after=2), id="null-where-no-path-reads"
        ),
        pytest.param({"l": [1]}, Rivals.model_construct(either=1), id="one-position"),
        pytest.param({"l": [1, 2]}, [("conflicting-keys", "$.it.l[1]")], id="two-positions"),
    ],
)
@pytest.mark.parametrize("unpacked", [False, True], ids=["nested", "hoisted"])
def test_of_several_paths_to_one_field_only_one_may_be_sent(sent, expected, unpacked):
    def nested(it: Rivals): ...
    def hoisted(it: Annotated[Rivals, Unpack(prefix="it_")], other: int = 0): ...

    flat = {f"it_{key}": value for key, value in sent.items()}
    found = outcome(
        hoisted if unpacked else nested, json.dumps(flat if unpacked else {"it": sent}).encode()
    )
    if isinstance(expected, list):
        wanted = [
            (code, path.replace("$.it.", "$.it_") if unpacked else path) for code, path in expected
        ]
        assert [(code, path) for code, path, _ in found] == wanted
    else:
        assert found[0]["it"] == expected


class Short(BaseModel):
    a: int


class Long(BaseModel):
    a: int
    b: int = 0


class Other(BaseModel):
    a: int
    z: str


@pytest.mark.parametrize("empty", ["null", '""'])
def test_empty_key_that_selects_a_union_branch_is_not_dropped(empty: str):
    def either(u: Short | Long) -> str:
        return repr(u)

    found = handle_bytes(compile_function(either), b'{"u": {"a": 1, "b": %s}}' % empty.encode())
    assert [(each["code"], each["path"]) for each in found["_meta"]["toolbooth"]["problems"]] == [
        ("wrong-type", "$.u")
    ]


def test_null_is_dropped_where_only_one_branch_fits():
    def either(u: Other | Long) -> str:
        return repr(u)

    found = handle_bytes(compile_function(either), b'{"u": {"a": 1, "b": null}}')
    assert found["content"][0]["text"] == "Long(a=1, b=0)"
    assert found["_meta"]["toolbooth"] == {"repairs": [{"code": "null-optional", "path": "$.u.b"}]}


# --- keys of the client ---


@pytest.mark.parametrize("key", sorted(CLIENT_KEYS))
@pytest.mark.parametrize("name", ["email", "eMail", "E_mail"])
@pytest.mark.parametrize(
    "written",
    [
        dict,
        json.dumps,
        lambda fields: [fields],
        lambda fields: {"more": [{"of": fields}]},
        lambda fields: {"more": json.dumps([json.dumps(fields)])},
    ],
    ids=["an object", "as JSON text", "a list", "further down", "as JSON text further down"],
)
def test_declared_fields_under_a_key_of_the_client_are_refused(key, name, written):
    def create_contact(email: str = "", notes: str = ""): ...

    found = outcome(create_contact, json.dumps({key: written({name: "ann@example.org"})}).encode())
    assert [path for _, path, _ in found] == [f"$.{key}"]
    assert {code for code, _, _ in found} <= {"nested-wrapper", "unknown-key"}


@pytest.mark.parametrize("sent", [{"_meta": {"progressToken": 1}}, {"toolCallId": "email"}])
def test_keys_added_by_the_client_are_removed(sent):
    def create_contact(email: str = "", notes: str = ""): ...

    values, repairs = outcome(create_contact, json.dumps({**sent, "notes": "n"}).encode())
    assert values == {"email": "", "notes": "n"}
    assert repairs == [("client-key", f"$.{next(iter(sent))}")]
