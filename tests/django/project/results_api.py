"""Views that answer at length, in pages or not: the API that the tests of long results call."""

import json
import re

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import HttpResponse
from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import pagination, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from odd.models import Log
from sales.models import Company
from sales.views import CompanyViewSet, ContactViewSet
from toolbooth.django import decorators
from toolbooth.django.testing import acting_as

MOST = 4_000
UNUSED = ["*__update", "*__partial_update", "*__destroy"]
answer: dict = {}
"""The answers of the views that can answer anything."""


class Unpaged(CompanyViewSet):
    pagination_class = None


class Numbered(pagination.PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 80


class ByNumber(CompanyViewSet):
    pagination_class = Numbered


class Offsets(pagination.LimitOffsetPagination):
    default_limit = 50


class ByOffset(CompanyViewSet):
    pagination_class = Offsets


class Cursors(pagination.CursorPagination):
    page_size = 50
    ordering = "id"


class ByCursor(CompanyViewSet):
    pagination_class = Cursors


class InItsOwnWords(pagination.PageNumberPagination):
    page_size = 50

    def get_paginated_response(self, data):
        return Response(
            {
                "total": self.page.paginator.count,
                "tags": ["a", "b"],
                "items": data,
                "continuation": "mine",
            }
        )


class Custom(CompanyViewSet):
    pagination_class = InItsOwnWords


class Features(CompanyViewSet):
    """Rows whose fields are nested deeper."""

    pagination_class = None

    def list(self, request, *args, **kwargs):
        rows = super().list(request, *args, **kwargs).data
        return Response(
            {
                "type": "collection",
                "features": [{"type": "feature", "properties": row} for row in rows],
            }
        )


class Nameless(CompanyViewSet):
    """Answers without any list."""

    pagination_class = None

    def list(self, request, *args, **kwargs):
        return Response({"nothing": "here"})


class Lines(viewsets.GenericViewSet):
    """Lists the rows that the test sets."""

    pagination_class = None
    serializer_class = serializers.Serializer
    queryset = Company.objects.none()

    @extend_schema(responses=serializers.Serializer(many=True))
    def list(self, request):
        return Response(answer["value"])


class Anything(APIView):
    @extend_schema(responses=dict, parameters=[OpenApiParameter("why", str)])
    def get(self, request):
        return Response(answer["value"])


class PlainText(APIView):
    @extend_schema(responses=str)
    def get(self, request):
        return HttpResponse(answer["value"], content_type="text/plain; charset=utf-8")


class Waits(Anything):
    """As in adrf: the view is a coroutine."""

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return transaction.non_atomic_requests(view)  # Django runs no such view otherwise


class Names(serializers.Serializer):
    names = serializers.ListField(child=serializers.CharField(), required=False)


class Runs(viewsets.GenericViewSet):
    """Does something each time that it is called, and answers at length."""

    queryset = Company.objects.all()
    serializer_class = Names

    @action(detail=False, methods=["post"])
    def run(self, request):
        Log.objects.create(line="ran")
        return Response(
            {"ran": Log.objects.count(), "lines": [f"line {number}" for number in range(1000)]}
        )


class Own(Unpaged):
    """Has a filter of its own that is called as the token is."""

    @extend_schema(
        parameters=[OpenApiParameter("continuation_token", str), OpenApiParameter("why", str)]
    )
    def list(self, request, *args, **kwargs):
        if "continuation_token" in request.query_params:
            self.queryset = Company.objects.filter(name=request.query_params["continuation_token"])
        return super().list(request, *args, **kwargs)


class Keyless(ContactViewSet):
    """Answers a create without the row's key."""

    def create(self, request, *args, **kwargs):
        made = super().create(request, *args, **kwargs).data
        return Response({"email": made["email"]}, status=201)


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", Unpaged, "companies")
    router.register("numbered", ByNumber, "numbered")
    router.register("offsets", ByOffset, "offsets")
    router.register("cursors", ByCursor, "cursors")
    router.register("custom", Custom, "custom")
    router.register("features", Features, "features")
    router.register("nameless", Nameless, "nameless")
    router.register("keyless", Keyless, "keyless")
    router.register("runs", Runs, "runs")
    router.register("own", Own, "own")
    router.register("lines", Lines, "lines")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("anything/", Anything.as_view(), name="anything"),
        path("text/", PlainText.as_view(), name="text"),
        path("waits/", Waits.as_view(), name="waits"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


def serving(settings_of, user, monkeypatch):
    """Serve with some settings, without hand-written tools except those of the test."""
    monkeypatch.setattr(decorators, "declared", {})

    def served(**chosen):
        settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"MAX_RESULT": MOST, "EXCLUDE": UNUSED, **chosen})
        return acting_as(user).call

    return served


def companies(count: int) -> None:
    Company.objects.bulk_create(
        Company(
            id=number + 1,
            name=f"company {number:04}",
            employees=number,
            website="https://example.org/",
        )
        for number in range(count)
    )


def pages_of(call, tool: str, first, most: int = MOST) -> list[dict]:
    """Return every page of a result, each no longer than allowed."""
    pages = [first.value]
    while token := pages[-1][key_of(pages[-1])].get("continuation_token"):
        reply = call(tool, {"continuation_token": token})
        assert not reply.is_error, reply
        pages.append(reply.value)
        assert len(reply.text.encode()) <= most
    assert len(first.text.encode()) <= most
    return pages


def key_of(page: dict) -> str:
    return list(page)[-1]


def joined(pages: list[dict]) -> str:
    """Return the pages joined, as the result would have been written."""
    told = [page.pop(key_of(page)) for page in pages]
    assert [each["from"] for each in told] == [1, *(each["to"] + 1 for each in told[:-1])]
    assert {each["count"] for each in told} == {told[-1]["to"]}
    assert len({each["size"] for each in told}) == 1
    if list(pages[0]) == ["text"]:
        return "".join(page["text"] for page in pages)
    longest = re.fullmatch(r"[\d,]+ more in (.*)\. To continue, .*", told[0]["note"], re.DOTALL)[1]
    whole = {**pages[0], longest: [row for page in pages for row in page[longest]]}
    assert all({**page, longest: 0} == {**whole, longest: 0} for page in pages)
    return written(whole)


def written(value) -> str:
    """As `json` writes it: any number with all its digits."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
