"""The cost for an agent's context of tools/list, help and results of three gateways, and the cost
of a dispatcher for a call.
"""

from __future__ import annotations

import sys

from django_peer import NAME as PEER
from figures import Panel, Row, Suite, Tell
from token_calls import calls
from token_sizes import sizes


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit(
            "The tokens suite pins processes to CPUs and reads their CPU clocks: it needs Linux."
        )
    return [*sizes(tell), *calls(tell)]


SUITE = Suite(
    name="tokens",
    title="What an agent's context pays for an API",
    page="measured/token-diet.md",
    whole=True,
    groups={
        "flat": f"tools/list, flat: bytes ÷ {PEER}",
        "flat, given": f"The same as a model is given it: tokens ÷ {PEER}",
        "dispatched": f"tools/list, dispatched: bytes ÷ {PEER} with as many groups",
        "dispatched, given": "The same as a model is given it: tokens",
        "typed": "Fields whose type help tells ÷ fields of the flat tools",
        "help, bytes": f"One answer of help: bytes ÷ {PEER}",
        "help": f"One answer of help: tokens ÷ {PEER}",
        "learning, bytes": "What one create takes to be learned ÷ Toolbooth's own flat list: bytes",
        "learning": "What one create takes to be learned ÷ Toolbooth's own flat list: tokens",
        "results, bytes": f"Typical results as a model reads them: bytes ÷ {PEER}",
        "results": f"Typical results as a model reads them: tokens ÷ {PEER}",
        "ids": "A bulk create",
        "many, bytes": "Ways to list that a create takes many rows ÷ a sentence: bytes",
        "many": "Ways to list that a create takes many rows ÷ a sentence: tokens",
        "calls": "A call through a dispatcher ÷ the same call by the tool's name: "
        "CPU of a gunicorn worker",
        "plain": "The same without Django, where the tool does nothing: CPU",
    },
    panels=(
        Panel(title=f"tools/list, flat ÷ {PEER} (less is better)", groups=("flat", "flat, given")),
        Panel(
            title=f"tools/list, dispatched ÷ {PEER} with as many groups (less is better)",
            groups=("dispatched", "dispatched, given"),
        ),
        Panel(
            title="Fields whose type help tells ÷ all fields (more is better)", groups=("typed",)
        ),
        Panel(title=f"One answer of help ÷ {PEER} (less is better)", groups=("help",)),
        Panel(
            title="What one create takes to be learned ÷ Toolbooth's own flat list "
            "(less is better)",
            groups=("learning",),
        ),
        Panel(
            title="Ways to list that a create takes many rows ÷ a sentence (less is better)",
            groups=("many",),
        ),
        Panel(title=f"Typical results ÷ {PEER} (less is better)", groups=("results", "ids")),
        Panel(
            title="A call through a dispatcher ÷ the same call by name (less is better)",
            groups=("calls", "plain"),
        ),
    ),
    packages=(
        "toolbooth",
        "fastmcp",
        "Django",
        "djangorestframework",
        "drf-spectacular",
        "django-filter",
    ),
    measured=measured,
)
