"""Stores the published schemas as JSON files beside the tests, so that you notice every change."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote

import pytest

Change = Literal["new", "changed", "gone"]

_PUBLISHED = ("inputSchema", "outputSchema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The stored schema of one tool, and the schema that is published now."""

    tool: str
    file: Path
    kept: str | None
    published: str | None

    @property
    def change(self) -> Change | None:
        """Return how the tool has changed since its schema was stored. None if it has not
        changed.
        """
        if self.kept == self.published:
            return None
        if self.kept is None:
            return "new"
        return "gone" if self.published is None else "changed"

    def accept(self) -> None:
        """Store the schema that is published now."""
        if self.published is None:
            self.file.unlink()
        else:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(self.published, encoding="utf-8")

    def diff(self) -> str:
        """Return the removed and the added lines of the schema."""
        before, after = ((text or "").splitlines() for text in (self.kept, self.published))
        return "\n".join(
            difflib.unified_diff(before, after, "as kept", "as published now", lineterm="")
        )


def folder_of(config: pytest.Config, target: str) -> Path:
    """Return the folder with the stored schemas of a server. It is beside the tests, unless the ini
    file names another folder.
    """
    chosen: str = config.getini("toolbooth_schemas")
    beside = [*config.getini("testpaths"), "tests"]
    tests = next((each for each in beside if (config.rootpath / each).is_dir()), ".")
    home = config.rootpath / (chosen or f"{tests}/toolbooth_schemas")
    # `shop/server.py:mcp` becomes `shop.server.py.mcp`: a colon is not allowed in file names on
    # Windows.
    return home / re.sub(r"[^\w-]+", ".", target)


def snapshots(folder: Path, tools: Iterable[Mapping[str, Any]]) -> list[Snapshot]:
    """Return a snapshot of every tool that is listed now, and of every tool whose schema is
    stored.
    """
    published = {tool["name"]: _schema_text(tool) for tool in tools}
    names = [*published, *(name for name in _kept_names(folder) if name not in published)]
    return [_snapshot(folder, name, published.get(name)) for name in names]


def _snapshot(folder: Path, tool: str, published: str | None) -> Snapshot:
    # A name of another server's tool may contain any character, such as `/`. `_kept_names` reads
    # the name back from the file.
    file = folder / f"{quote(tool, safe='')}.json"
    kept = file.read_text(encoding="utf-8") if file.is_file() else None
    return Snapshot(tool=tool, file=file, kept=kept, published=published)


def _kept_names(folder: Path) -> list[str]:
    return [unquote(file.stem) for file in sorted(folder.glob("*.json"))]


def _schema_text(tool: Mapping[str, Any]) -> str:
    published = {key: tool[key] for key in _PUBLISHED if key in tool}
    return json.dumps(published, indent=2, ensure_ascii=False) + "\n"
