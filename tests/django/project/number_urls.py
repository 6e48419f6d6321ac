"""A view that needs no database, for processes that do not share one."""

from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class Numbers(APIView):
    """Numbers up to a limit."""

    permission_classes = [AllowAny]
    authentication_classes = []

    @extend_schema(parameters=[OpenApiParameter("upto", int, required=True)], responses=dict)
    def get(self, request: Request) -> Response:
        return Response(list(range(int(request.query_params["upto"]))))


urlpatterns = [
    path("numbers/", Numbers.as_view(), name="numbers"),
    path("mcp/", include("toolbooth.django.urls")),
]
