"""The servers that the options of pytest name. `adapters/connect.py` loads them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolbooth.adapters.connect import TargetError, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server that is named as `module:server` or `file.py:server`."""

    # From two folders, the same server has two texts. `Servers` must still find it once.
    given_text: str = field(compare=False)
    node_id: str
    """The beginning of the ids of its tests. It does not depend on the folder in which pytest is
    started, because files are named by their path from the root folder.
    """
    location: str
    """What is loaded: the module, or the full path of the file."""
    root: Path

    def load(self) -> Any:
        """Load the server and return it.

        Raises:
            TargetError: if it cannot be found. The message shows how to name a server.
        """
        # `python -m pytest` puts the current folder there, and plain `pytest` does not.
        # `shop:server` has to be found with both.
        sys.path.insert(0, str(self.root))
        try:
            return load(self.location)
        except TargetError as error:
            raise TargetError(f"{self.node_id}: {error}") from None


def target_of(config: pytest.Config, given_text: str) -> Target:
    """Parse the name of a server. A path in an ini file is relative to the root folder. A path on
    the command line is relative to the current folder.
    """
    root = config.rootpath
    file, _, name = given_text.rpartition(":")
    if not file.endswith(".py"):
        # From another folder, pytest shows an id as if the module were a file: ../shop:server
        module = given_text.rpartition("/")[2]
        return Target(given_text=module, node_id=module, location=module, root=root)
    folder = root if given_text in config.getini("toolbooth") else config.invocation_params.dir
    whole = (folder / file).resolve()
    short = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else file
    return Target(
        given_text=given_text, node_id=f"{short}:{name}", location=f"{whole}:{name}", root=root
    )
