"""The contents of the database, and a call of each tool that writes."""

from typing import Any

from django.contrib.auth import get_user_model
from guardian.shortcuts import assign_perm
from shop.models import (
    ArtProject,
    Author,
    Book,
    Chapter,
    Domain,
    Nameserver,
    Note,
    Record,
    ResearchProject,
    Upload,
)


def seed() -> None:
    """Two of everything, so that a wrong key is some other row."""
    users = list(get_user_model().objects.order_by("pk"))
    for at in (1, 2):
        domain = Domain.objects.create(name=f"example{at}.org")
        Record.objects.create(
            nameserver=Nameserver.objects.create(domain=domain, host=f"ns{at}"), text=f"text {at}"
        )
        book = Book.objects.create(
            title=f"book {at}", author=Author.objects.create(name=f"author {at}")
        )
        book.tags.add(f"tag {at}")
        Chapter.objects.create(book=book, title=f"chapter {at}")
        note = Note.objects.create(
            owner=users[at - 1], text=f"note {at}", meta_data={"firstName": at}
        )
        for word in ("view", "change", "delete"):
            assign_perm(f"shop.{word}_note", users[at - 1], note)
        Upload.objects.create(name=f"upload {at}", file=f"files/{at}.txt")
    ArtProject.objects.create(topic="paint", artist="Ann")
    ResearchProject.objects.create(topic="physics", supervisor="Bob")


EXAMPLES = 6

PREVIEWED = 19
"""Tools whose writes can be previewed. Some of the libraries write in their own way, or use signals."""
JOINED: set[str] = set()
PATHS: dict[Any, Any] = {}
VALUES: dict[str, list[Any]] = {"author": [1, 2, 99], "domain": [1, 2, 99]}
UNSENT = {"artist", "supervisor"}  # each belongs to one kind of project; REST drops the other
UNLIKE = (
    "apiauthor__",  # its renderer makes JSON:API documents
    "note__",  # its renderer writes keys in camel case
    "jwt__",  # every token is different
    "jwt_refresh__",
)
"""Tools whose answers are only compared for success."""

HIDDEN: dict[str, str] = {}
_FILE = "takes a file, which is not sent over MCP"
_API = "it takes JSON:API documents; describe them with @extend_schema, or let it take plain JSON"
LEFT_OUT = {
    "apiauthor__create": _API,
    "apiauthor__partial_update": _API,
    "plainupload__create": f"'file' is required, and {_FILE}",
    "plainupload__update": f"'file' is required, and {_FILE}",
    "plainupload__partial_update": f"'picture' {_FILE}",
}
UNKNOWN = {
    "POST /api/apiauthors/",
    "PATCH /api/apiauthors/{pk}/",
    "POST /knox/login/",
    "POST /api/plainuploads/",
    "PUT /api/plainuploads/{pk}/",
}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("domain__create", {"name": "new.org"}),
    ("domain__update", {"id": 1, "name": "newer.org"}),
    ("domain__partial_update", {"id": 1, "name": "newest.org"}),
    ("domain__destroy", {"id": 2}),
    ("nameserver__create", {"domain_pk": 1, "domain": 1, "host": "ns9"}),
    ("nameserver__update", {"domain_pk": 1, "id": 1, "domain": 2, "host": "ns9"}),
    ("nameserver__partial_update", {"domain_pk": 1, "id": 1, "host": "ns9"}),
    ("nameserver__destroy", {"domain_pk": 2, "id": 2}),
    ("record__create", {"domain_pk": 1, "nameserver_pk": 1, "text": "v=spf1"}),
    ("record__update", {"domain_pk": 1, "nameserver_pk": 1, "id": 1, "text": "v=spf1"}),
    ("record__partial_update", {"domain_pk": 1, "nameserver_pk": 1, "id": 1, "text": "v=spf1"}),
    ("record__destroy", {"domain_pk": 1, "nameserver_pk": 1, "id": 1}),
    (
        "book__create",
        {
            "title": "new",
            "author": {"name": "Eve"},
            "chapters": [{"title": "one"}, {"title": "two", "pages": 3}],
        },
    ),
    ("book__update", {"id": 1, "title": "newer", "author": None, "chapters": [{"title": "one"}]}),
    ("book__partial_update", {"id": 1, "title": "newest"}),
    ("book__destroy", {"id": 1}),
    ("flexbook__create", {"title": "flex", "author": 2, "cover": "x"}),
    ("flexbook__update", {"id": 1, "title": "flex", "author": 2}),
    ("flexbook__partial_update", {"id": 1, "author": None}),
    ("flexbook__destroy", {"id": 1}),
    ("taggedbook__create", {"title": "tagged", "tags": ["red", "green, blue"]}),
    ("taggedbook__update", {"id": 1, "title": "tagged", "tags": []}),
    ("taggedbook__partial_update", {"id": 1, "tags": ["one"]}),
    ("taggedbook__destroy", {"id": 1}),
    ("note__create", {"text": "hi", "meta_data": {"a": 1}, "written_on": "2026-11-15"}),
    ("note__update", {"id": 1, "text": "hi"}),
    ("note__partial_update", {"id": 1, "meta_data": [1]}),
    ("note__destroy", {"id": 1}),
    ("guardednote__create", {"text": "hi"}),
    ("guardednote__update", {"id": 1, "text": "hi", "meta_data": {"firstName": {"userID": 1}}}),
    ("guardednote__partial_update", {"id": 1, "text": "hi"}),
    ("guardednote__destroy", {"id": 1}),
    ("upload__create", {"name": "f", "file": "aGVsbG8="}),
    ("upload__update", {"id": 1, "name": "f", "file": "data:text/plain;base64,aGVsbG8="}),
    ("upload__partial_update", {"id": 1, "name": "f"}),
    ("upload__destroy", {"id": 1}),
    ("plainupload__partial_update", {"id": 1, "name": "f"}),
    ("plainupload__destroy", {"id": 1}),
    ("project__create", {"resourcetype": "ArtProject", "topic": "t", "artist": "a"}),
    ("project__update", {"id": 1, "resourcetype": "ArtProject", "topic": "t", "artist": "b"}),
    ("project__partial_update", {"id": 1, "resourcetype": "ArtProject", "topic": "new"}),
    ("project__destroy", {"id": 1}),
    ("apiauthor__destroy", {"id": 1}),
    ("asyncauthor__post", {"name": "Zoe"}),
    ("strictauthor__create", {"name": "Zoe"}),
    ("jwt__create", {"username": "ann", "password": "pw"}),
    ("user__create", {"username": "eve", "password": "Str0ng enough", "email": "e@example.org"}),
    ("user__me_put", {"email": "r@example.org"}),
    ("user__me_patch", {"email": "r@example.org"}),
    ("user__set_password", {"new_password": "Str0ng enough", "current_password": "pw"}),
    ("user__set_username", {"new_username": "rooty", "current_password": "pw"}),
    ("user__update", {"id": 2, "email": "a@example.org"}),
    ("user__partial_update", {"id": 2, "email": "a@example.org"}),
    ("user__destroy", {"id": 2, "current_password": "pw"}),
    ("user__me_delete", {"current_password": "pw"}),
]
NEVER = {
    "knox_logout__post",  # these end a token, and no user here has one
    "knox_logoutall__post",
    "jwt_refresh__post",  # these need a signature of the server, or an email
    "jwt_verify__post",
    "user__activation",
    "user__resend_activation",
    "user__reset_password",
    "user__reset_password_confirm",
    "user__reset_username",
    "user__reset_username_confirm",
}
