"""An unpacked model behaves as the model alone would: the 40 rows of
`docs/project/evidence/parameter-flattening.md`, row by row."""

import asyncio
import re
import sys
from datetime import date
from decimal import Decimal
from types import ModuleType
from typing import Annotated, Literal, Optional
from uuid import UUID

import pytest
from flattening_fields import Tree
from flattening_kinds import Point, Spot, Typed
from flattening_rows import ROWS
from flattening_validators import Open, Popped
from pydantic import AfterValidator, BaseModel, Field, HttpUrl, model_validator

from toolbooth import (
    Context,
    Unpack,
    compile_function,
    handle_bytes,
    handle_bytes_async,
    input_schema,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_an_unpacked_model_behaves_as_the_model_alone(row):
    contract = compile_function(row.make())
    results = [asyncio.run(handle_bytes_async(contract, call.sent.encode())) for call in row.calls]
    assert results == [call.result for call in row.calls]


def told(function, body, **how):
    """Return the text of one result, and whether it is a refusal."""
    result = handle_bytes(compile_function(function), body, **how)
    return result["content"][0]["text"], result["isError"]


class Item(BaseModel):
    id: int
    name: str = "n"


@pytest.mark.parametrize(
    "hint", [Context, Context | None, Optional[Context], Annotated[Context, "the call"]], ids=str
)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_02_a_context_before_or_after_is_injected_and_never_on_the_wire(hint, first):
    def after(item: Annotated[Item, Unpack()], context): ...
    def before(context, item: Annotated[Item, Unpack()]): ...

    def tool(**values):
        return f"{values['item']!r} {values['context'].client}"

    shaped = before if first else after
    shaped.__annotations__["context"] = hint
    contract = compile_function(shaped, name="tool")
    assert list(input_schema(contract)["properties"]) == ["id", "name"]
    result = handle_bytes(contract, b'{"id": 1}', tool, context=Context(client="me"))
    assert result == {
        "content": [{"type": "text", "text": "Item(id=1, name='n') me"}],
        "isError": False,
    }
    refusal = handle_bytes(contract, b'{"id": 1, "context": {}}', tool)
    assert [each["path"] for each in refusal["_meta"]["toolbooth"]["problems"]] == ["$.context"]


def test_02_injected_argument_is_passed_on():
    class Session: ...

    def tool(item: Annotated[Item, Unpack()], session: Session):
        return f"{item!r} {type(session).__name__}"

    contract = compile_function(tool, injected=lambda param, hint: hint is Session)
    result = handle_bytes(contract, b'{"id": 1}', injected={"session": Session()})
    assert result == {
        "content": [{"type": "text", "text": "Item(id=1, name='n') Session"}],
        "isError": False,
    }


def test_09_default_factory_is_not_called_or_published_at_registration():
    calls = []

    class Stamped(BaseModel):
        at: int = Field(default_factory=lambda: calls.append(1) or len(calls))

    def tool(it: Annotated[Stamped, Unpack()]): ...

    assert input_schema(compile_function(tool)) == {
        "type": "object",
        "properties": {"at": {"type": "integer"}},
    }
    assert calls == []


def test_09_a_factory_on_a_plain_parameter_runs_once_a_call():
    calls = []

    def tool(
        item: Annotated[Item, Unpack()],
        at: int = Field(default_factory=lambda: calls.append(1) or len(calls)),
    ):
        return f"{item.id} {at}"

    contract = compile_function(tool)
    assert [handle_bytes(contract, b'{"id": 1}')["content"][0]["text"] for _ in range(2)] == [
        "1 1",
        "1 2",
    ]


def test_17_validators_run_at_most_once_when_the_call_is_refused():
    runs = []

    class Noted(BaseModel):
        a: Annotated[int, AfterValidator(lambda value: runs.append("a") or value)]
        b: int

        @model_validator(mode="before")
        @classmethod
        def before(cls, values):
            runs.append("before")
            return values

    def tool(it: Annotated[Noted, Unpack()], other: int = 0): ...

    contract = compile_function(tool)
    for body in (
        b'{"a": 1, "b": "x"}',
        b'{"data": {"a": 1, "b": 2}}',
        b'{"a": 1, "b": 2, "othre": 3}',
        b'{"a": 1}',
    ):
        runs.clear()
        assert handle_bytes(contract, body)["isError"]
        assert (runs.count("before") <= 1, runs.count("a") <= 1) == (True, True), body


def test_23_validator_message_of_a_prefixed_model_is_sent_with_its_path():
    class Range(BaseModel):
        lo: int
        hi: int

        @model_validator(mode="after")
        def in_order(self):
            if self.lo > self.hi:
                raise ValueError("lo must not be above hi")
            return self

    def tool(
        a: Annotated[Range, Unpack(prefix="a_")], b: Annotated[Range, Unpack(prefix="b_")]
    ): ...

    _, *lines = told(tool, b'{"a_lo": 2, "a_hi": 1, "b_lo": 2, "b_hi": 1}')[0].splitlines()
    # Two models have the same message, so the agent must be able to see which keys each one means.
    assert ["lo must not be above hi" in line for line in lines] == [True, True]
    assert ["a_lo" in line for line in lines] == [True, False]
    assert ["b_lo" in line for line in lines] == [False, True]


def test_29_the_published_defaults_are_those_of_the_default_instance():
    def tool(item: Annotated[Item, Unpack()] = Item(id=7, name="given")): ...  # noqa: B008

    assert input_schema(compile_function(tool)) == {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "default": 7},
            "name": {"type": "string", "default": "given"},
        },
    }


def test_29_default_instance_is_not_changed_by_a_tool_that_mutates_it():
    class Bag(BaseModel):
        names: list[str] = []

    def tool(bag: Annotated[Bag, Unpack()] = Bag(names=["a"])):  # noqa: B008
        bag.names.append("b")
        return repr(bag)

    contract = compile_function(tool)
    assert [handle_bytes(contract, b"{}")["content"][0]["text"] for _ in range(2)] == [
        "Bag(names=['a', 'b'])"
    ] * 2
    assert [handle_bytes(contract, b"{}")["content"][0]["text"] for _ in range(2)] == [
        "Bag(names=['a', 'b'])"
    ] * 2


@pytest.mark.parametrize(
    "default",
    [Point(x=5), Typed(x=5), Spot(X=5)],
    ids=["dataclass", "TypedDict", "pydantic dataclass"],
)
def test_29_default_instances_of_other_kinds_give_their_fields_too(default):
    kind = Typed if isinstance(default, dict) else type(default)

    def tool(it):
        return repr(it)

    tool.__annotations__ = {"it": Annotated[kind, Unpack()]}
    tool.__defaults__ = (default,)
    contract = compile_function(tool)
    assert handle_bytes(contract, b"{}")["content"][0]["text"] == repr(default)
    changed = (
        repr({**default, "y": 9})
        if isinstance(default, dict)
        else repr(default).replace("y=2", "y=9")
    )
    assert handle_bytes(contract, b'{"y": 9}')["content"][0]["text"] == changed


FUTURE = """
from __future__ import annotations
from typing import Annotated, TYPE_CHECKING
from pydantic import BaseModel
from toolbooth import Unpack, compile_function
if TYPE_CHECKING:
    from nowhere import Gone

class Item(BaseModel):
    id: int

def at_module_level(item: Annotated[Item, Unpack()]) -> Gone:
    return repr(item)

def local():
    class Item(BaseModel):
        id: str

    def tool(item: Annotated[Item, Unpack()]) -> Gone:
        return repr(item)

    return compile_function(tool)
"""


def test_33_34_future_annotations_resolve_module_and_local_names(monkeypatch):
    module = ModuleType("future")
    monkeypatch.setitem(sys.modules, "future", module)
    exec(compile(FUTURE, "future.py", "exec", dont_inherit=True), vars(module))
    assert told(module.at_module_level, b'{"id": 1}') == ("Item(id=1)", False)
    result = handle_bytes(module.local(), b'{"id": "x"}')
    assert result == {"content": [{"type": "text", "text": "Item(id='x')"}], "isError": False}


def test_39_generators_are_read_to_their_end():
    def sync_tool(item: Annotated[Item, Unpack()]):
        yield item.id
        yield item.name

    async def async_tool(item: Annotated[Item, Unpack()]):
        yield item.id
        yield item.name

    expected = {"content": [{"type": "text", "text": '[1,"n"]'}], "isError": False}
    for tool in (sync_tool, async_tool):
        assert asyncio.run(handle_bytes_async(compile_function(tool), b'{"id": 1}')) == expected


def test_40_refusals_contain_no_python_type_names_and_no_urls():
    class Everything(BaseModel):
        when: date
        uid: UUID
        amount: Decimal
        kind: Literal["a", "b"]
        tags: set[str]
        pair: tuple[int, str]
        link: HttpUrl
        nested: Item
        by_key: dict[str, Item]
        either: int | list[str]

    def tool(it: Annotated[Everything, Unpack()]): ...

    wrong = [
        b'"x"',
        b"null",
        b"true",
        b"1.5",
        b"[1]",
        b'[{"id": "x"}]',
        b'{"a": 1}',
        b'{"id": {}}',
        b'[1, "a", 3]',
    ]
    contract = compile_function(tool)
    python = re.compile(
        r"https?:|pydantic|\b(dict|list|str|int|float|bool|tuple|None|NoneType|instance|UUID object|Everything|Item"
        r"|dictionary|Decimal|keyword|argument of|positional|iterable|callable)\b"
    )
    for value in wrong:
        names = Everything.model_fields
        body = b"{" + b", ".join(b'"%s": %s' % (name.encode(), value) for name in names) + b"}"
        text = handle_bytes(contract, body)["content"][0]["text"]
        assert python.findall(text) == [], text


def test_03_the_exact_schema_of_a_recursive_model_is_an_object_at_its_root():
    def tool(tree: Annotated[Tree, Unpack()]): ...

    schema = input_schema(compile_function(tool), profile="exact")
    assert schema["type"] == "object"


def test_24_25_undeclared_keys_of_a_prefixed_open_model_are_refused():
    def tool(
        who: Annotated[Popped, Unpack(prefix="a_")], more: Annotated[Open, Unpack(prefix="b_")]
    ):
        return f"{who!r} {more!r}"

    sent = b'{"a_fullname": "Ann", "b_name": "Bob", "b_age": 3}'
    assert told(tool, sent)[1]
    assert told(tool, b'{"a_name": "Ann", "b_name": "Bob", "age": 3}')[1]
