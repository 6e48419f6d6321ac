"""`manage.py seed`: empties the database and fills it with a small sales team's rows."""

import datetime
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand

from sales.models import Company, Contact, Deal, Line, Note, Tag

USER, PASSWORD = "ann", "demo"

BLANK = [
    uuid.UUID(f"{start}-0000-4000-8000-000000000000")
    for start in ("6b7e67eb", "c123f361", "b1b58efa")
]
"""Blank rows, as an agent creates them on an API without a guard."""


class Command(BaseCommand):
    help = "Empty the database and fill it again."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        call_command("flush", interactive=False, verbosity=0)
        fill()
        self.stdout.write(
            f"{Contact.objects.count()} contacts, {len(BLANK)} of them blank; user {USER}"
        )


def fill() -> None:
    """Create the rows of the example in an empty database."""
    ann = User.objects.create_superuser(USER, "ann@example.org", PASSWORD)
    tags = [Tag.objects.create(slug=slug, title=title) for slug, title in TAGS.items()]
    companies = {
        name: Company.objects.create(name=name, employees=people)
        for name, people in COMPANIES.items()
    }
    for first, last, name in PEOPLE:
        made = Contact.objects.create(
            email=f"{first}.{last}@example.org".lower(),
            first_name=first,
            last_name=last,
            company=companies[name],
        )
        made.tags.add(tags[len(first) % len(tags)])
    for blank in BLANK:
        Contact.objects.create(pk=blank)
    deal = Deal.objects.create(
        title="Tea for a year", company=companies["hq-1"], closes_on=datetime.date(2026, 12, 1)
    )
    Line.objects.create(deal=deal, product="Assam 1 kg", quantity=12, price="19.50")
    Note.objects.create(owner=ann, title="Call back", body="After the holidays", pinned=True)


TAGS = {"vip": "Important", "newsletter": "Wants the newsletter"}
COMPANIES = {"hq-1": 120, "Acme": 40, "Zenith": 7}
PEOPLE = [
    ("Ada", "Visser", "hq-1"),
    ("Bram", "Smit", "hq-1"),
    ("Cleo", "Mulder", "Acme"),
    ("Daan", "Bakker", "Zenith"),
]
