"""The bodies of two DELETEs of djoser, which it does not declare: a project declares them."""

from typing import Any

from djoser.serializers import UserDeleteSerializer
from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.utils import extend_schema, extend_schema_view


class Users(OpenApiViewExtension):
    target_class = "djoser.views.UserViewSet"

    def view_replacement(self) -> Any:
        @extend_schema_view(
            destroy=extend_schema(request=UserDeleteSerializer),
            me=extend_schema(request=UserDeleteSerializer, methods=["DELETE"]),
        )
        class Declared(self.target_class):
            pass

        return Declared
