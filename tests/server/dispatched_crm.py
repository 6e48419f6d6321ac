"""Servers with dispatcher tools: a shop's customers, and a CRM of several resources."""

from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from toolbooth import ToolRegistry


def customers(**how: Any) -> ToolRegistry:
    registry = ToolRegistry("shop", **how)

    @registry.tool
    def create_customer(name: str, age: int = 0, credit: Decimal | None = None) -> str:
        return f"created {name!r} {age!r} {credit!r}"

    @registry.tool
    async def list_customers(limit: int = 10) -> str:
        return f"listed {limit}"

    actions = {"create": "create_customer", "list": "list_customers"}
    registry.dispatcher("customers", actions, description="Customers.", title="Customers")
    return registry


class Address(BaseModel):
    street: str
    city: str = ""


class Line(BaseModel):
    sku: str
    count: int = 1


class Trigger(BaseModel):
    action: str
    resource: str = ""


def crm(**how: Any) -> ToolRegistry:
    registry = ToolRegistry("crm", **how)

    @registry.tool
    def contacts__create(email: str, first_name: str = "", address: Address | None = None) -> str:
        """Create a contact."""
        return f"{email} {first_name} {address}"

    @registry.tool(annotations={"readOnlyHint": True})
    def contacts__list(page: int = 1) -> str:
        """List contacts."""
        return f"page {page}"

    @registry.tool
    def orders__create(
        lines: list[Line], action: str = "buy", params: Address | None = None
    ) -> str:
        """Place an order."""
        return f"{lines} {action} {params}"

    @registry.tool
    def orders__watch(trigger: Trigger, resource: str = "") -> str:
        return f"{trigger} {resource}"

    actions = {
        "contacts": {"create": "contacts__create", "list": "contacts__list"},
        "orders": {"create": "orders__create", "watch": "orders__watch"},
    }
    registry.dispatcher("crm", actions, description="Customers.")
    return registry


CREATE = {"resource": "contacts", "action": "create"}
