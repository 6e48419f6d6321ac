"""Compares servers: ours, the official SDK and FastMCP, with the same tools and the same bytes."""

from __future__ import annotations

import sys

from figures import Panel, Row, Suite, Tell
from first_answer import first_answers
from serving import over_http, over_stdio
from starting import commands, imports, proofs, protection, registration

PARTS = (
    over_http,
    over_stdio,
    registration,
    protection,
    proofs,
    imports,
    commands,
    first_answers,
)


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit(
            "The server suite pins processes to CPUs and reads their CPU clocks: it needs Linux."
        )
    return [row for part in PARTS for row in part(tell)]


SUITE = Suite(
    name="server",
    title="Toolbooth's server beside others",
    groups={
        "async": "HTTP tools/call: CPU of the server, times less than",
        "sync": "The same with a sync tool",
        "list": "HTTP tools/list: CPU of the server, times less than",
        "stdio": "stdio: round trip of a nested call, and start, times less than",
        "bounds": "Bounds",
        "registration": "Registration of one tool ÷ official SDK",
        "protect": "A call with protect() ÷ the same without",
        "import": "Import",
    },
    panels=(
        Panel(
            title="Times less CPU over HTTP, and less time over stdio, than … "
            "(more is better; logarithmic)",
            groups=("async", "sync", "list", "stdio"),
            logarithmic=True,
        ),
        Panel(title="Bounds (less is better)", groups=("bounds",)),
        Panel(
            title="Registration of one tool ÷ official SDK (less is better)",
            groups=("registration",),
        ),
        Panel(
            title="A call with protect() ÷ the same without (less is better)", groups=("protect",)
        ),
        Panel(title="Import (less is better)", groups=("import",)),
    ),
    packages=("toolbooth", "pydantic", "mcp", "fastmcp", "uvicorn", "uvloop", "httptools"),
    measured=measured,
    shows_picture=True,
)
