"""`@unpack_pydantic_params`: flat parameters for any framework that reads signatures, without an
adapter.

In: a function with `Annotated[Model, Unpack()]` parameters. Out: a function whose keyword-only
parameters are the fields of the models and the function's other parameters. The framework publishes
this signature and passes on every value as it was sent. Toolbooth then validates all values
together, once. Parameters that a framework fills itself are not changed.

The decorator cannot see a key that the framework drops or refuses before it calls the function.
`protect` handles such keys too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from toolbooth.boundary.run import is_async
from toolbooth.decorated.call import bind
from toolbooth.decorated.function import FlatFunction
from toolbooth.decorated.signature import sign

R = TypeVar("R")

_DESCRIPTORS: tuple[type, ...] = (staticmethod, classmethod)


def unpack_pydantic_params(function: Callable[..., R]) -> Callable[..., R]:
    """Give `function` a signature in which each unpacked model is replaced by its fields.

    Raises:
        ContractError: lists every mistake in the signature, each with its remedy.
    """
    # The decorator works above and below `@staticmethod`. Above it, it gets the descriptor, so it
    # decorates the function inside and wraps the result in the same kind of descriptor.
    if isinstance(function, _DESCRIPTORS):
        method: Any = function
        return method.__class__(unpack_pydantic_params(method.__func__))
    if hasattr(function, "__toolbooth__"):  # it is already decorated
        return function
    flat = FlatFunction.of(function)
    if not flat.models and not flat.has_unpacked_fields:
        return function
    wrapper = _wrapper(function, flat)
    sign(wrapper, flat)
    return wrapper


def _wrapper(function: Callable[..., Any], flat: FlatFunction) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        bound = bind(flat, args, kwargs)
        return function(*bound.args, **bound.kwargs)

    # Frameworks ask `iscoroutinefunction` whether to await a tool, so an async function needs an
    # async wrapper, although `run` would return the coroutine as well.
    @functools.wraps(function)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        return await run(*args, **kwargs)

    wrapper: Any = run_async if is_async(function) else run
    wrapper.__name__ = flat.name
    # `compile_function` compiles this one instead of the wrapper.
    wrapper.__toolbooth__ = function
    return wrapper
