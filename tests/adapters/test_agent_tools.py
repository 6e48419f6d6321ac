"""The parts that the adapters of agent frameworks share, without a framework. `tests/frameworks`
has the adapters.
"""

import asyncio
import copy
import datetime
import pickle
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
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.filled import filled_params, is_kind
from toolbooth.adapters.agent_tools.guard import guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.adapters.agent_tools.toolset import SchemaGuards
from toolbooth.content import Image, Resource
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


def test_the_repaired_arguments_of_a_call_are_known_before_it_is_accepted():
    ann = {"person": {"name": "Ann"}}
    kept = guard(greet)
    assert kept.repaired({**ann, "times": "2"}) == {**ann, "times": 2}
    assert kept.repaired('"{\\"person\\": {\\"name\\": \\"Ann\\"}}"') == ann
    assert kept.repaired("{nope") is None
    assert kept.repaired("[1]") is None
    assert kept.repaired({"prson": {}}) is None
    python = {"person": Person(name="Ann")}
    assert kept.repaired(python) is python

    def count(upto: int = 3) -> str: ...

    assert guard(count).repaired("null") == {}


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
    with pytest.raises(TypeError, match="a function is not a tool yet; make a tool of it"):
        protect([greet])
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


def test_descriptions_of_the_frameworks_schema_are_published():
    described = guard(greet, listed={"properties": {"times": {"description": "How often."}}})
    assert described.published["properties"]["times"]["description"] == "How often."


def test_a_schema_that_the_author_changed_is_published_and_enforced():
    made = {"properties": {"times": {"type": "integer"}}}
    changed = {"properties": {"times": {"type": "integer", "maximum": 2}}}
    few = guard(greet, made=made, listed=changed)
    assert few.published["properties"]["times"] == {"type": "integer", "maximum": 2}
    with pytest.raises(ErrorAnswer, match=r"\$\.times"):
        few.accept({"person": {"name": "Ann"}, "times": 3})


def test_the_observers_of_a_copied_tool_are_the_same():
    records: list[Any] = []
    options = Options(observers=(lambda record: records.append(record),))
    assert copy.deepcopy(options) is options


def test_keywords_have_their_call_and_repairs_are_added_to_the_data_of_a_result():
    call = guard(greet).accept({"person": {"name": "Ann"}, "times": "2"})
    assert call.keywords == {"person": Person(name="Ann"), "pet": None, "times": 2}
    assert call.keywords.call is call
    repairs = {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.times"}]}}
    assert call.beside(None) == repairs
    assert call.beside({"rows": 3}) == {"rows": 3, **repairs}
    assert call.beside([1]) == [1]
    assert guard(greet).accept({"person": {"name": "Ann"}}).beside(None) is None


def test_injected_parameters_of_a_schema_are_given_and_refused_from_the_model():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    made = guard_schema(schema, Options(), name="add", keywords=True, injected=["context"])
    values = made.accept({"a": 1}).run(lambda a, context: (a, context), {"context": "ours"})
    assert values == (1, "ours")
    with pytest.raises(ErrorAnswer) as refused:
        made.accept({"a": 1, "context": "theirs"})
    result = refused.value.result
    assert [result["isError"], result["content"][0]["text"]] == [True, refused.value.text]
    assert result["_meta"]["toolbooth"]["problems"][0]["path"] == "$.context"


class Plain:
    def __init__(self, answer: str) -> None:
        self.answer = answer

    def say(self) -> str:
        return self.answer


class Louder:
    def say(self) -> str:
        return super().say().upper()  # type: ignore[misc]


def protect_plain(thing: Plain, options: Options) -> Any:
    return derived_copy(thing, Louder, protect_plain, options, made=[thing.answer])


def test_a_derived_copy_is_protected_again_when_it_is_copied_or_pickled():
    plain = Plain("yes")
    made = protect_plain(plain, Options())
    assert [plain.say(), made.say(), isinstance(made, Plain)] == ["yes", "YES", True]
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert [again.say(), again.made, type(again)] == ["YES", ["yes"], type(made)]


def test_the_guards_of_a_toolset_are_kept_until_a_schema_or_the_approval_changes():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    guards = SchemaGuards(Options())
    first = guards.guard("add", schema)
    assert guards.guard("add", dict(schema)) is first
    asked = guards.guard("add", schema, approval=True)
    assert [first.options.approval, asked.options.approval] == [False, True]
    other = guards.guard("add", {"type": "object", "properties": {"b": {"type": "integer"}}})
    assert other.accept({"b": 1}).values == {"b": 1}


def test_a_registered_tool_answers_with_text_and_data():
    registry = ToolRegistry("shop")
    registry.tool(greet)
    tool = Registered(registry, registry.tools["greet"])
    assert [tool.name, tool.description] == ["greet", "Greet."]
    assert tool.schema["required"] == ["person"]
    person = {"person": {"name": "Ann"}}
    answer = tool.call({**person, "times": "2"})
    assert [answer.text, answer.is_error] == ["['name'] None 2", False]
    assert answer.data["toolbooth"]["repairs"][0]["code"] == "scalar-text"
    assert asyncio.run(tool.call_async(person)).data == {}
    refused = asyncio.run(tool.call_text('{"person": {"name": "Ann", "name": "Bob"}}'))
    assert [refused.is_error, refused.text] == [True, refused.result["content"][0]["text"]]
    assert asyncio.run(tool.call_text('{"person": {"name": "\ud800"}}')).is_error


def test_content_that_is_not_text_is_named_in_the_text_for_the_model():
    registry = ToolRegistry("photos")

    @registry.tool
    def newest() -> list[Any]:
        """Return the newest photo."""
        notes = Resource(uri="file:///notes.txt", content="Taken at noon")
        raw = Resource(uri="file:///1.raw", content=b"raw", mime_type="image/raw")
        return ["A cat", Image(data=b"png"), notes, raw]

    answer = Registered(registry, registry.tools["newest"]).call({})
    assert answer.text.splitlines() == [
        "A cat",
        "[image/png image: left out, because only text is passed on to the model]",
        "Taken at noon",
        "[image/raw resource: left out, because only text is passed on to the model]",
    ]
