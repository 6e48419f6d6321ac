"""Rows for views that do something unusual."""

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models


class Thing(models.Model):
    """One of every kind of field."""

    class Rank(models.IntegerChoices):
        LOW = 1, "Low"
        HIGH = 2, "High"

    title = models.CharField(max_length=40)
    kind = models.CharField(
        max_length=8, choices=[("small", "Small"), ("large", "Large")], default="small"
    )
    mood = models.CharField(max_length=8, choices=[("ok", "Ok")], blank=True)
    rank = models.IntegerField(choices=Rank.choices, null=True, blank=True)
    size = models.IntegerField(default=3, validators=[MinValueValidator(1), MaxValueValidator(10)])
    big = models.BigIntegerField(null=True, blank=True)
    ratio = models.FloatField(null=True, blank=True)
    price = models.DecimalField(max_digits=40, decimal_places=10, null=True, blank=True)
    active = models.BooleanField(null=True, blank=True)
    day = models.DateField(null=True, blank=True)
    moment = models.DateTimeField(null=True, blank=True)
    hour = models.TimeField(null=True, blank=True)
    span = models.DurationField(null=True, blank=True)
    mail = models.EmailField(blank=True)
    site = models.URLField(blank=True)
    code = models.UUIDField(null=True, blank=True)
    handle = models.SlugField(blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)
    document = models.JSONField(null=True, blank=True)
    scan = models.FileField(blank=True)


class Site(models.Model):
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=40)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )


class Depot(Site):
    """A child of another model: its key is that of its site."""

    doors = models.IntegerField()


class Annex(Site):
    """A site with a table of its own beside the one of sites."""

    floor = models.IntegerField()


class Part(models.Model):
    number = models.CharField(max_length=10, primary_key=True)
    token = models.CharField(max_length=10, unique=True)


class Device(models.Model):
    serial = models.UUIDField(primary_key=True, default=uuid.uuid4)
    label = models.CharField(max_length=40, blank=True)
    site = models.ForeignKey(
        Site, null=True, blank=True, on_delete=models.CASCADE, related_name="devices"
    )
    twin = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)
    parts = models.ManyToManyField(Part, blank=True)


class Secret(models.Model):
    """A row that belongs to somebody."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    body = models.CharField(max_length=40, blank=True)


class Log(models.Model):
    """A row that shows that something ran, and was kept."""

    line = models.CharField(max_length=200)


class Badge(models.Model):
    """Its key is another row's."""

    device = models.OneToOneField(Device, primary_key=True, on_delete=models.CASCADE)


class Rack(models.Model):
    """A UUID for a key, and one text that no two rows have in common."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=40, unique=True)


class Vendor(models.Model):
    """Two texts that no two rows have in common."""

    name = models.CharField(max_length=40, unique=True)
    code = models.CharField(max_length=10, unique=True)


class Zone(models.Model):
    """Unique by constraint alone; `area` is not, for the constraint has a condition."""

    code = models.CharField(max_length=10)
    area = models.CharField(max_length=10, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["code"], name="zone_code"),
            models.UniqueConstraint(
                fields=["area"], name="zone_area", condition=models.Q(area="north")
            ),
        ]


class Team(models.Model):
    """A name that several rows may have."""

    name = models.CharField(max_length=40)


class Port(models.Model):
    label = models.CharField(max_length=40)
    rack = models.ForeignKey(Rack, null=True, blank=True, on_delete=models.CASCADE)
    vendor = models.ForeignKey(Vendor, null=True, blank=True, on_delete=models.CASCADE)
    zone = models.ForeignKey(Zone, null=True, blank=True, on_delete=models.CASCADE)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE)
    zones = models.ManyToManyField(Zone, blank=True, related_name="+")
    racks = models.ManyToManyField(Rack, blank=True, related_name="+")
    next = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)


class Moment(models.Model):
    day = models.DateField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    hour = models.TimeField(null=True, blank=True)
