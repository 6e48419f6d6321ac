"""The profiles, and how to choose one. `Portable` is for all clients at once, `Exact` for programs.

*portable* allows every call that *exact* allows. These are the exceptions:

* Calls with null may be forbidden.
* A value of any type may contain arrays. *portable* forbids arrays directly inside such an array,
  because it must give the items a type (`ANY_ITEMS`).
* An untyped schema with keywords for properties counts as an object, and one with keywords for
  items as an array. The boundary reads such schemas in the same way.
* If alternatives are merged into one object, an alternative that lists properties and has no
  `additionalProperties` counts as closed. The boundary does the same.
* The tag of a discriminator is required, even if the model has a default for it. The author's
  validation requires the tag too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json, Schema
from toolbooth.publish.nodes import copy_json
from toolbooth.publish.words import describe, describe_format
from toolbooth.publish.write import Profile

_ANY_ITEM_KINDS = ("string", "number", "boolean", "object")
"""Arrays are left out. Otherwise the schema would have no end."""

ANY_ITEMS: Mapping[str, Any] = {"anyOf": [{"type": kind} for kind in _ANY_ITEM_KINDS]}
"""What *portable* writes for the items of an array, if the array is inside a value that may be
anything.
"""


class Portable(Profile):
    """Uses only keywords that every client reads (`docs/project/evidence/clients.md` and
    `wire.md`).

    Each node has one `type`, or is an `anyOf` of such nodes.
    """

    def keeps_annotation(self, key: str, value: Any) -> bool:
        """Return False for `default: null`. When a tool had this default and required fields,
        Claude Code sent no arguments at all (claude-code#3966, 2025-08-09).
        """
        return value is not None and super().keeps_annotation(key, value)

    def write_nullable(self, node: Json, *, required: bool) -> Json:
        """Mention null in words. If the key can be left out, do not mention null. Null branches
        fail in Cursor (cursor#3540, 2025-08-29) and Ollama (netclaw#51, 2026-02-27).
        """
        return describe(node, "or null") if required else node

    def write_null(self, *, required: bool) -> Json | None:
        """Mention null in words, as `write_nullable` does."""
        text: Json = {"type": "string", "description": "always null"}
        return self.write_typed(text) if required else None

    def write_open_object(self, node: Json) -> Json:
        """Say in words that other keys may be sent. A boolean `additionalProperties` makes
        google-genai 3.1.0 raise an exception (python-genai#2393, 2026-05-07).
        """
        return describe(node, "more keys allowed" if "properties" in node else "any keys")

    def write_closed_object(self, node: Json) -> Json:
        """Add nothing, because clients assume that no other keys may be sent."""
        return node

    def write_open_array(self, node: Json) -> Json:
        """Add `items` with types. VS Code refuses an array without `items` (vscode#325618,
        2026-07-13). If a node has no type, Claude Code sends text for it (claude-code#82652,
        2026-08-15).
        """
        options = [self.write_typed({"type": kind}) for kind in _ANY_ITEM_KINDS]
        return {**node, "items": self.write_union(options)}

    def write_typed(self, node: Json) -> Json:
        """Write `format` in words, unless it is `date-time`. If a tool has any other format, Gemini
        refuses every request with this tool (gemini-cli#2237, 2025-06-27; weave-os/router#387,
        2026-06-12).
        """
        return describe_format(node)


class Exact(Profile):
    """Publishes a copy of the full JSON Schema, with references, null and closed objects."""

    def input_schema(self, contract: Contract) -> Json:
        """Return the exact schema, even if the tool has a shorter one for listings."""
        return self.write(contract.schema)

    def write(self, schema: Schema) -> Json:
        """Return a copy of the schema."""
        return copy_json(schema)


PORTABLE = Portable()
PROFILES: Mapping[str, Profile] = {"portable": PORTABLE, "exact": Exact()}
"""The profiles that can be chosen by name."""

ProfileChoice: TypeAlias = Literal["portable", "exact"] | Profile | type[Profile]
"""A profile: its name, or your own class or instance."""


def choose_profile(choice: Any) -> Profile:
    """Return the profile for a `ProfileChoice`, or for any other value that an author passed.

    Raises:
        ValueError: for an unknown profile.
    """
    if isinstance(choice, Profile):
        return choice
    if isinstance(choice, type) and issubclass(choice, Profile):
        return choice()
    if isinstance(choice, str) and choice in PROFILES:
        return PROFILES[choice]
    known = " and ".join(map(repr, PROFILES))
    raise ValueError(
        f"there is no profile {choice!r}; the profiles are {known}, and you can pass a subclass of "
        "toolbooth.publish.Profile"
    )


def input_schema(contract: Contract, profile: ProfileChoice = "portable") -> dict[str, Any]:
    """Return the JSON Schema to publish as a tool's `inputSchema`.

    Raises:
        ValueError: for an unknown profile.
    """
    return choose_profile(profile).input_schema(contract)


def portable(schema: Schema) -> dict[str, Any]:
    """Return the schema of an arguments object as the portable profile writes it."""
    return PORTABLE.write(schema)
