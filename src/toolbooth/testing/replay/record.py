"""Real calls, one JSON line each: written by an observer, read again by `replay.py`. The form of
the file is here.

A line says what was sent, as JSON, and what the boundary made of it. `redacted` says that secrets
were left out.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from jiter import LosslessFloat

from toolbooth.jsonvalue import is_object
from toolbooth.server.observe import CallRecord, Observer
from toolbooth.server.redact import as_text
from toolbooth.server.registry import ToolRegistry

_MOST_FAULTS = 10
_BEGINNING = b'{"at": "'
"""How each line begins that was written here, and not by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One line of a recording. A line that is written by hand needs the tool only."""

    at: str | None = None
    client: str | None = None
    dispatcher: str | None = None
    """The tool that was called, where it routed the call to `tool`."""
    tool: str
    outcome: str = "passed"
    """For people: what is compared are the codes."""
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    redacted: bool = False
    arguments: str | None = None
    """JSON text; None where none could be read."""
    values: str | None = None
    """JSON text of what the tool would get, `null` where the call is refused; None where nobody has
    looked yet.
    """


class BadRecording(ValueError):
    """A file that is no recording, or not all of it; says which lines, and why."""


class TornRecording(UserWarning):
    """A recording has lines that were not written to their end, for example to a full disk."""


class _NotJson(ValueError):
    """A line that is not JSON, or not to its end."""


def record_calls(
    registry: ToolRegistry,
    path: str | Path,
    *,
    arguments: Literal["redacted", "whole"] = "redacted",
) -> Observer:
    """Have every call of `registry` added to a file, from now on.

    The arguments are written without secrets unless they are asked for `"whole"`; a file that is
    made here can be read by its owner alone. Several processes may write to the same file.
    """
    if arguments not in ("redacted", "whole"):
        raise ValueError(f"arguments={arguments!r}: calls are recorded 'redacted' or 'whole'")
    file = Path(path).absolute()
    _append(file, "")  # a place that cannot be written to is told now, not with the first call

    def record(call: CallRecord) -> None:
        line = RecordedCall(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            client=call.client,
            dispatcher=call.dispatcher,
            tool=call.tool,
            outcome=call.outcome,
            repairs=call.repairs,
            problems=call.problems,
            redacted=arguments == "redacted",
            arguments=call.arguments,
        )
        _append(file, line_text(line))

    return registry.observe(record, arguments=arguments)


def _append(file: Path, line: str) -> None:
    """One write to the end of the file: lines of several threads and processes stay whole."""
    with open(file, "a+b", buffering=0, opener=_for_owner_alone) as end:
        # A disk that was full has cut the last line short. It must not swallow this one too.
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
    """A line of the file. What is JSON text already goes in as it is, with every digit that was
    sent.
    """
    parts: list[str] = []
    for name in (each.name for each in fields(line)):
        value: Any = getattr(line, name)
        if value is not None:
            text = (
                value if name in ("arguments", "values") else json.dumps(value, ensure_ascii=False)
            )
            parts.append(f'"{name}": {text}')
    return "{" + ", ".join(parts) + "}\n"


def read_calls(path: str | Path) -> dict[int, RecordedCall]:
    """The calls of a recording, by the number of their line.

    A line that was not written to its end is left out, with a TornRecording warning.

    Raises:
        BadRecording: with every line that is none, and why; or because there is none at all.
    """
    found: dict[int, RecordedCall] = {}
    faults: list[str] = []
    torn: list[int] = []
    # By line feeds alone: text may hold other characters that end a line.
    *lines, unended = Path(path).read_bytes().split(b"\n")
    for number, line in enumerate([*lines, unended], 1):
        if not line.strip():
            continue
        try:
            found[number] = _read_line(line)
        except _NotJson as error:
            if line.startswith(_BEGINNING) or number > len(lines):
                torn.append(number)
            else:
                faults.append(f"line {number}: {error}")
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    if torn:
        numbers = ", ".join(map(str, torn))
        message = f"{path}: cut short and left out: line {numbers}. Was the disk full?"
        warnings.warn(message, TornRecording, stacklevel=3)
    if len(faults) > _MOST_FAULTS:
        faults[_MOST_FAULTS:] = [f"and {len(faults) - _MOST_FAULTS} lines more"]
    if faults:
        raise BadRecording(f"{path} is no recording of calls:\n" + "\n".join(faults))
    if not found:
        raise BadRecording(
            f"{path} holds no calls; record_calls(registry, {str(path)!r}) has them written there"
        )
    return found


def _read_line(line: bytes) -> RecordedCall:
    try:
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
    for name in ("repairs", "problems"):
        call[name] = tuple(map(str, call.get(name, ())))
    for name in call.keys() & {"arguments", "values"}:
        call[name] = as_text(call[name])
    return RecordedCall(**call)


_KEYS: dict[str, type] = {
    **dict.fromkeys(("at", "client", "dispatcher", "tool", "outcome"), str),
    **dict.fromkeys(("repairs", "problems"), list),
    "redacted": bool,
    **dict.fromkeys(("arguments", "values"), object),
}
