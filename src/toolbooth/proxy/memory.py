"""Remembers the tools of a server between two starts of the proxy, to report those that have
changed.

A server can change what a tool does, or what its description asks the model to do, after you have
looked at it. The file contains one digest for each tool, and no other part of the definition.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolbooth.jsonvalue import is_object
from toolbooth.proxy import messages
from toolbooth.server.state_file import state_file, write_privately

logger = logging.getLogger("toolbooth.proxy")


class Memory:
    """The tools of one server, as they were at the last start."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.before = _read(file)
        self._saved = self.before

    def has_changed(self, name: str, definition: str) -> bool:
        """Return True if a tool had another definition at the last start. Return False for a new
        tool.
        """
        return self.before.get(name, "") not in ("", _digest(definition))

    def save(self, definitions: Iterable[tuple[str, str]]) -> None:
        """Store the tools for the next start. `definitions` has the name and the definition of
        every tool of the server.
        """
        digests = {name: _digest(definition) for name, definition in definitions}
        if digests == self._saved:
            return
        self._saved = digests
        try:
            write_privately(self.file, json.dumps(digests, indent=1))
        except OSError as error:
            logger.warning(messages.NOT_REMEMBERED, self.file, error.strerror or error)


def memory_of(name: str, address: object, environ: Mapping[str, str]) -> Memory:
    """Return the memory of a server. `address` is its command or its URL. If the address changes,
    the memory is empty, because this is another server.
    """
    return Memory(state_file(name, json.dumps(address), environ))


def _digest(definition: str) -> str:
    # A definition whose keys have another order counts as unchanged.
    found = json.dumps(json.loads(definition), sort_keys=True)
    return hashlib.sha256(found.encode()).hexdigest()


def _read(file: Path) -> dict[str, str]:
    try:
        found: Any = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not is_object(found):
        return {}
    return {name: str(digest) for name, digest in found.items()}
