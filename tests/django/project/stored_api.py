"""Views that store the data they receive in one way or another, or do not store it."""

from decimal import Decimal

from asgiref.sync import sync_to_async
from django.db import transaction
from django.urls import include, path
from rest_framework import generics, serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Device, Site, Thing
from sales.models import Deal, Line


class Shouting(Thing):
    """Changes its title when it is saved."""

    class Meta:
        proxy = True
        app_label = "odd"

    def save(self, *args, **kwargs):
        self.title = self.title.upper()
        super().save(*args, **kwargs)


class ThingSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ["id", "title", "kind", "document", "price"]


class Filtering(ThingSerializer):
    """Throws a field away before it is validated."""

    note2 = serializers.CharField(required=False)

    class Meta(ThingSerializer.Meta):
        fields = ["id", "title", "note2"]

    def to_internal_value(self, data):
        return super().to_internal_value({"title": data["title"]} if "title" in data else {})


class WithDefaults(Filtering):
    """Shows defaults for a field that no row has."""

    note2 = serializers.CharField(default="x")
    other = serializers.CharField(allow_null=True, required=False)

    class Meta(ThingSerializer.Meta):
        fields = ["id", "title", "note2", "other"]

    def create(self, validated_data):
        return Thing.objects.create(title=validated_data["title"])


class WriteOnly(ThingSerializer):
    password = serializers.CharField(write_only=True, required=False)
    handle = serializers.CharField(write_only=True, required=False)

    class Meta(ThingSerializer.Meta):
        fields = ["id", "title", "password", "handle"]

    def create(self, validated_data):
        validated_data.pop("password", None)
        return super().create(validated_data)

    def update(self, instance, validated_data):
        validated_data.pop("password", None)
        return super().update(instance, validated_data)


class ShoutingSerializer(ThingSerializer):
    class Meta(ThingSerializer.Meta):
        model = Shouting


class NeverSaved(ThingSerializer):
    def create(self, validated_data):
        return Thing(**validated_data)

    def update(self, instance, validated_data):
        for name, value in validated_data.items():
            setattr(instance, name, value)
        return instance


class SavedInPart(ThingSerializer):
    def update(self, instance, validated_data):
        for name, value in validated_data.items():
            setattr(instance, name, value)
        instance.save(update_fields=["title"])
        return instance


class ChangedLater(ThingSerializer):
    def create(self, validated_data):
        title, document = validated_data.pop("title"), validated_data.pop("document", None)
        made = Thing.objects.create(title="first", document={}, **validated_data)
        made.title = title
        if document:
            made.document.update(document)
        return made


class ByQuery(ThingSerializer):
    def create(self, validated_data):
        return Thing.objects.bulk_create([Thing(**validated_data)])[0]

    def update(self, instance, validated_data):
        Thing.objects.filter(pk=instance.pk).update(**validated_data)
        return Thing.objects.get(pk=instance.pk)


class Rounding(ThingSerializer):
    price = serializers.DecimalField(max_digits=6, decimal_places=2)

    def validate_price(self, value):
        return value.quantize(Decimal("0.1"))


class Masking(ThingSerializer):
    def to_representation(self, instance):
        return {**super().to_representation(instance), "title": "***"}


class ShownOnce(serializers.CharField):
    """Fails when it is shown a second time."""

    shown = 0

    def to_representation(self, value):
        self.shown += 1
        return value if self.shown == 1 else 1 / 0


class Failing(Masking):
    title = ShownOnce()


class InDocument(serializers.ModelSerializer):
    """Shows a part of a document, which it does not always save."""

    city = serializers.CharField(source="document.city", required=False)

    class Meta:
        model = Thing
        fields = ["id", "city", "title"]

    def update(self, instance, validated_data):
        instance.document.update(validated_data.get("document", {}))
        if "title" in validated_data:
            instance.title = validated_data["title"]
            instance.save()
        return instance


class Clamped(serializers.IntegerField):
    def to_internal_value(self, data):
        return min(super().to_internal_value(data), 5)


class Changing(serializers.ModelSerializer):
    """Changes values as it reads them."""

    size = Clamped(required=False)
    document = serializers.DictField(
        child=serializers.DecimalField(max_digits=6, decimal_places=2), required=False
    )
    day = serializers.DateField(required=False)

    class Meta:
        model = Thing
        fields = ["id", "title", "size", "document", "day"]

    def validate_document(self, value):
        return {name: str(each) for name, each in value.items()}

    def validate_day(self, value):
        return None if value.year < 2000 else value


class ChangingMore(Changing):
    def validate_document(self, value):
        return {**super().validate_document(value), "more": "1.00"}


class Renaming(serializers.ModelSerializer):
    """Fields that are called otherwise than the columns."""

    label = serializers.CharField(source="title")
    whole = serializers.CharField(source="*", write_only=True, required=False)

    class Meta:
        model = Thing
        fields = ["id", "label", "whole"]

    def validate_whole(self, value):
        return {"handle": value}


def things(serializer):
    name = f"{serializer.__name__}View"
    queryset = serializer.Meta.model._default_manager.order_by("id")
    attributes = {"queryset": queryset, "serializer_class": serializer}
    return type(name, (viewsets.ModelViewSet,), attributes)


class DeviceSerializer(serializers.ModelSerializer):
    site_name = serializers.CharField(source="site.name", required=False)

    class Meta:
        model = Device
        fields = ["serial", "label", "site", "parts", "site_name"]
        read_only_fields = ["serial"]

    def update(self, instance, validated_data):
        name = validated_data.pop("site", {})
        if isinstance(name, dict):
            for key, value in name.items():
                setattr(instance.site, key, value)
        return super().update(instance, validated_data)


class Expanding(DeviceSerializer):
    """Shows relations whole."""

    class Meta(DeviceSerializer.Meta):
        fields = ["serial", "label", "site", "parts"]

    def to_representation(self, instance):
        shown = super().to_representation(instance)
        site = {"called": instance.site.name} if instance.site else None
        return {**shown, "site": site, "parts": instance.parts.count()}


class Brief(serializers.ModelSerializer):
    class Meta:
        model = Device
        fields = ["serial"]


class Devices(viewsets.ModelViewSet):
    queryset = Device.objects.all()
    serializer_class = Expanding


class Overruled(Devices):
    """Stores another site and no parts, and ignores the arguments."""

    def perform_create(self, serializer):
        serializer.save(site=Site.objects.get(slug="other"), parts=[])


class AnsweredBriefly(Overruled):
    serializer_class = DeviceSerializer

    def create(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response(Brief(serializer.instance).data, status=201)


class DottedDevices(Devices):
    serializer_class = DeviceSerializer


class LineSerializer(serializers.ModelSerializer):
    secret = serializers.CharField(write_only=True, required=False)
    remark = serializers.CharField(required=False)

    class Meta:
        model = Line
        fields = ["product", "price", "secret", "remark"]


class DealSerializer(serializers.ModelSerializer):
    lines = LineSerializer(many=True)

    class Meta:
        model = Deal
        fields = ["id", "title", "company", "lines"]

    def create(self, validated_data):
        lines = validated_data.pop("lines")
        deal = Deal.objects.create(**validated_data)
        for line in lines:
            Line.objects.create(deal=deal, product=line["product"], price=line["price"])
        return deal


class Deals(viewsets.ModelViewSet):
    queryset = Deal.objects.all()
    serializer_class = DealSerializer


class AsyncThings(generics.CreateAPIView):
    queryset = Thing.objects.all()
    serializer_class = Filtering

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return transaction.non_atomic_requests(view)


router = SimpleRouter()
for each in (
    ThingSerializer,
    Filtering,
    WithDefaults,
    WriteOnly,
    ShoutingSerializer,
    NeverSaved,
    SavedInPart,
    ChangedLater,
    ByQuery,
    Rounding,
    Masking,
    Failing,
    InDocument,
    Changing,
    ChangingMore,
    Renaming,
):
    router.register(each.__name__.lower(), things(each), each.__name__.lower())
router.register("devices", Devices, "devices")
router.register("overruled", Overruled, "overruled")
router.register("briefly", AnsweredBriefly, "briefly")
router.register("dotted", DottedDevices, "dotted")
router.register("deals", Deals, "deals")
urlpatterns = [
    *router.urls,
    path("async/", AsyncThings.as_view(), name="async"),
    path("mcp/", include("toolbooth.django.urls")),
]
