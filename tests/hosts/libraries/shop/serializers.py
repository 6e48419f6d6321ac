"""Serializers of third-party packages."""

from typing import ClassVar

from drf_extra_fields.fields import Base64FileField, Base64ImageField
from drf_writable_nested.serializers import WritableNestedModelSerializer
from rest_flex_fields import FlexFieldsModelSerializer
from rest_framework import serializers
from rest_framework_nested.relations import NestedHyperlinkedRelatedField
from rest_polymorphic.serializers import PolymorphicSerializer
from taggit.serializers import TaggitSerializer, TagListSerializerField

from shop.models import (
    ArtProject,
    Author,
    Book,
    Chapter,
    Domain,
    Nameserver,
    Note,
    Project,
    Record,
    ResearchProject,
    Upload,
)


class DomainSerializer(serializers.HyperlinkedModelSerializer):
    nameservers = NestedHyperlinkedRelatedField(
        many=True,
        read_only=True,
        view_name="nameserver-detail",
        parent_lookup_kwargs={"domain_pk": "domain__pk"},
    )

    class Meta:
        model = Domain
        fields = ("url", "id", "name", "nameservers")


class NameserverSerializer(serializers.ModelSerializer):
    class Meta:
        model = Nameserver
        fields = ("id", "domain", "host")


class RecordSerializer(serializers.ModelSerializer):
    class Meta:
        model = Record
        fields = ("id", "text")


class ProjectSerializer(serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ("id", "topic")


class ArtSerializer(serializers.ModelSerializer):
    class Meta:
        model = ArtProject
        fields = ("id", "topic", "artist")


class ResearchSerializer(serializers.ModelSerializer):
    class Meta:
        model = ResearchProject
        fields = ("id", "topic", "supervisor")


class AnyProjectSerializer(PolymorphicSerializer):
    model_serializer_mapping: ClassVar = {
        Project: ProjectSerializer,
        ArtProject: ArtSerializer,
        ResearchProject: ResearchSerializer,
    }


class ChapterSerializer(serializers.ModelSerializer):
    class Meta:
        model = Chapter
        fields = ("id", "title", "pages")


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ("id", "name")


class BookSerializer(WritableNestedModelSerializer):
    chapters = ChapterSerializer(many=True, required=False)
    author = AuthorSerializer(allow_null=True, required=False)

    class Meta:
        model = Book
        fields = ("id", "title", "author", "chapters")


class FlexBookSerializer(FlexFieldsModelSerializer):
    class Meta:
        model = Book
        fields = ("id", "title", "author", "cover")
        expandable_fields: ClassVar = {"author": AuthorSerializer}


class TaggedBookSerializer(TaggitSerializer, serializers.ModelSerializer):
    tags = TagListSerializerField(required=False)

    class Meta:
        model = Book
        fields = ("id", "title", "tags")


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Note
        fields = ("id", "text", "meta_data", "written_on")


class TextFile(Base64FileField):
    ALLOWED_TYPES = ("txt",)

    def get_file_name(self, decoded_file):
        return "text"

    def get_file_extension(self, filename, decoded_file):
        return "txt"


class UploadSerializer(serializers.ModelSerializer):
    file = TextFile()
    picture = Base64ImageField(required=False)

    class Meta:
        model = Upload
        fields = ("id", "name", "file", "picture")


class PlainUploadSerializer(serializers.ModelSerializer):
    class Meta:
        model = Upload
        fields = ("id", "name", "file", "picture")
