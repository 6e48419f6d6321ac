"""The parts that the adapters of agent frameworks share, without a framework. `tests/frameworks`
has the adapters.
"""

import asyncio
import copy
import datetime
from typing import Annotated, Any

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, SecretStr

from toolbooth import (
    ContractError,
    ToolError,
    ToolInputError,
    ToolRegistry,
    Unpack,
    is_protected,
    protect,
    tools_for,
)
from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.guard import (
    filled_params,
    guard_function,
    guard_schema,
    is_kind,
)
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.errors import Problem


class Person(BaseModel):
    name: str
    age: int = 30
    friends: list["Person"] = []


class Cat(BaseModel):
    lives: int = 9


def greet(person: Person, pet: Cat | Person | None = None, times: int = 1) -> str:
    """Greet."""
    return f"{sorted(person.model_fields_set)} {pet!r} {times}"


def guard(function: Any, **how: Any) -> Any:
    options = how.pop("options", Options())
    return guard_function(function, options, name=function.__name__, **how)


def test_null_means_not_sent_at_every_depth_of_a_strict_tool():
    strict = guard(greet, strict=True)
    assert not strict.strict  # `Person` contains itself
    records: list[Any] = []

    def add(person: Annotated[Cat, Unpack()], more: list[Cat] = [], either: Cat | None = None):  # noqa: B006
        return f"{person.model_fields_set} {[each.model_fields_set for each in more]}"

    strict = guard(add, strict=True, options=Options(observers=(records.append,)))
    assert strict.strict
    call = strict.accept('{"lives": null, "more": [{"lives": null}], "either": null}')
    assert call.run() == "set() [set()]"
    assert [(each.outcome, each.repairs) for each in records] == [("passed", ())]
    loose = guard(add).accept('{"lives": null}')
    assert loose.data == {"toolbooth": {"repairs": [{"code": "null-optional", "path": "$.lives"}]}}


def test_a_call_that_needs_approval_must_be_exact():
    exact = guard(greet, options=Options(approval=True))
    assert exact.accept({"person": {"name": "Ann"}}).run() == "['name'] None 1"
    for text in (
        '{"person": {"name": "Ann"}, "times": "2"}',
        '"{\\"person\\": {\\"name\\": \\"Ann\\"}}"',
    ):
        with pytest.raises(ErrorAnswer) as raised:
            exact.accept(text)
        assert '\nSend instead: {"person":{"name":"Ann"}' in raised.value.text
        assert not exact.is_exact(text)

    def log_in(user: str, password: SecretStr, times: int = 1) -> str: ...

    with pytest.raises(ErrorAnswer) as raised:
        guard(log_in, options=Options(approval=True)).accept(
            {"user": "ann", "password": "hunter2", "times": "2"}
        )
    assert "hunter2" not in raised.value.text
    assert exact.is_exact({"person": {"name": "Ann"}})
    assert not exact.is_exact("{nope")
    assert not exact.is_exact({"prson": {}})


def test_python_values_are_only_validated():
    def on(day: datetime.date) -> str:
        return repr(day)

    day = datetime.date(2026, 11, 19)
    assert guard(on).accept({"day": day}).run() == repr(day)
    with pytest.raises(ErrorAnswer, match=r"\$\.day"):
        guard(on).accept({"day": object()})


def test_errors_of_a_tool_in_words_for_the_model_are_answers():
    def fail(kind: str) -> str:
        if kind == "refuse":
            raise ToolInputError([Problem(code="invalid", path=("kind",), message="is unusual")])
        raise {"tool": ToolError("closed"), "other": ZeroDivisionError()}[kind]

    async def fail_async(kind: str) -> str:
        return fail(kind)

    records: list[Any] = []

    def answers(kind: str) -> list[str]:
        options = Options(observers=(records.append,))
        found: list[str] = []
        for run in (
            lambda: guard(fail, options=options).accept({"kind": kind}).run(),
            lambda: asyncio.run(
                guard(fail_async, options=options).accept({"kind": kind}).run_async()
            ),
        ):
            with pytest.raises((ErrorAnswer, ZeroDivisionError)) as raised:
                run()
            found.append(getattr(raised.value, "text", "raised"))
        return found

    assert answers("tool") == ["closed", "closed"]
    assert answers("other") == ["raised", "raised"]
    assert ["$.kind: is unusual" in each for each in answers("refuse")] == [True, True]
    outcomes = [each.outcome for each in records]
    assert outcomes == ["failed"] * 4 + ["refused"] * 2


def test_an_observer_that_fails_hides_no_result(caplog: pytest.LogCaptureFixture):
    def broken(record: Any) -> None:
        raise ZeroDivisionError

    watched = guard(greet, options=Options(observers=(broken,)))
    assert watched.accept({"person": {"name": "Ann"}}).run() == "['name'] None 1"
    assert "an observer failed" in caplog.text


def test_a_large_call_is_accepted_beside_the_event_loop():
    def count(numbers: list[int]) -> int:
        return len(numbers)

    async def run() -> Any:
        call = await guard(count).accept_async({"numbers": [1] * 40_000})
        return await call.run_async()

    assert asyncio.run(run()) == 40_000


def test_a_schema_is_published_as_it_is_and_a_guard_is_not_copied():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    made = guard_schema(schema, Options(), name="foreign")
    assert made.published == schema
    assert copy.deepcopy(made) is made
    assert made.accept('{"a": "5"}').values == {"a": 5}
    assert made.accept("").values == {}


def test_parameters_that_a_framework_fills_are_found_by_type_and_by_marker():
    class Host: ...

    class Special(Host): ...

    def function(a: int, b: Host, c: Special | None = None, d: Annotated[int, Host()] = 4): ...

    empty = filled_params(function, is_kind(Host))["b"]
    assert filled_params(function, is_kind(Host)) == {"b": empty, "c": None, "d": 4}


def test_a_list_has_only_tools_of_frameworks():
    with pytest.raises(TypeError, match="this is an object of type builtins"):
        protect([1])
    registry = ToolRegistry("shop")
    with pytest.raises(TypeError, match="needs no protect"):
        protect([registry])
    assert protect([]) == []
    assert is_protected([])


def test_options_of_tools_are_not_for_servers_and_the_other_way_round():
    server = MCPServer("shop")
    with pytest.raises(TypeError, match="observers and approval are for the tools"):
        protect(server, approval=True)
    with pytest.raises(TypeError, match="protect each server by itself"):
        protect([server])
    with pytest.raises(ValueError, match='errors="protocol" is for servers'):
        protect([], errors="protocol")


def test_an_unknown_framework_and_a_missing_one_are_named():
    registry = ToolRegistry("shop")
    with pytest.raises(ValueError, match="there is no framework 'langchan'; there are "):
        tools_for("langchan", registry)
    with pytest.raises(ImportError, match=r"pip install 'toolbooth\[langchain\]'"):
        tools_for("langchain", registry)


def test_mistakes_are_reported_at_registration():
    def loose(*names: str) -> str: ...

    with pytest.raises(ContractError):
        guard(loose)


def test_a_refusal_of_the_adapter_reaches_the_model():
    problem = Problem(code="unknown-key", path=("state",), message="is not yours to send")
    assert "- $.state: is not yours to send" in guard(greet).refusal(problem).text
    described = guard(greet, listed={"properties": {"times": {"description": "How often."}}})
    assert described.published["properties"]["times"]["description"] == "How often."
