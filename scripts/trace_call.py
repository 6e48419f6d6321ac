"""Trace one call through the package: which files it enters, and how often the file changes.

`gateway` is a create through the Django gateway of examples/crm, in a database in memory. `http` is
a correct call of an async tool of a `ToolRegistry` over its ASGI application, in this process. Each
call is made once before it is traced, so work that is done once per process is not counted.

Only functions of src/toolbooth count, in the order in which they are entered. The file changes if
a function is in another file than the one that was entered before it. Comprehensions are part of
their function.

    python scripts/trace_call.py [gateway] [http] [--verbose]

The exit status is 1 if a call is over its limits, or if a function on its way only passes its
arguments on.
"""

import argparse
import ast
import asyncio
import base64
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Annotated, Any

import django
import orjson
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from pydantic import Field

import toolbooth
from toolbooth import ToolRegistry
from toolbooth.server.asgi import app

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(toolbooth.__file__).parent
EXAMPLE = ROOT / "examples" / "crm"

COMPREHENSIONS = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}


# --- counting ---


@dataclass(frozen=True)
class Trace:
    """The functions of the package that one call enters, in order."""

    entered: list[CodeType]

    @property
    def files(self) -> int:
        return len({code.co_filename for code in self.entered})

    @property
    def functions(self) -> int:
        return len(set(self.entered))

    @property
    def changes(self) -> int:
        return len(self.stages) - 1

    @property
    def stages(self) -> list[tuple[str, list[str]]]:
        """The files in order, each with the functions entered there; equal neighbours are
        merged.
        """
        groups = groupby(self.entered, file_of)
        return [(file, [code.co_qualname for code in inside]) for file, inside in groups]

    @property
    def handing_on(self) -> list[str]:
        """The functions that do nothing but pass their arguments on to another one."""
        codes = {(code.co_filename, code.co_firstlineno): code for code in self.entered}
        return sorted(
            f"{file_of(code)} {code.co_qualname}" for code in codes.values() if hands_on(code)
        )


def hands_on(code: CodeType) -> bool:
    """Whether a function is one call with the function's own parameters, all and in order."""
    node = definition_of(code)
    if node is None:
        return False
    parameters = [each.arg for each in [*node.args.posonlyargs, *node.args.args]]
    if parameters[:1] == ["self"]:
        parameters = parameters[1:]
    has_docstring = ast.get_docstring(node) is not None
    statements = node.body[1:] if has_docstring else node.body
    only = statements[0] if len(statements) == 1 else None
    call = only.value if isinstance(only, ast.Return | ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    if not isinstance(call, ast.Call) or not parameters:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [each.id if isinstance(each, ast.Name) else None for each in given] == parameters


def definition_of(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition of a function; None for a lambda or a generated one."""
    for node in ast.walk(tree_of(code.co_filename)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def file_of(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(PACKAGE).as_posix()


def trace(call: Callable[[], Any]) -> Trace:
    """Make a call, and keep the functions of the package that it enters."""
    entered: list[CodeType] = []
    folder = str(PACKAGE) + os.sep

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in COMPREHENSIONS:
            return
        if code.co_filename.startswith(folder):
            entered.append(code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Trace(entered)


# --- the calls ---


def gateway() -> Trace:
    """`companies__create` of examples/crm: a POST to the endpoint with Django's test client."""
    os.environ["CRM_DATABASE"] = ":memory:"
    os.environ["CRM_DEBUG"] = "0"
    os.environ["DJANGO_SETTINGS_MODULE"] = "crm.settings"
    sys.path.insert(0, str(EXAMPLE))

    django.setup()
    call_command("migrate", verbosity=0)

    get_user_model().objects.create_user("agent", password="agent")
    credentials = base64.b64encode(b"agent:agent").decode()
    client = Client(headers={"authorization": f"Basic {credentials}"})

    def create(name: str) -> None:
        body = message("companies__create", {"name": name, "employees": 12})
        response = client.post("/mcp/", body, content_type="application/json")
        check(response.content)

    create("Warm Ltd")
    return trace(lambda: create("Traced Ltd"))


def http() -> Trace:
    """An async tool of a registry, over the ASGI application."""
    registry = ToolRegistry("trace")

    @registry.tool
    async def add_contact(
        name: str, tags: Annotated[list[str], Field(examples=[["vip"]])]
    ) -> dict[str, Any]:
        """Add a contact."""
        return {"name": name, "tags": len(tags)}

    application: Any = app(registry)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    body = message("add_contact", {"name": "Ada", "tags": ["a", "b"]})

    async def call() -> None:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await application(scope, receive, send)
        check(sent[-1]["body"])

    asyncio.run(call())
    return trace(lambda: asyncio.run(call()))


def message(tool: str, arguments: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def check(body: bytes) -> None:
    """Stop if a call failed, because its trace would be that of the failure."""
    reply = orjson.loads(body)
    if "result" not in reply or reply["result"].get("isError"):
        raise SystemExit(f"the call failed: {body.decode()}")


# --- the report ---


@dataclass(frozen=True)
class Limits:
    files: int
    changes: int


CALLS: dict[str, tuple[Callable[[], Trace], Limits]] = {
    "gateway": (gateway, Limits(24, 45)),
    "http": (http, Limits(11, 16)),
}


def report(name: str, found: Trace, limits: Limits, *, verbose: bool) -> bool:
    """Print the figures of a trace. Returns whether they are within the limits."""
    is_short = found.files <= limits.files and found.changes <= limits.changes
    print(
        f"{name}: {found.files} files (at most {limits.files}), "
        f"{found.changes} changes of file (at most {limits.changes}), "
        f"{found.functions} functions"
    )
    for function in found.handing_on:
        print(f"  only passes its arguments on: {function}")
    if verbose:
        for file, functions in found.stages:
            print(f"  {file:34} {', '.join(functions)}")
    return is_short and not found.handing_on


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("calls", nargs="*", metavar="call", help="gateway, http; all if none")
    parser.add_argument("--verbose", action="store_true", help="also print the way of each call")
    options = parser.parse_args(arguments)
    unknown = set(options.calls) - CALLS.keys()
    if unknown:
        parser.error(f"there is no call {', '.join(sorted(unknown))}")
    within = [
        report(name, make(), limits, verbose=options.verbose)
        for name, (make, limits) in CALLS.items()
        if name in (options.calls or CALLS)
    ]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
