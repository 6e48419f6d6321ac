"""A tour in the terminal: the same tool, called the way real clients call it, right and wrong.

For each call it prints the arguments as sent, and then the values the tool received or the message
the agent gets.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import click
from pydantic import BaseModel, Field

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
    tags: Annotated[list[str] | None, Field(description='e.g. ["vip", "fair"]')] = None,
    labels: Annotated[dict[str, str] | None, JsonText(example={"source": "fair"})] = None,
) -> str:
    """Create a contact."""
    RECEIVED.append({"contact": contact, "tags": tags, "labels": labels})
    return f"created {contact.email}"


GOOD = {
    "email": "ann@example.org",
    "first_name": "Ann",
    "address": {"street": "Dam 1", "city": "Utrecht"},
}

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
    ("Everything inside a wrapper, as many REST APIs expect", {"data": GOOD}),
    (
        "Half of the fields in a wrapper that is sent as text",
        {"email": "ann@example.org", "params": json.dumps({"first_name": "Ann"})},
    ),
    (
        "Names in another case, and the inner fields at the wrong level",
        {"Email": "ann@example.org", "firstName": "Ann", "street": "Dam 1", "city": "Utrecht"},
    ),
    ("A wrapper one level down", {**GOOD, "address": {"attributes": GOOD["address"]}}),
    (
        "A type that would have to be guessed, and a value the model refuses",
        {**GOOD, "age": -1, "tags": "vip"},
    ),
    ("The same key twice", b'{"email": "ann@example.org", "email": "bob@example.org"}'),
]


def main() -> None:
    tool = compile_function(create_contact)
    click.secho("Toolbooth: one tool, nine calls", bold=True)
    click.echo(
        "The tool takes a Contact with a nested Address, tags and labels. Agents see flat fields:\n"
    )
    click.echo(json.dumps(input_schema(tool)["properties"], indent=2))
    for number, (title, sent) in enumerate(CALLS, 1):
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        RECEIVED.clear()
        show(f"{number}. {title}", body.decode(), handle_bytes(tool, body))
    click.echo(
        "\nNo call lost anything: each one reached the tool complete, "
        "or was refused with a hint how to send it."
    )


def show(title: str, sent: str, result: dict[str, Any]) -> None:
    """Print one call: the arguments as sent, and the values or the refusal."""
    click.echo()
    click.secho(title, bold=True)
    line("sent", sent, "cyan")
    if result["isError"]:
        line("agent gets", result["content"][0]["text"], "red")
        return
    for name, value in RECEIVED[0].items():
        line("received", f"{name} = {value!r}", "green")
    for repair in result.get("_meta", {}).get("toolbooth", {}).get("repairs", ()):
        line("repaired", f"{repair['code']} at {repair['path']}", "yellow")


def line(label: str, text: str, colour: str) -> None:
    indented = text.replace("\n", "\n" + " " * 14)
    click.echo(click.style(f"  {label:12}", dim=True) + click.style(indented, fg=colour))


if __name__ == "__main__":
    main()
