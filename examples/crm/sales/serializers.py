"""The serializers of the API."""

from typing import Any

from rest_framework import serializers

from sales.models import Company, Contact, Deal, Line, Note, Tag


class CompanySerializer(serializers.ModelSerializer):
    class Meta:
        model = Company
        fields = ["id", "name", "website", "employees"]


class TagSerializer(serializers.ModelSerializer):
    class Meta:
        model = Tag
        fields = ["slug", "title"]


class ContactSerializer(serializers.ModelSerializer):
    class Meta:
        model = Contact
        fields = [
            "id",
            "email",
            "first_name",
            "last_name",
            "company",
            "tags",
            "notes",
            "profile",
            "subscribed",
        ]
        # The only hint that agents get about the content of these fields.
        extra_kwargs = {
            "tags": {"help_text": 'e.g. ["vip"]'},
            "profile": {"help_text": 'e.g. {"language": "nl"}'},
        }


class LineSerializer(serializers.ModelSerializer):
    class Meta:
        model = Line
        fields = ["product", "quantity", "price"]


class DealSerializer(serializers.ModelSerializer):
    lines = LineSerializer(many=True, required=False)

    class Meta:
        model = Deal
        fields = ["id", "title", "company", "stage", "closes_on", "reason", "lines"]
        read_only_fields = ["stage", "reason"]

    def create(self, validated_data: dict[str, Any]) -> Deal:
        lines = validated_data.pop("lines", [])
        deal = Deal.objects.create(**validated_data)
        Line.objects.bulk_create(Line(deal=deal, **line) for line in lines)
        return deal

    def update(self, instance: Deal, validated_data: dict[str, Any]) -> Deal:
        lines = validated_data.pop("lines", None)
        deal = super().update(instance, validated_data)
        if lines is not None:
            deal.lines.all().delete()
            Line.objects.bulk_create(Line(deal=deal, **line) for line in lines)
        return deal


class CloseSerializer(serializers.Serializer):
    """How a deal ended."""

    won = serializers.BooleanField(help_text="Whether the deal was won")
    reason = serializers.CharField(max_length=200, required=False, allow_blank=True)


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Note
        fields = ["id", "title", "body", "pinned", "written"]
