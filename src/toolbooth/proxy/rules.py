"""What the user decided about an upstream server and its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

Policy = Literal["strict", "default", "lenient"]
"""What happens to undeclared keys where the schema does not state whether they may be sent."""

Publish = Literal["portable", "as-is"]
"""How `tools/list` shows the input schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The tools of one upstream server: which are shown, under which names, how they are guarded.

    `allow` and `deny` hold names or patterns such as `delete_*`; an empty `allow` allows all.
    """

    policy: Policy = "default"
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    """The policy of single tools, by the name that the server gives them."""
    publish: Publish = "portable"
    flatten: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict[str, str])
    prefix: str = ""
    observe: bool = False
    """Guard nothing and change nothing: only count what would have been refused."""

    def policy_of(self, tool: str) -> Policy:
        return self.policies.get(tool, self.policy)

    def shows(self, tool: str) -> bool:
        """Whether a tool of the server is in the list."""
        is_allowed = not self.allow or any(fnmatchcase(tool, each) for each in self.allow)
        return is_allowed and not any(fnmatchcase(tool, each) for each in self.deny)

    def published_name(self, tool: str) -> str:
        """The name of a tool as clients see it."""
        return self.prefix + self.rename.get(tool, tool)
