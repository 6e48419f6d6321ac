"""`@unpack_pydantic_params` on plain hosts, without our adapters: the rows of `flattening_rows.py`,
connected.
"""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from pathlib import Path

import mcp
import pytest
from flattening_rows import ROWS
from mcp.client.stdio import StdioServerParameters, stdio_client
from plain_hosts import HOSTS, call, plain_fastmcp, plain_sdk, published

from toolbooth import (
    compile_function,
    input_schema,
    unpack_pydantic_params,
)

BY_TOOLBOOTH = [row for row in ROWS if not all(call.by_host for call in row.calls)]


# --- the 40 rows ------------------------------------------------------------------------------------------------


@HOSTS
@pytest.mark.parametrize("row", BY_TOOLBOOTH, ids=lambda row: row.id)
def test_a_decorated_tool_on_a_plain_host_behaves_as_the_model_alone(row, host):
    calls = [each for each in row.calls if not each.by_host]
    results = call(
        host(unpack_pydantic_params(row.make())), *(json.loads(each.sent) for each in calls)
    )
    assert results == [(each.text, each.result["isError"]) for each in calls]


@HOSTS
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_plain_host_publishes_the_schema_of_toolbooth(row, host):
    schema = asyncio.run(published(host(unpack_pydantic_params(row.make()))))
    own = input_schema(compile_function(row.make()))
    titled = {
        name: {key: each[key] for key in each if key != "title"}
        for name, each in schema["properties"].items()
    }
    assert titled == own["properties"]
    assert sorted(schema.get("required", [])) == sorted(own.get("required", []))


UNEXPECTED = "Unexpected keyword argument"
LOST = object()
"""The key is dropped, and the tool is called as if it had not been sent."""

BY_HOST = [
    # The row, the arguments, whether plain FastMCP 4.1.2 refuses this key, and the reply of the
    # plain SDK 2.3.0. `protect` is the remedy.
    (4, '{"item_id": 5}', "item_id", "$.itemId: is required, but was not sent"),
    (6, '{"itemId": 5, "item_id": 6}', "item_id", LOST),
    (8, '{"itemId": 5, "id": 6}', "id", LOST),
    (24, '{"fullname": "Ann"}', "fullname", "$.name: is required, but was not sent"),
    (24, '{"name": "Ann", "nickname": "A"}', "nickname", LOST),
    (24, '{"fullname": "Ann"}', "fullname", "$.name: is required, but was not sent"),
    (25, '{"name": "Ann", "age": 3}', "age", LOST),
    (25, '{"name": "Ann", "at": {"x": 3}}', "at", LOST),
    (25, '{"data": {"name": "Ann"}}', "data", "$.name: is required, but was not sent"),
    (26, '{"name": "Ann", "age": 3}', "age", LOST),
    (26, '{"name": "Ann", "age": 3}', "age", LOST),
    (32, '{"x": 1, "norm": 3}', "norm", LOST),
]
DECIDED = [(row, each) for row in ROWS for each in row.calls if each.by_host]


def test_every_call_that_a_plain_host_decides_is_listed():
    assert [(row.number, each.sent) for row, each in DECIDED] == [
        (number, sent) for number, sent, _, _ in BY_HOST
    ]


LISTED = [
    (row, each, key, sdk) for (row, each), (_, _, key, sdk) in zip(DECIDED, BY_HOST, strict=True)
]
LISTED_IDS = [f"{row.number:02}-{each.sent}" for row, each, _, _ in LISTED]


@pytest.mark.parametrize(("row", "made", "key", "_"), LISTED, ids=LISTED_IDS)
def test_plain_fastmcp_refuses_an_undeclared_key_in_its_own_words(row, made, key, _):
    [(text, is_error)] = call(
        plain_fastmcp(unpack_pydantic_params(row.make())), json.loads(made.sent)
    )
    assert is_error
    assert text.startswith(f"1 validation error for call[tool]\n{key}\n  {UNEXPECTED}")


@pytest.mark.parametrize(("row", "made", "key", "sdk"), LISTED, ids=LISTED_IDS)
def test_the_plain_sdk_drops_an_undeclared_key(row, made, key, sdk):
    arguments = json.loads(made.sent)
    without = {name: value for name, value in arguments.items() if name != key}
    [(text, is_error), same] = call(
        plain_sdk(unpack_pydantic_params(row.make())), arguments, without
    )
    assert (text, is_error) == same
    assert is_error is (sdk is not LOST)
    assert sdk is LOST or sdk in text


# --- real transports --------------------------------------------------------------------------------------------


CARRIED = [row for row in BY_TOOLBOOTH if row.number in (1, 7, 9, 11, 15, 16, 20, 23, 38, 40)]
SERVER = Path(__file__).with_name("flattening_server.py")


async def carried(client):
    """Make every call of the carried rows over one connection."""
    async with client:
        results = []
        for row in CARRIED:
            for each in row.calls:
                results.append(await client.call_tool(row.id, json.loads(each.sent)))
        return results


def assert_carried(results):
    expected = [(row.id, each) for row in CARRIED for each in row.calls]
    got = [
        (result.content[0].text.removeprefix(f"Error executing tool {name}: "), result.is_error)
        for (name, _), result in zip(expected, results, strict=True)
    ]
    assert got == [(each.text, each.result["isError"]) for _, each in expected]


@pytest.mark.parametrize("host", ["fastmcp", "mcp"])
def test_rows_hold_over_a_real_stdio_connection(host, tmp_path):
    ids = [row.id for row in CARRIED]
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(SERVER), host, "stdio", *ids]
    )
    with (tmp_path / "stderr").open("w") as errors:
        assert_carried(asyncio.run(carried(mcp.Client(stdio_client(parameters, errlog=errors)))))


@pytest.mark.parametrize("host", ["fastmcp", "mcp"])
def test_rows_hold_over_a_real_http_connection(host):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ids = [row.id for row in CARRIED]
    server = subprocess.Popen(
        [sys.executable, str(SERVER), host, str(port), *ids],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _until_listening(server, port)
        assert_carried(asyncio.run(carried(mcp.Client(f"http://127.0.0.1:{port}/mcp"))))
    finally:
        server.terminate()
        server.wait(timeout=30)


def _until_listening(server, port):
    while server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.1)
    raise AssertionError(f"the server ended with {server.returncode}")


# --- direct calls -----------------------------------------------------------------------------------------------


def test_a_decorated_function_compiles_to_the_contract_of_the_bare_one():
    decorated = [compile_function(unpack_pydantic_params(row.make())) for row in ROWS]
    assert list(map(input_schema, decorated)) == [
        input_schema(compile_function(row.make())) for row in ROWS
    ]
