"""Stage 4: run the tool. A tool's own exception passes through to its host."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

from toolbooth.context import Context
from toolbooth.contract import Contract

Function = Callable[..., Any]

_PLAIN = frozenset((str, dict, list, int, float, bool, type(None)))
"""What needs no look at whether it is to be awaited."""


def run(contract: Contract, function: Function | None, values: Any, context: Context | None, injected: Injected) -> Any:
    """Call a sync tool."""
    if function is None and contract.function is not None and not contract.special:
        made = contract.function(**(values if contract.bind is None else contract.bind(values)))
    else:
        made = bound_call(contract, function, values, context, injected)()
    if type(made) in _PLAIN:
        return made
    if inspect.isawaitable(made) or inspect.isasyncgen(made):
        if inspect.iscoroutine(made):
            made.close()
        raise TypeError(f"{contract.name!r} is an async tool: await handle_bytes_async or handle_arguments_async")
    return list(cast("Iterable[Any]", made)) if inspect.isgenerator(made) else made


def is_async(function: Any) -> bool:
    """Whether calling gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


Injected = Mapping[str, Any] | None


def bound_call(
    contract: Contract, function: Function | None, values: Any, context: Context | None, injected: Injected
) -> Callable[[], Any]:
    """The function with its arguments, ready to be called."""
    chosen = function or contract.function
    if chosen is None:
        raise TypeError(f"{contract.name!r} was compiled without a function: pass one to call")
    keywords: dict[str, Any] = values if contract.bind is None else contract.bind(values)
    if not contract.special:
        return partial(chosen, **keywords)
    positional: list[Any] = []
    for param in contract.params:
        if param.injected and (injected is None or param.name not in injected):
            keywords[param.name] = context or Context()
        elif param.injected and injected is not None:
            keywords[param.name] = injected[param.name]
        if param.positional and param.name in keywords:
            positional.append(keywords.pop(param.name))
    return partial(chosen, *positional, **keywords)
