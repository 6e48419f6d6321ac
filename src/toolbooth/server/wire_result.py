"""Reads a tool result as an agent gets it. Used by tests, and by code that compares calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolbooth.boundary.render import META_KEY
from toolbooth.boundary.repairs import Repair
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, is_object, path_from_text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WireResult:
    """The result of a call, as the agent sees it."""

    text: str
    """The text that the model reads."""
    structured: Json | None
    """`structuredContent`, if the tool has one."""
    is_error: bool
    repairs: tuple[Repair, ...]
    """The repairs that the boundary made. This field, `problems` and `corrected` are empty if the
    server is not protected.
    """
    problems: tuple[Problem, ...]
    """The problems for which the boundary refused the call. Empty if the boundary accepted the call
    and the tool returned an error.
    """
    corrected: Json | None
    """The call to send instead, if the boundary could derive it."""
    raw: Json
    """The whole tool result, or `{"error": ...}` for a protocol error."""
    status: int | None = None
    """The status of the HTTP response. None if HTTP was not used."""

    @property
    def value(self) -> Json | None:
        """Return the structured result. This is the same as `structured`."""
        return self.structured

    @property
    def outcome(self) -> str:
        """Return the outcome of the call in one word."""
        if self.problems:
            return "refused"
        if self.is_error:
            return "error"
        return "repaired" if self.repairs else "passed"

    def __repr__(self) -> str:
        found = ", ".join(
            f"{each.code} at {each.where}" for each in (*self.problems, *self.repairs)
        )
        reasons = f": {found}" if found else ""
        if self.structured is not None:
            return f"<WireResult {self.outcome}{reasons}; structured={self.structured!r}>"
        return f"<WireResult {self.outcome}{reasons}; text={self.text!r}>"


def read_result(raw: Json, status: int | None = None) -> WireResult:
    """Read a tool result, or `{"error": ...}`."""
    error: Any = raw.get("error")
    meta = boundary_meta(error.get("data") if error else raw.get("_meta"))
    return WireResult(
        # A protocol error has no content. Clients show its message instead.
        text=error["message"] if error else "\n".join(map(_piece, raw.get("content", ()))),
        structured=raw.get("structuredContent"),
        is_error=error is not None or raw.get("isError", False),
        repairs=repairs_in(meta),
        problems=problems_in(meta),
        corrected=meta.get("corrected"),
        raw=raw,
        status=status,
    )


def boundary_meta(beside: Any) -> Json:
    """Return what the boundary added to a response. It is in `_meta` of a result, or in `data` of
    an error.
    """
    return beside.get(META_KEY, {}) if is_object(beside) else {}


def problems_in(meta: Json) -> tuple[Problem, ...]:
    """Return the problems that a refusal lists."""
    return tuple(
        Problem(code=each["code"], path=path_from_text(each["path"]), message=each["message"])
        for each in meta.get("problems", ())
    )


def repairs_in(meta: Json) -> tuple[Repair, ...]:
    """Return the repairs that a result lists."""
    return tuple(
        Repair(code=each["code"], path=path_from_text(each["path"]))
        for each in meta.get("repairs", ())
    )


def _piece(content: Json) -> str:
    return content.get("text", f"[{content['type']}]")
