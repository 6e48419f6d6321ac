"""Rows that refer to each other with every kind of `on_delete`."""

from django.conf import settings
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models


class Mark(models.Model):
    """Refers to a row of any model."""

    text = models.CharField(max_length=20, blank=True)
    content_type = models.ForeignKey(ContentType, on_delete=models.CASCADE)
    object_id = models.PositiveIntegerField()
    target = GenericForeignKey()


class Estate(models.Model):
    name = models.CharField(max_length=40)
    marks = GenericRelation(Mark)


class Manor(Estate):
    """An estate by another name."""

    class Meta:
        proxy = True
        verbose_name = "grand manor"


class Castle(Estate):
    """Has columns of its own in a second table."""

    towers = models.IntegerField(default=0)


def first_estate():
    return Estate.objects.order_by("pk").first()


class House(models.Model):
    """Each user sees only their own."""

    name = models.CharField(max_length=40, blank=True)
    estate = models.ForeignKey(Estate, on_delete=models.CASCADE, related_name="houses")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    marks = GenericRelation(Mark)


class Room(models.Model):
    house = models.ForeignKey(House, on_delete=models.CASCADE, related_name="rooms")
    above = models.ForeignKey("self", null=True, on_delete=models.CASCADE)


class Tenant(models.Model):
    name = models.CharField(max_length=40, blank=True)
    estate = models.ForeignKey(Estate, null=True, on_delete=models.SET_NULL)


class Guest(models.Model):
    estate = models.ForeignKey(Estate, null=True, default=None, on_delete=models.SET_DEFAULT)


class Visitor(models.Model):
    estate = models.ForeignKey(Estate, on_delete=models.SET(first_estate))


class Lease(models.Model):
    name = models.CharField(max_length=40, blank=True)
    estate = models.ForeignKey(Estate, on_delete=models.PROTECT)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)


class Permit(models.Model):
    estate = models.ForeignKey(Estate, on_delete=models.RESTRICT)


class Shadow(models.Model):
    estate = models.ForeignKey(Estate, on_delete=models.DO_NOTHING, db_constraint=False)


class Club(models.Model):
    name = models.CharField(max_length=40, blank=True)
    estates = models.ManyToManyField(Estate, related_name="clubs")
    members = models.ManyToManyField(House, through="Membership")


class Membership(models.Model):
    club = models.ForeignKey(Club, on_delete=models.CASCADE)
    house = models.ForeignKey(House, on_delete=models.CASCADE)


class Archive(models.Model):
    """Is hidden instead of deleted."""

    name = models.CharField(max_length=40, blank=True)
    is_hidden = models.BooleanField(default=False)

    def delete(self, *args, **kwargs):
        self.is_hidden = True
        self.save(update_fields=["is_hidden"])
        return 0, {}


class Lodger(models.Model):
    house = models.ForeignKey(House, null=True, on_delete=models.SET_NULL)


class Deed(models.Model):
    name = models.CharField(max_length=40, blank=True)
    house = models.ForeignKey(House, on_delete=models.PROTECT)


class Visit(models.Model):
    """May only go together with the house: both belong to one estate."""

    estate = models.ForeignKey(Estate, on_delete=models.CASCADE)
    house = models.ForeignKey(House, on_delete=models.RESTRICT)


class Tax(models.Model):
    """The database itself refuses to delete its estate."""

    name = models.CharField(max_length=40, blank=True)
    estate = models.ForeignKey(Estate, on_delete=models.DO_NOTHING)

    class Meta:
        verbose_name_plural = "taxes"
