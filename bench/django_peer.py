"""frisian-mcp, the strongest other gateway, in its own environment."""

from __future__ import annotations

from pathlib import Path

from environments import set_up

VERSION = "1.1.1"
NAME = f"frisian-mcp {VERSION}"


def python() -> Path:
    """The interpreter of its environment, which is made on first use."""
    return set_up(
        "frisian",
        f"frisian-mcp=={VERSION}",
        "Django",
        "djangorestframework",
        "django-filter",
        "gunicorn",
    )
