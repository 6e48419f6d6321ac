"""Rows for views that are written with third-party packages."""

from django.conf import settings
from django.db import models
from polymorphic.models import PolymorphicModel
from simple_history.models import HistoricalRecords
from taggit.managers import TaggableManager


class Domain(models.Model):
    name = models.CharField(max_length=40, unique=True)
    history = HistoricalRecords()


class Nameserver(models.Model):
    domain = models.ForeignKey(Domain, models.CASCADE, related_name="nameservers")
    host = models.CharField(max_length=40)


class Record(models.Model):
    nameserver = models.ForeignKey(Nameserver, models.CASCADE, related_name="records")
    text = models.CharField(max_length=40)


class Project(PolymorphicModel):
    topic = models.CharField(max_length=30)


class ArtProject(Project):
    artist = models.CharField(max_length=30)


class ResearchProject(Project):
    supervisor = models.CharField(max_length=30, blank=True)


class Author(models.Model):
    name = models.CharField(max_length=40)


class Book(models.Model):
    title = models.CharField(max_length=40)
    author = models.ForeignKey(Author, models.CASCADE, related_name="books", null=True, blank=True)
    cover = models.TextField(blank=True)
    tags = TaggableManager(blank=True)


class Chapter(models.Model):
    book = models.ForeignKey(Book, models.CASCADE, related_name="chapters")
    title = models.CharField(max_length=40)
    pages = models.IntegerField(default=1)


class Note(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    text = models.CharField(max_length=40)
    meta_data = models.JSONField(default=dict)
    written_on = models.DateField(null=True, blank=True)


class Upload(models.Model):
    name = models.CharField(max_length=40)
    file = models.FileField(upload_to="files")
    picture = models.ImageField(upload_to="pictures", blank=True)
