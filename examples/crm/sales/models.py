"""Companies, the people who work there, and the deals with them."""

import uuid

from django.conf import settings
from django.db import models


class Company(models.Model):
    name = models.CharField(max_length=100, unique=True)
    website = models.URLField(blank=True)
    employees = models.PositiveIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    slug = models.SlugField(primary_key=True, max_length=40)
    title = models.CharField(max_length=80)

    def __str__(self) -> str:
        return self.slug


class Contact(models.Model):
    """A person to write to. Every field may be empty, so a call that loses its arguments creates a
    blank row.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(blank=True)
    first_name = models.CharField(max_length=60, blank=True)
    last_name = models.CharField(max_length=60, blank=True)
    company = models.ForeignKey(
        Company, null=True, blank=True, on_delete=models.SET_NULL, related_name="contacts"
    )
    tags = models.ManyToManyField(Tag, blank=True)
    notes = models.TextField(blank=True)
    profile = models.JSONField(default=dict, blank=True)
    subscribed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.email


class Deal(models.Model):
    class Stage(models.TextChoices):
        OPEN = "open", "Open"
        WON = "won", "Won"
        LOST = "lost", "Lost"

    title = models.CharField(max_length=120)
    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="deals")
    stage = models.CharField(max_length=10, choices=Stage.choices, default=Stage.OPEN)
    closes_on = models.DateField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return self.title


class Line(models.Model):
    deal = models.ForeignKey(Deal, on_delete=models.CASCADE, related_name="lines")
    product = models.CharField(max_length=80)
    quantity = models.PositiveIntegerField(default=1)
    price = models.DecimalField(max_digits=10, decimal_places=2)

    def __str__(self) -> str:
        return self.product


class Note(models.Model):
    """A private note: each user sees only their own."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    title = models.CharField(max_length=80, blank=True)
    body = models.TextField(blank=True)
    pinned = models.BooleanField(default=False)
    written = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.title
