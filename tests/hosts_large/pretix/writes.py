"""The writes to pretix: nested rows, many-to-many relations, files, several kwargs."""

from typing import Any

from rows import FILE

_AT = {"organizer": "acme", "event": "conf"}
_OF = {"organizer": "acme"}
_ORDER = {**_AT, "code": "AXYZ9"}
_DATE = "2036-05-01T10:00:00Z"
_LATER = "2036-05-03T10:00:00Z"
_ITEM: dict[str, Any] = {
    "name": {"en": "Workshop", "de": "Werkstatt"},
    "default_price": "49.00",
    "category": 1,
    "tax_rule": 1,
    "admission": False,
    "variations": [
        {"value": {"en": "Morning"}, "default_price": "39.00", "position": 0, "active": True},
        {"value": {"en": "Evening"}, "position": 1, "require_membership_types": [1]},
    ],
    "addons": [
        {
            "addon_category": 2,
            "min_count": 0,
            "max_count": 3,
            "position": 1,
            "multi_allowed": False,
            "price_included": True,
        }
    ],
    "bundles": [
        {"bundled_item": 2, "bundled_variation": 1, "count": 1, "designated_price": "3.00"}
    ],
    "program_times": [{"start": _DATE, "end": _LATER}],
    "meta_data": {"day": "two"},
    "limit_sales_channels": ["web"],
    "all_sales_channels": False,
}
_PLAIN_ITEM = {"name": {"en": "Ticket!"}, "default_price": "25.00", "tax_rule": None}
_POSITION: dict[str, Any] = {
    "item": 1,
    "variation": None,
    "price": "23.00",
    "attendee_name_parts": {"_scheme": "full", "full_name": "Bob"},
    "attendee_email": "bob@example.org",
    "answers": [
        {"question": 1, "answer": "Vegetarian", "options": [1]},
        {"question": 2, "answer": "No nuts", "options": []},
    ],
}
_ADDRESS: dict[str, Any] = {
    "is_business": True,
    "company": "Bob Ltd",
    "name_parts": {"_scheme": "full", "full_name": "Bob"},
    "street": "Lane 2",
    "zipcode": "12345",
    "city": "Town",
    "country": "DE",
    "state": "",
    "internal_reference": "",
    "vat_id": "",
}
_NEW_ORDER: dict[str, Any] = {
    "code": "NEW97",
    "email": "bob@example.org",
    "locale": "en",
    "status": "n",
    "sales_channel": "web",
    "customer": "CACME",
    "payment_provider": "banktransfer",
    "invoice_address": _ADDRESS,
    "positions": [
        {"positionid": 1, **_POSITION, "secret": "mysecret1"},
        {
            "positionid": 2,
            "item": 2,
            "variation": 1,
            "price": "9.00",
            "addon_to": 1,
            "answers": [],
            "secret": "mysecret2",
        },
    ],
    "fees": [
        {
            "fee_type": "service",
            "value": "1.50",
            "description": "",
            "internal_type": "",
            "tax_rule": 1,
        }
    ],
}
_LAYOUT: list[dict[str, Any]] = []
_EVENT_ROW: dict[str, Any] = {
    "name": {"en": "Party"},
    "slug": "party",
    "date_from": _DATE,
    "date_to": _LATER,
    "currency": "EUR",
    "location": {"en": "Club"},
    "meta_data": {"kind": "party"},
    "plugins": ["pretix.plugins.banktransfer", "pretix.plugins.sendmail"],
    "timezone": "UTC",
    "item_meta_properties": {"colour": "red"},
}
_EXPORT: dict[str, Any] = {
    "export_identifier": "orderlist",
    "export_form_data": {"_format": "xlsx", "date_range": "week_this"},
    "mail_subject": "Orders",
    "mail_template": "Here they are",
    "mail_additional_recipients": "",
    "schedule_rrule": "DTSTART:20300101T000000\nRRULE:FREQ=DAILY;INTERVAL=1",
    "schedule_rrule_time": "06:30:00",
}
_SERIES = {"organizer": "acme", "event": "series"}
_SUBEVENT: dict[str, Any] = {
    "name": {"en": "Second"},
    "date_from": _DATE,
    "active": True,
    "item_price_overrides": [{"item": 5, "price": "4.00"}],
    "variation_price_overrides": [],
    "meta_data": {"kind": "tour"},
}
_DEVICE_INFO = {
    "hardware_brand": "Phone",
    "hardware_model": "X",
    "software_brand": "scan",
    "software_version": "1.2",
    "info": {"cpu": 4},
}
_PLAN = {
    "name": "Hall 2",
    "layout": {
        "name": "Hall",
        "categories": [{"name": "Stalls", "color": "red"}],
        "zones": [
            {
                "name": "Main",
                "position": {"x": 0, "y": 0},
                "rows": [
                    {
                        "row_number": "1",
                        "seats": [
                            {
                                "seat_guid": "1-1",
                                "seat_number": "1",
                                "position": {"x": 0, "y": 0},
                                "category": "Stalls",
                            }
                        ],
                        "position": {"x": 0, "y": 0},
                    }
                ],
            }
        ],
        "size": {"width": 100, "height": 100},
    },
}

WRITES: list[tuple[Any, ...]] = [
    # Nested objects and lists of them.
    ("item__create", {**_AT, **_ITEM}),
    (
        "item__create",
        {**_AT, "name": {"en": "Poster"}, "default_price": 5, "picture": f"file:{FILE}"},
    ),
    ("item__update", {**_AT, "id": 1, **_PLAIN_ITEM}),
    ("item__partial_update", {**_AT, "id": 2, "active": False, "meta_data": {"day": "three"}}),
    ("item__partial_update", {**_AT, "id": 1, "picture": f"file:{FILE}"}),
    ("item__destroy", {**_AT, "id": 3}),
    ("event_order__create", {**_AT, **_NEW_ORDER}),
    ("event_order__create", {**_AT, **_NEW_ORDER, "simulate": True}),
    ("event_order__partial_update", {**_AT, "code": "ABC12", "invoice_address": _ADDRESS}),
    (
        "event_order__partial_update",
        {**_AT, "code": "ABC12", "email": "new@example.org", "api_meta": {"a": 1}},
    ),
    ("event_order__destroy", {**_AT, "code": "ATEST"}),
    (
        "question__create",
        {
            **_AT,
            "question": {"en": "Size?"},
            "type": "M",
            "identifier": "SIZE",
            "required": True,
            "items": [1, 2],
            "options": [
                {"answer": {"en": "S"}, "identifier": "S", "position": 0},
                {"answer": {"en": "L"}, "identifier": "L", "position": 1},
            ],
        },
    ),
    (
        "question__update",
        {
            **_AT,
            "id": 2,
            "question": {"en": "Notes?"},
            "type": "T",
            "identifier": "NOTE",
            "items": [1],
        },
    ),
    ("question__partial_update", {**_AT, "id": 1, "items": [1, 2], "required": True}),
    ("question__destroy", {**_AT, "id": 2}),
    (
        "questionoption__create",
        {**_AT, "question": 1, "identifier": "VGN", "answer": {"en": "Vegan"}, "position": 3},
    ),
    ("questionoption__partial_update", {**_AT, "question": 1, "id": 2, "answer": {"en": "All"}}),
    ("questionoption__destroy", {**_AT, "question": 1, "id": 2}),
    # Many-to-many relations.
    ("quota__create", {**_AT, "name": "Mixed", "size": 7, "items": [1, 2], "variations": [1]}),
    ("quota__partial_update", {**_AT, "id": 2, "items": [1, 2], "variations": [1, 2]}),
    (
        "quota__update",
        {**_AT, "id": 1, "name": "All", "size": None, "items": [1], "variations": []},
    ),
    ("quota__destroy", {**_AT, "id": 2}),
    (
        "checkinlist__create",
        {**_AT, "name": "Side door", "all_products": False, "limit_products": [1, 2], "rules": {}},
    ),
    ("checkinlist__partial_update", {**_AT, "id": 1, "all_products": False, "limit_products": [2]}),
    ("checkinlist__destroy", {**_AT, "id": 1}),
    (
        "discount__create",
        {
            **_AT,
            "internal_name": "Group",
            "condition_all_products": False,
            "condition_limit_products": [1],
            "condition_min_count": 3,
            "benefit_discount_matching_percent": "12.50",
            "benefit_same_products": False,
            "benefit_limit_products": [2],
            "all_sales_channels": False,
            "limit_sales_channels": ["web", "api.kiosk"],
        },
    ),
    ("discount__partial_update", {**_AT, "id": 1, "active": False, "condition_min_count": 2}),
    (
        "team__create",
        {
            **_OF,
            "name": "Helpers",
            "all_events": False,
            "limit_events": ["conf"],
            "limit_event_permissions": ["event.orders:read"],
        },
    ),
    ("team__partial_update", {**_OF, "id": 2, "limit_events": ["conf", "series"]}),
    (
        "webhook__create",
        {
            **_OF,
            "target_url": "https://example.org/new",
            "all_events": False,
            "limit_events": ["conf"],
            "action_types": ["pretix.event.order.placed", "pretix.event.order.paid"],
        },
    ),
    ("webhook__partial_update", {**_OF, "id": 1, "action_types": ["pretix.event.order.canceled"]}),
    ("webhook__destroy", {**_OF, "id": 1}),
    (
        "autocheckinrules__create",
        {**_AT, "list": 1, "mode": "paid", "all_products": False, "limit_products": [1]},
    ),
    ("autocheckinrules__destroy", {**_AT, "id": 1}),
    (
        "rule__create",
        {
            **_AT,
            "subject": {"en": "Hi"},
            "template": {"en": "Soon!"},
            "send_date": _DATE,
            "all_products": False,
            "limit_products": [1],
            "restrict_to_status": ["p"],
        },
    ),
    ("rule__partial_update", {**_AT, "id": 1, "enabled": False}),
    # Several kwargs in the path.
    (
        "itemvariation__create",
        {**_AT, "item": 2, "value": {"en": "Huge"}, "default_price": "11.00"},
    ),
    ("itemvariation__partial_update", {**_AT, "item": 2, "id": 1, "active": False}),
    ("itemvariation__destroy", {**_AT, "item": 2, "id": 2}),
    ("itemaddon__create", {**_AT, "item": 2, "addon_category": 1, "min_count": 0, "max_count": 2}),
    ("itemaddon__partial_update", {**_AT, "item": 1, "id": 1, "min_count": 1, "max_count": 2}),
    ("itembundle__partial_update", {**_AT, "item": 1, "id": 1, "count": 2}),
    ("itembundle__destroy", {**_AT, "item": 1, "id": 1}),
    ("itemprogramtime__create", {**_AT, "item": 1, "start": _DATE, "end": _LATER}),
    (
        "orderpayment__create",
        {
            **_AT,
            "order": "AXYZ9",
            "state": "confirmed",
            "amount": "32.00",
            "payment_date": "2026-03-01T10:00:00Z",
            "provider": "banktransfer",
            "info": {"reference": "a"},
        },
    ),
    (
        "orderrefund__create",
        {
            **_AT,
            "order": "ABC12",
            "state": "created",
            "source": "admin",
            "amount": "3.00",
            "provider": "manual",
            "payment": 1,
        },
    ),
    ("orderrefund__done", {**_AT, "order": "ABC12", "local_id": 1}),
    ("orderrefund__cancel", {**_AT, "order": "ABC12", "local_id": 1}),
    ("orderposition__create", {**_AT, "order": "AXYZ9", **_POSITION, "secret": "mysecret3"}),
    (
        "orderposition__partial_update",
        {
            **_AT,
            "id": 1,
            "attendee_email": "cat@example.org",
            "answers": [{"question": 2, "answer": "Hello", "options": []}],
        },
    ),
    ("orderposition__destroy", {**_AT, "id": 4}),
    ("teamapitoken__create", {**_OF, "team": 2, "name": "New"}),
    ("teamapitoken__destroy", {**_OF, "team": 2, "id": 2}),
    ("teaminvite__create", {**_OF, "team": 2, "email": "dan@example.org"}),
    ("user__destroy", {**_OF, "team": 2, "id": 2}),
    # The custom actions that TOOLBOOTH["BODIES"] describes, and some that need no body.
    (
        "orderpayment__confirm",
        {**_AT, "order": "AXYZ9", "local_id": 1, "send_email": False, "force": True},
    ),
    ("orderposition__add_block", {**_AT, "id": 1, "name": "api:lost"}),
    ("giftcard__transact", {**_OF, "id": 1, "value": "-5.00", "text": "Coffee"}),
    ("event_order__extend", {**_ORDER, "expires": "2036-04-01", "force": True}),
    (
        "event_order__mark_canceled",
        {**_AT, "code": "ABC12", "send_email": False, "cancellation_fee": "2.00"},
    ),
    ("event_order__mark_paid", _ORDER),
    ("event_order__mark_expired", _ORDER),
    ("event_order__regenerate_secrets", {**_AT, "code": "ABC12"}),
    ("customer__anonymize", {**_OF, "identifier": "CACME"}),
    ("waitinglistentry__send_voucher", {**_AT, "id": 1}),
    ("checkinrpc_redeem__post", {**_OF, "lists": [1], "secret": "ticketABC122", "nonce": "n1"}),
    ("checkinrpc_annul__post", {**_OF, "lists": [1], "nonce": "first"}),
    ("device_initialize__post", {"token": "spareacme", **_DEVICE_INFO}),
    ("device_update__post", _DEVICE_INFO),
    ("device_roll__post", {}),
    ("device_revoke__post", {}),
    # The rest.
    ("organizer_event__create", {**_OF, **_EVENT_ROW}),
    ("clone_event__create", {**_AT, **_EVENT_ROW, "slug": "party2"}),
    ("organizer_event__partial_update", {**_AT, "name": {"en": "Conf"}, "live": False}),
    ("organizer_event__destroy", {**_OF, "event": "empty"}),
    ("organizer__partial_update", {**_OF, "plugins": ["pretix.plugins.banktransfer"]}),
    (
        "customer__create",
        {
            **_OF,
            "email": "eve@example.org",
            "name_parts": {"_scheme": "full", "full_name": "Eve"},
            "phone": "+4962213217750",
        },
    ),
    ("customer__partial_update", {**_OF, "identifier": "CACME", "notes": "VIP"}),
    ("giftcard__create", {**_OF, "secret": "NEWCARD", "value": "12.00", "currency": "EUR"}),
    ("giftcard__partial_update", {**_OF, "id": 1, "value": "40.00"}),
    (
        "membership__create",
        {**_OF, "customer": "CACME", "membership_type": 1, "date_start": _DATE, "date_end": _LATER},
    ),
    ("membership__partial_update", {**_OF, "id": 1, "date_end": _LATER}),
    ("membershiptype__create", {**_OF, "name": {"en": "Day"}, "max_usages": 3}),
    (
        "reusablemedium__create",
        {
            **_OF,
            "type": "barcode",
            "identifier": "M2",
            "linked_orderpositions": [1],
            "linked_giftcard": 1,
            "customer": "CACME",
        },
    ),
    (
        "reusablemedium__partial_update",
        {**_OF, "id": 1, "linked_orderpositions": [], "active": False},
    ),
    (
        "saleschannel__create",
        {**_OF, "identifier": "api.app", "label": {"en": "App"}, "type": "api"},
    ),
    (
        "saleschannel__partial_update",
        {**_OF, "identifier_in_path": "api.kiosk", "label": {"en": "K"}},
    ),
    ("saleschannel__destroy", {**_OF, "identifier": "api.kiosk"}),
    ("seatingplan__create", {**_OF, **_PLAN}),
    ("event_seat__partial_update", {**_AT, "id": 1, "blocked": True}),
    ("event_subevent__create", {**_SERIES, **_SUBEVENT}),
    ("event_subevent__partial_update", {**_SERIES, "id": 1, "active": False}),
    (
        "taxrule__create",
        {
            **_AT,
            "name": {"en": "Reduced"},
            "rate": "7.00",
            "custom_rules": [
                {"country": "AT", "address_type": "", "action": "vat", "rate": "10.00"}
            ],
        },
    ),
    ("taxrule__partial_update", {**_AT, "id": 1, "rate": "20.00"}),
    ("itemcategory__create", {**_AT, "name": {"en": "Food"}, "is_addon": False}),
    ("itemcategory__update", {**_AT, "id": 1, "name": {"en": "Passes"}}),
    ("itemcategory__partial_update", {**_AT, "id": 2, "description": {"en": "More"}}),
    ("itemcategory__destroy", {**_AT, "id": 2}),
    ("itemmetaproperty__create", {**_AT, "name": "size", "allowed_values": ["s", "m"]}),
    (
        "eventmetaproperty__create",
        {**_OF, "name": "town", "choices": [{"key": "b", "label": {"en": "Berlin"}}]},
    ),
    (
        "voucher__create",
        {**_AT, "code": "NEWVOUCHER", "item": 1, "value": "5.00", "price_mode": "set"},
    ),
    ("voucher__partial_update", {**_AT, "id": 1, "max_usages": 5, "valid_until": _DATE}),
    ("voucher__destroy", {**_AT, "id": 2}),
    ("waitinglistentry__create", {**_AT, "email": "w@example.org", "item": 4}),
    (
        "cartposition__create",
        {
            **_AT,
            "item": 1,
            "price": "23.00",
            "expires": _DATE,
            "includes_tax": True,
            "answers": [],
            "seat": None,
        },
    ),
    ("device__create", {**_OF, "name": "Gate 2", "all_events": False, "limit_events": ["conf"]}),
    ("device__partial_update", {**_OF, "device_id": 1, "name": "Gate 3"}),
    ("scheduledeventexport__create", {**_AT, **_EXPORT}),
    ("scheduledorganizerexport__create", {**_OF, **_EXPORT, "timezone": "UTC"}),
    ("scheduledorganizerexport__destroy", {**_OF, "id": 1}),
    ("ticketlayout__create", {**_AT, "name": "Second", "layout": _LAYOUT}),
    ("ticketlayout__partial_update", {**_AT, "id": 1, "name": "Other"}),
    (
        "bankimportjob__create",
        {
            **_OF,
            "currency": "EUR",
            "transactions": [
                {"payer": "Ann", "reference": "ABC12", "amount": "32.00", "date": "2026-03-01"}
            ],
        },
    ),
]
