"""The shape corpus through the tools of one framework, compared with a registry, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import wire_tools
from host import NOT_MADE, READ, Host, Stopped, arguments_of, stopped
from wire_tools import Call

from toolbooth import protect

Verdict = dict[str, Any]


class Corpus:
    """The tools of the corpus, protected, and those of the registry."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.registry = wire_tools.registry()
        self.records: list[Any] = []
        self.registry.observe(self.records.append)
        self.tools: dict[str, Any] = {}
        self.unmade: dict[str, str] = {}
        for name, make in self._makers().items():
            try:
                plain = make()
            except Exception as error:
                # Types that the framework has no schema for.
                self.unmade[name] = f"{type(error).__name__}: {error}".splitlines()[0]
                continue
            self.tools[name] = protect(plain, observers=[self.records.append])

    def _makers(self) -> dict[str, Callable[[], Any]]:
        host = self.host
        functions = wire_tools.functions()
        models = {name: wire_tools.taking(each) for name, each in wire_tools.models().items()}
        made: dict[str, Callable[[], Any]] = {}
        for name, function in {**functions, **models}.items():
            made[name] = lambda function=function, name=name: host.tool(function, name)
        for name, schema in wire_tools.schemas().items():
            made[name] = lambda schema=schema, name=name: host.foreign(
                schema, name, wire_tools.answer
            )
        return made

    async def row(self, call: Call) -> str | None:
        """Why a call is answered otherwise than by the registry; None if it is answered alike."""
        if call.tool in self.unmade:
            return NOT_MADE
        try:
            arguments = arguments_of(self.host, call.body)
        except Stopped as error:
            return str(error)
        answer = await self.host.step(self.tools[call.tool], arguments)
        if (reason := stopped(self.host, answer.text)) is not None:
            return reason
        found = self._verdict(answer.text)
        # Without a body, a message has no arguments. `call_bytes` takes only JSON.
        body = call.body or b"{}"
        result = await self.registry.call_bytes_async(call.tool, body)
        if found == self._verdict(result["content"][0]["text"]):
            return None
        if self.host.reads_text:
            return f"{found}"
        result = await self.registry.call_async(call.tool, json.loads(body))
        expected = self._verdict(result["content"][0]["text"])
        return READ if found == expected else f"{found}"

    def _verdict(self, text: str) -> Verdict:
        record = self.records.pop()
        assert not self.records
        return {
            "text": text,
            "outcome": record.outcome,
            "problems": record.problems,
            "repairs": record.repairs,
        }
