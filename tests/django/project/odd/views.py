"""Views that do something unusual, each in one way."""

import datetime
import decimal
import io
import json
import uuid
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db import transaction
from django.http import FileResponse, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, mixins, parsers, permissions, status, throttling, viewsets
from rest_framework.authentication import BaseAuthentication, BasicAuthentication
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import CursorPagination, LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from odd.models import Device, Log, Secret, Site, Thing
from odd.serializers import (
    DeviceSerializer,
    FancySerializer,
    LinkedSerializer,
    LogSerializer,
    OwnedSerializer,
    ProtocolSerializer,
    PublicNoteSerializer,
    SecretSerializer,
    ShelfSerializer,
    SiteSerializer,
    StaffNoteSerializer,
    ThingSerializer,
    TreeSerializer,
)
from sales.models import Deal
from toolbooth.django.decorators import mcp_ignore

# --- schemas ---


class ThingFilter(filters.FilterSet):
    size = filters.RangeFilter()
    day = filters.DateFromToRangeFilter()
    kind = filters.MultipleChoiceFilter(choices=[("small", "Small"), ("large", "Large")])
    rank__in = filters.BaseInFilter(field_name="rank")
    by = filters.OrderingFilter(fields=["title", "size"])

    class Meta:
        model = Thing
        fields = {
            "title": ["exact", "icontains"],
            "active": ["exact"],
            "price": ["gte"],
            "code": ["exact"],
        }


class Offsets(LimitOffsetPagination):
    default_limit = 5


class ThingViewSet(viewsets.ModelViewSet):
    """Things of every kind."""

    queryset = Thing.objects.order_by("id")
    serializer_class = ThingSerializer
    pagination_class = Offsets
    filter_backends = [filters.DjangoFilterBackend, OrderingFilter, SearchFilter]
    filterset_class = ThingFilter
    ordering_fields = ["title", "size"]
    search_fields = ["^title", "handle"]


def _exactly(value: Any) -> Any:
    return sorted(value) if isinstance(value, set) else str(value)


class Echo(generics.GenericAPIView):
    """Answers with the validated data of its serializer."""

    def post(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(
            {"read": json.loads(json.dumps(serializer.validated_data, default=_exactly))}
        )


class FancyView(Echo):
    serializer_class = FancySerializer


class ProtocolView(Echo):
    serializer_class = ProtocolSerializer


class TreeView(Echo):
    serializer_class = TreeSerializer


class SiteViewSet(viewsets.ModelViewSet):
    """Found by slug, which can be changed."""

    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    lookup_field = "slug"


class DeviceViewSet(viewsets.ModelViewSet):
    """The devices of one site."""

    serializer_class = DeviceSerializer
    pagination_class = None
    lookup_field = "serial"

    def get_queryset(self) -> Any:
        return Device.objects.filter(site_id=self.kwargs["site_pk"]).order_by("label")


class AnyDeviceViewSet(mixins.CreateModelMixin, viewsets.GenericViewSet):
    queryset = Device.objects.all()
    serializer_class = DeviceSerializer


class LinkedViewSet(mixins.CreateModelMixin, viewsets.GenericViewSet):
    queryset = Device.objects.all()
    serializer_class = LinkedSerializer


class OwnedViewSet(mixins.CreateModelMixin, viewsets.GenericViewSet):
    queryset = Device.objects.all()
    serializer_class = OwnedSerializer


class ShelfView(generics.GenericAPIView):
    """Relations at depth."""

    serializer_class = ShelfSerializer

    def put(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = [
            DeviceSerializer(DeviceSerializer().create(each)).data
            for each in serializer.validated_data["devices"]
        ]
        return Response({"devices": made})


class NoteViewSet(viewsets.GenericViewSet):
    """Another serializer for another caller."""

    queryset = Log.objects.all()

    def get_serializer_class(self) -> Any:
        user = self.request.user
        return StaffNoteSerializer if user.is_staff or user.is_anonymous else PublicNoteSerializer

    def create(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        Log.objects.create(line=repr(dict(serializer.validated_data)))
        return Response(serializer.validated_data, status=201)


class NeedsUserViewSet(viewsets.GenericViewSet):
    def get_serializer_class(self) -> Any:
        return {"ann": PublicNoteSerializer}[self.request.user.username]

    def create(self, request: Request) -> Response:
        return Response({})


class CursorView(generics.ListCreateAPIView):
    class Cursors(CursorPagination):
        ordering = "id"
        page_size = 2

    queryset = Log.objects.all()
    serializer_class = LogSerializer
    pagination_class = Cursors


class KnownView(APIView):
    serializer_class = PublicNoteSerializer

    def post(self, request: Request) -> Response:
        return Response({"text": request.data["text"]})


class UnknownView(APIView):
    def post(self, request: Request) -> Response:
        return Response(request.data)

    def get(self, request: Request) -> Response:
        return Response({"hello": "you"})


@extend_schema(request=PublicNoteSerializer, responses=None)
@api_view(["POST"])
def described(request: Request) -> Response:
    """Described by hand."""
    return Response({"text": request.data["text"]})


@api_view(["POST"])
def undescribed(request: Request) -> Response:
    return Response(request.data)


@extend_schema(
    request=None,
    parameters=[
        OpenApiParameter(
            "X-Tenant", str, OpenApiParameter.HEADER, required=True, description="Whose"
        ),
        OpenApiParameter("colour", str, enum=["red", "blue"]),
        OpenApiParameter("ids", {"type": "array", "items": {"type": "integer"}}, explode=False),
    ],
)
@api_view(["POST"])
def bodiless(request: Request) -> Response:
    """Takes no body."""
    return Response({"tenant": request.headers["X-Tenant"], "query": request.query_params})


class ListView(generics.GenericAPIView):
    """Its body is a list."""

    serializer_class = LogSerializer

    @extend_schema(request=LogSerializer(many=True))
    def post(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=201)


class FormView(FancyView):
    parser_classes = [parsers.FormParser]


class MultipartView(FancyView):
    parser_classes = [parsers.MultiPartParser]


@mcp_ignore
class IgnoredView(Echo):
    serializer_class = LogSerializer


class PartlyIgnoredViewSet(viewsets.ModelViewSet):
    queryset = Log.objects.all()
    serializer_class = LogSerializer

    @mcp_ignore
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().create(request, *args, **kwargs)

    @mcp_ignore
    @action(detail=False, methods=["post"])
    def wipe(self, request: Request) -> Response:
        return Response({})

    @action(detail=False, methods=["post"], serializer_class=LogSerializer)
    def keep(self, request: Request) -> Response:
        return Response({})


class HiddenView(Echo):
    schema = None
    serializer_class = LogSerializer


# --- answers ---


class Answers(viewsets.ViewSet):
    """One action for each kind of answer."""

    @action(detail=False)
    def page(self, request: Request) -> HttpResponse:
        return HttpResponse("<p>hello</p>")

    @action(detail=False)
    def file(self, request: Request) -> FileResponse:
        return FileResponse(io.BytesIO(b"\x00\x01"), filename="a.bin")

    @action(detail=False)
    def redirect(self, request: Request) -> HttpResponse:
        return HttpResponseRedirect("/elsewhere/")

    @action(detail=False)
    def stream(self, request: Request) -> StreamingHttpResponse:
        return StreamingHttpResponse(iter([b"a,b\n", b"1,2\n"]), content_type="text/csv")

    @action(detail=False)
    def array(self, request: Request) -> Response:
        return Response([1, 2], headers={"X-Total": "2"})

    @action(detail=False)
    def scalar(self, request: Request) -> Response:
        return Response("hello")

    @action(detail=False)
    def nothing(self, request: Request) -> Response:
        return Response(status=204)

    @action(detail=False)
    def everything(self, request: Request) -> Response:
        return Response(
            {
                "decimal": decimal.Decimal("1.10"),
                "uuid": uuid.UUID(int=1),
                "moment": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.UTC),
                "day": datetime.date(2026, 1, 2),
                "span": datetime.timedelta(hours=1),
                "lazy": gettext_lazy("hello"),
                "safe": mark_safe("<b>"),
                "choice": Deal.Stage.WON,
                "level": Thing.Rank.HIGH,
                "set": {1},
                "bytes": b"abc",
                "nan": float("nan"),
                "big": 2**70,
                "rows": Log.objects.values_list("line"),
                3: "three",
            }
        )

    @action(detail=False)
    def unsendable(self, request: Request) -> Response:
        Log.objects.create(line="kept")
        return Response({"value": object()})

    @action(detail=False)
    def unavailable(self, request: Request) -> Response:
        return Response({"secret": "database is at 10.0.0.1"}, status=503)

    @action(detail=False)
    def crash(self, request: Request) -> Response:
        raise RuntimeError("database is at 10.0.0.1")

    @action(detail=False)
    def conflict(self, request: Request) -> Response:
        return Response({"detail": "somebody was quicker"}, status=409)

    @action(detail=False)
    def bad(self, request: Request) -> HttpResponse:
        return HttpResponse("not like this", status=400, content_type="text/plain")


# --- transactions ---


class Writes(viewsets.GenericViewSet):
    """Each writes a row first."""

    serializer_class = LogSerializer

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def then_raises(self, request: Request) -> Response:
        Log.objects.create(line="raises")
        raise RuntimeError("after writing")

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def then_refuses(self, request: Request) -> Response:
        Log.objects.create(line="refuses")
        raise ValidationError({"line": ["no"]})

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def then_answers_400(self, request: Request) -> Response:
        Log.objects.create(line="answers")
        return Response({"line": ["no"]}, status=status.HTTP_400_BAD_REQUEST)


@transaction.non_atomic_requests
@extend_schema(request=None, responses=None)
@api_view(["POST"])
def writes_freely(request: Request) -> Response:
    Log.objects.create(line="freely")
    raise ValidationError({"line": ["no"]})


# --- permissions ---


class RestrictedViewSet(viewsets.ModelViewSet):
    """Rows are restricted in `initial`, as NetBox and Nautobot do it."""

    queryset = Secret.objects.order_by("id")
    serializer_class = SecretSerializer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.queryset = self.queryset.filter(owner=request.user)


class IsOwner(permissions.BasePermission):
    message = "it is not yours"

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        return obj.owner == request.user


class ObjectViewSet(viewsets.ModelViewSet):
    queryset = Secret.objects.order_by("id")
    serializer_class = SecretSerializer
    permission_classes = [permissions.IsAuthenticated, IsOwner]

    def perform_create(self, serializer: Any) -> None:
        if serializer.validated_data.get("body") == "forbidden":
            raise PermissionDenied("not this")
        serializer.save(owner=self.request.user)


class ModelPermissionViewSet(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [permissions.DjangoModelPermissions]


class ThriceAMinute(throttling.UserRateThrottle):
    rate = "3/min"
    scope = "thrice"


class ThrottledView(generics.ListAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    throttle_classes = [ThriceAMinute]


class OpenView(generics.ListCreateAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [permissions.AllowAny]


class OfThatSite(permissions.BasePermission):
    """Looks at the address."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return Site.objects.filter(pk=view.kwargs["site_pk"], owner=request.user).exists()


class SiteLogView(generics.ListAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [permissions.IsAuthenticated, OfThatSite]


class ByKey(BaseAuthentication):
    """An authentication method of its own."""

    def authenticate(self, request: Any) -> Any:
        from django.contrib.auth.models import User  # noqa: PLC0415  # not ready when views are first imported

        key = request.headers.get("X-Key")
        if key is None:
            return None
        if key != "right":
            raise AuthenticationFailed("wrong key")
        return User.objects.get(username="ann"), key

    def authenticate_header(self, request: Any) -> str:
        return "Key"


class KeyView(generics.ListAPIView):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    authentication_classes = [ByKey]


class CountingBackend(ModelBackend):
    """Counts how often a password is checked."""

    checked = 0

    def authenticate(self, request: Any, **credentials: Any) -> Any:
        CountingBackend.checked += 1
        return super().authenticate(request, **credentials)


class CountedViewSet(viewsets.ModelViewSet):
    queryset = Device.objects.order_by("serial")
    serializer_class = DeviceSerializer
    authentication_classes = [BasicAuthentication]


@api_view(["GET"])
@permission_classes([permissions.IsAdminUser])
def staff_only(request: Request) -> Response:
    """Only for staff."""
    return Response({"ok": True})


class WhoView(APIView):
    """Who calls, and how."""

    def get(self, request: Any) -> Response:
        return Response(
            {
                "user": request.user.username,
                "authenticator": type(request.successful_authenticator).__name__,
                "address": request.build_absolute_uri(),
                "language": request.headers.get("Accept-Language"),
                "accept": request.headers.get("Accept"),
                "mcp": [name for name in request.headers if name.lower().startswith("mcp-")],
                "marked": getattr(request._request, "marked", None),
            }
        )


def marking(get_response: Any) -> Any:
    """Middleware that leaves something on the request."""

    def middleware(request: Any) -> Any:
        request.marked = "by middleware"
        return get_response(request)

    return middleware
