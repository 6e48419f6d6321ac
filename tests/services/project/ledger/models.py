"""Accounts with entries, and tickets whose numbers are compared when a transaction ends."""

from django.db import models


class Account(models.Model):
    name = models.CharField(max_length=60, unique=True)
    limit = models.IntegerField(default=0)


class Entry(models.Model):
    label = models.CharField(max_length=60)
    amount = models.IntegerField(default=0)
    account = models.ForeignKey(
        Account, null=True, blank=True, on_delete=models.CASCADE, related_name="entries"
    )
    lock_wait = models.CharField(max_length=20, editable=False)
    """How long the database would wait for a lock while the view ran."""


class Remark(models.Model):
    text = models.CharField(max_length=60)


class Ticket(models.Model):
    number = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["number"], name="one_ticket_a_number", deferrable=models.Deferrable.DEFERRED
            )
        ]
