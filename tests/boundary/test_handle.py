"""One call, wire to wire: sync and async, from bytes and from parsed arguments, with every kind of
tool.
"""

import asyncio
import functools
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from toolbooth import (
    Context,
    Contract,
    Problem,
    ToolError,
    ToolInputError,
    compile_function,
    compile_json_schema,
    compile_model,
    handle_arguments,
    handle_arguments_async,
    handle_bytes,
    handle_bytes_async,
)
from toolbooth.boundary.render import refusal_error
from toolbooth.boundary.run import end_threads


class Address(BaseModel):
    city: str
    zip: str = ""


class Contact(BaseModel):
    email: str
    address: Address | None = None


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": False, **more}


def by_bytes(contract: Contract, arguments: Any, *function: Any, **how: Any) -> Any:
    return handle_bytes(contract, json.dumps(arguments).encode(), *function, **how)


def by_bytes_async(contract: Contract, arguments: Any, *function: Any, **how: Any) -> Any:
    return asyncio.run(
        handle_bytes_async(contract, json.dumps(arguments).encode(), *function, **how)
    )


def by_arguments_async(contract: Contract, arguments: Any, *function: Any, **how: Any) -> Any:
    return asyncio.run(handle_arguments_async(contract, arguments, *function, **how))


SYNC = [by_bytes, handle_arguments]
ASYNC = [by_bytes_async, by_arguments_async]
every_form = pytest.mark.parametrize(
    "handle", [*SYNC, *ASYNC], ids=["bytes", "parsed", "bytes-async", "parsed-async"]
)
sync_forms = pytest.mark.parametrize("handle", SYNC, ids=["bytes", "parsed"])
async_forms = pytest.mark.parametrize("handle", ASYNC, ids=["bytes-async", "parsed-async"])


# --- return values ---


@every_form
@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        pytest.param("plain", said("plain"), id="text-as-it-is"),
        pytest.param(None, said("null"), id="nothing"),
        pytest.param([1, "a", None], said('[1,"a",null]'), id="list"),
        pytest.param(
            {"a": [1]}, said('{"a":[1]}', structuredContent={"a": [1]}), id="object-also-structured"
        ),
        pytest.param(
            Contact(email="a@b.c"),
            said(
                '{"email":"a@b.c","address":null}',
                structuredContent={"email": "a@b.c", "address": None},
            ),
            id="model-by-field",
        ),
        pytest.param(2**70, said(str(2**70)), id="integer-past-64-bits"),
        pytest.param(
            {1: "a"}, said('{"1":"a"}', structuredContent={"1": "a"}), id="keys-that-are-no-text"
        ),
        pytest.param(float("nan"), said("null"), id="nan-that-no-client-reads"),
        pytest.param(
            [2**70, float("inf")], said(f"[{2**70},null]"), id="infinity-beside-a-long-integer"
        ),
    ],
)
def test_return_value_of_a_tool_becomes_its_result(handle, returned, expected):
    def tool() -> Any:
        return returned

    assert handle(compile_function(tool), {}) == expected


@every_form
def test_a_repair_is_reported_beside_the_result(handle):
    def tool(address: Address, count: int) -> str:
        return f"{address!r} {count}"

    arguments = {"address": '{"city": "Bern"}', "count": "3"}
    repairs = [
        {"code": "json-text", "path": "$.address"},
        {"code": "scalar-text", "path": "$.count"},
    ]
    expected = said("Address(city='Bern', zip='') 3", _meta={"toolbooth": {"repairs": repairs}})
    assert handle(compile_function(tool), arguments) == expected


@every_form
def test_a_generator_is_read_to_its_end(handle):
    def tool(count: int) -> Iterator[int]:
        yield from range(count)

    assert handle(compile_function(tool), {"count": 3}) == said("[0,1,2]")


# --- async tools ---


async def add(a: int, b: int = 1) -> int:
    return a + b


class Adder:
    async def __call__(self, a: int, b: int = 1) -> int:
        return await add(a, b)

    async def method(self, a: int, b: int = 1) -> int:
        return await add(a, b)


def returns_a_coroutine(a: int, b: int = 1) -> Any:
    return add(a, b)


@async_forms
@pytest.mark.parametrize(
    "tool",
    [add, Adder(), Adder().method, functools.partial(add, b=1), returns_a_coroutine],
    ids=["function", "callable-object", "method", "partial", "returns-a-coroutine"],
)
def test_an_async_tool_is_awaited(handle, tool):
    assert handle(compile_function(tool, name="add"), {"a": 1}) == said("2")


@async_forms
def test_an_async_generator_is_read_to_its_end(handle):
    async def tool(count: int) -> AsyncIterator[int]:
        for each in range(count):
            yield each

    assert handle(compile_function(tool), {"count": 3}) == said("[0,1,2]")


@sync_forms
@pytest.mark.parametrize(
    "tool", [add, Adder(), returns_a_coroutine], ids=["function", "object", "returns-a-coroutine"]
)
def test_async_tool_in_a_sync_call_raises_and_leaves_nothing_unawaited(handle, tool):
    with pytest.raises(
        TypeError,
        match="'add' is an async tool: await handle_bytes_async or handle_arguments_async",
    ):
        handle(compile_function(tool, name="add"), {"a": 1})


def test_awaitable_that_is_not_a_coroutine_raises_in_a_sync_call():
    class Later:
        def __await__(self) -> Iterator[None]:
            yield

    def tool() -> Any:
        return Later()

    with pytest.raises(TypeError, match="'tool' is an async tool"):
        handle_bytes(compile_function(tool), b"{}")


@sync_forms
def test_an_async_generator_called_by_the_sync_form_is_the_hosts_mistake(handle):
    async def tool() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match="'tool' is an async tool"):
        handle(compile_function(tool), {})


# --- whose function, with which arguments ---


@every_form
def test_a_function_given_for_the_call_is_called_instead(handle):
    def tool(a: int) -> str:
        return "the tool's own"

    assert handle(compile_function(tool), {"a": 1}, lambda a: f"given {a}") == said("given 1")


@every_form
def test_calling_a_contract_without_a_function_raises_with_the_remedy(handle):
    contract = compile_model(Contact)
    with pytest.raises(
        TypeError, match="'Contact' was compiled without a function: pass one to call"
    ):
        handle(contract, {"email": "a@b.c"})
    assert handle(contract, {"email": "a@b.c"}, lambda contact: contact.email) == said("a@b.c")


@every_form
def test_positional_only_parameters_arrive_by_position(handle):
    def tool(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> list[int]:
        return [a, b, c, d]

    contract = compile_function(tool)
    assert handle(contract, {"a": 10, "b": 20, "c": 30, "d": 40}) == said("[10,20,30,40]")
    assert handle(contract, {"a": 10}) == said("[10,2,3,4]")


@every_form
def test_the_context_is_injected_and_never_read_from_the_wire(handle):
    def tool(a: int, ctx: Context) -> str:
        return f"{a} {ctx.client}"

    contract = compile_function(tool)
    assert handle(contract, {"a": 1}, context=Context(client="me")) == said("1 me")
    assert handle(contract, {"a": 1}) == said("1 None")
    refused = handle(contract, {"a": 1, "ctx": "me"})
    assert [each["code"] for each in refused["_meta"]["toolbooth"]["problems"]] == ["unknown-key"]


@every_form
def test_injected_arguments_are_passed_beside_the_context_by_position(handle):
    def tool(session: Any, ctx: Context, /, a: int, user: Any = None) -> list[Any]:
        return [session, ctx.client, a, user]

    contract = compile_function(tool, injected=lambda param, _: param.name in ("session", "user"))
    injected = {"session": "s", "user": "u"}
    assert handle(contract, {"a": 1}, context=Context(client="me"), injected=injected) == said(
        '["s","me",1,"u"]'
    )


@every_form
def test_a_foreign_schemas_tool_gets_one_dict(handle):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    contract = compile_json_schema(schema, lambda arguments: arguments, name="foreign")
    assert handle(contract, {"a": 1}) == said('{"a":1}', structuredContent={"a": 1})


# --- errors ---


@dataclass
class Row:
    id: int


@every_form
@pytest.mark.parametrize(
    ("details", "more"),
    [
        pytest.param((), {}, id="no-details"),
        pytest.param(({"row": 5},), {"structuredContent": {"details": {"row": 5}}}, id="an-object"),
        pytest.param(
            ([Row(id=5), Decimal("1.50")],),
            {"structuredContent": {"details": [{"id": 5}, "1.50"]}},
            id="values",
        ),
    ],
)
def test_tool_error_is_sent_with_its_own_message(handle, details, more):
    def tool(id: int) -> None:
        raise ToolError("delete", f"no row {id}", *details)

    assert handle(compile_function(tool), {"id": 5}) == {
        "content": [{"type": "text", "text": "Tool 'delete' failed: no row 5"}],
        "isError": True,
        **more,
    }


@every_form
def test_any_other_exception_of_a_tool_passes_through_to_its_host(handle):
    def tool() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        handle(compile_function(tool), {})


WRAPPER = Problem(
    code="nested-wrapper",
    path=("data",),
    message='"data" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
    'Send "email" at the top level, not inside "data"',
)
REFUSED = {
    "code": -32602,
    "problems": [{"code": WRAPPER.code, "path": WRAPPER.where, "message": WRAPPER.message}],
    "declared": {"$": {"email": "text, required", "address": "object or null"}},
    "edits": ["move $.data.* to $"],
    "corrected": {"email": "a@b.c"},
}
TOLD = (
    "Refused: 1 problem in the arguments of 'create'. Nothing was done.\n"
    f"- $.data: {WRAPPER.message}\n"
    'Declared fields: "email" (text, required), "address" (object or null).\n'
    'Send instead: {"email":"a@b.c"}'
)


def create(email: str, address: Address | None = None) -> None:
    raise AssertionError("called with a wrapper")


@every_form
def test_a_refusal_is_a_result_that_models_can_see(handle):
    assert handle(compile_function(create), {"data": {"email": "a@b.c"}}) == {
        "content": [{"type": "text", "text": TOLD}],
        "isError": True,
        "_meta": {"toolbooth": REFUSED},
    }


@every_form
def test_by_protocol_a_refusal_is_raised_and_answered_as_invalid_params(handle):
    contract = compile_function(create)
    with pytest.raises(ToolInputError) as raised:
        handle(contract, {"data": {"email": "a@b.c"}}, errors="protocol")
    error = raised.value
    assert (error.tool, error.problems, error.corrected) == (
        "create",
        (WRAPPER,),
        {"email": "a@b.c"},
    )
    assert str(error) == f"$.data: {WRAPPER.message}"
    assert refusal_error(error, contract.limits) == {
        "code": -32602,
        "message": TOLD,
        "data": {"toolbooth": REFUSED},
    }


@every_form
def test_a_tools_own_failure_is_a_result_by_protocol_too(handle):
    def tool() -> None:
        raise ToolError("tool", "broken")

    failed = {"content": [{"type": "text", "text": "Tool 'tool' failed: broken"}], "isError": True}
    assert handle(compile_function(tool), {}, errors="protocol") == failed


@every_form
def test_refusal_by_pydantic_constraints_has_the_usual_form(handle):
    def tool(count: Annotated[int, Field(gt=0)]) -> None:
        raise AssertionError("called with an invalid value")

    message = "must be greater than 0; got -1; e.g. 2"
    assert handle(compile_function(tool), {"count": -1}) == {
        "content": [
            {
                "type": "text",
                "text": "Refused: 1 problem in the arguments of 'tool'. Nothing was done.\n"
                f"- $.count: {message}",
            }
        ],
        "isError": True,
        "_meta": {
            "toolbooth": {
                "code": -32602,
                "problems": [{"code": "invalid", "path": "$.count", "message": message}],
            }
        },
    }


# --- arguments that a host has parsed ---


@pytest.mark.parametrize(
    "handle", [handle_arguments, by_arguments_async], ids=["parsed", "parsed-async"]
)
def test_parsed_arguments_deeper_than_python_goes_are_refused_by_name(handle):
    def tool(x: Any) -> None:
        raise AssertionError("called with what nobody can read")

    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    result = handle(compile_function(tool), {"x": deep})
    problems = [{"code": "too-deep", "path": "$", "message": "nested deeper than any tool reads"}]
    assert result["_meta"]["toolbooth"] == {"code": -32602, "problems": problems}


def test_parsed_arguments_that_are_not_json_are_the_hosts_mistake():
    with pytest.raises(TypeError, match="not JSON serializable"):
        handle_arguments(compile_function(create), {"email": object()})


def test_a_sync_tool_does_not_run_if_its_caller_has_gone_before_a_thread_was_free():
    release, ran = threading.Event(), []

    def wait(number: int) -> int:
        release.wait()
        ran.append(number)
        return number

    contract = compile_function(wait)

    async def calls() -> None:
        tasks = [
            asyncio.ensure_future(handle_bytes_async(contract, b'{"number":%d}' % number))
            for number in range(65)  # one more than there are threads
        ]
        await asyncio.sleep(0)  # every call has been given to the threads
        tasks[-1].cancel()
        await asyncio.sleep(0)  # the last one is cancelled
        release.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(calls())
    end_threads()
    assert sorted(ran) == list(range(64))
