"""A tour in the terminal: the same tool, called the way real clients call it, right and wrong.

For each call: what was sent, and what the tool received or what the agent was told.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from toolbooth import JsonText, Unpack, compile_function, handle_bytes, input_schema


class Address(BaseModel):
    street: str
    city: str
    postcode: str | None = None


class Contact(BaseModel):
    email: str = Field(description="Where to write to")
    first_name: str
    age: int | None = Field(None, ge=0)
    address: Address


RECEIVED: list[dict[str, Any]] = []


def create_contact(
    contact: Annotated[Contact, Unpack()],
    tags: list[str] | None = None,
    labels: Annotated[dict[str, str] | None, JsonText(example={"source": "fair"})] = None,
) -> str:
    """Create a contact."""
    RECEIVED.append({"contact": contact, "tags": tags, "labels": labels})
    return f"created {contact.email}"


GOOD = {"email": "ann@example.org", "first_name": "Ann", "address": {"street": "Dam 1", "city": "Utrecht"}}

CALLS: list[tuple[str, Any]] = [
    ("A correct call", GOOD),
    (
        "The nested object comes as JSON text (Claude Code, Claude Desktop)",
        {**GOOD, "address": json.dumps(GOOD["address"])},
    ),
    (
        "Numbers and lists as text, null for an optional, a key that n8n adds",
        {**GOOD, "age": "41", "tags": '["vip"]', "labels": None, "toolCallId": "c1"},
    ),
    ("Everything inside a wrapper, as REST APIs want it", {"data": GOOD}),
    (
        "Half of it in a wrapper, and that as text",
        {"email": "ann@example.org", "params": json.dumps({"first_name": "Ann"})},
    ),
    (
        "camelCase, a typo, and the inner fields at the wrong level",
        {"emial": "ann@example.org", "firstName": "Ann", "street": "Dam 1", "city": "Utrecht"},
    ),
    ("A wrapper one level down", {**GOOD, "address": {"attributes": GOOD["address"]}}),
    ("A type that would have to be guessed, and a value the model refuses", {**GOOD, "age": -1, "tags": "vip"}),
    ("The same key twice", b'{"email": "ann@example.org", "email": "bob@example.org"}'),
]


def main() -> None:
    console = Console(width=min(Console().width, 100))
    tool = compile_function(create_contact)
    console.print(Text("Toolbooth: one tool, nine calls", style="bold"))
    console.print("The tool takes a Contact with a nested Address, tags and labels. Agents see flat fields:\n")
    console.print_json(json.dumps(input_schema(tool)["properties"]))
    for number, (title, sent) in enumerate(CALLS, 1):
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        RECEIVED.clear()
        show(console, f"{number}. {title}", body.decode(), handle_bytes(tool, body))
    console.print(
        "\nNothing was dropped in silence: every call was received whole, or refused with what to send instead."
    )


def show(console: Console, title: str, sent: str, result: dict[str, Any]) -> None:
    """One call: what was sent, and what became of it."""
    console.print(f"\n[bold]{title}[/bold]")
    console.print(Text("  sent      ", style="dim") + Text(sent, style="cyan"))
    if result["isError"]:
        console.print(Panel(result["content"][0]["text"], title="the agent is told", border_style="red"))
        return
    for name, value in RECEIVED[0].items():
        console.print(Text("  received  ", style="dim") + Text(f"{name} = {value!r}", style="green"))
    for repair in result.get("_meta", {}).get("toolbooth", {}).get("repairs", ()):
        console.print(Text("  repaired  ", style="dim") + Text(f"{repair['code']} at {repair['path']}", style="yellow"))


if __name__ == "__main__":
    main()
