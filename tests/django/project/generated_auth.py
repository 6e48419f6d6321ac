"""Views whose authenticators are generated: before each request, a test sets the callers that they
recognise.
"""

from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.urls import include, path
from rest_framework import exceptions, permissions, serializers, viewsets
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    SessionAuthentication,
)
from rest_framework.decorators import action
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Device, Site


@dataclass(frozen=True)
class Rule:
    """The part of the request that an authenticator reads, the values it accepts, and its answer to
    other values.
    """

    by: str
    taken: frozenset
    otherwise: str = "pass"
    """pass: it does not know the caller; fail: these credentials are wrong; deny: forbidden."""
    strict: bool = False
    """It fails if it is asked without the URL kwargs of a call."""
    has_header: bool = True
    """It has a `WWW-Authenticate` header, so that REST framework answers 401."""


@dataclass
class Chosen:
    """The authenticators of the next request, and the other generated values."""

    reading: tuple = ()
    writing: tuple = ()
    is_open: bool = False
    owners: dict = field(default_factory=dict)


chosen = Chosen()


class Generated(BaseAuthentication):
    def __init__(self, rule):
        self.rule = rule

    def authenticate(self, request):
        name = request.headers.get("X-Tok")
        if not name:
            return None
        if self._seen(request) in self.rule.taken:
            user = User.objects.filter(username=name).first()
            if user is None:
                raise exceptions.AuthenticationFailed("nobody has this token")
            return user, name
        if self.rule.otherwise == "fail":
            raise exceptions.AuthenticationFailed("this token is not good here")
        if self.rule.otherwise == "deny":
            raise exceptions.PermissionDenied("this token is not good here")
        return None

    def authenticate_header(self, request):
        return "Tok" if self.rule.has_header else None

    def _seen(self, request):
        kwargs = request.parser_context["kwargs"]
        if self.rule.strict and "{" in request.path:
            raise KeyError(request.path)
        match self.rule.by:
            case "path":
                return request.path.rstrip("/").rpartition("/")[2]
            case "kwarg":
                return kwargs.get("area")
            case "method":
                return request.method
            case "header":
                return request.headers.get("X-Scope")
            case "object":
                return chosen.owners.get(kwargs.get("pk"))
            case _:
                return "parameter"


class IsKnown(permissions.IsAuthenticated):
    def has_permission(self, request, view):
        return chosen.is_open or super().has_permission(request, view)


class DeviceSerializer(serializers.ModelSerializer):
    site = serializers.SlugRelatedField(
        slug_field="slug", queryset=Site.objects.all(), required=False
    )

    class Meta:
        model = Device
        fields = ["serial", "label", "site"]
        read_only_fields = ["serial"]


class Pages(PageNumberPagination):
    page_size = 100


class Devices(viewsets.ModelViewSet):
    queryset = Device.objects.order_by("serial")
    serializer_class = DeviceSerializer
    permission_classes = [IsKnown]
    pagination_class = Pages

    def get_authenticators(self):
        # A view set does not know its action yet when its authenticators are requested.
        name = self.action_map.get(self.request.method.lower())
        is_read = name in ("list", "retrieve", "recent")
        return [Generated(rule) for rule in (chosen.reading if is_read else chosen.writing)]

    @action(detail=True, methods=["post"], serializer_class=serializers.Serializer)
    def mark(self, request, **kwargs):
        """Mark a device."""
        device = self.get_object()
        device.label = f"marked by {request.user.username}"
        device.save()
        return Response({"label": device.label})

    @action(detail=False, pagination_class=None, filter_backends=[])
    def recent(self, request, **kwargs):
        """Show who asks."""
        return Response({"who": request.user.username})


class Stock(Devices):
    authentication_classes = [SessionAuthentication, BasicAuthentication]
    get_authenticators = viewsets.ModelViewSet.get_authenticators


router = SimpleRouter()
router.register("devices", Devices, basename="devices")
router.register("areas/(?P<area>[a-z]+)/devices", Devices, basename="areas")
router.register("stock", Stock, basename="stock")
urlpatterns = [path("mcp/", include("toolbooth.django.urls")), path("api/", include(router.urls))]
