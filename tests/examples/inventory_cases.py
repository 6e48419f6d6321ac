"""The calls that `test_inventory.py` sends to every server, the results, and the changed rows."""

import json
from dataclasses import dataclass, field
from typing import Any

Changes = dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]]
"""By table: the rows that are gone, and those that are new."""


@dataclass(frozen=True, slots=True)
class Case:
    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any]
    changes: Changes = field(default_factory=dict)


def passed(value: Any, *repairs: tuple[str, str]) -> dict[str, Any]:
    return {"value": value, "repairs": [list(each) for each in repairs]}


def refused(*problems: tuple[str, str], corrected: Any = None) -> dict[str, Any]:
    return {"problems": [list(each) for each in problems], "corrected": corrected}


def failed(text: str, details: Any = None) -> dict[str, Any]:
    return {"failed": text, "details": details}


ESPRESSO = {
    "sku": "COF-001",
    "name": "House espresso 1 kg",
    "category": "coffee",
    "price": "18.90",
    "stock": 48,
    "on_order": 0,
    "reorder_level": 40,
    "supplier_id": 1,
    "note": None,
}
ASSAM = {
    "sku": "TEA-004",
    "name": "Assam 100 g",
    "category": "tea",
    "price": 5.25,
    "supplier_id": 2,
    "note": "Strong",
}
ASSAM_MADE = {**ASSAM, "price": "5.25", "stock": 0, "on_order": 0, "reorder_level": 0}
ASSAM_ROW = ("TEA-004", "Assam 100 g", "tea", 525, 0, 0, 2, "Strong")
ASSAM_DEARER = ("TEA-004", "Assam 100 g", "tea", 610, 0, 0, 2, "Strong")
ASSAM_PLAIN = ("TEA-004", "Assam 100 g", "tea", 610, 0, 0, 2, None)
ASSAM_OURS = ("TEA-004", "Assam 100 g", "tea", 610, 0, 5, None, None)

LINES = [{"sku": "TEA-004", "quantity": 24, "unit_cost": "2.60"}]
ORDER = {"supplier_id": 2, "lines": LINES, "ordered_on": "2026-09-01"}
ORDERED = {
    "number": 3,
    "supplier_id": 2,
    "status": "open",
    "ordered_on": "2026-09-01",
    "expected_on": "2026-09-15",
    "note": None,
    "lines": [{**LINES[0], "received": 0}],
    "total": "62.40",
}
EARL_GREY = {"sku": "TEA-001", "quantity": 60, "received": 0, "unit_cost": "3.10"}
SENCHA = {"sku": "TEA-002", "quantity": 20, "received": 0, "unit_cost": "4.55"}
TEAS = {
    "number": 1,
    "supplier_id": 2,
    "status": "open",
    "ordered_on": "2026-08-26",
    "expected_on": "2026-09-09",
    "note": None,
    "lines": [EARL_GREY, SENCHA],
    "total": "277.00",
}
KETTLES = {
    "number": 2,
    "supplier_id": 3,
    "status": "open",
    "ordered_on": "2026-08-30",
    "expected_on": "2026-09-09",
    "note": "Ask for the new handles",
    "lines": [{"sku": "EQP-001", "quantity": 6, "received": 0, "unit_cost": "31.50"}],
    "total": "189.00",
}
KADE = {"street": "Kade 2", "city": "Delft", "postcode": "2611 AA", "country": "NL"}
SUPPLIER = {"name": "Kade Thee", "email": "post@kade.example", "address": KADE}
SUPPLIER_ROW = (4, "Kade Thee", "post@kade.example", "Kade 2", "Delft", "2611 AA", "NL", 7)

# In this order, each on the rows that the ones before it left.
CASES = {
    "a correct call": Case(
        "search_products",
        {"search_query": "ESPRESSO", "max_price": "20"},
        passed({"total": 1, "products": [ESPRESSO]}),
    ),
    "null for optionals": Case(
        "search_products",
        {"search_query": "house", "category": None, "in_stock": None, "limit": None},
        passed(
            {"total": 1, "products": [ESPRESSO]},
            ("null-optional", "$.in_stock"),
            ("null-optional", "$.limit"),
        ),
    ),
    "types that would be guesses": Case(
        "search_products",
        {"limit": True, "in_stock": "yes", "category": "Tea"},
        refused(("wrong-type", "$.limit"), ("wrong-type", "$.in_stock"), ("invalid", "$.category")),
    ),
    "no such product": Case(
        "get_product",
        {"sku": "COF-004"},
        failed(
            "Tool 'get_product' failed: there is no product COF-004; near it: COF-003, COF-002, COF-001"
        ),
    ),
    "a wrapper": Case(
        "create_product", {"data": ASSAM}, refused(("nested-wrapper", "$.data"), corrected=ASSAM)
    ),
    "the model as a whole, as JSON text": Case(
        "create_product",
        {"request": json.dumps(ASSAM)},
        refused(("nested-wrapper", "$.request"), corrected=ASSAM),
    ),
    "the corrected call": Case(
        "create_product", ASSAM, passed(ASSAM_MADE), {"products": ([], [ASSAM_ROW])}
    ),
    "the same again": Case(
        "create_product",
        ASSAM,
        failed(
            "Tool 'create_product' failed: there is a product TEA-004 already; use update_product"
        ),
    ),
    "values that the model refuses": Case(
        "create_product",
        {**ASSAM, "sku": "tea-5", "price": 4.505},
        refused(("invalid", "$.sku"), ("invalid", "$.price")),
    ),
    "a change leaves what is not sent": Case(
        "update_product",
        {"sku": "TEA-004", "price": "6.10"},
        passed({**ASSAM_MADE, "price": "6.10"}),
        {"products": ([ASSAM_ROW], [ASSAM_DEARER])},
    ),
    "a change to null clears": Case(
        "update_product",
        {"sku": "TEA-004", "note": None},
        passed({**ASSAM_MADE, "price": "6.10", "note": None}),
        {"products": ([ASSAM_DEARER], [ASSAM_PLAIN])},
    ),
    "null for what cannot be null is not a change": Case(
        "update_product",
        {"sku": "TEA-004", "name": None, "reorder_level": "5", "supplier_id": None},
        passed(
            {**ASSAM_MADE, "price": "6.10", "note": None, "reorder_level": 5, "supplier_id": None},
            ("null-optional", "$.name"),
            ("scalar-text", "$.reorder_level"),
        ),
        {"products": ([ASSAM_PLAIN], [ASSAM_OURS])},
    ),
    "no change at all": Case(
        "update_product", {"sku": "TEA-004", "name": None}, refused(("invalid", "$"))
    ),
    "nested lines": Case(
        "create_purchase_order",
        ORDER,
        passed(ORDERED),
        {
            "orders": ([], [(3, 2, "open", "2026-09-01", "2026-09-15", None)]),
            "order_lines": ([], [(3, "TEA-004", 24, 260, 0)]),
        },
    ),
    "nested lines as JSON text": Case(
        "create_purchase_order",
        {**ORDER, "lines": '[{"sku": "TEA-004", "quantity": "24", "unit_cost": 2.6}]'},
        passed(
            {**ORDERED, "number": 4},
            ("json-text", "$.lines"),
            ("scalar-text", "$.lines[0].quantity"),
        ),
        {
            "orders": ([], [(4, 2, "open", "2026-09-01", "2026-09-15", None)]),
            "order_lines": ([], [(4, "TEA-004", 24, 260, 0)]),
        },
    ),
    "each line as JSON text": Case(
        "create_purchase_order",
        {**ORDER, "lines": [json.dumps(LINES[0])], "expected_on": "2026-09-05", "note": "Urgent"},
        passed(
            {**ORDERED, "number": 5, "expected_on": "2026-09-05", "note": "Urgent"},
            ("json-text", "$.lines[0]"),
        ),
        {
            "orders": ([], [(5, 2, "open", "2026-09-01", "2026-09-05", "Urgent")]),
            "order_lines": ([], [(5, "TEA-004", 24, 260, 0)]),
        },
    ),
    "camelCase": Case(
        "create_purchase_order",
        {
            "supplierId": 2,
            "lines": [{"sku": "TEA-004", "quantity": 24, "unitCost": "2.60"}],
            "orderedOn": "2026-09-01",
        },
        refused(
            ("unknown-key", "$.supplierId"),
            ("unknown-key", "$.lines[0].unitCost"),
            ("unknown-key", "$.orderedOn"),
            corrected=ORDER,
        ),
    ),
    "a misspelt key in a line": Case(
        "create_purchase_order",
        {**ORDER, "lines": [{"sku": "TEA-004", "quantty": 24, "unit_cost": "2.60"}]},
        refused(("unknown-key", "$.lines[0].quantty"), corrected=ORDER),
    ),
    "a wrapper around each line": Case(
        "create_purchase_order",
        {**ORDER, "lines": [{"line": LINES[0]}]},
        refused(("nested-wrapper", "$.lines[0].line"), corrected=ORDER),
    ),
    "what the model refuses as a whole": Case(
        "create_purchase_order", {**ORDER, "lines": LINES * 2}, refused(("invalid", "$"))
    ),
    "an order for a product that is not there": Case(
        "create_purchase_order",
        {**ORDER, "lines": [*LINES, {"sku": "XYZ-987", "quantity": 1, "unit_cost": "1"}]},
        failed(
            "Tool 'create_purchase_order' failed: there is no product XYZ-987; search_products has their codes"
        ),
    ),
    "a delivery with one line too many is undone": Case(
        "receive_purchase_order",
        {
            "number": 1,
            "lines": [{"sku": "TEA-001", "quantity": 10}, {"sku": "TEA-002", "quantity": 21}],
        },
        failed(
            "Tool 'receive_purchase_order' failed: 21 of TEA-002 is more than order 1 still expects: 20",
            {"outstanding": {"TEA-001": 60, "TEA-002": 20}},
        ),
    ),
    "part of a delivery": Case(
        "receive_purchase_order",
        {"number": 1, "lines": [{"sku": "TEA-001", "quantity": 10}], "received_on": "2026-09-02"},
        passed(
            {**TEAS, "status": "partly_received", "lines": [{**EARL_GREY, "received": 10}, SENCHA]}
        ),
        {
            "products": (
                [("TEA-001", "Earl Grey 100 g", "tea", 650, 18, 20, 2, None)],
                [("TEA-001", "Earl Grey 100 g", "tea", 650, 28, 20, 2, None)],
            ),
            "movements": ([], [(118, "TEA-001", 10, "delivery", "2026-09-02", "order 1")]),
            "orders": (
                [(1, 2, "open", "2026-08-26", "2026-09-09", None)],
                [(1, 2, "partly_received", "2026-08-26", "2026-09-09", None)],
            ),
            "order_lines": ([(1, "TEA-001", 60, 310, 0)], [(1, "TEA-001", 60, 310, 10)]),
        },
    ),
    "the rest of it": Case(
        "receive_purchase_order",
        {"number": "1", "lines": "", "received_on": "2026-09-03"},
        passed(
            {
                **TEAS,
                "status": "received",
                "lines": [{**EARL_GREY, "received": 60}, {**SENCHA, "received": 20}],
            },
            ("scalar-text", "$.number"),
            ("empty-optional", "$.lines"),
        ),
        {
            "products": (
                [
                    ("TEA-001", "Earl Grey 100 g", "tea", 650, 28, 20, 2, None),
                    ("TEA-002", "Sencha 100 g", "tea", 890, 34, 20, 2, "Keep cool"),
                ],
                [
                    ("TEA-001", "Earl Grey 100 g", "tea", 650, 78, 20, 2, None),
                    ("TEA-002", "Sencha 100 g", "tea", 890, 54, 20, 2, "Keep cool"),
                ],
            ),
            "movements": (
                [],
                [
                    (119, "TEA-001", 50, "delivery", "2026-09-03", "order 1"),
                    (120, "TEA-002", 20, "delivery", "2026-09-03", "order 1"),
                ],
            ),
            "orders": (
                [(1, 2, "partly_received", "2026-08-26", "2026-09-09", None)],
                [(1, 2, "received", "2026-08-26", "2026-09-09", None)],
            ),
            "order_lines": (
                [(1, "TEA-001", 60, 310, 10), (1, "TEA-002", 20, 455, 0)],
                [(1, "TEA-001", 60, 310, 60), (1, "TEA-002", 20, 455, 20)],
            ),
        },
    ),
    "an order that is done": Case(
        "cancel_purchase_order",
        {"number": 1},
        failed(
            "Tool 'cancel_purchase_order' failed: order 1 is received: nothing of it is outstanding"
        ),
    ),
    "a filter as JSON text, and a field by its alias": Case(
        "list_orders",
        {"status": '["open", "received"]', "from": "2026-08-30", "to": "2026-08-31"},
        passed({"orders": [KETTLES]}, ("json-text", "$.status")),
    ),
    "the name behind the alias": Case(
        "list_orders",
        {"from_": "2026-08-30"},
        refused(("unknown-key", "$.from_"), corrected={"from": "2026-08-30"}),
    ),
    "1.0 is the integer 1": Case(
        "cancel_purchase_order",
        {"number": 2.0},
        passed({**KETTLES, "status": "cancelled"}),
        {
            "orders": (
                [(2, 3, "open", "2026-08-30", "2026-09-09", "Ask for the new handles")],
                [(2, 3, "cancelled", "2026-08-30", "2026-09-09", "Ask for the new handles")],
            )
        },
    ),
    "stock that is there": Case(
        "adjust_stock",
        {
            "sku": "COF-001",
            "change": -8,
            "reason": "sale",
            "moved_on": "2026-09-03",
            "note": "Market",
        },
        passed({**ESPRESSO, "stock": 40}),
        {
            "products": (
                [("COF-001", "House espresso 1 kg", "coffee", 1890, 48, 40, 1, None)],
                [("COF-001", "House espresso 1 kg", "coffee", 1890, 40, 40, 1, None)],
            ),
            "movements": ([], [(121, "COF-001", -8, "sale", "2026-09-03", "Market")]),
        },
    ),
    "stock that is not there": Case(
        "adjust_stock",
        {"sku": "COF-001", "change": -41, "reason": "sale"},
        failed(
            "Tool 'adjust_stock' failed: not enough stock of COF-001: 41 asked for, 40 there",
            {"sku": "COF-001", "asked_for": 41, "stock": 40},
        ),
    ),
    "a sale that brings stock": Case(
        "adjust_stock", {"sku": "COF-001", "change": 8, "reason": "sale"}, refused(("invalid", "$"))
    ),
    "a date in words": Case(
        "adjust_stock",
        {"sku": "COF-001", "change": -8, "reason": "sale", "moved_on": "yesterday"},
        refused(("invalid", "$.moved_on")),
    ),
    "an address in a wrapper": Case(
        "create_supplier",
        {**SUPPLIER, "address": {"data": KADE}},
        refused(("nested-wrapper", "$.address.data"), corrected=SUPPLIER),
    ),
    "an address at the wrong level": Case(
        "create_supplier",
        {"name": "Kade Thee", "email": "post@kade.example", **KADE},
        refused(*(("unknown-key", f"$.{key}") for key in KADE), corrected=SUPPLIER),
    ),
    "an address as JSON text": Case(
        "create_supplier",
        {**SUPPLIER, "address": json.dumps(KADE), "lead_days": ""},
        passed(
            {"id": 4, **SUPPLIER, "lead_days": 7},
            ("json-text", "$.address"),
            ("empty-optional", "$.lead_days"),
        ),
        {"suppliers": ([], [SUPPLIER_ROW])},
    ),
    "suppliers of a country": Case(
        "list_suppliers",
        {"country": "DE"},
        passed(
            {
                "suppliers": [
                    {
                        "id": 3,
                        "name": "Blech & Söhne",
                        "email": "verkauf@blech.example",
                        "address": {
                            "street": "Hafenstraße 4",
                            "city": "Hamburg",
                            "postcode": "20457",
                            "country": "DE",
                        },
                        "lead_days": 10,
                    }
                ]
            }
        ),
    ),
    "movements since a day": Case(
        "list_movements",
        {"sku": "COF-001", "from": "2026-08-25"},
        passed(
            {
                "sku": "COF-001",
                "movements": [
                    {"change": -8, "reason": "sale", "moved_on": "2026-09-03", "note": "Market"},
                    {"change": -11, "reason": "sale", "moved_on": "2026-08-28", "note": None},
                ],
            }
        ),
    ),
    "low stock": Case(
        "list_low_stock",
        {"category": "coffee"},
        passed(
            {
                "products": [
                    {**ESPRESSO, "stock": 40},
                    {
                        "sku": "COF-002",
                        "name": "Decaf espresso 1 kg",
                        "category": "coffee",
                        "price": "20.50",
                        "stock": 12,
                        "on_order": 0,
                        "reorder_level": 15,
                        "supplier_id": 1,
                        "note": "Swiss water process",
                    },
                ]
            }
        ),
    ),
    "a forecast": Case(
        "forecast_stock",
        {"as_of": "2026-09-01", "days": "20", "category": "equipment"},
        passed(
            {
                "as_of": "2026-09-01",
                "until": "2026-09-21",
                "forecasts": [
                    {
                        "sku": "EQP-002",
                        "name": "Hand grinder",
                        "sold": 12,
                        "stock": 2,
                        "on_order": 0,
                        "runs_out_on": "2026-09-15",
                        "order_quantity": 4,
                    },
                    {
                        "sku": "EQP-001",
                        "name": "Pour-over kettle",
                        "sold": 12,
                        "stock": 3,
                        "on_order": 0,
                        "runs_out_on": None,
                        "order_quantity": 4,
                    },
                ],
            },
            ("scalar-text", "$.days"),
        ),
    ),
}
