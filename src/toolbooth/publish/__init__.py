"""Converts a contract's exact JSON Schema to the `inputSchema` that clients see.

A profile decides how the `inputSchema` is written. The two profiles are in `profiles.py`; each rule
of *portable* is one method there. `write.py` has their base class, which walks the schema. For each
node it uses `read.py`, which turns a schema into a `Node` of `nodes.py`: alternatives of one JSON
type each. `merge.py` makes one node of several, and `words.py` writes the rules that a schema
cannot express into a description.
"""

from toolbooth.publish.profiles import (
    ANY_ITEMS,
    PORTABLE,
    PROFILES,
    Exact,
    Portable,
    ProfileChoice,
    choose_profile,
    input_schema,
    portable,
)
from toolbooth.publish.write import MAX_BYTES, Profile

__all__ = [
    "ANY_ITEMS",
    "MAX_BYTES",
    "PORTABLE",
    "PROFILES",
    "Exact",
    "Portable",
    "Profile",
    "ProfileChoice",
    "choose_profile",
    "input_schema",
    "portable",
]
