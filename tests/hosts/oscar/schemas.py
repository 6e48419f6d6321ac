"""The bodies of three views of the shop's API, which the views do not declare: a project declares
them to drf-spectacular.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiViewExtension
from drf_spectacular.utils import extend_schema
from oscarapi.serializers.basket import VoucherAddSerializer
from oscarapi.serializers.product import AddProductSerializer


class AddProduct(OpenApiViewExtension):
    target_class = "oscarapi.views.basket.AddProductView"

    def view_replacement(self) -> Any:
        class Described(self.target_class):
            @extend_schema(request=AddProductSerializer)
            def post(self) -> None: ...

        return Described


class AddVoucher(OpenApiViewExtension):
    target_class = "oscarapi.views.basket.AddVoucherView"

    def view_replacement(self) -> Any:
        class Described(self.target_class):
            @extend_schema(request=VoucherAddSerializer)
            def post(self) -> None: ...

        return Described


class AttributeValue(OpenApiSerializerExtension):
    """Its `code` is declared as read only, but read nevertheless."""

    target_class = "oscarapi.serializers.product.ProductAttributeValueSerializer"

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        made = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {
            **made,
            "properties": {"code": {"type": "string"}, **made["properties"]},
            "required": ["code", "value"],
        }
