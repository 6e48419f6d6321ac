"""The cases: tools as authors write them, and the calls that agents make to them.

The floor of every case is `to_json(TypeAdapter(function).validate_json(body))`, which checks no
undeclared keys, no duplicates and no exact numbers, and repairs and explains nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, field_validator, model_validator

from toolbooth import Unpack

Function = Callable[..., Any]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One tool, one correct call, and the ways in which that call goes wrong."""

    name: str
    function: Function
    exact: bytes
    refused: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    repaired: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    goal: float | None = None
    refusal_goal: float | None = None
    plain: tuple[Function, bytes] | None = None
    """The floor's function and body if Pydantic alone does not accept this call: the same without
    unpacking.
    """


def sent(value: Any) -> bytes:
    """JSON as clients write it."""
    return json.dumps(value, separators=(",", ":")).encode()


# The goals of an exact call, as multiples of the floor.
FLAT_GOAL = 2.3
NESTED_GOAL = 1.9
BATCH_GOAL = 1.45


# --- the three payloads that have goals ---------------------------------------------------------


def make_offer(title: str, quantity: int, price: float, urgent: bool) -> Json:
    return {"title": title, "quantity": quantity}


def make_offer_in_text(title: str, quantity: int, price: float, urgent: bool) -> str:
    return title


class Address(BaseModel):
    street: str
    city: str
    postcode: str
    country: str = "NL"


class Contact(BaseModel):
    email: str
    first_name: str
    last_name: str
    age: int
    newsletter: bool = False
    tags: list[str] = []
    address: Address


def create_contact(contact: Contact, notify: bool = True) -> Json:
    return {"email": contact.email, "city": contact.address.city}


def create_contact_in_text(contact: Contact, notify: bool = True) -> str:
    return contact.email


class Record(BaseModel):
    id: int
    name: str
    active: bool
    score: float
    tags: list[str]
    address: Address


def import_records(records: list[Record], dry_run: bool = False) -> Json:
    return {"imported": len(records), "last": records[-1].name}


def import_records_in_text(records: list[Record], dry_run: bool = False) -> str:
    return records[-1].name


def echo_records(records: list[Record], dry_run: bool = False) -> list[Record]:
    return records


OFFER: Json = {"title": "Annual report", "quantity": 12, "price": 9.5, "urgent": True}
ADDRESS: Json = {
    "street": "Oudegracht 12",
    "city": "Utrecht",
    "postcode": "3511 AB",
    "country": "NL",
}
PERSON: Json = {
    "email": "ann@example.org",
    "first_name": "Ann",
    "last_name": "de Wit",
    "age": 41,
    "newsletter": True,
    "tags": ["customer", "new"],
    "address": ADDRESS,
}
CONTACT: Json = {"contact": PERSON, "notify": False}


def records(count: int = 500) -> list[Json]:
    """Records that differ, as real ones do, so that caches do not help more than usual."""
    return [
        {
            "id": 1000 + number,
            "name": f"Record number {number}",
            "active": number % 3 == 0,
            "score": number / 8,
            "tags": ["imported", f"batch {number % 7}"],
            "address": {**ADDRESS, "street": f"Oudegracht {number}"},
        }
        for number in range(count)
    ]


RECORDS: Json = {"records": records(), "dry_run": False}


def misspelt(value: Json, key: str, typo: str) -> Json:
    """The same object with one key misspelt, in its place."""
    return {typo if name == key else name: each for name, each in value.items()}


def in_one_record(change: Callable[[Json], Json]) -> Json:
    """The batch with one record changed, in the middle."""
    batch = records()
    batch[250] = change(batch[250])
    return {**RECORDS, "records": batch}


def in_every_record(change: Callable[[Json], Json]) -> Json:
    """The batch with every record changed, because agents repeat their mistakes."""
    return {**RECORDS, "records": [change(each) for each in records()]}


def _postcode_misspelt(value: Json) -> Json:
    return {**value, "address": misspelt(value["address"], "postcode", "postcoed")}


FLAT = Case(
    name="flat",
    function=make_offer,
    exact=sent(OFFER),
    goal=FLAT_GOAL,
    refusal_goal=20,
    refused={
        "wrapper around everything": sent({"data": OFFER}),
        "typo in one key": sent(misspelt(OFFER, "quantity", "quantty")),
        "wrong type": sent({**OFFER, "quantity": True}),
    },
    repaired={
        "a number as text": sent({**OFFER, "quantity": "12"}),
        "all as JSON text": sent(json.dumps(OFFER)),
    },
)

NESTED = Case(
    name="contact",
    function=create_contact,
    exact=sent(CONTACT),
    goal=NESTED_GOAL,
    refusal_goal=10,
    refused={
        "wrapper around everything": sent({"data": CONTACT}),
        "typo in one key": sent({**CONTACT, "contact": _postcode_misspelt(PERSON)}),
        "wrong type": sent({**CONTACT, "contact": {**PERSON, "age": True}}),
    },
    repaired={
        "nested part as JSON text": sent(
            {**CONTACT, "contact": {**PERSON, "address": json.dumps(ADDRESS)}}
        )
    },
)

BATCH = Case(
    name="records",
    function=import_records,
    exact=sent(RECORDS),
    goal=BATCH_GOAL,
    refusal_goal=5,
    refused={
        "wrapper around everything": sent({"data": RECORDS}),
        "typo in one key": sent(in_one_record(_postcode_misspelt)),
        "wrong type": sent(in_one_record(lambda each: {**each, "id": True})),
        "wrapper in every record": sent(in_every_record(lambda each: {"record": each})),
        "typo in every record": sent(in_every_record(_postcode_misspelt)),
    },
    repaired={
        "nested part as JSON text": sent(
            in_one_record(lambda each: {**each, "address": json.dumps(ADDRESS)})
        ),
        "all records as JSON text": sent({**RECORDS, "records": json.dumps(RECORDS["records"])}),
    },
)

IN_TEXT = (
    Case(
        name="flat, answer in text", function=make_offer_in_text, exact=FLAT.exact, goal=FLAT_GOAL
    ),
    Case(
        name="contact, answer in text",
        function=create_contact_in_text,
        exact=NESTED.exact,
        goal=NESTED_GOAL,
    ),
    Case(
        name="records, answer in text",
        function=import_records_in_text,
        exact=BATCH.exact,
        goal=BATCH_GOAL,
    ),
)


# Python's `json.dumps` adds spaces and escapes non-ASCII characters; most clients do neither.
SPACED = (
    Case(
        name="flat, with spaces",
        function=make_offer,
        exact=json.dumps(OFFER).encode(),
        goal=FLAT_GOAL,
    ),
    Case(
        name="contact, with spaces",
        function=create_contact,
        exact=json.dumps(CONTACT).encode(),
        goal=NESTED_GOAL,
    ),
    Case(
        name="records, with spaces",
        function=import_records,
        exact=json.dumps(RECORDS).encode(),
        goal=BATCH_GOAL,
    ),
)


# --- further contracts without goals ------------------------------------------------------------


class ContactAfter(Contact):
    @field_validator("email")
    @classmethod
    def has_at(cls, value: str) -> str:
        if "@" not in value:
            raise ValueError("must hold an @")
        return value

    @model_validator(mode="after")
    def has_name(self) -> ContactAfter:
        if not self.first_name and not self.last_name:
            raise ValueError("send a name")
        return self


class ContactBefore(Contact):
    @field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def renamed(cls, value: Any) -> Any:
        return {**value, "email": value["mail"]} if "mail" in value else value


def create_after(contact: ContactAfter, notify: bool = True) -> Json:
    return {"email": contact.email}


def create_before(contact: ContactBefore, notify: bool = True) -> Json:
    return {"email": contact.email}


def plain_contact(contact: Contact) -> Json:
    return {"email": contact.email}


def unpacked_contact(contact: Annotated[Contact, Unpack()]) -> Json:
    return {"email": contact.email}


def plain_order(contact: Contact, address: Address, express: bool, weight: float = 1.0) -> Json:
    return {"email": contact.email}


def unpacked_order(
    contact: Annotated[Contact, Unpack()],
    address: Annotated[Address, Unpack(prefix="ship_")],
    express: bool,
    weight: float = 1.0,
) -> Json:
    return {"email": contact.email}


class Line(BaseModel):
    sku: str
    quantity: int
    price: Decimal


def add_lines(lines: list[Line]) -> Json:
    return {"lines": len(lines)}


def _lines(price: str) -> bytes:
    """JSON numbers of any length, which `json.dumps` would not write."""
    each = ",".join(
        f'{{"sku":"S-{number}","quantity":{number},"price":{price % number}}}'
        for number in range(500)
    )
    return f'{{"lines":[{each}]}}'.encode()


SHIPPING: Json = {"express": True, "weight": 2.5}
ORDER: Json = {"contact": PERSON, "address": ADDRESS, **SHIPPING}
FLAT_ORDER: Json = {
    **PERSON,
    **{f"ship_{name}": each for name, each in ADDRESS.items()},
    **SHIPPING,
}

FURTHER = (
    Case(
        name="contact, after-validators",
        function=create_after,
        exact=NESTED.exact,
        refused={"by the validator": sent({**CONTACT, "contact": {**PERSON, "email": "ann"}})},
    ),
    Case(name="contact, before-validators", function=create_before, exact=NESTED.exact),
    Case(
        name="contact, unpacked",
        function=unpacked_contact,
        exact=sent(PERSON),
        refused={"wrapper around everything": sent({"contact": PERSON})},
        plain=(plain_contact, sent({"contact": PERSON})),
    ),
    Case(
        name="two models unpacked",
        function=unpacked_order,
        exact=sent(FLAT_ORDER),
        refused={"one model still wrapped": sent({**PERSON, "ship": ADDRESS, **SHIPPING})},
        plain=(plain_order, sent(ORDER)),
    ),
    Case(name="500 Decimals, 2 places", function=add_lines, exact=_lines("%d.25")),
    Case(
        name="500 Decimals, 21 digits", function=add_lines, exact=_lines("12345678901234567%03d.5")
    ),
    Case(name="records, all sent back", function=echo_records, exact=BATCH.exact),
)

GOALS = (FLAT, NESTED, BATCH)
EVERY = (*GOALS, *IN_TEXT, *SPACED, *FURTHER)
