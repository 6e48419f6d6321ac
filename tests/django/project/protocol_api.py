"""Views with every kind of page, filter and clashing name: the API that the tests of protocol
arguments call.
"""

from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, pagination, permissions, serializers, viewsets
from rest_framework.routers import SimpleRouter

from odd.views import ThingViewSet
from sales.models import Contact
from sales.views import CompanyViewSet, ContactViewSet
from toolbooth.django.describe.catalogue import catalogue


class Numbered(pagination.PageNumberPagination):
    page_size = 2
    page_size_query_param = "page_size"
    max_page_size = 3


class Sized(pagination.PageNumberPagination):
    """Makes pages only where a size is sent."""

    page_size = None
    page_size_query_param = "per"


class Never(pagination.PageNumberPagination):
    page_size = None


class Offsets(pagination.LimitOffsetPagination):
    default_limit = None
    max_limit = 3


class Cursors(pagination.CursorPagination):
    page_size = 2
    page_size_query_param = "size"
    max_page_size = 3
    ordering = "name"


class OwnSizes(pagination.LimitOffsetPagination):
    """Reads its limit itself: 0 is all of them."""

    default_limit = 2
    max_limit = 3

    def get_limit(self, request):
        asked = request.query_params.get("limit")
        return 100 if asked == "0" else super().get_limit(request)


class Listed(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Companies that can only be listed."""

    queryset = CompanyViewSet.queryset
    serializer_class = CompanyViewSet.serializer_class
    filter_backends = CompanyViewSet.filter_backends
    search_fields = CompanyViewSet.search_fields
    ordering_fields = CompanyViewSet.ordering_fields


class Numbers(Listed):
    pagination_class = Numbered


class Sizes(Listed):
    pagination_class = Sized


class Nevers(Listed):
    pagination_class = Never


class Limits(Listed):
    pagination_class = Offsets


class Cursor(Listed):
    pagination_class = Cursors
    filter_backends = []


class Own(Listed):
    pagination_class = OwnSizes


class Whole(Listed):
    pagination_class = None


class ClashingSerializer(serializers.ModelSerializer):
    """Fields that are called as protocol arguments are."""

    help = serializers.BooleanField(source="subscribed", required=False)
    verify = serializers.CharField(source="notes", required=False)

    class Meta:
        model = Contact
        fields = ["id", "email", "help", "verify"]


@extend_schema_view(
    list=extend_schema(
        parameters=[
            OpenApiParameter(name, str)
            for name in ("filters", "mode", "page", "page_size", "filter_keys", "help")
        ]
    )
)
class Clashing(viewsets.ModelViewSet):
    queryset = Contact.objects.order_by("email")
    serializer_class = ClashingSerializer
    pagination_class = None


@extend_schema_view(list=extend_schema(parameters=[OpenApiParameter("region", str, required=True)]))
class Regional(Listed):
    """One of its parameters must be sent."""

    def get_queryset(self):
        return (
            super()
            .get_queryset()
            .filter(name__startswith=self.request.query_params.get("region", "?"))
        )


class PersonSerializer(serializers.ModelSerializer):
    """Shows the notes to members of staff, and written texts to no caller."""

    password = serializers.CharField(write_only=True, required=False)

    class Meta:
        model = Contact
        fields = ["id", "email", "first_name", "notes", "password"]

    def get_fields(self):
        fields = super().get_fields()
        if not getattr(self.context["request"].user, "is_staff", False):
            del fields["notes"]
        return fields


class People(viewsets.ReadOnlyModelViewSet):
    queryset = Contact.objects.order_by("email")
    serializer_class = PersonSerializer


SECRET = {"type": "string", "format": "password"}


class Asked(People):
    """Shows only the rows named by its own parameter."""

    class Chosen(PersonSerializer):
        def get_fields(self):
            names = (
                self.context["request"].query_params.get("show", "id,email,first_name").split(",")
            )
            return {name: each for name, each in super().get_fields().items() if name in names}

    serializer_class = Chosen

    @extend_schema(parameters=[OpenApiParameter("show", str), OpenApiParameter("key", SECRET)])
    def list(self, request, *args, **kwargs):
        return super().list(request, *args, **kwargs)


class Personal(People):
    """Has a serializer only for somebody."""

    def get_serializer_class(self):
        return {True: PersonSerializer}[self.request.user.is_authenticated]


class Things(mixins.ListModelMixin, viewsets.GenericViewSet):
    queryset = ThingViewSet.queryset
    serializer_class = ThingViewSet.serializer_class
    pagination_class = ThingViewSet.pagination_class
    filter_backends = ThingViewSet.filter_backends
    filterset_class = ThingViewSet.filterset_class
    ordering_fields = ThingViewSet.ordering_fields
    search_fields = ThingViewSet.search_fields


class ForStaff(CompanyViewSet):
    permission_classes = [permissions.IsAdminUser]


MORE = SimpleRouter()
MORE.register("things", Things, "things")


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", CompanyViewSet, "companies")
    for view in (
        Numbers,
        Sizes,
        Nevers,
        Limits,
        Cursor,
        Own,
        Whole,
        Clashing,
        Regional,
        People,
        Asked,
        Personal,
        ForStaff,
    ):
        router.register(view.__name__.lower(), view, view.__name__.lower())
    urlpatterns = [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]


def names(result):
    return [row["name"] for row in result.value["results"]]


def problems(result):
    return [(each.code, each.where, each.message) for each in result.problems]


def taken(tool):
    """Return the protocol arguments of a tool, by their names in help."""
    return list(catalogue().registry.find(tool).extra_help().get("protocol", {}))
