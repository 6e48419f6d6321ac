"""Settings of the comparisons for pretix: the callers, the rows, and the writes."""

from typing import Any

from rows import DEVICE_TOKEN, FILE, TOKENS
from writes import WRITES

__all__ = [
    "CHANGED_TABLES",
    "COST",
    "LEFT_OUT",
    "PACKAGES",
    "PATHS",
    "RANDOM",
    "RANDOM_TEXTS",
    "USERS",
    "WRITES",
]

PACKAGES = ("pretix",)

USERS: dict[str, dict[str, str]] = {
    **{name: {"Authorization": f"Token {token}"} for name, token in TOKENS.items()},
    "device": {"Authorization": f"Device {DEVICE_TOKEN}"},
    "anonymous": {},
}

_API = "/api/v1/organizers/{organizer}"
_EVENT = f"{_API}/events/{{event}}"

PATHS: dict[Any, Any] = {
    "organizer": "acme",
    "event": "conf",
    "code": "ABC12",
    "order": "ABC12",
    "number": "CONF-00001",
    "identifier": "CACME",
    "asyncid": "5f1bcb1a-0000-4000-8000-000000000009",
    "cfid": FILE,
    (f"{_API}/saleschannels/{{identifier}}/", "identifier"): "api.kiosk",
    (f"{_EVENT}/exporters/{{pk}}/", "pk"): "orderlist",
    (f"{_API}/exporters/{{pk}}/", "pk"): "orderlist",
    (f"{_EVENT}/exporters/{{pk}}/run/", "pk"): "orderlist",
    (f"{_API}/exporters/{{pk}}/run/", "pk"): "orderlist",
}
for _path in ("seats/", "seats/{pk}/", "seats/bulk_block/", "seats/bulk_unblock/"):
    PATHS[f"{_EVENT}/subevents/{{subevent}}/{_path}", "event"] = "series"
    PATHS[f"{_EVENT}/subevents/{{subevent}}/{_path}", "pk"] = 3
PATHS[f"{_EVENT}/subevents/", "event"] = "series"
PATHS[f"{_EVENT}/subevents/{{pk}}/", "event"] = "series"

RANDOM = {
    "api_token",
    "barcode",
    "cart_id",
    "client_secret",
    "code",
    "identifier",
    "initialization_token",
    "internal_secret",
    "password",
    "pseudonymization_id",
    "secret",
    "token",
    "unique_serial",
    "web_secret",
}
RANDOM_TEXTS = (
    r"(?<=pub/)[^\"' ]+",
    r"(?<=cachedfiles/)[^\"' ]+",
    r"/order/\w+/\w+",
    r"(?<=/invite/)\w+",
    r"\b[A-Z0-9]{16}\b",
)
"""Names of stored files, which end in random letters, secrets in links, and codes of vouchers in mails."""

CHANGED_TABLES = ("pretixbase_devicelastseen",)

LEFT_OUT: dict[str, str] = {}
UNLIKE: dict[str, str] = {}
COST = [
    ("retrieve", ("item__retrieve", {"organizer": "acme", "event": "conf", "id": 1})),
    ("list", ("event_order__list", {"organizer": "acme", "event": "conf"})),
]
