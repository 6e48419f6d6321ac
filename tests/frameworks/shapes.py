"""Twelve shapes in which agents send one call, each with its meaning."""

import json
from typing import Any

from pydantic import BaseModel


class Contact(BaseModel):
    first_name: str = ""
    last_name: str = ""
    email: str = ""


ANN = {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}
WHOLE = {"contact": ANN, "note": "vip", "limit": 5}
ONLY_ANN = {"contact": ANN, "note": "", "limit": 10}

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all of it in a wrapper": ({"data": WHOLE}, WHOLE),
    "a wrapper as JSON text": ({"data": json.dumps(WHOLE)}, WHOLE),
    "a wrapper inside the model": ({"contact": {"data": ANN}}, ONLY_ANN),
    "the fields of the model one level up": (ANN, ONLY_ANN),
    "a misspelt field": ({"contact": ANN, "nots": "vip"}, {**ONLY_ANN, "note": "vip"}),
    "camel case inside the model": (
        {"contact": {"firstName": "Ann", "lastName": "Lee", "email": ANN["email"]}},
        ONLY_ANN,
    ),
    "an undeclared field inside the model": ({"contact": {**ANN, "phone": "1"}}, {"phone": "1"}),
    "a dotted key": (
        {"contact.first_name": "Ann", "contact.last_name": "Lee", "contact.email": ANN["email"]},
        ONLY_ANN,
    ),
    "the model as JSON text": ({"contact": json.dumps(ANN)}, ONLY_ANN),
    "a number as text": ({"contact": ANN, "limit": "5"}, {**ONLY_ANN, "limit": 5}),
    "null for an optional number": ({"contact": ANN, "limit": None}, ONLY_ANN),
    "empty text for an optional number": ({"contact": ANN, "limit": ""}, ONLY_ANN),
}
"""The arguments, and the values that the function must get if it runs at all."""

RECEIVED: list[Any] = []
"""The values that the function got."""


def create_contact(contact: Contact | None = None, note: str = "", limit: int = 10) -> str:
    """Create a contact."""
    sent = contact.model_dump() if isinstance(contact, BaseModel) else contact
    RECEIVED.append({"contact": sent, "note": note, "limit": limit})
    return "created"


def is_loss(meant: dict[str, Any]) -> bool:
    """Whether the function ran with other values than the call means."""
    return any(each != meant for each in RECEIVED)
