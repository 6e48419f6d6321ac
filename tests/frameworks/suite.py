"""The contract that every adapter of an agent framework keeps. `scripts/frameworks.py` runs it in the
environment of each framework.
"""

import asyncio
import copy
import importlib
import json
import os
import pickle
import random
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
import shapes
import wire_tools
from corpus import Corpus
from host import Stopped, arguments_of, stopped
from pydantic import BaseModel, Field
from shapes import ANN, ONLY_ANN, RECEIVED, SHAPES, Contact, create_contact

from toolbooth import (
    ContractError,
    ToolError,
    ToolRegistry,
    Unpack,
    is_protected,
    protect,
    tools_for,
    unpack_pydantic_params,
)

SAMPLE = 300


@pytest.fixture(scope="session")
def host() -> Any:
    """The framework of this environment: `FRAMEWORK=langchain pytest tests/frameworks/suite.py`."""
    return importlib.import_module(f"drivers.{os.environ['FRAMEWORK'].replace('-', '_')}")


@pytest.fixture(autouse=True)
def no_values() -> Iterator[None]:
    RECEIVED.clear()
    yield
    RECEIVED.clear()


def sent(host: Any, arguments: Any) -> Any:
    """Arguments as the framework hands them to a tool."""
    return arguments_of(host, json.dumps(arguments).encode())


def step(host: Any, tool: Any, arguments: Any) -> Any:
    return asyncio.run(host.step(tool, sent(host, arguments)))


def is_refused(host: Any, text: str) -> bool:
    """Whether an answer is a refusal, ours or one by the framework itself."""
    return text.startswith("Refused: ") or stopped(host, text) is not None


def loop(host: Any, tools: list[Any], *calls: tuple[str, Any]) -> list[Any]:
    made = [(name, sent(host, arguments)) for name, arguments in calls]
    return asyncio.run(host.loop(tools, made))


async def create_contact_async(
    contact: Contact | None = None, note: str = "", limit: int = 10
) -> str:
    """Create a contact."""
    return create_contact(contact, note, limit)


# --- the law ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [create_contact, create_contact_async])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_is_lost_in_the_tool_step(host: Any, shape: str, function: Any):
    arguments, meant = SHAPES[shape]
    tool = protect(host.tool(function, "create_contact"))
    answer = step(host, tool, arguments)
    assert not shapes.is_loss(meant)
    assert [meant] == RECEIVED or is_refused(host, answer.text)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_is_lost_in_the_loop_and_the_run_goes_on(host: Any, shape: str):
    arguments, meant = SHAPES[shape]
    tool = protect(host.tool(create_contact, "create_contact"))
    again = ("create_contact", {"contact": ANN})
    first, second = loop(host, [tool], ("create_contact", arguments), again)
    assert RECEIVED.pop() == ONLY_ANN
    assert second.text == "created"
    assert not shapes.is_loss(meant)
    ran = bool(RECEIVED)
    assert is_refused(host, first.text) is not ran
    assert first.is_error in (not ran, None)


def test_a_refusal_has_the_corrected_call(host: Any):
    tool = protect(host.tool(create_contact, "create_contact"))
    answer = step(host, tool, {"data": {"contact": ANN}})
    assert answer.text.endswith(
        f"\nSend instead: {json.dumps({'contact': ANN}, separators=(',', ':'))}"
    )


def test_every_call_of_the_corpus_is_answered_as_by_a_registry(host: Any):
    corpus = Corpus(host)

    async def differences() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for call in wire_tools.calls():
            if (row := await corpus.row(call)) is not None and row not in host.ROWS:
                found[call.id] = row
        return found

    assert corpus.unmade.keys() == host.UNMADE
    assert asyncio.run(differences()) == {}


def test_sampled_calls_are_answered_in_the_loop_as_in_the_step(host: Any):
    corpus = Corpus(host)
    names = host.loop_names(corpus.tools)

    async def both() -> tuple[list[str], list[str]]:
        calls: list[tuple[str, Any]] = []
        wanted: list[str] = []
        async for name, arguments, text in answered(host, corpus):
            calls.append((name, arguments))
            wanted.append(text)
            if len(calls) == SAMPLE:
                break
        tools = {name: corpus.tools[name] for name, _ in calls}
        made = [(names[name], each) for name, each in calls]
        answers = await host.loop(list(tools.values()), made)
        return [each.text for each in answers], wanted

    answers, wanted = asyncio.run(both())
    assert len(answers) == SAMPLE
    assert answers == wanted


async def answered(host: Any, corpus: Corpus) -> AsyncIterator[tuple[str, Any, str]]:
    """The calls of the corpus that the loop carries, in a random order, and the step's answers."""
    for call in random.Random(22).sample(wire_tools.calls(), len(wire_tools.calls())):
        if call.tool in corpus.unmade or len(call.body) > 50_000:
            continue
        try:
            arguments = arguments_of(host, call.body)
        except Stopped:
            continue
        if not host.carries(arguments):
            continue
        answer = await host.step(corpus.tools[call.tool], arguments_of(host, call.body))
        if stopped(host, answer.text) is None:
            yield call.tool, arguments, answer.text


# --- the published schema ---------------------------------------------------------------------------


def test_the_model_is_shown_the_portable_schema_and_the_original_stays(host: Any):
    plain = host.tool(create_contact, "create_contact")
    before = copy.deepcopy(host.schema(plain))
    tool = protect(plain)
    text = {"type": "string", "default": ""}
    contact = {"type": "object", "properties": dict.fromkeys(ANN, text)}
    shown = host.schema(tool)
    assert shown["properties"] == {
        "contact": contact,
        "note": text,
        "limit": {"type": "integer", "default": 10},
    }
    assert host.schema(plain) == before
    assert isinstance(tool, type(plain))
    assert [is_protected(plain), is_protected(tool), is_protected([tool])] == [False, True, True]
    assert protect(tool) is tool


def test_a_subclass_of_the_frameworks_tool_is_protected(host: Any):
    tool = protect(host.subclassed(create_contact, "create_contact"))
    assert step(host, tool, {"data": {"contact": ANN}}).text.startswith("Refused")
    assert step(host, tool, {"contact": ANN}).text == "created"


def test_unpacked_and_decorated_functions_are_flat(host: Any):
    def create(contact: Annotated[Contact, Unpack()], note: str = "") -> str:
        """Create a contact."""
        return create_contact(contact, note)

    for function in (create, unpack_pydantic_params(create)):
        tool = protect(host.tool(function, "create"))
        assert list(host.schema(tool)["properties"]) == [*ANN, "note"]
        assert step(host, tool, {**ANN, "note": "vip"}).text == "created"
        assert step(host, tool, {"contact": ANN}).text.startswith("Refused")
    assert [{**ONLY_ANN, "note": "vip"}] * 2 == RECEIVED


def test_every_mistake_of_a_list_is_reported_at_once(host: Any):
    def one(*names: str) -> str:
        """One."""
        return ""

    def two(**names: str) -> str:
        """Two."""
        return ""

    with pytest.raises(ContractError) as raised:
        protect([host.tool(one, "one"), host.tool(two, "two")])
    assert [each.split(":")[0] for each in raised.value.mistakes] == ["tool 'one'", "tool 'two'"]


# --- injected arguments --------------------------------------------------------------------------


def test_injected_arguments_are_given_not_published_and_refused_from_the_model(host: Any):
    plain, names, expected = host.injecting()
    tool = protect(plain)
    assert list(host.schema(tool)["properties"]) == ["number"]
    calls = [("add", {"number": 1, name: "forged"}) for name in names]
    *refused, given = loop(host, [tool], *calls, ("add", {"number": 1}))
    for name, answer in zip(names, refused, strict=True):
        assert f"- $.{name}: there is no field" in answer.text
    assert given.text == expected


# --- observers, results and errors ----------------------------------------------------------------


def test_observers_get_every_call_and_repairs_are_beside_the_text(host: Any):
    records: list[Any] = []
    tool = protect(host.tool(create_contact, "create_contact"), observers=[records.append])
    calls = [{"contact": ANN}, {"contact": json.dumps(ANN), "limit": "5"}, {"nots": 1}]
    answers = loop(host, [tool], *(("create_contact", each) for each in calls))
    assert [(each.outcome, each.repairs, each.problems) for each in records] == [
        ("passed", (), ()),
        ("repaired", ("json-text", "scalar-text"), ()),
        ("refused", (), ("unknown-key",)),
    ]
    repairs = [
        {"code": "json-text", "path": "$.contact"},
        {"code": "scalar-text", "path": "$.limit"},
    ]
    data = [each.data.get("toolbooth") for each in answers]
    if host.CARRIES_DATA:
        assert data[:2] == [None, {"repairs": repairs}]
    if host.CARRIES_REFUSALS:
        assert [each["code"] for each in data[2]["problems"]] == ["unknown-key"]


def test_an_exception_of_the_tool_is_handled_as_without_protection(host: Any):
    def fail(number: int) -> str:
        """Fail."""
        raise ZeroDivisionError("nothing to divide")

    plain = host.tool(fail, "fail")
    outcomes: list[Any] = []
    for tool in (plain, protect(plain)):
        try:
            outcomes.append([each.text for each in loop(host, [tool], ("fail", {"number": 1}))])
        except Exception as error:
            outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1]


def test_a_tool_error_reaches_the_model_in_its_own_words(host: Any):
    def fail(number: int) -> str:
        """Fail."""
        raise ToolError("fail", "the shop is closed")

    tool = protect(host.tool(fail, "fail"))
    (answer,) = loop(host, [tool], ("fail", {"number": 1}))
    assert answer.text == "Tool 'fail' failed: the shop is closed"
    assert answer.is_error in (True, None)


# --- approval -------------------------------------------------------------------------------------


def test_the_approver_sees_what_runs(host: Any):
    shown: list[Any] = []
    _, approve_all = host.approved(create_contact, "create_contact", shown)
    calls = [{"contact": json.dumps(ANN)}, {"data": {"contact": ANN}}, {"contact": ANN}]
    answers = approve_all([("create_contact", sent(host, each)) for each in calls])
    assert [each.text.split(":")[0] for each in answers] == ["Refused", "Refused", "created"]
    assert shown[-1] == {"contact": ANN}
    assert RECEIVED == [ONLY_ANN]
    assert '\nSend instead: {"contact":{"first_name":"Ann"' in answers[0].text


# --- tools that are copied, run together or streamed ----------------------------------------------------------------


def test_a_deep_copy_is_protected(host: Any):
    tool = copy.deepcopy(protect(host.tool(create_contact, "create_contact")))
    assert is_protected(tool)
    assert step(host, tool, {"data": {"contact": ANN}}).text.startswith("Refused")
    assert step(host, tool, {"contact": ANN}).text == "created"


def test_a_tool_that_can_be_pickled_can_be_pickled_protected(host: Any):
    plain = host.picklable(create_contact, "create_contact")
    if plain is None:
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
            pickle.dumps(host.tool(create_contact, "create_contact"))
        return
    pickle.loads(pickle.dumps(plain))
    tool = pickle.loads(pickle.dumps(protect(plain)))
    assert is_protected(tool)
    assert step(host, tool, {"data": {"contact": ANN}}).text.startswith("Refused")


def test_parallel_calls_do_not_mix(host: Any):
    async def echo(number: int) -> str:
        """Echo."""
        await asyncio.sleep(0)
        return str(number)

    tool = protect(host.tool(echo, "echo"))
    calls = [{"number": f"{each}" if each % 2 else each} for each in range(50)]

    async def together() -> list[Any]:
        return await asyncio.gather(*(host.step(tool, sent(host, each)) for each in calls))

    answers = asyncio.run(together())
    assert [each.text for each in answers] == [str(each) for each in range(50)]
    if host.CARRIES_DATA:
        assert [bool(each.data) for each in answers] == [bool(each % 2) for each in range(50)]


def test_the_frameworks_time_limit_ends_a_call(host: Any):
    async def wait(number: int) -> str:
        """Wait."""
        await asyncio.Event().wait()
        return "never"

    start = time.monotonic()
    assert "time" in host.timed(wait, "wait", 0.05, {"number": 1}).lower()
    assert time.monotonic() - start < 10


def test_a_streamed_run_has_the_same_answers(host: Any):
    tool = protect(host.tool(create_contact, "create_contact"))
    calls = [{"contact": json.dumps(ANN)}, {"data": {"contact": ANN}}, {"contact": ANN}]
    made = [("create_contact", sent(host, each)) for each in calls]
    streamed = asyncio.run(host.stream([tool], made))
    assert [each.split(":")[0] for each in streamed] == ["created", "Refused", "created"]


# --- foreign tools --------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "head": {"type": "integer"}},
    "required": ["path"],
}


def test_a_tool_of_a_json_schema_is_protected(host: Any):
    plain = host.foreign(SCHEMA, "read", lambda arguments: json.dumps(arguments))
    tool = protect(plain)
    assert host.schema(tool)["properties"] == SCHEMA["properties"]
    calls = [{"path": "a", "head": "5"}, {"path": "a", "haed": 5}, {"data": {"path": "a"}}]
    repaired, misspelt, wrapped = loop(host, [tool], *(("read", each) for each in calls))
    assert json.loads(repaired.text) == {"path": "a", "head": 5}
    assert 'did you mean "head"?' in misspelt.text
    assert wrapped.text.endswith('Send instead: {"path":"a"}')


# --- the other way --------------------------------------------------------------------------------


class Order(BaseModel):
    customer: str
    lines: Annotated[list[int], Field(description="e.g. [1]")] = []


def test_the_tools_of_a_registry_are_tools_of_the_framework(host: Any):
    registry = ToolRegistry("shop")

    @registry.tool
    async def place(order: Order) -> str:
        """Place an order."""
        return f"{order.customer} {order.lines}"

    (tool,) = tools_for(host.name, registry)
    calls = [
        {"order": {"customer": "Ann", "lines": "[1]"}},
        {"data": {"order": {"customer": "Ann"}}},
    ]
    repaired, refused = loop(host, [tool], *(("place", each) for each in calls))
    assert repaired.text == "Ann [1]"
    assert refused.text.endswith('Send instead: {"order":{"customer":"Ann"}}')
    assert [repaired.is_error, refused.is_error] in ([False, True], [None, None])
