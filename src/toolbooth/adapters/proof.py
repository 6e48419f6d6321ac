"""Proves that `protect` works with the installed version of a host.

Adapters use private parts of their hosts, and another version may ignore them without an error. So
`protect` first calls a tool of a throw-away server with an undeclared key, once per process and
host; the call must be refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from toolbooth.adapters.connect import Served
from toolbooth.adapters.kinds import Kind, untested
from toolbooth.boundary.render import META_KEY
from toolbooth.jsonvalue import Json

PROBE = "toolbooth_probe"
"""The name of the throw-away server and of its tool. The tool has no parameters."""

_LOGGERS = ("fastmcp.server.server", "mcp.server.mcpserver.server")
"""The loggers to which hosts report a refused call."""

_proven: set[Kind] = set()


def prove(kind: Kind, make_server: Callable[[], Any]) -> None:
    """Check that an adapter protects servers of its host. The check runs once per process.
    `make_server` returns a protected throw-away server of the host's class.

    Raises:
        RuntimeError: the server is not protected. The message has the tested versions.
    """
    if kind in _proven:
        return
    # Before the call: to make the throw-away server, `protect` is called again.
    _proven.add(kind)
    try:
        answer = _answer(make_server)
        if not _is_refusal(answer):
            raise RuntimeError(f"an undeclared key was not refused: {answer}")
    except Exception as error:
        _proven.discard(kind)
        raise RuntimeError(untested(kind)) from error


def forget() -> None:
    """Forget all proofs, so that tests and measurements can run them again."""
    _proven.clear()


def with_probe(server: Any) -> Any:
    """Add the probe tool to a protected server, and return the server."""
    server.tool(name=PROBE)(_nothing)
    return server


async def _nothing() -> Any:
    """Return nothing. The return type is Any, because for any other type the host makes an output
    schema, which takes two milliseconds.
    """


def _answer(make_server: Callable[[], Any]) -> Json:
    """Call the probe tool with an undeclared key, and return the response. The call runs in a new
    thread, because an event loop or another request may be active in this one.
    """

    def call() -> Json:
        return asyncio.run(Served(make_server()).call(PROBE, {"undeclared": True}))

    with ThreadPoolExecutor(1, thread_name_prefix=PROBE) as pool, _quiet():
        return pool.submit(call).result()


@contextmanager
def _quiet() -> Generator[None]:
    """Disable the loggers of the hosts inside a `with` block, because no client has sent this
    call.
    """

    def is_not_probe(record: logging.LogRecord) -> bool:
        return not (record.threadName or "").startswith(PROBE)

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(is_not_probe)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_not_probe)


def _is_refusal(answer: Json) -> bool:
    problems = answer.get("_meta", {}).get(META_KEY, {}).get("problems", [])
    return [each["code"] for each in problems] == ["unknown-key"]
