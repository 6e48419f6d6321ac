"""Reads a LangChain tool: makes the guard of its arguments, and finds the function to run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import run_in_executor
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId
from langchain_core.tools import Tool as SingleTool
from langgraph.prebuilt import ToolNode, ToolRuntime
from pydantic import BaseModel
from typing_extensions import TypeIs

from toolbooth.adapters.agent_tools.call import Call
from toolbooth.adapters.agent_tools.filled import filled_params, is_kind
from toolbooth.adapters.agent_tools.guard import Guard, guard_contract, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.compile.host_params import annotation_parts
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_model, original_function
from toolbooth.contract import Param
from toolbooth.jsonvalue import Json, is_object

Function = Callable[..., Any]

_INFERRED = "langchain_core.utils.pydantic"
"""The module of the models that LangChain makes from the signature of a function."""

_ONE_TEXT = {
    "type": "object",
    "properties": {"__arg1": {"type": "string"}},
    "required": ["__arg1"],
}
"""The schema that LangChain publishes for a tool whose only argument is a text."""

_MANAGERS = frozenset(("run_manager", "callbacks"))
_is_injected = is_kind(InjectedToolArg, ToolRuntime)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A function to run. `config` and `managers` are its parameters that LangChain itself fills."""

    function: Function
    config: tuple[str, ...]
    managers: tuple[str, ...]

    @classmethod
    def of(cls, function: Function) -> _Target:
        own = inspect.signature(function).parameters.keys()
        return cls(
            function=original_function(function),
            config=tuple(filled_params(function, lambda part: part is RunnableConfig)),
            managers=tuple(sorted(_MANAGERS & own)),
        )

    def filled(self, config: RunnableConfig, run_manager: Any) -> dict[str, Any]:
        """Return the values of the parameters that LangChain fills."""
        made: dict[str, Any] = dict.fromkeys(self.config, config)
        for name in self.managers:
            made[name] = run_manager.get_child() if name == "callbacks" else run_manager
        return made


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """The parts of a tool. `injected` maps the name of each injected argument to its default."""

    tool: BaseTool
    guard: Guard
    injected: Mapping[str, Any]
    call_ids: tuple[str, ...]
    sync: _Target | None
    asynchronous: _Target | None
    of_function: bool
    """True if the author's function gets the accepted values. False if the original tool gets the
    arguments and validates them itself.
    """
    node: ToolNode | None
    """A `ToolNode` of the original tool. None if the tool has no injected arguments."""

    def __deepcopy__(self, _memo: object) -> Source:
        return self

    def as_arguments(self, tool_input: Any) -> dict[str, Any]:
        """Return the arguments of a call as a dict. If the input is a text, it is the value of the
        first field, as in LangChain.
        """
        if not isinstance(tool_input, str):
            return dict(tool_input)
        names = list(self.guard.contract.shape.objects[0].fields)
        return dict.fromkeys(names[:1], tool_input)

    def from_runtime(self, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
        """Return the injected arguments. A `ToolNode` of the original tool makes them."""
        call: Any = {"name": self.tool.name, "args": {}, "id": "", "type": "tool_call"}
        # LangGraph has no public function that makes the injected arguments of a single call.
        if self.node is None:
            return {}
        node: Any = self.node
        made = node._inject_tool_args(call, runtime)
        return made["args"]

    def completed(self, given: dict[str, Any], tool_call_id: str | None) -> dict[str, Any]:
        """Return the injected arguments of a call. `given` has the ones that are known so far. Add
        the id of the call, and the defaults of the injected arguments that are not in `given`.

        Raises:
            TypeError: an injected argument has no value and no default.
        """
        given |= dict.fromkeys(self.call_ids, tool_call_id)
        for name in self.injected.keys() - given.keys():
            if self.injected[name] is inspect.Parameter.empty:
                raise TypeError(f"{self.tool.name}: nothing was injected for {name!r}")
            given[name] = self.injected[name]
        return given

    def run(self, call: Call, given: dict[str, Any], hosts: tuple[Any, Any]) -> Any:
        """Run the tool with the accepted arguments and the injected ones (`given`). `hosts` are the
        config and the callback manager of LangChain.
        """
        if self.sync is None:
            raise NotImplementedError(f"{self.tool.name} has only an async function: use ainvoke")
        target, filled = self.sync, self.sync.filled(*hosts)
        if self.of_function:
            return call.run(target.function, given | filled)

        def run_tool(arguments: Json) -> Any:
            args, named = self._parsed(arguments, given)
            return target.function(*args, **named, **filled)

        return call.run(run_tool)

    async def run_async(self, call: Call, given: dict[str, Any], hosts: tuple[Any, Any]) -> Any:
        """Do the same as `run`, in an event loop."""
        if self.asynchronous is None:
            config, manager = hosts
            hosts = config, manager and manager.get_sync()
            return await run_in_executor(config, self.run, call, given, hosts)
        target, filled = self.asynchronous, self.asynchronous.filled(*hosts)
        if self.of_function:
            return await call.run_async(target.function, given | filled)

        async def run_tool(arguments: Json) -> Any:
            args, named = self._parsed(arguments, given)
            return await target.function(*args, **named, **filled)

        return await call.run_async(run_tool)

    def _parsed(self, arguments: Json, given: dict[str, Any]) -> Any:
        ids = [given[name] for name in self.call_ids]
        # Here, the author's model validates the arguments together with the injected ones.
        parse = self.tool._to_args_and_kwargs  # pyright: ignore[reportPrivateUsage]
        return parse({**arguments, **given}, ids[0] if ids else None)


def read_source(tool: BaseTool, options: Options) -> Source:
    """Return the guard of a tool and all else that is needed to run the tool.

    Raises:
        ContractError: the tool has mistakes. The message lists all of them, each with its remedy.
    """
    own, methods = _functions(tool)
    signature: Function = own[0] or own[1]
    in_model = _injected_fields(tool.args_schema)
    injected = filled_params(signature, _is_injected) | in_model
    if (runtime := inspect.signature(signature).parameters.get("runtime")) is not None:
        injected["runtime"] = runtime.default  # `ToolNode` knows it by this name
    of_function = not in_model and not isinstance(tool, SingleTool)
    chosen = own if of_function else methods
    sync, asynchronous = map(_target, chosen)
    filled = {*injected, *_names(sync), *_names(asynchronous)}
    function = signature if of_function else None
    return Source(
        tool=tool,
        guard=_guard(tool, function, filled, options),
        injected=injected,
        call_ids=tuple(filled_params(signature, is_kind(InjectedToolCallId))),
        sync=sync,
        asynchronous=asynchronous,
        of_function=of_function,
        node=ToolNode([tool]) if injected else None,
    )


def _target(function: Function | None) -> _Target | None:
    return _Target.of(function) if function else None


def _names(target: _Target | None) -> tuple[str, ...]:
    return (*target.config, *target.managers) if target else ()


def _functions(tool: Any) -> tuple[Any, Any]:
    """Return two pairs, each with a sync and an async function: the functions of the author, and
    the methods of the tool that call them.
    """
    run, arun = getattr(tool, "_run", None), getattr(tool, "_arun", None)
    if hasattr(tool, "func"):
        own = (tool.func, tool.coroutine)
        return own, (own[0] and run, own[1] and arun)
    if getattr(arun, "__func__", None) is getattr(BaseTool, "_arun", None):
        arun = None  # it only calls `_run`
    return (run, arun), (run, arun)


def _injected_fields(model: Any) -> dict[str, Any]:
    """Return the injected arguments that are fields of the author's own model."""
    if not _is_model(model) or model.__module__ == _INFERRED:
        return {}
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if any(map(_is_injected, [*annotation_parts(info.annotation), *info.metadata])):
            found[name] = inspect.Parameter.empty if info.is_required() else info.default
    return found


def _is_model(schema: Any) -> TypeIs[type[BaseModel]]:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def _guard(tool: BaseTool, function: Function | None, filled: set[str], options: Options) -> Guard:
    """Return the guard of a tool. `function` is None if the tool validates its arguments itself."""
    model: Any = tool.args_schema
    named: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if function is None:
        schema = _ONE_TEXT if model is None else _json_schema(tool.tool_call_schema)
        return guard_contract(compile_json_schema(schema, **named), options)
    if model is None or getattr(model, "__module__", "") == _INFERRED:
        listed = None if model is None else _json_schema(tool.tool_call_schema)
        return guard_function(function, options, injected=filled, listed=listed, **named)
    if not _is_model(model):
        return guard_schema(model, options, **named, keywords=True, injected=filled)
    params = tuple(Param(name=name, injected=True) for name in sorted(filled))
    contract = compile_model(model, function, **named)
    return guard_contract(replace(contract, params=params, bind=_fields), options)


def _json_schema(schema: Any) -> Json:
    if is_object(schema):
        return schema
    return schema.model_json_schema()


def _fields(values: Any) -> dict[str, Any]:
    """Return the fields of the author's model by name. LangChain passes them as keyword
    arguments.
    """
    fields: Mapping[str, Any] = values.__class__.model_fields
    made = {name: getattr(values, name) for name in fields}
    return {**made, **(values.model_extra or {})}
