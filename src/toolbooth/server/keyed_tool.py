"""Changes a tool of a registry so that it accepts an idempotency key, and runs only once for each
key.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from toolbooth.boundary.render import META_KEY, json_of, pieces_of
from toolbooth.boundary.run import awaited
from toolbooth.context import Context
from toolbooth.contract import Contract, Param
from toolbooth.errors import ContractError, Problem, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server import messages
from toolbooth.server.controls import CONTROL_ARGUMENTS, accepting, is_free, publishing
from toolbooth.server.idempotency import (
    Claim,
    KeyReused,
    KeyStore,
    KeyUse,
    canonical,
    with_fields,
)
from toolbooth.server.key_argument import KEY, key_of_call, value_of_receipt
from toolbooth.server.tool import Tool

_SENT = "toolbooth_sent"
_CONTEXT = "toolbooth_context"
"""Names of keyword arguments. Through them, the wrapper of a tool gets the arguments as sent, and
the context.
"""

CallerOf = Callable[[Context], str]
"""A function that returns the name of the caller."""


def with_key(tool: Tool, store: KeyStore, caller: CallerOf | None) -> Tool:
    """Return a tool that accepts `idempotency_key` beside its own arguments. Raises ContractError
    if the tool already has an argument with this name.
    """
    contract = tool.contract
    if not is_free(contract, KEY):
        raise ContractError(tool.name, [messages.key_is_taken(KEY)])
    once = _Once(tool=tool, store=store, caller=caller or _anyone)
    return replace(tool, contract=_contract(contract), function=once.wrapped())


def _anyone(_: Context) -> str:
    return ""


def _contract(contract: Contract) -> Contract:
    schemas = {KEY: CONTROL_ARGUMENTS[KEY].schema}
    accepted = accepting(contract, schemas, {KEY: KEY})

    def validate(sent: Json) -> tuple[Json, Any]:
        # The arguments are kept as they were before validation. They show if a second call is the
        # same, while the author's values may not be comparable.
        return sent, accepted.validate(sent)

    def bind(both: tuple[Json, Any]) -> Json:
        sent, values = both
        keywords = values if contract.bind is None else contract.bind(values)
        # These names are unlikely as parameters. The wrapper removes them before it calls the
        # function.
        return {**keywords, _SENT: sent}

    params = (*contract.params, Param(name=_CONTEXT, injected=True))
    made = replace(accepted, validate=validate, bind=bind, params=params)
    return publishing(made, schemas)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Once:
    """Runs the function of a tool only once for each key."""

    tool: Tool
    store: KeyStore
    caller: CallerOf

    def wrapped(self) -> Callable[..., Any]:
        """Return a function to call instead. It gets the arguments and the context of the call as
        additional keyword arguments.
        """
        function = self.tool.function

        @functools.wraps(function)
        def call(*args: Any, **values: Any) -> Any:
            use = self._use(values.pop(_SENT), values.pop(_CONTEXT))
            run = functools.partial(function, *args, **values)
            return run() if use is None else self._run(use, run)

        @functools.wraps(function)
        async def call_async(*args: Any, **values: Any) -> Any:
            use = self._use(values.pop(_SENT), values.pop(_CONTEXT))
            made = functools.partial(function, *args, **values)
            return await (awaited(made()) if use is None else self._run_async(use, made))

        return call_async if self.tool.is_async else call

    def _use(self, sent: Json, context: Context) -> KeyUse | None:
        own = context.meta.get(META_KEY)
        key = key_of_call(self.tool.name, KEY, sent.get(KEY), own)
        if key is None:
            return None
        others = {name: value for name, value in sent.items() if name != KEY}
        return KeyUse(
            caller=self.caller(context),
            tool=self.tool.name,
            key=key,
            arguments=canonical(others),
        )

    def _run(self, use: KeyUse, run: Callable[[], Any]) -> Any:
        try:
            with self.store.claim(use) as claim:
                if claim.first is not None:
                    return self._repeated(claim.first)
                made = run()
                # A generator function works while it is iterated, so it is read before the key is
                # released.
                value = list[Any](made) if inspect.isgenerator(made) else made
                return self._kept(claim, value)
        except KeyReused as error:
            raise self._refusal(use) from error

    async def _run_async(self, use: KeyUse, run: Callable[[], Any]) -> Any:
        claiming = self.store.claim(use)
        # This waits for another call with the same key.
        entering = asyncio.ensure_future(asyncio.to_thread(claiming.__enter__))
        try:
            claim = await asyncio.shield(entering)
        except KeyReused as error:
            raise self._refusal(use) from error
        except asyncio.CancelledError:
            # The thread cannot be stopped. If it claims the key later, it must release the key.
            entering.add_done_callback(functools.partial(_release, claiming))
            raise
        try:
            if claim.first is not None:
                result = self._repeated(claim.first)
            else:
                result = self._kept(claim, await awaited(run()))
        except BaseException:
            # Closing the claim with the exception frees the key. Closing it with None keeps the
            # receipt.
            claiming.__exit__(*sys.exc_info())
            raise
        claiming.__exit__(None, None, None)
        return result

    def _kept(self, claim: Claim, value: Any) -> Any:
        """Return the value of the first call, and store it for repeated calls."""
        # Images and files would fill the store. A repeated call gets a note instead.
        if pieces_of(value) is not None:
            claim.keep(json_of({"note": messages.CONTENT_NOT_KEPT}))
            return value
        receipt = self._marked(json_of(value), {"retry_until": claim.retry_until.isoformat()})
        claim.keep(receipt)
        return value_of_receipt(receipt)

    def _repeated(self, receipt: bytes) -> Any:
        return value_of_receipt(self._marked(receipt, {"repeated": True}))

    def _marked(self, receipt: bytes, marks: Json) -> bytes:
        """Return a receipt with `marks` added as fields. If the results of the tool may have no
        further fields, nothing is added.
        """
        schema = self.tool.output_schema or {}
        is_closed = schema.get("additionalProperties", True) is not True
        return receipt if is_closed else with_fields(receipt, marks)

    def _refusal(self, use: KeyUse) -> ToolInputError:
        problem = Problem(code="key-reused", path=(KEY,), message=messages.KEY_REUSED)
        return ToolInputError([problem], tool=use.tool)


def _release(claiming: AbstractContextManager[Claim], entered: asyncio.Future[Claim]) -> None:
    """Release a key whose call was cancelled while the key was being claimed."""
    if not entered.cancelled() and entered.exception() is None:
        claiming.__exit__(None, None, None)
