"""The tools that every server of the bench serves. Each has its own functions and models, as if it
were written separately.

Annotations are not postponed here: the models are local, and a host must find them.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

Function = Callable[..., Any]


def flat(name: str) -> Function:
    """A new async tool with four scalar parameters."""

    async def offer(title: str, quantity: int, price: float, urgent: bool) -> dict[str, Any]:
        """Make an offer."""
        return {"title": title, "quantity": quantity}

    return _named(offer, name)


def flat_sync(name: str) -> Function:
    """`flat`, but not async."""

    def offer(title: str, quantity: int, price: float, urgent: bool) -> dict[str, Any]:
        """Make an offer."""
        return {"title": title, "quantity": quantity}

    return _named(offer, name)


def nested(name: str) -> Function:
    """A new async tool with a model within a model, both new."""
    model: Any = _contact()

    async def create(contact: model, notify: bool = True) -> dict[str, Any]:
        """Create a contact."""
        return {"email": contact.email, "city": contact.address.city}

    return _named(create, name)


def nested_sync(name: str) -> Function:
    """`nested`, but not async."""
    model: Any = _contact()

    def create(contact: model, notify: bool = True) -> dict[str, Any]:
        """Create a contact."""
        return {"email": contact.email, "city": contact.address.city}

    return _named(create, name)


def make(count: int) -> list[Function]:
    """This number of tools: one of each kind with the name of its kind, as far as the number goes,
    then flat and nested ones in turn.
    """
    kinds = [each(each.__name__) for each in (flat, nested, flat_sync, nested_sync)[:count]]
    return kinds + [
        (flat, nested)[number % 2](f"tool_{number}") for number in range(len(kinds), count)
    ]


def _contact() -> type[BaseModel]:
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

    return Contact


def _named(function: Function, name: str) -> Function:
    function.__name__ = function.__qualname__ = name
    return function
