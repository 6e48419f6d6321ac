"""What a new process of a large project spends on the first messages that it gets, one after the
other.
"""

import gc
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import host
import twins
from compare import Figures
from django.urls import set_urlconf
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from twin_calls import read_reply

from toolbooth.django.describe.catalogue import started_catalogue

FLOOR = "drf-spectacular's own document, CPU seconds"

_VERSION = "2026-07-28"
_HEADERS = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": "server/discover"}
_KEY = "io.modelcontextprotocol"
_PARAMS = {
    "_meta": {
        f"{_KEY}/protocolVersion": _VERSION,
        f"{_KEY}/clientInfo": {"name": "hosts-large", "version": "1"},
        f"{_KEY}/clientCapabilities": {},
    }
}


def start() -> Figures:
    """CPU seconds of the first `server/discover`, the first call and the whole list, and the
    memory that they take.
    """
    set_urlconf(getattr(host, "URLCONF", None))
    owner = host.USERS["owner"]
    # A 404 loads the project's URLs and middleware: that is the start of Django, not of the gateway.
    twins.client(owner).get("/no-such-page/")
    before = _resident_mb()
    discover, reply = _timed(
        partial(twins.posted, {**owner, **_HEADERS}, "server/discover", _PARAMS)
    )
    if reply.status_code != 200 or "result" not in reply.json():
        raise ValueError(reply.content.decode())
    call = _first_call(owner)
    whole, listed = _whole_list(owner)
    memory = _resident_mb() - before
    later, _ = _whole_list(owner)
    return {
        "actions": len(started_catalogue().actions),
        "tools listed": listed,
        "first server/discover, CPU seconds": round(discover, 3),
        "then the first call, CPU seconds": round(call, 3),
        "then the whole list, CPU seconds": round(whole, 2),
        "memory after these, MB more": round(memory),
        "the whole list again, CPU seconds": round(later, 2),
    }


def floor() -> Figures:
    """CPU seconds that drf-spectacular needs for its own document of the API, in a new process. It
    makes each serializer once, and asks no permissions. None if the project has no such document.
    """
    set_urlconf(getattr(host, "URLCONF", None))
    twins.client(host.USERS["owner"]).get("/no-such-page/")
    generator: Any = SchemaGenerator()
    with GENERATOR_STATS.silence():
        try:
            seconds, document = _timed(lambda: generator.get_schema(request=None, public=True))
        except AssertionError:  # its views have another schema class
            return {FLOOR: None}
    return {FLOOR: round(seconds, 2) if document["paths"] else None}


def _whole_list(owner: twins.Headers) -> tuple[float, int]:
    """CPU seconds of the host for all pages of the list, and the number of tools. The time and the
    memory in which a client reads the pages are not counted.
    """
    seconds, count = 0.0, 0
    params: dict[str, Any] | None = {}
    while params is not None:
        spent, reply = _timed(partial(twins.posted, owner, "tools/list", params))
        result = json.loads(reply.content)["result"]
        seconds, count = seconds + spent, count + len(result["tools"])
        cursor = result.get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}
    return seconds, count


def _first_call(owner: twins.Headers) -> float:
    """CPU seconds of the first list of rows that the owner can read."""
    for tool, action in started_catalogue().actions.items():
        if action.name == "list" and "{" not in action.path and tool not in host.LEFT_OUT:
            params = {"name": tool, "arguments": {}}
            with twins.undone():
                seconds, reply = _timed(partial(twins.posted, owner, "tools/call", params))
            if read_reply(reply)[0] == 2:
                return seconds
    raise LookupError("the owner can read no list")


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _resident_mb() -> float:
    """Linux only."""
    gc.collect()
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
