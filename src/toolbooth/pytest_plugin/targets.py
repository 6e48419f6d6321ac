"""How pytest is told which server is meant; `adapters/connect.py` finds it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolbooth.adapters.connect import TargetError, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`module:server`, or `file.py:server`."""

    given_text: str = field(compare=False)
    node_id: str
    """The same wherever pytest is started: a file is named from the root folder. Ids begin with it.
    """
    location: str
    """What is loaded: a file with its whole path."""
    root: Path

    def load(self) -> Any:
        """The server itself.

        Raises:
            TargetError: there is none; says what to write instead.
        """
        sys.path.insert(0, str(self.root))
        try:
            return load(self.location)
        except TargetError as error:
            raise TargetError(f"{self.node_id}: {error}") from None


def target_of(config: pytest.Config, given_text: str) -> Target:
    """A target as it is written: of an ini file from its root folder, on the command line from
    where pytest runs.
    """
    root = config.rootpath
    file, _, name = given_text.rpartition(":")
    if not file.endswith(".py"):
        # From another folder, pytest shows an id as if a module were a file: ../shop:server
        module = given_text.rpartition("/")[2]
        return Target(given_text=module, node_id=module, location=module, root=root)
    folder = root if given_text in config.getini("toolbooth") else config.invocation_params.dir
    whole = (folder / file).resolve()
    short = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else file
    return Target(
        given_text=given_text, node_id=f"{short}:{name}", location=f"{whole}:{name}", root=root
    )
