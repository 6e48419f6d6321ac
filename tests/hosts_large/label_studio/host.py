"""The callers of label-studio, the rows there, and calls of its tools that read."""

from datetime import timedelta
from typing import Any

from data_import.models import FileUpload
from django.contrib.auth import get_user_model
from prepare import TOKENS
from rest_framework_simplejwt.tokens import AccessToken
from writes import WRITES

__all__ = ["WRITES"]

PACKAGES = ("label-studio",)


def _bearer(name: str) -> str:
    """Return a JSON Web Token, which the host's middleware reads."""
    token = AccessToken.for_user(get_user_model().objects.get(username=name))
    token.set_exp(lifetime=timedelta(days=1))
    return f"Bearer {token}"


USERS = {
    "owner": {"Authorization": f"Token {TOKENS['owner']}"},
    "colleague": {"Authorization": _bearer("colleague")},
    "stranger": {"X-Api-Key": TOKENS["stranger"]},
    "anonymous": {},
}

_FILE = FileUpload.objects.get(pk=1).file.name

PATHS: dict[Any, Any] = {
    "entity_name": "task",
    "action_id": "delete_tasks",
    "filename": _FILE.removeprefix("upload/"),
    "user_pk": 2,
}
"""Of the storages that share a table, the first imports and the second exports."""

for _kind in ("azure", "gcs", "localfiles", "redis"):
    for _end in ("", "/sync", "/form"):
        PATHS[f"/api/storages/export/{_kind}/{{pk}}{_end}", "pk"] = 2

RANDOM = {
    *("token", "key", "password", "unique_id", "invite_url", "access", "refresh", "exp", "jti"),
    *("duration", "expires_at"),
    # Every POST counts as activity, and so does a message to the endpoint, even if it only reads.
    "last_activity",
}
RANDOM_TEXTS = (r"\b[0-9a-f]{8}-(?=(one|two)\.json)", r"project-1-at-[-0-9a-f]+(_\w{7})?")
CHANGED_TABLES = ("django_session",)

OF_THE_HOST = ("number-enum", "parameter-name")  # enum: [false]; organization-only

LEFT_OUT: dict[str, str] = {}
UNLIKE: dict[str, str] = {}

# --- reads ----------------------------------------------------------------------------------------

_STORAGES = ("azure", "gcs", "localfiles", "redis", "s3")
_LISTS = [f"{way}storage_{kind}__list" for way in ("", "export_") for kind in _STORAGES]

READS: list[tuple[str, dict[str, Any]]] = [
    *[(tool, {"project": project}) for tool in _LISTS for project in (1, 3)],
    ("dm_actions__get", {"project": 1}),
    ("dm_actions_form__get", {"action_id": "predictions_to_annotations", "project": 1}),
    ("dm_columns__get", {"project": 1}),
    ("dm_columns__get", {"project": 3}),
    ("view__list", {"project": 1}),
    ("label_link__list", {"project": 1}),
    ("label_link__list", {"label__created_by": 1, "page": 1}),
    ("ml__list", {"is_interactive": True}),
    ("prediction__list", {"task__project": 2}),
    ("ml__list", {"project": 1}),
    ("prediction__list", {"project": 1}),
    ("prediction__list", {"task": 2}),
    ("projects__list", {"title": "Mails"}),
    ("projects__list", {"ordering": "-id", "include": "id,title"}),
    ("projects__list", {"ids": "1,2"}),
    ("project_counts__list", {"include": "id,task_number"}),
    ("project_tasks__list", {"id": 1, "page": 1, "page_size": 2}),
    ("project_file_uploads__list", {"id": 1, "all": True}),
    ("project_export__retrieve", {"id": 1, "export_type": "JSON"}),
    ("project_export__retrieve", {"id": 1, "export_type": "JSON", "download_all_tasks": True}),
    ("project_exports_download__retrieve", {"id": 1, "export_pk": 1, "exportType": "JSON"}),
    ("tasks__list", {"project": 1}),
    ("tasks__list", {"project": 1, "fields": "all"}),
    ("tasks__list", {"view": 1}),
    ("webhooks__list", {"project": "1"}),
    ("webhook_info__get", {"organization-only": True}),
    ("organization_memberships__list", {"id": 1, "contributed_to_projects": True}),
    (
        "organization_memberships__retrieve",
        {"id": 1, "user_pk": 1, "contributed_to_projects": True},
    ),
    ("fsm_entity_history__list", {"entity_name": "project", "entity_id": 1}),
    ("fsm_entity_history__list", {"entity_name": "annotation", "entity_id": 1, "ordering": "-id"}),
    ("user__retrieve", {"id": 2}),
    ("projects__retrieve", {"id": 3}),
    ("tasks__retrieve", {"id": 7}),
    ("annotations__retrieve", {"id": 13}),
    ("view__retrieve", {"id": 5}),
]
