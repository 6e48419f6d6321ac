"""Tables, three users with tokens, and the requested number of rows."""

import uuid
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.management import BaseCommand, call_command
from rest_framework.authtoken.models import Token
from servers.django_project.models import Company, Contact, Tag

ROWS = 20


class Command(BaseCommand):
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        call_command("migrate", run_syncdb=True, verbosity=0)
        for name in ("ann", "visitor", "limited"):
            Token.objects.create(key=f"token-of-{name}", user=User.objects.create(username=name))
        # All but one, so that a list that is not filtered for her is noticed.
        User.objects.get(username="ann").user_permissions.set(
            Permission.objects.exclude(codename="delete_contact")
        )
        company = Company.objects.create(id=uuid.UUID(int=1), name="Acme")
        tags = [
            Tag.objects.create(id=uuid.UUID(int=number), title=f"Tag {number}") for number in (1, 2)
        ]
        for number in range(ROWS):
            contact = Contact.objects.create(
                id=uuid.UUID(int=number),
                email=f"contact{number}@example.org",
                first_name="Ann",
                last_name=f"Number {number}",
                age=20 + number,
                company=company,
            )
            contact.tags.set(tags)
