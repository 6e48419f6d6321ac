"""One call as it is sent over REST and over MCP, and how its answers are read: for the small hosts
and for the large ones.

The place of each argument in the REST call is derived here from the published schema, without
asking the gateway.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class RestCall:
    """A call over REST."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"


def rest_call(
    method: str,
    path: str,
    arguments: Mapping[str, Any],
    required: list[str],
    *,
    whole: str | None = None,
    joined: Collection[str] = (),
) -> RestCall:
    """Return the REST call that corresponds to a tool's arguments: those of the path are required,
    and come first. `whole` is the argument that is the body itself; the values of `joined`
    parameters are one text with commas.
    """
    rest = dict(arguments)
    for kwarg, name in zip(re.findall(r"{(\w+)}", path), required, strict=False):
        path = path.replace(f"{{{kwarg}}}", quote(_text(rest.pop(name)), safe=""))
    if method == "GET":
        query = urlencode(list(_pairs(rest, joined)))
        return RestCall(method, f"{path}?{query}" if rest else path)
    if whole is not None and whole in rest:
        return RestCall(method, path, rest[whole])
    return RestCall(method, path, None if method == "DELETE" and not rest else rest)


def _pairs(query: Mapping[str, Any], joined: Collection[str]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        if isinstance(value, list) and name not in joined:
            yield from ((name, _text(each)) for each in value)
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    """Return a value in a URL. 2.0 is the JSON number 2."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def send(client: Any, call: RestCall) -> Any:
    """Return the response of Django's test client to a REST call."""
    has_body = call.body is not None
    is_text = call.content_type == "application/json"
    body = json.dumps(call.body) if is_text and has_body else call.body or ""
    kind = call.content_type if has_body else ""
    return client.generic(call.method, call.path, body, content_type=kind)


def read_response(response: Any) -> tuple[int, Any, bool]:
    """Return 2, 4 or 5 for the status of a REST call, its answer, and whether that is JSON."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    kind = response.status_code // 100
    is_json = "json" in response.headers.get("Content-Type", "") or not content
    answer = json.loads(content) if is_json and content else None
    return 2 if kind == 3 else kind, answer, is_json


def message(method: str, params: Any) -> str:
    """Return an MCP message."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def read_reply(reply: Any) -> tuple[int, Any]:
    """Return 2, 4 or 5 for the outcome of a tool call over MCP, and its answer."""
    if reply.status_code != 200:
        return reply.status_code // 100, reply.content.decode()
    answer = reply.json()
    if "error" in answer:
        return 4, answer["error"]["message"]
    result = answer["result"]
    text = result["content"][0]["text"]
    if result.get("isError"):
        return 5 if text.endswith("failed unexpectedly.") else 4, text
    return 2, result["structuredContent"]


def answered(rest: Any) -> Any:
    """Return the answer of MCP that corresponds to this one of REST: always an object."""
    if isinstance(rest, dict):
        return rest
    return {"results": rest} if isinstance(rest, list) else {"value": rest}
