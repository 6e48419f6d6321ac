"""The contents of pretix's database: two organizers with the same kinds of rows, so that a wrong
key names some other row.
"""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django_scopes import scopes_disabled
from pretix.api.auth.utils import get_session_key_for_api_auth
from pretix.api.models import WebHook
from pretix.base.models import (
    CachedFile,
    CartPosition,
    Checkin,
    Customer,
    Device,
    Event,
    GiftCard,
    Invoice,
    InvoiceAddress,
    InvoiceLine,
    Item,
    Membership,
    Order,
    OrderPosition,
    Organizer,
    Question,
    ReusableMedium,
    ScheduledEventExport,
    ScheduledOrganizerExport,
    SeatingPlan,
    Team,
    User,
    WaitingListEntry,
)
from pretix.plugins.autocheckin.models import AutoCheckinRule
from pretix.plugins.badges.models import BadgeLayout
from pretix.plugins.sendmail.models import Rule
from pretix.plugins.ticketoutputpdf.models import TicketLayout

START = datetime(2036, 5, 1, 10, tzinfo=UTC)
SOLD = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
PLUGINS = ",".join(
    f"pretix.plugins.{name}"
    for name in (
        "autocheckin",
        "badges",
        "banktransfer",
        "manualpayment",
        "sendmail",
        "ticketoutputpdf",
    )
)
TOKENS = {"owner": "o" * 64, "colleague": "c" * 64, "stranger": "s" * 64}
DEVICE_TOKEN = "d" * 64
FILE = "5f1bcb1a-0000-4000-8000-000000000001"
LAYOUT = json.dumps(
    {"name": "Hall", "categories": [], "zones": [], "size": {"width": 1, "height": 1}}
)


@scopes_disabled()
def seed() -> None:
    acme, other = (_organizer(slug) for slug in ("acme", "other"))
    owner = Team.objects.create(
        organizer=acme,
        name="Owners",
        all_events=True,
        all_event_permissions=True,
        all_organizer_permissions=True,
    )
    colleague = Team.objects.create(
        organizer=acme,
        name="Box office",
        limit_event_permissions={"event.orders:read": True, "event.items:write": True},
        limit_organizer_permissions={"organizer.customers:read": True},
    )
    colleague.limit_events.add(acme.events.get(slug="conf"))
    stranger = Team.objects.create(
        organizer=other,
        name="Others",
        all_events=True,
        all_event_permissions=True,
        all_organizer_permissions=True,
    )
    teams = {"owner": owner, "colleague": colleague, "stranger": stranger}
    for name, team in teams.items():
        team.tokens.create(name=name, token=TOKENS[name])
        user = User.objects.create_user(f"{name}@example.org", "pw")
        team.members.add(user)
        team.invites.create(email=f"new-{name}@example.org", token=f"invite-{name}")
    for at, organizer in enumerate((acme, other)):
        _exports(organizer, User.objects.order_by("pk")[at * 2])
    uploaded = CachedFile.objects.create(
        id=FILE,
        filename="poster.png",
        type="image/png",
        date=SOLD,
        expires=START,
        web_download=False,
        session_key=get_session_key_for_api_auth(AnonymousUser(), owner.tokens.get()),
    )
    uploaded.file.save("poster.png", ContentFile(_PNG))


def _organizer(slug: str) -> Organizer:
    organizer = Organizer.objects.create(name=slug.title(), slug=slug, plugins=PLUGINS)
    organizer.settings.customer_accounts = True
    organizer.settings.reusable_media_active = True
    organizer.sales_channels.create(label="Kiosk", identifier="api.kiosk", type="api")
    organizer.meta_properties.create(name="kind", default="talk")
    plan = SeatingPlan.objects.create(organizer=organizer, name="Hall", layout=LAYOUT)
    kind = organizer.membership_types.create(name="Season")
    customer = Customer.objects.create(
        organizer=organizer,
        identifier=f"C{slug.upper()}",
        email=f"ann@{slug}.example.org",
        name_parts={"_scheme": "full", "full_name": "Ann"},
        password="md5$x$y",
    )
    Membership.objects.create(
        customer=customer, membership_type=kind, date_start=SOLD, date_end=START
    )
    hook = WebHook.objects.create(organizer=organizer, target_url="https://example.org/hook")
    hook.listeners.create(action_type="pretix.event.order.placed")
    _event(organizer, "conf", plan, customer)
    _series(organizer)
    return organizer


def _event(organizer: Organizer, slug: str, plan: SeatingPlan, customer: Customer) -> None:
    event = Event.objects.create(
        organizer=organizer,
        name=f"Conference of {organizer.slug}",
        slug=slug,
        date_from=START,
        date_to=START + timedelta(days=2),
        currency="EUR",
        live=True,
        plugins=PLUGINS,
    )
    event.settings.timezone = "UTC"
    event.settings.payment_banktransfer__enabled = True
    event.settings.invoice_address_from = "Road 1"
    tax = event.tax_rules.create(name="VAT", rate=Decimal("19.00"))
    event.item_meta_properties.create(name="day", default="one")
    tickets, extras = (event.categories.create(name=each) for each in ("Tickets", "Extras"))
    extras.is_addon = True
    extras.save()
    ticket = event.items.create(
        name="Ticket",
        default_price=Decimal("23.00"),
        category=tickets,
        tax_rule=tax,
        admission=True,
    )
    shirt = event.items.create(name="Shirt", default_price=Decimal("9.00"), category=extras)
    event.items.create(name="Poster", default_price=Decimal("2.00"))
    sold_out = event.items.create(name="Dinner", default_price=Decimal("60.00"))
    event.quotas.create(name="Dinner", size=0).items.add(sold_out)
    large = shirt.variations.create(value="Large", position=1)
    shirt.variations.create(value="Small", position=2)
    ticket.addons.create(addon_category=extras, max_count=2)
    ticket.bundles.create(bundled_item=shirt, bundled_variation=large, count=1)
    ticket.program_times.create(start=START, end=START + timedelta(hours=2), location="Hall")
    quota = event.quotas.create(name="Tickets", size=100)
    quota.items.add(ticket)
    shirts = event.quotas.create(name="Shirts", size=50)
    shirts.items.add(shirt)
    shirts.variations.add(large)
    _questions(event, ticket)
    for guid in ("A1", "A2"):
        event.seats.create(seat_number=guid, seat_guid=guid, product=ticket, blocked=False)
    event.discounts.create(internal_name="Early", benefit_discount_matching_percent=Decimal(10))
    voucher = event.vouchers.create(
        code=f"VOUCHER{organizer.slug.upper()}", item=ticket, max_usages=3
    )
    event.vouchers.create(code=f"SPARE{organizer.slug.upper()}", quota=quota)
    WaitingListEntry.objects.create(event=event, item=ticket, email="wait@example.org", locale="en")
    lists = event.checkin_lists.create(name="Door", all_products=True)
    order = _order(event, ticket, large, customer, f"{organizer.slug[0].upper()}BC12")
    _order(
        event, ticket, large, None, f"{organizer.slug[0].upper()}XYZ9", status=Order.STATUS_PENDING
    )
    _order(event, ticket, large, None, f"{organizer.slug[0].upper()}TEST", testmode=True)
    position = order.positions.first()
    Checkin.objects.create(position=position, list=lists, datetime=SOLD, nonce="first")
    _documents(event, order, position)
    _cards(organizer, event, customer, order, position)
    CartPosition.objects.create(
        event=event,
        cart_id=f"{organizer.slug}@api",
        item=ticket,
        price=Decimal("23.00"),
        expires=START,
        datetime=SOLD,
        voucher=voucher,
    )
    _of_plugins(event, lists)


def _questions(event: Event, ticket: Item) -> None:
    question = Question.objects.create(
        event=event, question="Food?", type="C", identifier="FOOD", required=False
    )
    question.items.add(ticket)
    question.options.create(identifier="VEG", answer="Vegetarian")
    question.options.create(identifier="ALL", answer="Everything")
    note = Question.objects.create(
        event=event, question="Note?", type="S", identifier="NOTE", required=False
    )
    note.items.add(ticket)


def _order(
    event: Event,
    ticket: Item,
    variation: Any,
    customer: Any,
    code: str,
    status: str = "p",
    **more: Any,
) -> Order:
    order = Order.objects.create(
        code=code,
        event=event,
        email="ann@example.org",
        status=status,
        datetime=SOLD,
        expires=START,
        total=Decimal("32.00"),
        locale="en",
        customer=customer,
        secret=f"secret{code}",
        sales_channel=event.organizer.sales_channels.get(identifier="web"),
        **more,
    )
    for at, (item, chosen, price) in enumerate(
        ((ticket, None, "23.00"), (variation.item, variation, "9.00")), start=1
    ):
        OrderPosition.objects.create(
            order=order,
            positionid=at,
            item=item,
            variation=chosen,
            price=Decimal(price),
            attendee_name_parts={"_scheme": "full", "full_name": "Ann"},
            secret=f"ticket{code}{at}",
            pseudonymization_id=f"P{code}{at}",
        )
    InvoiceAddress.objects.create(order=order, company="Acme", street="Road 1", country="DE")
    paid = {"p": "confirmed"}.get(status, "pending")
    order.payments.create(
        provider="banktransfer",
        state=paid,
        amount=order.total,
        payment_date=SOLD if status == "p" else None,
        info="{}",
    )
    order.refunds.create(
        provider="manual", state="created", source="admin", amount=Decimal(5), info="{}"
    )
    order.create_transactions()
    return order


def _documents(event: Event, order: Order, position: OrderPosition) -> None:
    invoice = Invoice.objects.create(
        order=order,
        organizer=event.organizer,
        event=event,
        prefix=f"{event.slug.upper()}-",
        invoice_from="Road 1",
        invoice_to="Ann",
        date=SOLD.date(),
    )
    InvoiceLine.objects.create(
        invoice=invoice, description="Ticket", gross_value=Decimal(23), tax_name=""
    )
    position.revoked_secrets.create(event=event, secret=f"revoked{order.code}")
    position.blocked_secrets.create(event=event, secret=f"blocked{order.code}", blocked=True)


def _cards(organizer: Organizer, event: Event, customer: Any, order: Order, position: Any) -> None:
    card = GiftCard.objects.create(
        issuer=organizer, secret=f"CARD{organizer.slug.upper()}", currency="EUR", customer=customer
    )
    card.transactions.create(value=Decimal(50), acceptor=organizer, datetime=SOLD)
    medium = ReusableMedium.objects.create(
        organizer=organizer, type="barcode", identifier=f"MEDIUM{organizer.slug}", customer=customer
    )
    medium.linked_orderpositions.add(position)
    device = Device.objects.create(
        organizer=organizer,
        name="Scanner",
        device_id=1,
        all_events=True,
        api_token=DEVICE_TOKEN if organizer.slug == "acme" else "e" * 64,
        initialization_token=f"initialize{organizer.slug}",
        unique_serial=f"SERIAL{organizer.slug}",
        initialized=SOLD,
    )
    Device.objects.create(
        organizer=organizer,
        name="Spare",
        device_id=2,
        all_events=True,
        initialization_token=f"spare{organizer.slug}",
        unique_serial=f"SPARE{organizer.slug}",
    )
    device.limit_events.add(event)


def _of_plugins(event: Event, lists: Any) -> None:
    AutoCheckinRule.objects.create(event=event, list=lists, mode="placed")
    BadgeLayout.objects.create(event=event, name="Badge", default=True, layout="[]")
    layout = TicketLayout.objects.create(event=event, name="Ticket", default=True, layout="[]")
    layout.item_assignments.create(
        item=event.items.first(), sales_channel=event.organizer.sales_channels.get(identifier="web")
    )
    Rule.objects.create(event=event, subject="Hello", template="Soon", send_date=START)
    event.organizer.bankimportjob_set.create(currency="EUR", state="completed")


def _series(organizer: Organizer) -> None:
    Event.objects.create(
        organizer=organizer, name="Empty", slug="empty", date_from=START, currency="EUR"
    )
    series = Event.objects.create(
        organizer=organizer,
        name="Series",
        slug="series",
        date_from=START,
        currency="EUR",
        has_subevents=True,
        plugins=PLUGINS,
    )
    tour = series.items.create(name="Tour", default_price=Decimal(5))
    date = series.subevents.create(name="First", date_from=START, active=True)
    quota = series.quotas.create(name="Tours", size=10, subevent=date)
    quota.items.add(tour)
    series.seats.create(subevent=date, seat_number="B1", seat_guid="B1", product=tour)


def _exports(organizer: Organizer, owner: User) -> None:
    common = {
        "export_identifier": "orderlist",
        "export_form_data": {},
        "owner": owner,
        "mail_subject": "Orders",
        "mail_template": "Here",
        "schedule_rrule": "DTSTART:20300101T000000\nRRULE:FREQ=DAILY",
        "schedule_rrule_time": "06:00",
        "schedule_next_run": START,
    }
    ScheduledEventExport.objects.create(event=organizer.events.get(slug="conf"), **common)
    ScheduledOrganizerExport.objects.create(organizer=organizer, timezone="UTC", **common)


_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cf"
    "c0000003010100c9fe92ef0000000049454e44ae426082"
)
"""One red point."""
