"""Writes the files that the proxy keeps between two starts. Only their owner can read them."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for these files."""
    given = environ.get("XDG_STATE_HOME", "")
    # The specification of these folders says that a relative path has to be ignored.
    home = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    return home / "toolbooth" / "proxy"


def state_file(kind: str, identity: str, environ: Mapping[str, str]) -> Path:
    """Return the file of one kind for a server, which another text than `identity` does not
    share.
    """
    short = _NOT_IN_A_NAME.sub("-", kind)[:40].strip("-")
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return state_folder(environ) / f"{short}-{digest}.json"


def write_privately(file: Path, text: str) -> None:
    """Replace a file by a new one that only its owner can read. Several processes may do so at the
    same time. Raises OSError.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The file of `mkstemp` can be read only by its owner.
    descriptor, made = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        Path(made).replace(file)
    except OSError:
        Path(made).unlink(missing_ok=True)
        raise
