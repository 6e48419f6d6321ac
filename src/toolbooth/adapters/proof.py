"""The proof that `protect` works with the installed version of a host.

Adapters use private parts of their hosts, and another version may ignore them without an error. So
`protect` first calls a tool of a throw-away server with an undeclared key, once per process and
host; the call must be refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from toolbooth.adapters.connect import Served
from toolbooth.adapters.kinds import Kind, untested
from toolbooth.boundary.render import META_KEY
from toolbooth.jsonvalue import Json

PROBE = "toolbooth_probe"
"""The name of the throw-away server, and of its tool, which has no parameters."""

_proven: set[Kind] = set()


def prove(kind: Kind, make_server: Callable[[], Any]) -> None:
    """Check once that an adapter protects servers of its host. `make_server` makes the throw-away
    server, of the host's own class, and protects it.

    Raises:
        RuntimeError: if it does not. The message has the tested versions.
    """
    if kind in _proven:
        return
    # Before the call: to make the throw-away server, `protect` is called again.
    _proven.add(kind)
    try:
        answer = _call(make_server())
        if not _is_refusal(answer):
            raise RuntimeError(f"an undeclared key was not refused: {answer}")
    except Exception as error:
        _proven.discard(kind)
        raise RuntimeError(untested(kind)) from error


def with_probe(server: Any) -> Any:
    """A protected server of a host that has tools, with the one that is called."""
    server.tool(name=PROBE)(_nothing)
    return server


async def _nothing() -> None: ...


def _call(server: Any) -> Json:
    """Call the probe with an undeclared key. In a thread of its own, because an event loop may be
    running in this one.
    """
    with ThreadPoolExecutor(1, thread_name_prefix=PROBE) as pool:
        call = Served(server).call(PROBE, {"undeclared": True})
        return pool.submit(asyncio.run, call).result()


def _is_refusal(answer: Json) -> bool:
    problems = answer.get("_meta", {}).get(META_KEY, {}).get("problems", [])
    return [each["code"] for each in problems] == ["unknown-key"]
