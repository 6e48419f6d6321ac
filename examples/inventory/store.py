"""The SQLite file: its tables, its transactions, and the stock that it is filled with when created."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path

TABLES = (
    """CREATE TABLE suppliers (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT NOT NULL, street TEXT NOT NULL,
        city TEXT NOT NULL, postcode TEXT NOT NULL, country TEXT NOT NULL, lead_days INTEGER NOT NULL)""",
    """CREATE TABLE products (
        sku TEXT PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_cents INTEGER NOT NULL,
        stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0), reorder_level INTEGER NOT NULL,
        supplier_id INTEGER REFERENCES suppliers, note TEXT)""",
    """CREATE TABLE movements (
        id INTEGER PRIMARY KEY, sku TEXT NOT NULL REFERENCES products, change INTEGER NOT NULL,
        reason TEXT NOT NULL, moved_on TEXT NOT NULL, note TEXT)""",
    """CREATE TABLE orders (
        number INTEGER PRIMARY KEY, supplier_id INTEGER NOT NULL REFERENCES suppliers, status TEXT NOT NULL,
        ordered_on TEXT NOT NULL, expected_on TEXT NOT NULL, note TEXT)""",
    """CREATE TABLE order_lines (
        number INTEGER NOT NULL REFERENCES orders, sku TEXT NOT NULL REFERENCES products,
        quantity INTEGER NOT NULL, unit_cost_cents INTEGER NOT NULL, received INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (number, sku))""",
)

SUPPLIERS = (
    (
        1,
        "Oosterkade Coffee",
        "orders@oosterkade.example",
        "Oosterkade 12",
        "Utrecht",
        "3582 AT",
        "NL",
        5,
    ),
    (
        2,
        "Darjeeling House",
        "trade@darjeeling-house.example",
        "9 Mincing Lane",
        "London",
        "EC3R 7PP",
        "GB",
        14,
    ),
    (3, "Blech & Söhne", "verkauf@blech.example", "Hafenstraße 4", "Hamburg", "20457", "DE", 10),
)

# sku, name, category, price in cents, reorder level, supplier, note, stock counted 12 weeks ago, sold each week since
PRODUCTS = (
    ("COF-001", "House espresso 1 kg", "coffee", 1890, 40, 1, None, 180, 11),
    ("COF-002", "Decaf espresso 1 kg", "coffee", 2050, 15, 1, "Swiss water process", 60, 4),
    ("COF-003", "Filter roast 500 g", "coffee", 1125, 30, 1, None, 110, 6),
    ("TEA-001", "Earl Grey 100 g", "tea", 650, 20, 2, None, 90, 6),
    ("TEA-002", "Sencha 100 g", "tea", 890, 20, 2, "Keep cool", 70, 3),
    ("TEA-003", "Rooibos 250 g", "tea", 720, 10, None, None, 24, 2),
    ("EQP-001", "Pour-over kettle", "equipment", 5495, 4, 3, None, 15, 1),
    ("EQP-002", "Hand grinder", "equipment", 8900, 3, 3, None, 14, 1),
    ("PKG-001", "Paper bag 250 g", "packaging", 18, 500, 3, "Sold by the piece", 4000, 250),
)

# number, supplier, status, ordered days ago, expected in days, note, lines of (sku, quantity, cost in cents)
ORDERS = (
    (1, 2, "open", 6, 8, None, (("TEA-001", 60, 310), ("TEA-002", 20, 455))),
    (2, 3, "open", 2, 8, "Ask for the new handles", (("EQP-001", 6, 3150),)),
)


class Store:
    """One inventory file."""

    def __init__(self, path: str | Path, today: date | None = None) -> None:
        self.path = path
        # If several servers start at once, only the first one fills the file.
        with self.transaction("IMMEDIATE") as db:
            if db.execute("PRAGMA user_version").fetchone()[0] == 0:
                _fill(db, today or date.today())
                db.execute("PRAGMA user_version = 1")

    @classmethod
    def from_environment(cls) -> "Store":
        """Open the file in INVENTORY_DB, or else the one beside this module."""
        path = Path(
            os.environ.get("INVENTORY_DB") or Path(__file__).with_name("inventory.sqlite3")
        ).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @contextmanager
    def transaction(self, kind: str = "DEFERRED") -> Iterator[sqlite3.Connection]:
        """One transaction, rolled back on an error. Tools run in threads, so each call opens its own
        connection. Use IMMEDIATE to write.
        """
        with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.create_function("folded", 1, str.casefold, deterministic=True)
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"BEGIN {kind}")
            with db:
                yield db


def _fill(db: sqlite3.Connection, today: date) -> None:
    for table in TABLES:
        db.execute(table)
    db.executemany("INSERT INTO suppliers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", SUPPLIERS)
    for sku, *described, counted, weekly in PRODUCTS:
        db.execute(
            "INSERT INTO products (sku, name, category, price_cents, reorder_level, supplier_id, note, stock) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (sku, *described, counted - 12 * weekly),
        )
        moved = [(sku, counted, "count", today - timedelta(weeks=12))]
        moved += [
            (sku, -weekly, "sale", today - timedelta(weeks=12 - week, days=-3))
            for week in range(12)
        ]
        for *what, day in moved:
            db.execute(
                "INSERT INTO movements (sku, change, reason, moved_on) VALUES (?, ?, ?, ?)",
                (*what, day.isoformat()),
            )
    for number, supplier, status, ago, ahead, note, lines in ORDERS:
        days = (
            (today - timedelta(days=ago)).isoformat(),
            (today + timedelta(days=ahead)).isoformat(),
        )
        db.execute(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", (number, supplier, status, *days, note)
        )
        db.executemany(
            "INSERT INTO order_lines (number, sku, quantity, unit_cost_cents) VALUES (?, ?, ?, ?)",
            [(number, *line) for line in lines],
        )
