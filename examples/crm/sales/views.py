"""The API: plain REST framework, written without a thought of MCP."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.request import Request
from rest_framework.response import Response

from sales.models import Company, Contact, Deal, Note, Tag
from sales.serializers import (
    CloseSerializer,
    CompanySerializer,
    ContactSerializer,
    DealSerializer,
    NoteSerializer,
    TagSerializer,
)


class CompanyViewSet(viewsets.ModelViewSet):
    """Companies."""

    queryset = Company.objects.order_by("name")
    serializer_class = CompanySerializer
    filter_backends = [SearchFilter, OrderingFilter]
    search_fields = ["name"]
    ordering_fields = ["name", "employees"]


class TagViewSet(viewsets.ModelViewSet):
    """Labels for contacts."""

    queryset = Tag.objects.order_by("slug")
    serializer_class = TagSerializer


class ContactViewSet(viewsets.ModelViewSet):
    """People to write to."""

    queryset = Contact.objects.order_by("email", "id").prefetch_related("tags")
    serializer_class = ContactSerializer
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_fields = {
        "company": ["exact"],
        "subscribed": ["exact"],
        "email": ["exact", "icontains"],
    }
    search_fields = ["email", "first_name", "last_name"]


class DealViewSet(viewsets.ModelViewSet):
    """Deals with their lines."""

    queryset = Deal.objects.order_by("id").prefetch_related("lines")
    serializer_class = DealSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["company", "stage"]

    @action(detail=True, methods=["post"], serializer_class=CloseSerializer)
    def close(self, request: Request, pk: Any = None) -> Response:
        """Close a deal, as won or lost."""
        deal = self.get_object()
        how = self.get_serializer(data=request.data)
        how.is_valid(raise_exception=True)
        deal.stage = Deal.Stage.WON if how.validated_data["won"] else Deal.Stage.LOST
        deal.reason = how.validated_data.get("reason", "")
        deal.save()
        return Response(DealSerializer(deal).data)


class NoteViewSet(viewsets.ModelViewSet):
    """The caller's own notes."""

    queryset = Note.objects.order_by("id")
    serializer_class = NoteSerializer

    def get_queryset(self) -> QuerySet[Note]:
        return super().get_queryset().filter(owner=self.request.user)

    def perform_create(self, serializer: NoteSerializer) -> None:
        serializer.save(owner=self.request.user)
