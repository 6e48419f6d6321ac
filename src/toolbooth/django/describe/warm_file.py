"""Reads and writes the file in `TOOLBOOTH["WARM_FILE"]`. It holds the list of all tools, as
`manage.py mcp_warm` writes it.

With this file, a process answers `tools/list` without describing any tool. Calls never use the
file: for each call, the action of the tool is described, and that decides which arguments the tool
accepts.

The file is signed with `SECRET_KEY`. It is used only if everything that it depends on is unchanged.
Otherwise it is ignored, and the log and the report of `mcp_doctor` give the reason in one line.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from toolbooth.django import messages
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.warm_key import Key, changed_code, code_in_use, differences
from toolbooth.server.stored_list import StoredList, StoredTool
from toolbooth.server.tool import Tool

logger = logging.getLogger("toolbooth.django")


class NotUsable(Exception):
    """Raised if the file cannot be used. The message is the reason."""


def warm_path(chosen: Configuration) -> Path | None:
    """Return the path of the file. A relative path starts at `BASE_DIR`. Return None if the setting
    is empty.
    """
    if not chosen.warm_file:
        return None
    return Path(getattr(settings, "BASE_DIR", None) or "") / chosen.warm_file


def write(path: Path, tools: Iterable[StoredTool], key: Key) -> int:
    """Write the file and return its size. If writing fails, the old file stays as it is.

    Raises:
        OSError: the file cannot be written.
    """
    listed = [{"listing": orjson.Fragment(tool.encoded), "behind": tool.behind} for tool in tools]
    content = orjson.dumps({"key": key, "code": code_in_use(), "tools": listed})
    text = orjson.dumps({"signature": _signature(content), "content": orjson.Fragment(content)})
    # Other processes read the old file or the new one, but never a part of it.
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with unfinished.open("wb") as file:
            file.write(text)
            file.flush()
            # Otherwise the new name could reach the disk before the content, and be an empty file
            # after a crash.
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return len(text)


@dataclass(frozen=True, slots=True)
class Project:
    """The properties of a project that the file must match."""

    key: Key
    tools: frozenset[str]
    """The names of all tools that may be listed, and of the tools behind dispatchers."""
    page_size: int


def read(path: Path, project: Project) -> StoredList:
    """Return the list in the file.

    Raises:
        NotUsable: the file is missing or broken, or the project has changed since.
    """
    content = _signed_content(path)
    for part, now in project.key.items():
        _must_be_same(part, differences(content["key"].get(part, {}), now))
    _must_be_same("code", changed_code(content["code"]))
    tools = [_tool(each) for each in content["tools"]]
    names = [name for tool in tools for name in (tool.name, *tool.behind)]
    # A tool that no longer exists must not be listed.
    _must_be_same("tools", [name for name in names if name not in project.tools])
    return StoredList(tools, project.page_size)


def _signed_content(path: Path) -> Any:
    """Return the content of the file, if this project has signed it.

    Raises:
        NotUsable: the file cannot be read, or its signature is wrong.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise NotUsable(messages.NO_WARM_FILE) from None
    except OSError as error:
        raise NotUsable(messages.warm_file_not_read(error)) from None
    try:
        document = orjson.loads(text)
        content = document["content"]
        # The signature is of the encoded content, so the parsed content is encoded again.
        is_signed = constant_time_compare(document["signature"], _signature(orjson.dumps(content)))
    except (ValueError, TypeError, KeyError):
        raise NotUsable(messages.BROKEN_WARM_FILE) from None
    if not is_signed:
        raise NotUsable(messages.WRONGLY_SIGNED)
    return content


def _must_be_same(part: str, changed: list[str]) -> None:
    if changed:
        raise NotUsable(messages.written_for_other(part, changed))


def _tool(written: Any) -> StoredTool:
    listing = written["listing"]
    return StoredTool(listing["name"], orjson.dumps(listing), tuple(written["behind"]))


def _signature(content: bytes) -> str:
    return salted_hmac("toolbooth.warm_file", content, algorithm="sha256").hexdigest()


class WarmFile:
    """The file as one process uses it. It is read when the list of tools is first requested."""

    def __init__(self, path: Path, project: Callable[[], Project]) -> None:
        self._path = path
        self._project = project
        self._lock = threading.Lock()
        self._list: StoredList | None = None
        self._is_read = False

    def found(self) -> StoredList | None:
        """Return the list in the file. Return None if the file cannot be used."""
        with self._lock:
            if not self._is_read:
                # A file that cannot be used is not read and logged again for the next list.
                self._is_read = True
                try:
                    self._list = read(self._path, self._project())
                except NotUsable as reason:
                    logger.warning("%s", messages.warm_file_ignored(self._path, str(reason)))
        return self._list

    def compare(self, name: str, tool: Tool | None) -> None:
        """Compare the list in the file with a tool that has just been described. If they differ, do
        not use the list any more.
        """
        stored = self._list
        if stored is not None and not stored.agrees_with(name, tool):
            self._list = None
            reason = messages.listed_otherwise(name)
            logger.warning("%s", messages.warm_file_ignored(self._path, reason))
