"""Contacts, the models they refer to, and further models that differ only in name.

Keys are UUIDs: frisian-mcp cannot send a foreign key that is a number.
"""

import os
import uuid

from django.db import models

FURTHER = int(os.environ.get("BENCH_RESOURCES", "0"))


class Row(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


class Company(Row):
    name = models.CharField(max_length=100)


class Tag(Row):
    title = models.CharField(max_length=80)


class Person(Row):
    email = models.EmailField(blank=True)
    first_name = models.CharField(max_length=60, blank=True)
    last_name = models.CharField(max_length=60, blank=True)
    notes = models.TextField(blank=True)
    age = models.PositiveIntegerField(default=0)
    subscribed = models.BooleanField(default=False)
    company = models.ForeignKey(
        Company, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        abstract = True


class Contact(Person):
    """Every field may be empty, so a create that loses its arguments makes a blank row."""

    tags = models.ManyToManyField(Tag, blank=True, related_name="+")


# Contacts are last, so that their URL is found after all others.
PEOPLE: list[type[Person]] = [
    *(type(f"Person{number}", (Person,), {"__module__": __name__}) for number in range(FURTHER)),
    Contact,
]
