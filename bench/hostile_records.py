"""Work of a server for hostile bodies besides accepting them: it makes the redacted record of a
call, and finds the id of a refused message. All are near the limits of 4 MiB and 100,000 values.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from hostile_cases import add_rows, write
from hostile_large import MOST, SIZE

from toolbooth import Contract, compile_function
from toolbooth.server.envelope import id_in
from toolbooth.server.redact import as_text, without_secrets


@dataclass(frozen=True, slots=True)
class Work:
    """One task with 4 MB of input."""

    name: str
    task: Callable[[], object]


def record_corpus() -> Iterator[Work]:
    """Every task."""
    yield from _texts()
    yield from _values()
    yield from _ids()


def _recorded(name: str, contract: Contract, arguments: Any) -> Work:
    size = len(json.dumps(arguments, separators=(",", ":"), ensure_ascii=False))
    if size > SIZE:
        raise AssertionError(f"{name}: {size} bytes")
    return Work(
        f"4 MB recorded: {name}", lambda: as_text(without_secrets(contract.shape, arguments))
    )


def _filled(pattern: str) -> str:
    """The pattern repeated, with another number each time if it has a place for one."""
    count = int(SIZE * 0.8) // len(pattern.replace("%x", "12345").replace('"', "''"))
    return "".join(pattern.replace("%x", f"{number:05x}") for number in range(count))


def _texts() -> Iterator[Work]:
    tool = compile_function(write)
    patterns = {
        "names": "a%xkey=a ",
        "names in quotes": 't%xtoken="',
        "long names": f"a%x{'_b' * 32}_key=x ",
        "one name": "token=",
        "words without a value": "key ",
        "other names": "a=",
        "options": "--a ",
        "URLs": "http://a@",
        "bearer tokens": "Bearer aaaaaaaa ",
        "private keys": "-----BEGIN PRIVATE KEY-----",
        "letters": "s",
        "backslashes and quotes": 'a=\\"',
    }
    for name, pattern in patterns.items():
        yield _recorded(name, tool, {"title": _filled(pattern)})
    noise = base64.b64encode(Random(17).randbytes(SIZE * 3 // 4 - 100)).decode()
    yield _recorded("base64", tool, {"title": noise})


def _values() -> Iterator[Work]:
    tool, rows = compile_function(write), compile_function(add_rows)
    count = range(MOST - 10)
    lists: dict[str, list[Any]] = {
        "texts with names": [f"a{number}key=a kez=b" for number in count],
        "texts with URLs": ["://a@" * 7] * len(count),
        "broken JSON texts": [f'{{"akey{number}":x}}' for number in count],
        "JSON texts": [f'{{"key{number}":1}}' for number in count],
        "pairs": [["akey", "key=a"]] * (len(count) // 3),
    }
    for name, options in lists.items():
        yield _recorded(name, tool, {"title": "", "options": options})
        yield _recorded(f"{name} as JSON text", tool, {"title": json.dumps(options)})
    yield _recorded("keys", tool, {"title": "", "options": {f"a{each}_key": "" for each in count}})
    long = {f"{number}{'aB' * 90}Key": "key=a" for number in range(SIZE // 210)}
    yield _recorded("long keys", tool, {"title": "", "options": long})
    yield _recorded("rows", rows, {"rows": [{"name": "key=a"}] * (len(count) // 2)})


def _ids() -> Iterator[Work]:
    parts = (b'{"id":', b'"id":[', b'"id":1,', b'{"id":1}{', b'"","id":1,', b"[", b'"a",', b'"\\')
    for part in parts:
        for start in (b"{", b'{"id":1,"a":['):
            body = start + part * (SIZE // len(part))
            name = f"4 MB, its id: {(start + part).decode()}…"
            yield Work(name, lambda body=body: id_in(body))
