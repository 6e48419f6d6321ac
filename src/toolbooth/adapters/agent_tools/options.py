"""What the author chose in `protect` for tools of an agent framework."""

from __future__ import annotations

from dataclasses import dataclass

from toolbooth.publish import PORTABLE, Profile
from toolbooth.server.observe import Observer


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The arguments of `protect`. `approval`: somebody approves the arguments as the model
    sent them, so a call that would need a repair is refused.
    """

    profile: Profile = PORTABLE
    observers: tuple[Observer, ...] = ()
    approval: bool = False
