"""Right calls of every tool in examples/: each optional argument is sent in one call and left out
of another.
"""

from __future__ import annotations

from typing import Any

ID = "6f1c2a34-8f5b-4f5e-9a53-2f0c7a3f9b10"
TEA = {"sku": "TEA-004", "name": "Assam 100 g", "category": "tea", "price": 5.25}
ADDRESS = {"street": "Kade 2", "city": "Delft", "postcode": "2611 AA", "country": "NL"}
SUPPLIER = {"name": "Kade Thee", "email": "post@kade.example", "address": ADDRESS}
LINE = {"sku": "TEA-004", "quantity": 24, "unit_cost": "2.60"}
MISSION = {
    "target_id": ID,
    "mission_type": "recon",
    "name": "Doors",
    "goal": "A list of open ports",
}
ACTION = {"mission_id": ID, "action_type": "recon", "technique": "port scan"}

INVENTORY: dict[str, list[dict[str, Any]]] = {
    "search_products": [
        {},
        {
            "search_query": "tea",
            "category": "tea",
            "supplier_id": 2,
            "max_price": "20",
            "in_stock": True,
            "sort": "price",
            "limit": 5,
            "offset": 10,
        },
    ],
    "get_product": [{"sku": "TEA-001"}, {"sku": "COF-900"}],
    "create_product": [TEA, {**TEA, "reorder_level": 5, "supplier_id": 2, "note": "Strong"}],
    "update_product": [
        {"sku": "TEA-004", "price": "6.10"},
        {**TEA, "reorder_level": 5, "supplier_id": 2, "note": "Strong"},
    ],
    "adjust_stock": [
        {"sku": "TEA-004", "change": -2, "reason": "sale"},
        {
            "sku": "TEA-004",
            "change": 1,
            "reason": "return",
            "moved_on": "2026-09-01",
            "note": "Dented",
        },
    ],
    "list_movements": [
        {"sku": "TEA-004"},
        {"sku": "TEA-004", "from": "2026-08-01", "to": "2026-09-01", "limit": 5},
    ],
    "list_low_stock": [{}, {"category": "coffee", "count_orders": False}],
    "forecast_stock": [
        {},
        {"days": 14, "history_days": 28, "category": "tea", "as_of": "2026-09-01"},
    ],
    "create_supplier": [SUPPLIER, {**SUPPLIER, "lead_days": 3}],
    "list_suppliers": [{}, {"search_query": "thee", "country": "NL"}],
    "create_purchase_order": [
        {"supplier_id": 2, "lines": [LINE]},
        {
            "supplier_id": 2,
            "lines": [LINE, {**LINE, "sku": "TEA-005", "unit_cost": 3}],
            "ordered_on": "2026-09-01",
            "expected_on": "2026-09-15",
            "note": "Ring first",
        },
    ],
    "receive_purchase_order": [
        {"number": 1},
        {"number": 1, "lines": [{"sku": "TEA-004", "quantity": 24}], "received_on": "2026-09-15"},
    ],
    "cancel_purchase_order": [{"number": 1}, {"number": 2}],
    "list_orders": [
        {},
        {
            "status": ["open", "received"],
            "supplier_id": 2,
            "from": "2026-08-01",
            "to": "2026-09-01",
            "limit": 5,
        },
    ],
}

RECON: dict[str, list[dict[str, Any]]] = {
    "http_request": [
        {"url": "https://example.org/login"},
        {
            "url": "http://example.org",
            "method": "POST",
            "headers": '{"User-Agent": "MyBot"}',
            "data": '{"a": 1}',
            "params": '{"q": "tea"}',
            "cookies": '{"lang": "en"}',
            "cookie_profile": "ann",
            "follow_redirects": False,
            "auth": '{"username": "ann", "password": "x"}',
            "mission_id": ID,
        },
    ],
    "create_mission": [
        MISSION,
        {
            **MISSION,
            "hypothesis": "There are some",
            "scope": '{"include": ["/api/*"]}',
            "tags": ["ports"],
            "metadata": {"priority": "high", "tries": 3},
        },
    ],
    "set_mission_context": [{"mission_id": ID}, {"mission_id": ID, "cookie_profile": "ann"}],
    "get_mission_context": [{}, {"mission_id": ID}],
    "record_action": [
        ACTION,
        {
            **ACTION,
            "payload": "1-1024",
            "result": "22, 80",
            "success": True,
            "learning": "Slowly",
            "link_recent_requests": 2,
        },
    ],
    "search_techniques": [
        {},
        {
            "success_only": True,
            "mission_type": "recon",
            "min_success_rate": 0.5,
            "min_usage_count": 2,
            "limit": 5,
        },
    ],
    "get_technique_stats": [{"technique": "port scan"}, {"technique": "x"}],
    "create_target": [
        {"host": "example.org"},
        {
            "host": "example.org",
            "port": 443,
            "protocol": "https",
            "title": "Shop",
            "status": "active",
            "risk_level": "low",
            "notes": "Ours",
        },
    ],
    "update_target_status": [
        {"target_id": ID, "status": "blocked"},
        {
            "target_id": ID,
            "status": "active",
            "risk_level": "high",
            "title": "Shop",
            "notes": "Ours",
        },
    ],
    "get_target_summary": [{"target_id": ID}, {"target_id": ID.upper()}],
    "search_targets": [
        {},
        {
            "query": "shop",
            "status": ["active", "blocked"],
            "risk_level": ["high"],
            "protocol": ["https"],
            "limit": 5,
            "offset": 10,
        },
    ],
    "get_target_context": [
        {"target_id": ID},
        {"target_id": ID, "version_id": ID, "include_history": True},
    ],
    "update_target_context": [
        {"target_id": ID, "user_context": "A shop"},
        {
            "target_id": ID,
            "user_context": "A shop",
            "agent_context": "Runs nginx",
            "append_mode": True,
            "change_summary": "nginx",
            "is_major_version": True,
        },
    ],
}

EXAMPLES = {
    "examples/inventory/on_toolbooth.py:registry": INVENTORY,
    "examples/recon/server.py:registry": RECON,
}
