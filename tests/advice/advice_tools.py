"""The tools that the corpus calls: one entry with fields of every kind, declared in three ways and
at three depths. Each tool returns the values it received.
"""

import inspect
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel

from toolbooth import Contract, Unpack, compile_function, compile_json_schema

State = Literal["open", "in_progress", "closed"]


class Address(BaseModel):
    street: str
    city: str = ""


class Line(BaseModel):
    sku: str
    quantity: int = 1


class Entry(BaseModel):
    title: str
    first_name: str = ""
    website: str = ""
    description: str = ""
    employees: int | None = None
    page_size: int = 10
    ratio: float = 0.5
    is_active: bool = True
    status: State = "open"
    due_date: date | None = None
    starts_at: datetime | None = None
    timeout: timedelta | None = None
    reference: UUID | None = None
    tags: list[str] = []
    numbers: list[int] = []
    partners: list[UUID] = []
    states: list[State] = []
    labels: dict[str, str] = {}
    address: Address | None = None
    lines: list[Line] = []


def received(value: BaseModel) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude_unset=True)


def add_flat(entry: Annotated[Entry, Unpack()]) -> dict[str, Any]:
    """Add an entry."""
    return received(entry)


def add_one(entry: Entry) -> dict[str, Any]:
    """Add an entry."""
    return {"entry": received(entry)}


def add_many(entries: list[Entry]) -> dict[str, Any]:
    """Add entries."""
    return {"entries": [received(entry) for entry in entries]}


def _plain_function() -> Callable[..., Any]:
    """A function whose parameters are the fields of the entry."""
    namespace: dict[str, Any] = {**globals()}
    parameters = ", ".join(
        f"{name}: __fields[{name!r}].annotation"
        + ("" if field.is_required() else f" = __fields[{name!r}].default")
        for name, field in Entry.model_fields.items()
    )
    namespace["__fields"] = Entry.model_fields
    source = f"def add({parameters}):\n    'Add an entry.'\n    return dict(locals())"
    exec(source, namespace)
    return namespace["add"]


add_parameters = _plain_function()

DEPTHS = ("top", "object", "items")
"""Where the entry is: the arguments themselves, an object in them, the items of a list in them."""

FUNCTIONS = {"top": add_flat, "object": add_one, "items": add_many}


def written_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for a host that cannot flatten: all fields are parameters of it."""
    if function is not add_flat:
        return function

    def add_flat_(**fields: Any) -> dict[str, Any]:
        return fields

    add_flat_.__name__ = "add_flat"
    add_flat_.__signature__ = inspect.signature(add_parameters)
    add_flat_.__annotations__ = add_parameters.__annotations__
    return add_flat_


def contracts() -> dict[tuple[str, str], Contract]:
    """Every tool by its source and its depth."""
    made: dict[tuple[str, str], Contract] = {}
    for depth, function in FUNCTIONS.items():
        contract = compile_function(function)
        made["function", depth] = contract
        made["schema", depth] = compile_json_schema(
            dict(contract.schema), name=function.__name__, function=dict
        )
    made["parameters", "top"] = compile_function(add_parameters)
    return made


def at_depth(depth: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The arguments with an entry that has these fields."""
    if depth == "object":
        return {"entry": fields}
    return {"entries": [fields]} if depth == "items" else fields
