"""Write real calls to a file, one JSON line each, and read them again. `testing/replay/replay.py`
compares them.

A line has the arguments as JSON, and the outcome at the boundary. `redacted` is true if secrets
were left out.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from jiter import LosslessFloat

from toolbooth.jsonvalue import is_object
from toolbooth.server.observe import Arguments, CallRecord, Observer
from toolbooth.server.redact import as_text

_MOST_FAULTS = 10
_BEGINNING = b'{"at": "'
"""The beginning of every line that this module writes. A line that a person writes may begin
differently.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One line of a recording. A line that you write by hand needs only the tool."""

    at: str | None = None
    client: str | None = None
    dispatcher: str | None = None
    """The dispatcher that was called, if a dispatcher passed the call on to `tool`."""
    tool: str
    outcome: str = "passed"
    """Shown to people who read the file. A replay ignores it and compares only the codes."""
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    """The undeclared keys of a call through a proxy."""
    redacted: bool = False
    arguments: str | None = None
    """JSON text; None if the arguments could not be read."""
    values: str | None = None
    """JSON text of the values that the tool would get; `null` for a refused call. None until
    `replay_calls(update=True)` writes it.
    """


class Observed(Protocol):
    """A registry or a proxy. Both can be observed."""

    def observe(self, observer: Observer, *, arguments: Arguments = "none") -> Observer: ...


class BadRecording(ValueError):
    """The file is not a recording, or some of its lines are wrong. The message lists each wrong
    line and the reason.
    """


class TornRecording(UserWarning):
    """A recording has incomplete lines, for example because the disk was full."""


class _NotJson(ValueError):
    """Raised for a line that is not JSON, or is incomplete."""


def record_calls(
    registry: Observed,
    path: str | Path,
    *,
    arguments: Literal["redacted", "whole"] = "redacted",
) -> Observer:
    """Add every further call of `registry` to a file.

    The arguments are written without secrets, unless you pass `arguments="whole"`. A new file can
    be read only by its owner. Several processes may write to the same file.
    """
    if arguments not in ("redacted", "whole"):
        raise ValueError(f"arguments={arguments!r}: calls are recorded 'redacted' or 'whole'")
    # A server may change its working directory later. All lines belong in the same file.
    file = Path(path).absolute()
    _append(file, "")  # raises now, not at the first call, if the file cannot be written

    def record(call: CallRecord) -> None:
        line = RecordedCall(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            client=call.client,
            dispatcher=call.dispatcher,
            tool=call.tool,
            outcome=call.outcome,
            repairs=call.repairs,
            problems=call.problems,
            undeclared=call.undeclared,
            redacted=arguments == "redacted",
            arguments=call.arguments,
        )
        _append(file, line_text(line))

    return registry.observe(record, arguments=arguments)


def _append(file: Path, line: str) -> None:
    """Append a line with one write, so that the lines of several threads and processes are not
    mixed.
    """
    # Without a buffer, a line is one write. In append mode, the system puts it at the end of the
    # file even if another process has written in the meantime.
    with open(file, "a+b", buffering=0, opener=_for_owner_alone) as end:
        # A full disk has cut the last line short. A line feed keeps this one apart from it.
        start = b"" if _ends_whole(end) else b"\n"
        rest = start + line.encode()
        while rest:  # if the disk is full, the second write raises
            rest = rest[end.write(rest) :]


def _for_owner_alone(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _ends_whole(file: IO[bytes]) -> bool:
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def line_text(line: RecordedCall) -> str:
    """Return the line of a call. Arguments and values are written unchanged, with every digit as
    sent.
    """
    parts: list[str] = []
    for name in (each.name for each in fields(line)):
        value: Any = getattr(line, name)
        # Only a proxy has undeclared keys to report.
        if value is not None and (value or name != "undeclared"):
            text = (
                value if name in ("arguments", "values") else json.dumps(value, ensure_ascii=False)
            )
            parts.append(f'"{name}": {text}')
    return "{" + ", ".join(parts) + "}\n"


def read_calls(path: str | Path) -> dict[int, RecordedCall]:
    """Return the calls of a recording by line number.

    Incomplete lines are left out, with a TornRecording warning.

    Raises:
        BadRecording: some lines are not calls, or there are no calls. The message lists each wrong
        line and the reason.
    """
    found: dict[int, RecordedCall] = {}
    faults: list[str] = []
    torn: list[int] = []
    # Split at line feeds only: text may contain other characters that end a line.
    *lines, unended = Path(path).read_bytes().split(b"\n")
    for number, line in enumerate([*lines, unended], 1):
        if not line.strip():
            continue
        try:
            found[number] = _read_line(line)
        except _NotJson as error:
            # A line that this module began, or a last line without its line feed, was cut short
            # while it was written. Any other line without JSON is a mistake of a person, who should
            # correct it.
            if line.startswith(_BEGINNING) or number > len(lines):
                torn.append(number)
            else:
                faults.append(f"line {number}: {error}")
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    if torn:
        numbers = ", ".join(map(str, torn))
        message = f"{path}: cut short and left out: line {numbers}. Was the disk full?"
        # The warning names the line that calls `replay_calls`, which calls this function.
        warnings.warn(message, TornRecording, stacklevel=3)
    if len(faults) > _MOST_FAULTS:
        faults[_MOST_FAULTS:] = [f"and {len(faults) - _MOST_FAULTS} lines more"]
    if faults:
        raise BadRecording(f"{path} is not a recording of calls:\n" + "\n".join(faults))
    if not found:
        raise BadRecording(
            f"{path} contains no calls; record_calls(registry, {str(path)!r}) writes them to it"
        )
    return found


def _read_line(line: bytes) -> RecordedCall:
    try:
        # A replay has to send `1.10` and numbers of 30 digits exactly as the client sent them. A
        # Python float would lose digits.
        call: Any = json.loads(line, parse_float=lambda digits: LosslessFloat(digits.encode()))
    except (ValueError, RecursionError) as error:
        raise _NotJson(f"not JSON ({error})") from None
    if not is_object(call):
        raise ValueError("not an object")
    if unknown := call.keys() - _KEYS.keys():
        raise ValueError(f"no such key: {', '.join(sorted(unknown))}; there is {', '.join(_KEYS)}")
    if "tool" not in call:
        raise ValueError("the tool is missing")
    for name, kind in _KEYS.items():
        if name in call and not isinstance(call[name], kind):
            raise ValueError(
                f"{name} should be of type {kind.__name__}, not {type(call[name]).__name__}"
            )
    for name in ("repairs", "problems", "undeclared"):
        call[name] = tuple(map(str, call.get(name, ())))
    for name in call.keys() & {"arguments", "values"}:
        call[name] = as_text(call[name])
    return RecordedCall(**call)


_KEYS: dict[str, type] = {
    **dict.fromkeys(("at", "client", "dispatcher", "tool", "outcome"), str),
    **dict.fromkeys(("repairs", "problems", "undeclared"), list),
    "redacted": bool,
    **dict.fromkeys(("arguments", "values"), object),
}
