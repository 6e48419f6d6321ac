"""What the proxy does not know, it forwards byte for byte: keys of the message beside `params`, keys
of `_meta`, and everything but the arguments of a repaired call.
"""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from proxied import proxied
from toolbooth.proxy.rules import Rules

LINE = (
    '{ "x-trace" : 1.50,"jsonrpc":"2.0", "id":1 ,"method":"tools/call","params":{"_meta":'
    '{"com.example/key" : {"a":-0, "b":[1e2]},"progressToken":"p"} , "name":"NAME",'
    '"task":{"ttl":1.0},"arguments":ARGUMENTS, "requestState":"\\u00fc"} ,"later":{"k" : null}}'
)


@pytest.mark.parametrize(
    ("rules", "name", "sent", "arrives"),
    [
        (Rules(), "echo", '{ "n" : 1e0}', '{ "n" : 1e0}'),
        (Rules(prefix="p_"), "p_echo", '{ "n" : 1e0}', '{ "n" : 1e0}'),
        (Rules(), "echo", '{"n": "1", "text":"\\u00fc"}', '{"n":1,"text":"\\u00fc"}'),
        (Rules(policy="lenient"), "echo", '{"new" : -0.0}', '{"new" : -0.0}'),
    ],
    ids=["exact", "renamed", "repaired", "noted"],
)
def test_a_call_arrives_with_the_bytes_around_its_arguments(
    tmp_path: Path, rules: Rules, name: str, sent: str, arrives: str
):
    seen = tmp_path / "seen"
    line = LINE.replace("NAME", name).replace("ARGUMENTS", sent)

    async def test() -> None:
        async with proxied(rules=rules, env={"SEEN": str(seen)}) as client:
            client.send(line.encode())
            found: Any = await client.next()
            assert found["id"] == 1

    asyncio.run(test())
    arrived = seen.read_bytes().splitlines()[-1].decode()
    expected = LINE.replace("NAME", "echo").replace("ARGUMENTS", arrives)
    assert re.sub(r'"id":\d+', '"id":1', arrived) == expected
