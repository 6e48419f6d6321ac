"""The Django gateway: a call over MCP against the same REST call, and beside the strongest other
gateway.
"""

from __future__ import annotations

import sys

import django_peer
from django_calls import PEER_NAME, over_http
from django_start import shares, starts
from figures import Panel, Row, Suite, Tell


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit(
            "The django suite pins processes to CPUs and reads their CPU clocks: it needs Linux."
        )
    tell(f"setting up {PEER_NAME}")
    django_peer.python()
    return [row for part in (shares, starts, over_http) for row in part(tell)]


SUITE = Suite(
    name="django",
    title="Toolbooth's gateway against REST framework alone, and beside another gateway",
    groups={
        "gunicorn": "tools/call ÷ the same REST call, same process: CPU of a gunicorn sync worker",
        "uvicorn": "The same in uvicorn",
        "lists": "tools/list: CPU of the worker",
        "share": "The boundary's share of a call",
        "peer": f"Times less CPU than {PEER_NAME}",
        "theirs": f"{PEER_NAME}: tools/call ÷ the same REST call",
        "start": "A process up to its first answer ÷ the same without a gateway",
    },
    panels=(
        Panel(
            title="tools/call ÷ the same REST call in the same process (less is better)",
            groups=("gunicorn", "uvicorn", "theirs"),
        ),
        Panel(title="tools/list (less is better)", groups=("lists",)),
        Panel(title="The boundary's share of a call (less is better)", groups=("share",)),
        Panel(title=f"Times less CPU than {PEER_NAME} (more is better)", groups=("peer",)),
        Panel(
            title="A process up to its first answer ÷ the same without a gateway (less is better)",
            groups=("start",),
        ),
    ),
    packages=(
        "toolbooth",
        "Django",
        "djangorestframework",
        "drf-spectacular",
        "gunicorn",
        "uvicorn",
    ),
    measured=measured,
)
