"""The kinds of malformed calls that clients and models really send. Each has its source.

Every kind needs a report or a measurement. Sources without an issue number are in
`docs/project/evidence/`. For a given tool, `agent_shapes.py` makes the calls of each kind, with the
outcome that the law requires (docs/reference/law.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal[
    "correct",
    "json text",
    "scalar text",
    "left out",
    "client keys",
    "wrappers",
    "names",
    "levels",
    "types",
    "numbers",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault, with the first or best report about it."""

    family: Family
    says: str
    source: str
    date: str


def _kind(family: Family, says: str, source: str, date: str) -> Kind:
    return Kind(family=family, says=says, source=source, date=date)


KINDS: dict[str, Kind] = {
    # --- other forms of the same call ---
    "correct": _kind(
        "correct", "the correct call, as the wire delivers it", "ruby-sdk#412", "2026-06-15"
    ),
    "key-order": _kind(
        "correct", "keys in another order", "wire measurements: JavaScript", "2026-11-15"
    ),
    "whole-float": _kind(
        "correct", "1.0 for an integer", "wire measurements: raw bytes", "2026-11-15"
    ),
    "no-arguments": _kind("correct", "no arguments at all for {}", "opencode#9020", "2026-01-17"),
    "null-arguments": _kind("correct", "null for {}", "cline#10553", "2026-05-05"),
    # --- JSON in text ---
    "json-text": _kind(
        "json text", "an object or array as JSON text", "claude-code#5504", "2025-08-10"
    ),
    "json-text-twice": _kind("json text", "JSON text of JSON text", "codegraff2#141", "2026-05-29"),
    "json-text-everywhere": _kind(
        "json text", "every object and array as JSON text", "claude-code#24597", "2026-02-10"
    ),
    "arguments-text": _kind(
        "json text", "all of `arguments` as JSON text", "fastmcp#883", "2025-06-20"
    ),
    "arguments-text-twice": _kind(
        "json text", "all of `arguments` encoded twice", "codegraff2#141", "2026-05-29"
    ),
    "arguments-as-key": _kind(
        "json text", "all of `arguments` as the name of a key", "hub-feedback#2518", "2026-03-20"
    ),
    "cut-text": _kind(
        "json text", "JSON text that was cut short", "claude-code#89313", "2026-08-24"
    ),
    "python-text": _kind(
        "json text", "Python's quotes instead of JSON's", "vllm-mlx#63", "2026-02-11"
    ),
    "comma-text": _kind(
        "json text", "a list as text with commas", "notebooklm-py#1680", "2026-06-29"
    ),
    # --- scalars in text ---
    "scalar-text": _kind(
        "scalar text", "a number or boolean as text", "claude-code#56539", "2026-05-06"
    ),
    "yes-for-boolean": _kind("scalar text", '"yes" for true', "parbaked#695", "2026-05-23"),
    "python-boolean": _kind("scalar text", '"True" for true', "vllm-mlx#63", "2026-02-11"),
    # --- optional fields ---
    "null-optional": _kind("left out", "null for what is left out", "zenrows-mcp#23", "2026-09-18"),
    "nulls-everywhere": _kind(
        "left out", "null for all that is left out", "moltis#283", "2026-03-01"
    ),
    "empty-optional": _kind("left out", '"" for what is left out', "xum#2887", "2026-03-10"),
    "null-text": _kind(
        "left out", '"null" for what is left out', "claude-code#95239", "2026-09-17"
    ),
    "none-text": _kind("left out", '"None" for what is left out', "vllm-mlx#63", "2026-02-11"),
    "placeholder": _kind("left out", '"OMIT" for what is left out', "goose#10426", "2026-07-13"),
    "null-required": _kind(
        "left out", "null for what is required", "SparkyFitness#1540", "2026-06-15"
    ),
    "empty-required": _kind("left out", '"" for what is required', "moltis#283", "2026-03-01"),
    "empty-date-or-enum": _kind(
        "left out", '"" for a date or one of a few values', "gbrain#3850", "2026-08-06"
    ),
    "missing": _kind("left out", "a required field is not sent", "adk-python#3137", "2025-10-10"),
    "empty-arguments": _kind(
        "left out", "{} although fields are required", "claude-code#3966", "2025-07-19"
    ),
    # --- keys that a client adds ---
    "client-key": _kind("client keys", "a key that the client adds", "n8n#21500", "2025-11-03"),
    "client-key-below": _kind(
        "client keys", "the same, but not at the top", "n8n#21500", "2025-11-03"
    ),
    "unknown-key": _kind(
        "client keys", "a key that nothing declares", "python-sdk#3067", "2026-07-06"
    ),
    # --- wrappers ---
    "wrapper": _kind(
        "wrappers", "all fields inside one more object", "nested-wrapper report", "2026-11-15"
    ),
    "wrapper-text": _kind(
        "wrappers", "all fields inside JSON text", "pi-mcp-adapter#363", "2026-08-15"
    ),
    "wrapper-half": _kind(
        "wrappers", "some fields inside one more object", "nested-wrapper report", "2026-11-15"
    ),
    "wrapper-double": _kind(
        "wrappers", "all fields inside two more objects", "pi-mcp-adapter#364", "2026-08-15"
    ),
    "envelope": _kind(
        "wrappers",
        "the whole tool call as its arguments",
        "wire measurements: double-wrapped",
        "2026-11-15",
    ),
    "item-envelope": _kind(
        "wrappers", 'each item as {"item": …}', "hermes-agent#99270", "2026-08-31"
    ),
    # --- names ---
    "camel-case": _kind("names", "firstName for first_name", "loom#339", "2026-08-20"),
    "pascal-case": _kind("names", "FirstName for first_name", "mcp-ts-core#452", "2026-09-18"),
    "kebab-case": _kind(
        "names", "first-name for first_name", "reportportal-mcp-server#25", "2025-07-30"
    ),
    "snake-case": _kind(
        "names", "first_name for firstName", "langchain-mcp-adapters#277", "2025-07-31"
    ),
    "misspelt": _kind("names", "a misspelt key", "GitNexus#3261", "2026-09-11"),
    "dotted": _kind("names", "address.city for a field of address", "slicc#3217", "2026-09-17"),
    "bracketed": _kind(
        "names", "lines[0].sku for a field of an item", "opencode#35105", "2026-07-03"
    ),
    "duplicate-key": _kind("names", "the same key twice", "llama.cpp#19753", "2026-02-20"),
    # --- levels ---
    "one-level-up": _kind(
        "levels", "a nested field beside its object", "toolhive#5891", "2026-07-21"
    ),
    "one-level-down": _kind(
        "levels", "a field inside the object beside it", "toolhive#5891", "2026-07-21"
    ),
    "flattened": _kind(
        "levels", "the fields of an object without the object", "Zammad-MCP#212", "2026-09-07"
    ),
    "scalar-for-object": _kind(
        "levels", "an object shrunk to one value", "agent-framework#982", "2025-09-29"
    ),
    "swallowed": _kind(
        "levels", "an argument inside the text before it", "claude-code#44826", "2026-04-07"
    ),
    # --- other JSON types ---
    "true-for-number": _kind("types", "true for 1", "osaurus#2689", "2026-09-09"),
    "number-for-boolean": _kind("types", "1 for true", "parbaked#695", "2026-05-23"),
    "number-for-text": _kind("types", "7 for text", "lmstudio-bug-tracker#1626", "2026-03-09"),
    "number-for-date": _kind("types", "seconds for a date", "umami-mcp-server#20", "2026-03-23"),
    "number-text-for-date": _kind(
        "types", "seconds as text for a date", "umami-mcp-server#20", "2026-03-23"
    ),
    "words-for-date": _kind("types", "a date in words", "mempalace#1164", "2026-04-24"),
    "enum-case": _kind("types", "a value in another case", "Zammad-MCP#201", "2026-03-10"),
    "enum-quoted": _kind("types", "a value in quotes of its own", "godot-mcp#394", "2026-09-02"),
    "list-for-scalar": _kind(
        "types", "a list of one for the value itself", "ellmer#929", "2026-02-19"
    ),
    "item-for-list": _kind("types", "one item for the list", "claude-code#71927", "2026-06-27"),
    "object-for-list": _kind(
        "types", "an object with numbers for keys", "wire measurements: JavaScript", "2026-11-15"
    ),
    "null-item": _kind("types", "null for an item", "antigravity-cli#42", "2026-05-20"),
    "arguments-list": _kind(
        "types", "`arguments` in a list", "wire measurements: raw bytes", "2026-11-15"
    ),
    # --- numbers ---
    "nan": _kind("numbers", "NaN, which is not JSON", "technocore-chat#90", "2026-08-24"),
    "overflow": _kind(
        "numbers", "a number that no float can hold", "wire measurements: raw bytes", "2026-11-15"
    ),
}

CLIENT_KEYS: dict[str, tuple[object, str, str]] = {
    "toolCallId": ("call_1", "n8n#21500", "2025-11-03"),
    "_meta": ({"progressToken": 1}, "mcp-ts-core#453", "2026-09-18"),
    "tool_call_description": ("Looks it up.", "mcp-ts-core#453", "2026-09-18"),
    "_as_extra": (True, "mcp-ts-core#453", "2026-09-18"),
}
"""Keys that clients add, each with its value and its source. The law lists them. Other keys are
never removed.
"""

WRAPPERS: dict[str, tuple[str, str]] = {
    "data": ("nested-wrapper report", "2026-11-15"),
    "params": ("rockbot#305", "2026-04-23"),
    "request": ("archipelago#193", "2026-08-29"),
    "arguments": ("wire measurements: double-wrapped", "2026-11-15"),
    "args": ("pi-mcp-adapter#363", "2026-08-15"),
    "input": ("nested-wrapper report", "2026-11-15"),
    "body": ("nested-wrapper report", "2026-11-15"),
    "payload": ("nested-wrapper report", "2026-11-15"),
    "attributes": ("nested-wrapper report", "2026-11-15"),
    "fields": ("nested-wrapper report", "2026-11-15"),
    "parameters": ("toolhive#5891", "2026-07-21"),
}
"""Names of wrappers that were seen in reports. `key_faults.py` adds the names of the tool, the
model and the parameter.
"""
