"""The rule behind each repair code and problem code, with reports of such calls.

`docs/reference/law.md` has the complete rules. A test compares the reports with
`testing/shapes/catalogue.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One rule of the boundary."""

    says: str
    seen: tuple[str, ...] = ()
    """Reports and measurements of such calls, each with its date."""


_JSON_TEXT = ("claude-code#5504 (2025-08-10)", "fastmcp#883 (2025-06-20)")
_WRAPPER = ("nested-wrapper report (2026-11-15)", "pi-mcp-adapter#363 (2026-08-15)")

RULES: dict[str, Rule] = {
    # --- repairs ---
    "json-text": Rule(
        "Text that holds JSON is read as that JSON, if no text is declared.", _JSON_TEXT
    ),
    "scalar-text": Rule(
        "A number or boolean in text is read as that value, if no text is declared.",
        ("claude-code#56539 (2026-05-06)",),
    ),
    "null-optional": Rule(
        "null for an optional field that is not nullable means: not sent.",
        ("zenrows-mcp#23 (2026-09-18)",),
    ),
    "empty-optional": Rule(
        "Empty text for an optional field that takes no text means: not sent.",
        ("xum#2887 (2026-03-10)",),
    ),
    "client-key": Rule(
        "A key that the client added, not the model, is removed.", ("n8n#21500 (2025-11-03)",)
    ),
    # --- refused while the bytes are read ---
    "not-json": Rule(
        "Bytes that are not JSON are refused; their meaning is not guessed.",
        ("vllm-mlx#63 (2026-02-11)",),
    ),
    "duplicate-key": Rule(
        "A key that is sent twice has two values; none of them is chosen.",
        ("llama.cpp#19753 (2026-02-20)",),
    ),
    "too-large": Rule("A call has at most as many bytes and values as its limits allow."),
    "too-deep": Rule("A call is nested at most as deep as its limits allow."),
    "too-complex": Rule("Nested unions are tried up to a limit."),
    "lossy-number": Rule(
        "A number that would lose digits is refused.",
        ("wire measurements: raw bytes (2026-11-15)",),
    ),
    "not-an-object": Rule(
        "The arguments of a call are one JSON object.",
        ("wire measurements: raw bytes (2026-11-15)",),
    ),
    # --- refused by their shape ---
    "nested-wrapper": Rule(
        "An undeclared key that holds an object is never unwrapped by itself: the agent sends the "
        "fields again, flat.",
        _WRAPPER,
    ),
    "unknown-key": Rule(
        "An undeclared key is refused, because ignoring it would lose what was sent.",
        ("python-sdk#3067 (2026-07-06)", "GitNexus#3261 (2026-09-11)"),
    ),
    "conflicting-keys": Rule("Two keys for the same field are refused: one of them would be lost."),
    "swallowed-argument": Rule(
        "Text that contains the tag of an argument that was not sent may have swallowed it.",
        ("claude-code#44826 (2026-04-07)",),
    ),
    "missing": Rule("A required field must be sent.", ("adk-python#3137 (2025-10-10)",)),
    "wrong-type": Rule(
        "A value has a JSON type that is declared at its place; nothing else is converted.",
        ("osaurus#2689 (2026-09-09)", "parbaked#695 (2026-05-23)"),
    ),
    # --- refused by the author's validation ---
    "invalid": Rule("The tool's own validation refuses the value."),
    "key-reused": Rule("An idempotency key belongs to one call."),
}

SCHEMA = "Judge by this JSON Schema, a file or JSON text, instead of a tool of TARGET."
JSON = "Print one JSON document: verdict, repairs, problems, rules, corrected call."

READ = "one JSON object"
NOT_READ = "the bytes cannot be read as the arguments of a call"
FITS = "every key is declared, every value has a declared type"
VALID = "the tool's own validation accepts the values"
NOT_REACHED = "not reached"
NOT_RUN = "not run: explain calls no tool"
CANNOT_DERIVE = "No corrected call: the arguments do not say what to send instead."
BY_LISTING = (
    "Judged by the published schema alone: this server is not known to be behind the boundary."
)
NO_TOOL = (
    "name the tool: toolbooth explain TARGET TOOL ARGUMENTS, or give a schema with --schema FILE"
)
SCHEMA_OR_TOOL = "with --schema, write only ARGUMENTS, without TARGET and TOOL"
NO_PAYLOAD = "there is nothing to explain: write TARGET TOOL ARGUMENTS, or ARGUMENTS --schema FILE"


def schema_unreadable(file: str, reason: object) -> str:
    """Report a schema that is neither a file nor JSON."""
    return f"--schema {file!r} cannot be read: {reason}"


def schema_not_compiled(reason: object) -> str:
    """Report a schema that cannot be compiled."""
    return f"the schema cannot be compiled: {reason}"


def changed(count: int) -> str:
    """Return the line of a stage that has findings."""
    return "1 finding" if count == 1 else f"{count:,} findings"


def bytes_read(count: int) -> str:
    """Return the line of the first stage, with the number of bytes."""
    return f"{count:,} bytes, {READ}"


def send_instead(call: str) -> str:
    """Return the line with the corrected call."""
    return f"Send instead: {call}"


def seen_in(sources: tuple[str, ...]) -> str:
    """Return the line with the evidence of a rule."""
    return f"seen in {', '.join(sources)}"
