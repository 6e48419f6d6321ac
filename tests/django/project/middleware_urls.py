"""The URLconf of another site of the same project."""

from django.urls import include, path
from rest_framework.permissions import AllowAny
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from odd.models import Site
from odd.serializers import SiteSerializer


class Others(ModelViewSet):
    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)


router = SimpleRouter()
router.register("others", Others, basename="others")
urlpatterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
