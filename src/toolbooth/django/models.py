"""Defines the tables of the app: the idempotency keys that callers have used."""

from __future__ import annotations

from typing import Any

from django.db import models as untyped_models
from django.db.models import Model

models: Any = untyped_models
"""Django's model fields. Annotated as Any, because their generic types are of no use here."""


class UsedKey(Model):
    """An idempotency key that one caller has used for one tool, with the receipt of that write.

    The row is inserted before the write, in the same transaction. So other transactions see the row
    only together with its receipt. If the write is rolled back, the row disappears with it.
    """

    id = models.BigAutoField(primary_key=True)
    # A hash, because some databases compare text without regard to case or to spaces at its end.
    claim = models.CharField(max_length=64, unique=True)
    """The hash of the caller, the tool and the key."""
    tool = models.CharField(max_length=128)
    arguments = models.CharField(max_length=64)
    """The hash of the arguments, made with `SECRET_KEY`."""
    receipt = models.BinaryField(default=b"")
    """JSON in UTF-8, as bytes because some databases' text columns refuse some characters."""
    created = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        # Needed if the project serves the endpoint, but has not installed the app.
        app_label = "toolbooth"
        verbose_name = "used idempotency key"

    def __str__(self) -> str:
        return f"{self.tool}, {self.created:%Y-%m-%d %H:%M}"
