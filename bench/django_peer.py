"""frisian-mcp, the strongest other gateway, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from environments import set_up

VERSION = "1.1.1"
NAME = f"frisian-mcp {VERSION}"


def python() -> Path:
    """The interpreter that has it; it is installed where it is not there yet."""
    return set_up(
        "frisian",
        f"frisian-mcp=={VERSION}",
        "Django",
        "djangorestframework",
        "django-filter",
        "gunicorn",
    )
