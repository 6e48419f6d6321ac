"""A forked child answers calls of sync tools, as preloading servers need it."""

import json
import os
import subprocess
import sys

import pytest

SERVER = '''
import asyncio, os, sys
from toolbooth import ToolRegistry
from toolbooth.server.respond import respond

registry = ToolRegistry("shop")

@registry.tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b

CALL = (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":%d,"b":2}}}')

def answer(a):
    os.write(1, asyncio.run(respond(registry, CALL % a)).body + b"\\n")

answer(1)  # the parent warms up: its pool has a thread now
child = os.fork()
if not child:
    answer(2)
    grandchild = os.fork()
    if not grandchild:
        answer(3)
        os._exit(0)
    os.waitpid(grandchild, 0)
    os._exit(0)
os.waitpid(child, 0)
answer(4)
'''


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_sync_tool_answers_in_a_forked_child_and_in_the_child_of_a_child():
    # Without a pool of its own the child would wait for ever: then the time limit fails.
    done = subprocess.run(
        [sys.executable, "-c", SERVER], capture_output=True, text=True, timeout=30, check=True
    )
    replies = [
        json.loads(line)["result"]["content"][0]["text"] for line in done.stdout.splitlines()
    ]
    assert replies == ["3", "4", "5", "6"]
