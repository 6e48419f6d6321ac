"""Defines the user's settings for an upstream server and its tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

Policy = Literal["strict", "default", "lenient"]
"""Says if undeclared keys may be sent, when the schema does not say it."""

Publish = Literal["portable", "as-is"]
"""The input schemas in `tools/list`: in the portable form, or as the server wrote them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The settings for the tools of one upstream server: which tools are shown, their published
    names, and how they are guarded.

    `allow` and `deny` hold names or patterns such as `delete_*`; an empty `allow` allows all.
    """

    policy: Policy = "default"
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    """The policy of individual tools, by their names on the server."""
    publish: Publish = "portable"
    flatten: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict[str, str])
    prefix: str = ""
    observe: bool = False
    """Forward every call unchanged, and only count the calls that would have been refused."""

    def policy_of(self, tool: str) -> Policy:
        return self.policies.get(tool, self.policy)

    def shows(self, tool: str) -> bool:
        """Return True if clients see this tool of the server."""
        is_allowed = not self.allow or any(fnmatchcase(tool, each) for each in self.allow)
        return is_allowed and not any(fnmatchcase(tool, each) for each in self.deny)

    def without_tool(self, tools: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield each setting with a name or a pattern that fits none of the server's tools."""
        for setting, patterns in (("allow", self.allow), ("deny", self.deny)):
            for each in patterns:
                if not any(fnmatchcase(tool, each) for tool in tools):
                    yield setting, each
        for setting, names in (("policies", self.policies), ("rename", self.rename)):
            yield from ((setting, each) for each in names if each not in tools)

    def published_name(self, tool: str) -> str:
        """Return the name of a tool that clients see."""
        return self.prefix + self.rename.get(tool, tool)
