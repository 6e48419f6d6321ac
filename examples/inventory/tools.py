"""The tools, written once for all servers: plain methods with request models.

Each method is a tool; agents see its name and docstring. Input that the models refuse never reaches
it. For errors that only the tool can find (no such product, not enough stock) it raises a
`ToolError`, and the transaction is rolled back.
"""

import difflib
import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any

from models import (
    Address,
    AdjustStockRequest,
    CancelPurchaseOrderRequest,
    CreateProductRequest,
    CreatePurchaseOrderRequest,
    CreateSupplierRequest,
    Forecast,
    ForecastStockRequest,
    ForecastStockResponse,
    GetProductRequest,
    ListLowStockRequest,
    ListLowStockResponse,
    ListMovementsRequest,
    ListMovementsResponse,
    ListOrdersRequest,
    ListOrdersResponse,
    ListSuppliersRequest,
    ListSuppliersResponse,
    Movement,
    OrderLine,
    Product,
    PurchaseOrder,
    ReceivePurchaseOrderRequest,
    SearchProductsRequest,
    SearchProductsResponse,
    Supplier,
    UpdateProductRequest,
)
from store import Store

from toolbooth import ToolError, Unpack

INSTRUCTIONS = (
    "The stock of a coffee and tea shop: products, stock movements, suppliers and purchase orders."
)

READS = {"readOnlyHint": True}
WRITES = {"readOnlyHint": False, "destructiveHint": False}

ON_ORDER = """(SELECT coalesce(sum(quantity - received), 0) FROM order_lines JOIN orders USING (number)
    WHERE order_lines.sku = products.sku AND status IN ('open', 'partly_received'))"""


class Inventory:
    """The tools over one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def tools(self) -> list[tuple[Callable[..., Any], dict[str, bool]]]:
        """Every tool, with the annotations from which clients see whether it changes anything."""
        return [
            (self.search_products, READS),
            (self.get_product, READS),
            (self.create_product, WRITES),
            (self.update_product, WRITES),
            (self.adjust_stock, WRITES),
            (self.list_movements, READS),
            (self.list_low_stock, READS),
            (self.forecast_stock, READS),
            (self.create_supplier, WRITES),
            (self.list_suppliers, READS),
            (self.create_purchase_order, WRITES),
            (self.receive_purchase_order, WRITES),
            (self.cancel_purchase_order, WRITES),
            (self.list_orders, READS),
        ]

    # --- products -----------------------------------------------------------------------------------------------

    def search_products(
        self, request: Annotated[SearchProductsRequest, Unpack()]
    ) -> SearchProductsResponse:
        """Find products by name, code, category, supplier or price."""
        with self.store.transaction() as db:
            where = """(:query = '' OR instr(folded(name), folded(:query)) OR instr(folded(sku), folded(:query)))
                AND (:category IS NULL OR category = :category)
                AND (:supplier IS NULL OR supplier_id = :supplier)
                AND (:most IS NULL OR price_cents <= :most)
                AND (NOT :in_stock OR stock > 0)"""
            asked = {
                "query": request.search_query,
                "category": request.category,
                "supplier": request.supplier_id,
                "most": None if request.max_price is None else _cents(request.max_price),
                "in_stock": request.in_stock,
            }
            [total] = db.execute(f"SELECT count(*) FROM products WHERE {where}", asked).fetchone()
            order = "price_cents" if request.sort == "price" else request.sort
            how = f"ORDER BY {order}, sku LIMIT {request.limit} OFFSET {request.offset}"
            return SearchProductsResponse(
                total=total, products=_products(db, f"{where} {how}", asked)
            )

    def get_product(self, request: Annotated[GetProductRequest, Unpack()]) -> Product:
        """Look up one product by its code."""
        with self.store.transaction() as db:
            return _product(db, "get_product", request.sku)

    def create_product(self, request: Annotated[CreateProductRequest, Unpack()]) -> Product:
        """Add a product. Its stock is 0 until a count (adjust_stock) or a delivery."""
        with self.store.transaction("IMMEDIATE") as db:
            if db.execute("SELECT 1 FROM products WHERE sku = ?", (request.sku,)).fetchone():
                raise ToolError(
                    "create_product",
                    f"there is a product {request.sku} already; use update_product",
                )
            if request.supplier_id is not None:
                _supplier(db, "create_product", request.supplier_id)
            row = {**request.model_dump(exclude={"price"}), "price_cents": _cents(request.price)}
            db.execute(
                f"INSERT INTO products ({', '.join(row)}) VALUES ({_marks(row)})", [*row.values()]
            )
            return _product(db, "create_product", request.sku)

    def update_product(self, request: Annotated[UpdateProductRequest, Unpack()]) -> Product:
        """Change a product. Fields that are not sent stay as they are; null clears supplier_id or note."""
        with self.store.transaction("IMMEDIATE") as db:
            _product(db, "update_product", request.sku)
            if request.supplier_id is not None:
                _supplier(db, "update_product", request.supplier_id)
            changes = request.model_dump(exclude={"sku"}, exclude_unset=True)
            if "price" in changes:
                changes["price_cents"] = _cents(changes.pop("price"))
            columns = ", ".join(f"{name} = ?" for name in changes)
            db.execute(
                f"UPDATE products SET {columns} WHERE sku = ?", [*changes.values(), request.sku]
            )
            return _product(db, "update_product", request.sku)

    # --- stock --------------------------------------------------------------------------------------------------

    def adjust_stock(self, request: Annotated[AdjustStockRequest, Unpack()]) -> Product:
        """Book a sale, a return, damage or a counting difference."""
        with self.store.transaction("IMMEDIATE") as db:
            stock = _product(db, "adjust_stock", request.sku).stock
            if stock + request.change < 0:
                raise ToolError(
                    "adjust_stock",
                    f"not enough stock of {request.sku}: {-request.change} asked for, {stock} there",
                    {"sku": request.sku, "asked_for": -request.change, "stock": stock},
                )
            _move(db, request.sku, request.change, request.reason, request.moved_on, request.note)
            return _product(db, "adjust_stock", request.sku)

    def list_movements(
        self, request: Annotated[ListMovementsRequest, Unpack()]
    ) -> ListMovementsResponse:
        """The stock movements of a product, the latest first."""
        with self.store.transaction() as db:
            _product(db, "list_movements", request.sku)
            rows = db.execute(
                "SELECT change, reason, moved_on, note FROM movements WHERE sku = ? AND moved_on BETWEEN ? AND ? "
                "ORDER BY moved_on DESC, id DESC LIMIT ?",
                (request.sku, *_between(request.from_, request.to), request.limit),
            )
            return ListMovementsResponse(
                sku=request.sku, movements=[Movement(**row) for row in rows]
            )

    def list_low_stock(
        self, request: Annotated[ListLowStockRequest, Unpack()]
    ) -> ListLowStockResponse:
        """Products at or below their reorder level."""
        with self.store.transaction() as db:
            where = f"""stock + :count_orders * {ON_ORDER} <= reorder_level
                AND (:category IS NULL OR category = :category) ORDER BY sku"""
            return ListLowStockResponse(products=_products(db, where, request.model_dump()))

    def forecast_stock(
        self, request: Annotated[ForecastStockRequest, Unpack()]
    ) -> ForecastStockResponse:
        """When products run out, and how many to order, based on past sales."""
        since = request.as_of - timedelta(days=request.history_days)
        with self.store.transaction() as db:
            sales = db.execute(
                "SELECT sku, -sum(change) FROM movements WHERE reason = 'sale' AND moved_on > ? AND moved_on <= ? "
                "GROUP BY sku",
                (since.isoformat(), request.as_of.isoformat()),
            )
            sold = dict(tuple(row) for row in sales)
            products = _products(
                db, ":category IS NULL OR category = :category", {"category": request.category}
            )
        found = [
            _forecast(request, product, sold[product.sku])
            for product in products
            if sold.get(product.sku, 0) > 0
        ]
        found.sort(key=lambda each: (each.runs_out_on or date.max, each.sku))
        until = request.as_of + timedelta(days=request.days)
        return ForecastStockResponse(as_of=request.as_of, until=until, forecasts=found)

    # --- suppliers ----------------------------------------------------------------------------------------------

    def create_supplier(self, request: Annotated[CreateSupplierRequest, Unpack()]) -> Supplier:
        """Add a supplier."""
        with self.store.transaction("IMMEDIATE") as db:
            if db.execute("SELECT 1 FROM suppliers WHERE name = ?", (request.name,)).fetchone():
                raise ToolError("create_supplier", f"there is a supplier {request.name!r} already")
            row = {**request.model_dump(exclude={"address"}), **request.address.model_dump()}
            made = db.execute(
                f"INSERT INTO suppliers ({', '.join(row)}) VALUES ({_marks(row)})", [*row.values()]
            )
            return _supplier(db, "create_supplier", made.lastrowid or 0)

    def list_suppliers(
        self, request: Annotated[ListSuppliersRequest, Unpack()]
    ) -> ListSuppliersResponse:
        """Find suppliers by name or country."""
        with self.store.transaction() as db:
            rows = db.execute(
                "SELECT * FROM suppliers WHERE instr(folded(name), folded(:search_query)) "
                "AND (:country IS NULL OR country = :country) ORDER BY id",
                request.model_dump(),
            )
            return ListSuppliersResponse(suppliers=[_supplier_of(row) for row in rows])

    # --- purchase orders ----------------------------------------------------------------------------------------

    def create_purchase_order(
        self, request: Annotated[CreatePurchaseOrderRequest, Unpack()]
    ) -> PurchaseOrder:
        """Order products from a supplier."""
        with self.store.transaction("IMMEDIATE") as db:
            supplier = _supplier(db, "create_purchase_order", request.supplier_id)
            for line in request.lines:
                _product(db, "create_purchase_order", line.sku)
            expected_on = request.expected_on or request.ordered_on + timedelta(
                days=supplier.lead_days
            )
            number = db.execute(
                "INSERT INTO orders (supplier_id, status, ordered_on, expected_on, note) VALUES (?, 'open', ?, ?, ?)",
                (
                    supplier.id,
                    request.ordered_on.isoformat(),
                    expected_on.isoformat(),
                    request.note,
                ),
            ).lastrowid
            db.executemany(
                "INSERT INTO order_lines (number, sku, quantity, unit_cost_cents) VALUES (?, ?, ?, ?)",
                [
                    (number, line.sku, line.quantity, _cents(line.unit_cost))
                    for line in request.lines
                ],
            )
            return _order(db, "create_purchase_order", number or 0)

    def receive_purchase_order(
        self, request: Annotated[ReceivePurchaseOrderRequest, Unpack()]
    ) -> PurchaseOrder:
        """Book a delivery: everything that is outstanding, or only the lines that arrived."""
        tool = "receive_purchase_order"
        with self.store.transaction("IMMEDIATE") as db:
            outstanding = _outstanding(_order(db, tool, request.number), tool)
            came = (
                {line.sku: line.quantity for line in request.lines}
                if request.lines
                else outstanding
            )
            for sku, quantity in came.items():
                left = outstanding.get(sku, 0)
                if quantity > left:
                    message = f"{quantity} of {sku} is more than order {request.number} still expects: {left}"
                    raise ToolError(tool, message, {"outstanding": outstanding})
                db.execute(
                    "UPDATE order_lines SET received = received + ? WHERE number = ? AND sku = ?",
                    (quantity, request.number, sku),
                )
                _move(db, sku, quantity, "delivery", request.received_on, f"order {request.number}")
            status = "received" if came == outstanding else "partly_received"
            db.execute("UPDATE orders SET status = ? WHERE number = ?", (status, request.number))
            return _order(db, tool, request.number)

    def cancel_purchase_order(
        self, request: Annotated[CancelPurchaseOrderRequest, Unpack()]
    ) -> PurchaseOrder:
        """Cancel the outstanding part of an order. Delivered products stay in stock."""
        with self.store.transaction("IMMEDIATE") as db:
            _outstanding(
                _order(db, "cancel_purchase_order", request.number), "cancel_purchase_order"
            )
            db.execute("UPDATE orders SET status = 'cancelled' WHERE number = ?", (request.number,))
            return _order(db, "cancel_purchase_order", request.number)

    def list_orders(self, request: Annotated[ListOrdersRequest, Unpack()]) -> ListOrdersResponse:
        """Purchase orders with their lines, the latest first."""
        with self.store.transaction() as db:
            statuses = request.status or ["open", "partly_received", "received", "cancelled"]
            rows = db.execute(
                f"SELECT * FROM orders WHERE status IN ({_marks(statuses)}) AND ordered_on BETWEEN ? AND ? "
                "AND coalesce(? = supplier_id, TRUE) ORDER BY ordered_on DESC, number DESC LIMIT ?",
                (
                    *statuses,
                    *_between(request.from_, request.to),
                    request.supplier_id,
                    request.limit,
                ),
            ).fetchall()
            return ListOrdersResponse(orders=[_order_of(db, row) for row in rows])


# --- rows -> models ---------------------------------------------------------------------------------------------


def _products(db: sqlite3.Connection, where: str, asked: dict[str, Any]) -> list[Product]:
    rows = db.execute(f"SELECT *, {ON_ORDER} AS on_order FROM products WHERE {where}", asked)
    return [Product(**row, price=_money(row["price_cents"])) for row in rows]


def _product(db: sqlite3.Connection, tool: str, sku: str) -> Product:
    for found in _products(db, "sku = :sku", {"sku": sku}):
        return found
    known = [row["sku"] for row in db.execute("SELECT sku FROM products")]
    near = ", ".join(difflib.get_close_matches(sku, known))
    hint = f"near it: {near}" if near else "search_products has their codes"
    raise ToolError(tool, f"there is no product {sku}; {hint}")


def _supplier(db: sqlite3.Connection, tool: str, number: int) -> Supplier:
    row = db.execute("SELECT * FROM suppliers WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise ToolError(tool, f"there is no supplier {number}; list_suppliers has their ids")
    return _supplier_of(row)


def _supplier_of(row: sqlite3.Row) -> Supplier:
    return Supplier(**row, address=Address(**row))


def _order(db: sqlite3.Connection, tool: str, number: int) -> PurchaseOrder:
    row = db.execute("SELECT * FROM orders WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise ToolError(tool, f"there is no order {number}; list_orders has their numbers")
    return _order_of(db, row)


def _order_of(db: sqlite3.Connection, row: sqlite3.Row) -> PurchaseOrder:
    found = db.execute("SELECT * FROM order_lines WHERE number = ? ORDER BY sku", (row["number"],))
    lines = [OrderLine(**line, unit_cost=_money(line["unit_cost_cents"])) for line in found]
    return PurchaseOrder(
        **row, lines=lines, total=sum((line.quantity * line.unit_cost for line in lines), Decimal())
    )


def _outstanding(order: PurchaseOrder, tool: str) -> dict[str, int]:
    """The quantities that have not been delivered yet, by product."""
    if order.status in ("received", "cancelled"):
        raise ToolError(
            tool, f"order {order.number} is {order.status}: nothing of it is outstanding"
        )
    return {
        line.sku: line.quantity - line.received
        for line in order.lines
        if line.quantity > line.received
    }


def _forecast(request: ForecastStockRequest, product: Product, sold: int) -> Forecast:
    lasts = product.stock * request.history_days // sold
    needed = -(-sold * request.days // request.history_days)
    return Forecast(
        **product.model_dump(include={"sku", "name", "stock", "on_order"}),
        sold=sold,
        runs_out_on=request.as_of + timedelta(days=lasts) if lasts <= request.days else None,
        order_quantity=max(0, needed + product.reorder_level - product.stock - product.on_order),
    )


# --- models -> rows ---------------------------------------------------------------------------------------------


def _move(
    db: sqlite3.Connection, sku: str, change: int, reason: str, moved_on: date, note: str | None
) -> None:
    """Change the stock and store the reason: the stock is the sum of its movements."""
    db.execute("UPDATE products SET stock = stock + ? WHERE sku = ?", (change, sku))
    db.execute(
        "INSERT INTO movements (sku, change, reason, moved_on, note) VALUES (?, ?, ?, ?, ?)",
        (sku, change, reason, moved_on.isoformat(), note),
    )


def _between(first: date | None, last: date | None) -> tuple[str, str]:
    return (first or date.min).isoformat(), (last or date.max).isoformat()


def _marks(values: Any) -> str:
    return ", ".join("?" * len(values))


def _cents(amount: Decimal) -> int:
    return int(amount * 100)


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
