"""Hostile bodies near the limit of 4 MiB: whole messages, with the tool that each is sent to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hostile_cases import add_rows, calculate, plant, wide, write

from toolbooth import Contract, ToolRegistry, compile_function
from toolbooth.contract import DEFAULT_LIMITS

SIZE = DEFAULT_LIMITS.max_bytes - 500
"""Approximate bytes of the arguments; the envelope needs some too."""

MOST = DEFAULT_LIMITS.max_values - 1_000
"""Values of the arguments. The remaining bytes are spaces."""


@dataclass(frozen=True, slots=True)
class Large:
    """One message, and the server that answers it."""

    name: str
    registry: ToolRegistry
    body: bytes


def large_corpus() -> Iterator[Large]:
    """Every message."""
    yield from _rows()
    yield from _numbers()
    yield from _unions()
    yield from _keys()
    yield from _texts()


def _message(name: str, contract: Contract, arguments: bytes) -> Large:
    registry = ToolRegistry("hostile")
    registry.add(contract)
    call = b'{"name":"%s","arguments":%s}' % (contract.name.encode(), arguments)
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}' % call
    if not DEFAULT_LIMITS.max_bytes * 0.8 < len(body) <= DEFAULT_LIMITS.max_bytes:
        raise AssertionError(f"{name}: {len(body)} bytes")
    return Large(name, registry, body)


def _list_of(item: bytes, most: int = MOST) -> bytes:
    """A list with as many items as the limits allow."""
    count = min(SIZE // (len(item) + 1), most // _values(json.loads(item)))
    return b"[%s]" % b",".join([item.ljust(SIZE // count - 1)] * count)


def _object_of(pattern: bytes) -> bytes:
    """An object with as many members; `pattern` has a place for a number."""
    member = pattern % 100_000
    count = min(SIZE // (len(member) + 1), MOST // _values(json.loads(b"{%s}" % member)))
    width = SIZE // count - 1
    return b"{%s}" % b",".join((pattern % number).ljust(width) for number in range(count))


def _values(value: Any) -> int:
    """The number of values in a value, including itself."""
    items = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_values, items)) if isinstance(value, dict | list) else 1


def _sent(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _rows() -> Iterator[Large]:
    tool = compile_function(add_rows)
    rows = {
        "right": b'{"name":""}',
        "empty": b"{}",
        "wrapped": b'{"data":{"name":"a"}}',
        "misspelt": b'{"nmae":"a"}',
        "with another key": b'{"name":"","z":1}',
        "with a wrong date": b'{"name":"","due":"a"}',
        "with a number as text": b'{"name":"","number":"1"}',
        "a text": b'"a"',
        "an open bracket": b'"{"',
        "a number": b"1",
        "a list": b"[]",
        "JSON text": rb'"{\"name\":\"a\"}"',
        "JSON text with a number as text": rb'"{\"name\":\"a\",\"number\":\"1\"}"',
        "JSON text in JSON text": json.dumps(json.dumps('{"name":"a","number":"1"}')).encode(),
        "not JSON": b"\"{'name': 'a'}\"",
    }
    for name, row in rows.items():
        yield _message(f"4 MB: every row {name}", tool, b'{"rows":%s}' % _list_of(row))
    for item in (b"{}", b"[]", b"1"):
        over = b'{"rows":%s}' % _list_of(item, SIZE)
        yield _message(f"4 MB: too many rows {item.decode()}", tool, over)
    text = json.dumps([{"name": ""}] * (MOST // 2)).ljust(SIZE * 7 // 8)
    yield _message("4 MB: rows as JSON text", tool, _sent({"rows": text}))
    fenced = f"```json\n{text}\n```"
    yield _message("4 MB: rows in a code fence", tool, _sent({"rows": fenced}))
    for name, member in {"objects": b'"k%d":{}', "texts": b'"k%d":"1"', "x": b'"k%d":"x"'}.items():
        counts = b'{"rows":[],"counts":%s}' % _object_of(member)
        yield _message(f"4 MB: counts that are {name}", tool, counts)


def _numbers() -> Iterator[Large]:
    tool = compile_function(add_rows)
    for item in (b"1", b'"1"', b'""', b'"a"', b"null", b"[]", b"0.5", b"1.0", b"1e1", b"1e400"):
        numbers = b'{"rows":[],"numbers":%s}' % _list_of(item)
        yield _message(f"4 MB: numbers {item.decode()}", tool, numbers)
    texts = {"with commas": "1,", "in brackets": "[", "in quotes": "'", "of one digit": "9"}
    for name, text in texts.items():
        numbers = _sent({"rows": [], "numbers": text * (SIZE // len(text) - 20)})
        yield _message(f"4 MB: numbers as text, {name}", tool, numbers)
    free = compile_function(write)
    deep = _list_of(b"[" * 100 + b"1e3" + b"]" * 100)
    items = {"exponents": _list_of(b"1e1"), "long integers": _list_of(b"9" * 4_300), "deep": deep}
    for name, options in items.items():
        sent = b'{"title":"a","options":%s}' % options
        yield _message(f"4 MB: free numbers, {name}", free, sent)


def _unions() -> Iterator[Large]:
    tool, tagged = compile_function(plant), compile_function(calculate)
    for item in (b"{}", b'{"x":"bad"}', b'{"x":1}', b'"a"', b'"{}"', b'{"child":{"x":"1"}}'):
        forest = b'{"tree":{},"forest":%s}' % _list_of(item)
        yield _message(f"4 MB: trees {item.decode()}", tool, forest)
    x, child = '{"x":"1"}', json.dumps({"child": json.dumps({"child": '{"x":"1"}'})})
    texts = {"a tree": x, "text in text": json.dumps(x), "trees in text": child}
    for name, text in texts.items():
        forest = b'{"tree":{},"forest":%s}' % _list_of(json.dumps(text).encode())
        yield _message(f"4 MB: trees as JSON text, {name}", tool, forest)
    yield _message("4 MB: a wide tree", tool, b'{"tree":%s}' % _object_of(b'"k%d":{}'))
    for item in (b"1", b'"a"', b'"1"', b"[]", b'{"kind":"plus"}', b'{"kind":"x"}'):
        terms = b'{"sum":{"kind":"plus","terms":%s}}' % _list_of(item)
        yield _message(f"4 MB: terms {item.decode()}", tagged, terms)


def _keys() -> Iterator[Large]:
    tool = wide(60)
    for value in (b"1", b"{}", b"[]", b'"a"', b'"{}"', b'{"field_number_1":1}'):
        keys = _object_of(b'"k%d":' + value)
        yield _message(f"4 MB: strange keys with {value.decode()}", tool, keys)
    near = b'{"record":%s}' % _object_of(b'"feild_number_%d":1')
    yield _message("4 MB: near names", tool, near)
    for part in ("record", ".a", "[0]", "_a"):
        key = "record" + part * (SIZE // len(part) - 20)
        yield _message(f"4 MB: a key of {part}", tool, _sent({key: 1}))
    same = b",".join([b'"a":1'] * (SIZE // 6 - 20))
    yield _message("4 MB: one key again and again", tool, b'{"record":{%s}}' % same)


def _texts() -> Iterator[Large]:
    tool = compile_function(write)
    for part in ("<", "</title>", "</title><text>", "<parameter name=text>", "\\", '"', "0e", ".0"):
        title = part * (SIZE // len(json.dumps(part)[1:-1]) - 20)
        yield _message(f"4 MB: text of {part}", tool, _sent({"title": title}))
    escapes = b"\\u0041" * (SIZE // 6 - 20)
    yield _message("4 MB: escapes", tool, b'{"title":"%s"}' % escapes)
    broken = b'{"title":"a","options":[%s' % (b'{"id":1},' * (SIZE // 9 - 20))
    yield _message("4 MB: broken off, ids everywhere", tool, broken)
    yield _message("4 MB: deep lists", tool, b'{"options":%s' % (b"[" * (SIZE - 20)))
