"""Lists with every kind of paginator: the API that the tests of `page` and `page_size` call."""

from django.core.paginator import Paginator
from django.urls import include, path
from django.views.decorators.cache import cache_page
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, pagination, throttling, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from sales.models import Company
from sales.serializers import CompanySerializer
from sales.views import CompanyViewSet
from toolbooth.django import decorators
from toolbooth.django.testing import acting_as

rows_of_view = {"rows": 5}
"""The number of rows on the pages of the views. The paginators read it at each request, so the
number at the time when the tools were described may be wrong.
"""


class AnySize:
    @property
    def page_size(self):
        return rows_of_view["rows"]


class Numbers(AnySize, pagination.PageNumberPagination):
    """As REST framework makes it by default: without a parameter for the size."""


class OtherNames(pagination.PageNumberPagination):
    page_query_param = "p"
    page_size_query_param = "per"
    max_page_size = 7

    def __init__(self):
        self.page_size = rows_of_view["rows"]


class OwnWords(Numbers):
    def get_paginated_response(self, data):
        return Response(
            {
                "page_number": self.page.number,
                "tags": ["a"] * 30,
                "items": data,
                "total": self.page.paginator.count,
            }
        )


class WithOrphans(Numbers):
    class django_paginator_class(Paginator):
        def __init__(self, rows, per_page):
            super().__init__(rows, per_page, orphans=min(2, per_page - 1))


class Uncounted(Numbers):
    """Does not count the rows, as is done for very large tables."""

    class django_paginator_class(Paginator):
        count = 10**9


class ByCaller(pagination.PageNumberPagination):
    def get_page_size(self, request):
        return rows_of_view["rows"] if request.user.username == "ann" else 1


class FromZero(Numbers):
    def get_page_number(self, request, paginator):
        return int(request.query_params.get(self.page_query_param, 0)) + 1

    def get_next_link(self):
        if not self.page.has_next():
            return None
        url = self.request.build_absolute_uri()
        return replace_query_param(url, self.page_query_param, self.page.number)


class Offsets(pagination.LimitOffsetPagination):
    max_limit = 7

    def __init__(self):
        self.default_limit = min(7, rows_of_view["rows"])


class OffsetsIfAsked(pagination.LimitOffsetPagination):
    default_limit = None


class OwnLimits(pagination.LimitOffsetPagination):
    def get_limit(self, request):
        return rows_of_view["rows"]


class Cursors(pagination.CursorPagination):
    ordering = "id"

    def __init__(self):
        self.page_size = rows_of_view["rows"]


class SizedCursors(Cursors):
    page_size_query_param = "size"
    max_page_size = 7


class SameCursors(Cursors):
    """Many rows have the same place in the order."""

    ordering = ("website", "id")


class Own(pagination.BasePagination):
    """Written without any of REST framework's paginators, and without links."""

    def paginate_queryset(self, queryset, request, view=None):
        rows = rows_of_view["rows"]
        self.number = int(request.query_params.get("page", 1))
        found = list(queryset[(self.number - 1) * rows : self.number * rows])
        return found if found or self.number == 1 else self.too_far(queryset, rows)

    def too_far(self, queryset, rows):
        return []

    def get_paginated_response(self, data):
        return Response({"page_number": self.number, "rows": data})

    def get_schema_operation_parameters(self, view):
        return [{"name": "page", "in": "query", "schema": {"type": "integer"}}]


class OwnClamped(Own):
    """Answers with the last page if it is asked for a later one."""

    def too_far(self, queryset, rows):
        count = queryset.count()
        return list(queryset[(count - 1) // rows * rows :])


class OwnHidden(Own):
    """Does not declare its parameters."""

    def get_schema_operation_parameters(self, view):
        return []


class Unknown(Own):
    """Takes the number of a page under a name that only the project knows."""

    def paginate_queryset(self, queryset, request, view=None):
        rows = rows_of_view["rows"]
        self.number = int(request.query_params.get("sheet", 1))
        return list(queryset[(self.number - 1) * rows : self.number * rows])

    def get_schema_operation_parameters(self, view):
        return [{"name": "sheet", "in": "query", "schema": {"type": "integer"}}]


class UnknownHidden(Unknown):
    def get_schema_operation_parameters(self, view):
        return []


class Keyset(pagination.BasePagination):
    """Goes on after a row, by a link in an object of its own, which forgets the filters."""

    def paginate_queryset(self, queryset, request, view=None):
        after = int(request.query_params.get("after", 0))
        found = list(queryset.filter(id__gt=after)[: rows_of_view["rows"] + 1])
        self.shown = found[: rows_of_view["rows"]]
        self.more = len(found) > len(self.shown)
        return self.shown

    def get_paginated_response(self, data):
        link = f"/api/?after={self.shown[-1].pk}" if self.more else None
        return Response({"links": {"next": link}, "data": data})


class Nested(Numbers):
    """The rows are one level further down."""

    def get_paginated_response(self, data):
        page = {"number": self.page.number, "rows": data, "next": self.get_next_link()}
        return Response({"status": "ok", "page": page})


class LinkHeader(Numbers):
    def get_paginated_response(self, data):
        link = self.get_next_link()
        return Response(data, headers={"Link": f'<{link}>; rel="next"'} if link else None)


class Listed(mixins.ListModelMixin, viewsets.GenericViewSet):
    queryset = Company.objects.order_by("id")
    serializer_class = CompanySerializer
    filter_backends = CompanyViewSet.filter_backends
    search_fields = CompanyViewSet.search_fields


def by_hand(request):
    """A list that a view pages without a word of it to REST framework."""
    paginator = Numbers()
    found = paginator.paginate_queryset(Company.objects.order_by("id"), request)
    return paginator.get_paginated_response(CompanySerializer(found, many=True).data)


class ByHand(APIView):
    @extend_schema(
        responses=CompanySerializer(many=True), parameters=[OpenApiParameter("page", int)]
    )
    def get(self, request):
        return by_hand(request)


@extend_schema(responses=CompanySerializer(many=True))
@api_view(["GET"])
def function(request):
    return by_hand(request)


class Limit(throttling.SimpleRateThrottle):
    rate = "3/min"

    def get_cache_key(self, request, view):
        return "pages"


class Throttled(Listed):
    pagination_class = Numbers
    throttle_classes = [Limit]


class Cached(Listed):
    pagination_class = OwnWords


class Leaving:
    """Leaves out rows of the pages that the paginator has made."""

    def list(self, request, *args, **kwargs):
        answer = super().list(request, *args, **kwargs)
        answer.data["results"] = [
            row for row in answer.data["results"] if row["employees"] % 3 != 1
        ]
        return answer


class LeavingOfNumbers(Leaving, Listed):
    pagination_class = Numbers


class LeavingOfOffsets(Leaving, Listed):
    pagination_class = Offsets


class Actions(viewsets.GenericViewSet):
    queryset = Company.objects.order_by("id")
    serializer_class = CompanySerializer
    pagination_class = Numbers

    @action(detail=False)
    def undeclared(self, request):
        found = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(found, many=True).data)

    @action(detail=False)
    def plain(self, request):
        return Response(self.get_serializer(self.get_queryset(), many=True).data)

    @extend_schema(responses=CompanySerializer(many=True))
    @action(detail=False)
    def declared(self, request):
        return self.undeclared(request)

    @extend_schema(responses=CompanySerializer(many=True))
    @action(detail=False)
    def declared_plain(self, request):
        return self.plain(request)

    @action(detail=False)
    def one(self, request):
        return Response({"rows": 3})


class Reports(Listed):
    """Has a filter that is called `page`."""

    pagination_class = Offsets

    @extend_schema(parameters=[OpenApiParameter("page", int)])
    def list(self, request, *args, **kwargs):
        if "page" in request.query_params:
            least = int(request.query_params["page"])
            self.queryset = self.queryset.filter(employees__gte=least)
        return super().list(request, *args, **kwargs)


PAGINATORS = {
    "numbers": Numbers,
    "names": OtherNames,
    "words": OwnWords,
    "orphans": WithOrphans,
    "uncounted": Uncounted,
    "caller": ByCaller,
    "zero": FromZero,
    "offsets": Offsets,
    "if_asked": OffsetsIfAsked,
    "limits": OwnLimits,
    "cursors": Cursors,
    "sized": SizedCursors,
    "same": SameCursors,
    "own": Own,
    "clamped": OwnClamped,
    "hidden": OwnHidden,
    "keyset": Keyset,
    "nested": Nested,
    "header": LinkHeader,
    "unpaged": None,
}
OTHERS = (
    "by_hand__get",
    "function__get",
    "actions__undeclared",
    "actions__plain",
    "actions__declared",
    "actions__declared_plain",
)
TOOLS = (*(f"{name}__list" for name in PAGINATORS), *OTHERS)


VIEWS = {
    name: type(name, (Listed,), {"pagination_class": paginator})
    for name, paginator in PAGINATORS.items()
}


class Urls:
    router = SimpleRouter()
    for name, view in VIEWS.items():
        router.register(name, view, name)
    router.register("actions", Actions, "actions")
    router.register("reports", Reports, "reports")
    router.register("throttled", Throttled, "throttled")
    router.register("leaving", LeavingOfNumbers, "leaving")
    router.register("leaving_offsets", LeavingOfOffsets, "leaving_offsets")
    for name, paginator in {"unknown": Unknown, "unknown_hidden": UnknownHidden}.items():
        router.register(name, type(name, (Listed,), {"pagination_class": paginator}), name)
    urlpatterns = [
        path("api/", include(router.urls)),
        path("by_hand/", ByHand.as_view(), name="by_hand"),
        path("function/", function, name="function"),
        path("cached/", cache_page(60)(Cached.as_view({"get": "list"})), name="cached"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


def serving(settings_of, user, monkeypatch):
    """Serve with some settings."""
    monkeypatch.setattr(decorators, "declared", {})

    def served(**chosen):
        settings_of(ROOT_URLCONF=Urls, TOOLBOOTH=chosen)
        return acting_as(user).call

    return served


def companies(count: int) -> list[str]:
    """The names of new rows, in their order."""
    Company.objects.all().delete()
    names = [f"company {number:04}" for number in range(count)]
    Company.objects.bulk_create(
        Company(id=number + 1, name=name, employees=number, website="https://example.org/")
        for number, name in enumerate(names)
    )
    return names


def names_on(page: dict) -> list[str]:
    inner = [each for value in page.values() if isinstance(value, dict) for each in value.values()]
    for each in [*page.values(), *inner]:
        if isinstance(each, list) and (not each or isinstance(each[0], dict)):
            return [row["name"] for row in each]
    raise AssertionError(page)
