"""Views of third-party packages."""

from adrf.views import APIView as AsyncAPIView
from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from drf_standardized_errors.handler import exception_handler
from rest_flex_fields.views import FlexFieldsModelViewSet
from rest_framework import generics, permissions, viewsets
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework_guardian.filters import ObjectPermissionsFilter
from rest_framework_json_api import parsers as api_parsers
from rest_framework_json_api import renderers as api_renderers
from rest_framework_json_api import serializers as api_serializers
from rest_framework_json_api.views import ModelViewSet as ApiModelViewSet

from shop import serializers
from shop.models import Author, Book, Domain, Nameserver, Note, Project, Record, Upload


class DomainViewSet(viewsets.ModelViewSet):
    queryset = Domain.objects.order_by("id")
    serializer_class = serializers.DomainSerializer


class NameserverViewSet(viewsets.ModelViewSet):
    serializer_class = serializers.NameserverSerializer

    def get_queryset(self):
        return Nameserver.objects.filter(domain=self.kwargs["domain_pk"]).order_by("id")


class RecordViewSet(viewsets.ModelViewSet):
    serializer_class = serializers.RecordSerializer

    def get_queryset(self):
        return Record.objects.filter(
            nameserver=self.kwargs["nameserver_pk"], nameserver__domain=self.kwargs["domain_pk"]
        )

    def perform_create(self, serializer):
        parent = Nameserver.objects.filter(
            pk=self.kwargs["nameserver_pk"], domain=self.kwargs["domain_pk"]
        ).first()
        if parent is None:
            raise NotFound("no such nameserver")
        serializer.save(nameserver=parent)


class ProjectViewSet(viewsets.ModelViewSet):
    queryset = Project.objects.order_by("id")
    serializer_class = serializers.AnyProjectSerializer


class BookViewSet(viewsets.ModelViewSet):
    queryset = Book.objects.order_by("id")
    serializer_class = serializers.BookSerializer


class FlexBookViewSet(FlexFieldsModelViewSet):
    queryset = Book.objects.order_by("id")
    serializer_class = serializers.FlexBookSerializer
    permit_list_expands = ("author",)


class TaggedBookViewSet(viewsets.ModelViewSet):
    queryset = Book.objects.order_by("id")
    serializer_class = serializers.TaggedBookSerializer


class NoteViewSet(viewsets.ModelViewSet):
    """Keys are written in camel case on the wire; rows are one's own, and restricted before the
    handler runs.
    """

    queryset = Note.objects.order_by("id")
    serializer_class = serializers.NoteSerializer
    parser_classes = (CamelCaseJSONParser,)
    renderer_classes = (CamelCaseJSONRenderer,)

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.queryset = self.queryset.filter(owner=request.user)

    def perform_create(self, serializer):
        serializer.save(owner=self.request.user)


class GuardedNoteViewSet(viewsets.ModelViewSet):
    queryset = Note.objects.order_by("id")
    serializer_class = serializers.NoteSerializer
    permission_classes = (permissions.DjangoObjectPermissions,)
    filter_backends = (ObjectPermissionsFilter,)

    def perform_create(self, serializer):
        serializer.save(owner=self.request.user)


class UploadViewSet(viewsets.ModelViewSet):
    queryset = Upload.objects.order_by("id")
    serializer_class = serializers.UploadSerializer


class PlainUploadViewSet(viewsets.ModelViewSet):
    queryset = Upload.objects.order_by("id")
    serializer_class = serializers.PlainUploadSerializer


class ApiAuthorSerializer(api_serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ("name",)


class ApiAuthorViewSet(ApiModelViewSet):
    queryset = Author.objects.order_by("id")
    serializer_class = ApiAuthorSerializer
    parser_classes = (api_parsers.JSONParser,)
    renderer_classes = (api_renderers.JSONRenderer,)
    resource_name = "authors"


class AsyncAuthorView(AsyncAPIView):
    serializer_class = serializers.AuthorSerializer

    async def get(self, request):
        return Response([author.name async for author in Author.objects.order_by("id")])

    async def post(self, request):
        author = await Author.objects.acreate(name=request.data["name"], pk=9)
        return Response({"id": author.pk, "by": str(request.user)}, 201)


class StrictAuthorView(generics.ListCreateAPIView):
    queryset = Author.objects.order_by("id")
    serializer_class = serializers.AuthorSerializer

    def get_exception_handler(self):
        return exception_handler
