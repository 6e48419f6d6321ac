"""The costs of registering and listing tools in a new process: `python -m servers.grown HOST TOOLS`
prints them as JSON.

Times are CPU seconds, sizes are bytes of the process in memory. The tools, with their own models,
are made before the times begin, because that is the author's code.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from servers.tools import make


def main(name: str, count: str) -> None:
    host = import_module(f"servers.{name}")
    build = host.registry if name == "ours" else host.server
    host.list_all(build(make(4)))  # some things are loaded and made only once
    gc.collect()
    figures: dict[str, float] = {"imported, MB": _megabytes()}
    tools = make(int(count))
    gc.collect()
    figures["tools, MB"] = _megabytes()
    server, figures["registered"] = _timed(lambda: build(tools))
    gc.collect()
    figures["registered, MB"] = _megabytes()
    listed, figures["first list"] = _timed(lambda: host.list_all(server))
    if listed != int(count):
        raise AssertionError(f"{name} lists {listed} tools, not {count}")
    gc.collect()
    figures["listed, MB"] = _megabytes()
    print(json.dumps(figures))


def _timed(task: Callable[[], Any]) -> tuple[Any, float]:
    gc.collect()
    start = process_time()
    made = task()
    return made, process_time() - start


def _megabytes() -> float:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
