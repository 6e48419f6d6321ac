"""pretix as its own package sets it up, with Toolbooth added.

Two lines are not enough for the URL: pretix's MultiDomainMiddleware sets `request.urlconf` to
`pretix.multidomain.maindomain_urlconf`, and ignores ROOT_URLCONF. So the app `pretix_mcp` adds the
URL there. ApiScopeMiddleware, which every call needs, runs by itself: TOOLBOOTH["INNER_MIDDLEWARE"]
is "auto".
"""

import os
from pathlib import Path

STATE = Path(os.environ["HOST_STATE"])
os.environ["DATA_DIR"] = str(STATE)
os.environ["PRETIX_CONFIG_FILE"] = str(STATE / "pretix.cfg")  # there is none: all defaults

from pretix.settings import *  # noqa: E402, F403
from pretix.settings import INSTALLED_APPS, LOGGING  # noqa: E402

INSTALLED_APPS = [*INSTALLED_APPS, "toolbooth.django", "pretix_mcp"]


class NoMigrations:
    """Tables are made from the models: on SQLite, pretix's migrations take very long."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


MIGRATION_MODULES = NoMigrations()
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = {**LOGGING, "loggers": {}, "root": {"level": "CRITICAL", "handlers": []}}

# Views of pretix whose bodies REST framework cannot know, because they use a serializer of their
# own inside the handler, or none. Without this, their tools have no body, or that of the view set.
_ORDERS = "pretix.api.serializers.order"


def _object(required: list[str], **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": required}


_BOOLEAN = {"type": "boolean"}
_TEXT = {"type": "string"}

TOOLBOOTH = {
    "BODIES": {
        # Five of the custom actions that declare no body.
        "orderpayment__confirm": _object([], send_email=_BOOLEAN, force=_BOOLEAN),
        "orderposition__add_block": "pretix.api.serializers.orderchange.BlockNameSerializer",
        "giftcard__transact": _object(["value"], value=_TEXT, text=_TEXT),
        "event_order__extend": _object(["expires"], expires=_TEXT, force=_BOOLEAN),
        "event_order__mark_canceled": _object(
            [], send_email=_BOOLEAN, cancellation_fee=_TEXT, comment=_TEXT
        ),
        # Creates that read their body with another serializer than their view's.
        "event_order__create": f"{_ORDERS}.OrderCreateSerializer",
        "cartposition__create": "pretix.api.serializers.cart.CartPositionCreateSerializer",
        "customer__create": "pretix.api.serializers.organizer.CustomerCreateSerializer",
        "orderpayment__create": f"{_ORDERS}.OrderPaymentCreateSerializer",
        "orderrefund__create": f"{_ORDERS}.OrderRefundCreateSerializer",
        "orderposition__create": (
            "pretix.api.serializers.orderchange.OrderPositionCreateForExistingOrderSerializer"
        ),
        # Views that have no serializer.
        "checkinrpc_redeem__post": (
            "pretix.api.serializers.checkin.CheckinRPCRedeemInputSerializer"
        ),
        "checkinrpc_annul__post": "pretix.api.serializers.checkin.CheckinRPCAnnulInputSerializer",
        "device_initialize__post": "pretix.api.views.device.InitializationRequestSerializer",
        "device_update__post": "pretix.api.views.device.UpdateRequestSerializer",
    }
}
