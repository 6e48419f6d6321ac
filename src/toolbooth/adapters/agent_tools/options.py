"""The options that the author passes to `protect` for tools of an agent framework."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolbooth.publish import PORTABLE, Profile
from toolbooth.server.observe import Observer


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The arguments of `protect`. `approval` is true if a person or a program approves the
    arguments as the model sent them. A call that needs a repair is then refused.
    """

    profile: Profile = PORTABLE
    observers: tuple[Observer, ...] = ()
    approval: bool = False

    def __deepcopy__(self, _memo: object) -> Options:
        # A copied tool has the same observers.
        return self

    def asked(self, approval: bool) -> Options:
        """Return the options for one tool. `approval` is true if the framework asks for an approval
        before it runs this tool.
        """
        return replace(self, approval=True) if approval else self
