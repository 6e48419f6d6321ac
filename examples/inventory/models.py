"""The arguments and results of the tools. A `...Request` is the whole input of one tool; agents see
its fields flat.
"""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

Sku = Annotated[
    str, Field(pattern="^[A-Z]{3}-[0-9]{3}$", description="Product code, such as TEA-001")
]
Id = Annotated[int, Field(ge=1, le=2**31 - 1)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Money = Annotated[Decimal, Field(gt=0, max_digits=9, decimal_places=2)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Note = Annotated[str, Field(max_length=2000)]
Limit = Annotated[int, Field(ge=1, le=100, description="How many to return")]
Day = Annotated[date, Field(ge=date(2000, 1, 1), le=date(2100, 1, 1))]
Today = Annotated[Day, Field(default_factory=date.today, description="Today if not sent")]


class Category(StrEnum):
    COFFEE = "coffee"
    TEA = "tea"
    EQUIPMENT = "equipment"
    PACKAGING = "packaging"


class OrderStatus(StrEnum):
    OPEN = "open"
    PARTLY_RECEIVED = "partly_received"
    RECEIVED = "received"
    CANCELLED = "cancelled"


# --- products ---------------------------------------------------------------------------------------------------


class Product(BaseModel):
    sku: str
    name: str
    category: Category
    price: Decimal
    stock: int
    on_order: int
    reorder_level: int
    supplier_id: int | None
    note: str | None


class SearchProductsRequest(BaseModel):
    search_query: str = Field(
        "", max_length=200, description="Part of the name or of the product code"
    )
    category: Category | None = None
    supplier_id: Id | None = None
    max_price: Money | None = None
    in_stock: bool = Field(False, description="Only products that can be sold now")
    sort: Literal["sku", "name", "price", "stock"] = "sku"
    limit: Limit = 20
    offset: Count = 0


class SearchProductsResponse(BaseModel):
    total: int
    products: list[Product]


class GetProductRequest(BaseModel):
    sku: Sku


class CreateProductRequest(BaseModel):
    sku: Sku
    name: Name
    category: Category
    price: Money
    reorder_level: Count = Field(0, description="Order again when the stock falls to this")
    supplier_id: Id | None = None
    note: Note | None = None


class UpdateProductRequest(BaseModel):
    # Some defaults are factories because they are never read: the tool looks at `model_fields_set`.
    # A plain default would be published, and an agent might take it for the current value.
    sku: Sku
    name: Name = Field(default_factory=str)
    category: Category = Field(default_factory=lambda: Category.COFFEE)
    price: Money = Field(default_factory=Decimal)
    reorder_level: Count = Field(default_factory=int)
    supplier_id: Id | None = Field(None, description="null: bought from nobody")
    note: Note | None = Field(None, description="null: no note")

    @model_validator(mode="after")
    def changes_something(self) -> Self:
        if self.model_fields_set == {"sku"}:
            raise ValueError("nothing to change: send at least one field besides sku")
        return self


# --- stock ------------------------------------------------------------------------------------------------------


class AdjustStockRequest(BaseModel):
    sku: Sku
    change: int = Field(ge=-1_000_000, le=1_000_000, description="Pieces: negative if they leave")
    reason: Literal["sale", "return", "damage", "count"]
    moved_on: Today
    note: Note | None = None

    @model_validator(mode="after")
    def goes_the_right_way(self) -> Self:
        if self.reason in ("sale", "damage") and self.change >= 0:
            raise ValueError(f"pieces leave by {self.reason}: change must be negative")
        if self.reason == "return" and self.change <= 0:
            raise ValueError("pieces come back by return: change must be positive")
        return self


class ListMovementsRequest(BaseModel):
    sku: Sku
    from_: Day | None = Field(None, alias="from", description="First day")
    to: Day | None = Field(None, description="Last day")
    limit: Limit = 20


class Movement(BaseModel):
    change: int
    reason: str
    moved_on: date
    note: str | None


class ListMovementsResponse(BaseModel):
    sku: str
    movements: list[Movement]


class ListLowStockRequest(BaseModel):
    category: Category | None = None
    count_orders: bool = Field(True, description="Whether products on order count as stock")


class ListLowStockResponse(BaseModel):
    products: list[Product]


class ForecastStockRequest(BaseModel):
    days: int = Field(30, ge=1, le=365, description="How far to look ahead")
    history_days: int = Field(84, ge=7, le=730, description="How many days of sales to go by")
    category: Category | None = None
    as_of: Today


class Forecast(BaseModel):
    sku: str
    name: str
    sold: int = Field(description="Within the history")
    stock: int
    on_order: int
    runs_out_on: date | None = Field(description="null: not within the days asked for")
    order_quantity: int = Field(description="To last these days, and end at the reorder level")


class ForecastStockResponse(BaseModel):
    as_of: date
    until: date
    forecasts: list[Forecast]


# --- suppliers --------------------------------------------------------------------------------------------------


class Address(BaseModel):
    street: Name
    city: Name
    postcode: Annotated[str, Field(min_length=1, max_length=20)]
    country: str = Field(pattern="^[A-Z]{2}$", description="Two letters, such as NL")


class CreateSupplierRequest(BaseModel):
    name: Name
    email: str = Field(pattern="^[^@ ]+@[^@ ]+$", max_length=200)
    address: Address
    lead_days: int = Field(7, ge=0, le=365, description="From order to delivery")


class Supplier(BaseModel):
    id: int
    name: str
    email: str
    address: Address
    lead_days: int


class ListSuppliersRequest(BaseModel):
    search_query: str = Field("", max_length=200, description="Part of the name")
    country: str | None = Field(None, pattern="^[A-Z]{2}$")


class ListSuppliersResponse(BaseModel):
    suppliers: list[Supplier]


# --- purchase orders --------------------------------------------------------------------------------------------


class PurchaseLine(BaseModel):
    sku: Sku
    quantity: int = Field(ge=1, le=100_000)
    unit_cost: Money


class CreatePurchaseOrderRequest(BaseModel):
    supplier_id: Id
    lines: list[PurchaseLine] = Field(min_length=1, max_length=100)
    ordered_on: Today
    expected_on: Day | None = Field(None, description="By the supplier's lead time if not sent")
    note: Note | None = None

    @model_validator(mode="after")
    def is_consistent(self) -> Self:
        _once_each(self.lines)
        if self.expected_on and self.expected_on < self.ordered_on:
            raise ValueError("expected_on is before ordered_on")
        return self


class ReceivedLine(BaseModel):
    sku: Sku
    quantity: int = Field(ge=1, le=100_000)


class ReceivePurchaseOrderRequest(BaseModel):
    number: Id
    lines: list[ReceivedLine] | None = Field(
        None, min_length=1, description="All that is outstanding if not sent"
    )
    received_on: Today

    @model_validator(mode="after")
    def is_consistent(self) -> Self:
        _once_each(self.lines or [])
        return self


def _once_each(lines: list[PurchaseLine] | list[ReceivedLine]) -> None:
    skus = [line.sku for line in lines]
    twice = sorted({sku for sku in skus if skus.count(sku) > 1})
    if twice:
        raise ValueError(f"more than one line for {', '.join(twice)}; add them up")


class CancelPurchaseOrderRequest(BaseModel):
    number: Id


class ListOrdersRequest(BaseModel):
    status: list[OrderStatus] = Field([], description="Any of these; all if empty")
    supplier_id: Id | None = None
    from_: Day | None = Field(None, alias="from", description="Ordered on this day or later")
    to: Day | None = Field(None, description="Ordered on this day or earlier")
    limit: Limit = 20


class OrderLine(BaseModel):
    sku: str
    quantity: int
    received: int
    unit_cost: Decimal


class PurchaseOrder(BaseModel):
    number: int
    supplier_id: int
    status: OrderStatus
    ordered_on: date
    expected_on: date
    note: str | None
    lines: list[OrderLine]
    total: Decimal


class ListOrdersResponse(BaseModel):
    orders: list[PurchaseOrder]
