"""The database of label-studio, migrated once, with rows of every kind: two of each in the owner's
organisation, so that a wrong key is another row, and one project in the stranger's.
"""

import shutil
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils.module_loading import import_string

CONFIG = """<View><Text name="text" value="$text"/><Choices name="kind" toName="text">
<Choice value="good"/><Choice value="bad"/></Choices></View>"""

NOWHERE = "http://127.0.0.1:9"
"""A URL on this machine where no server answers."""

LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)

TOKENS = {"owner": "1" * 40, "colleague": "2" * 40, "stranger": "3" * 40}


def main() -> None:
    database = Path(settings.DATABASES["default"]["NAME"])
    migrated = database.with_name("migrated.sqlite3")
    if not migrated.exists():
        connection.close()  # which label-studio has opened while it was set up
        database.unlink(missing_ok=True)
        call_command("migrate", verbosity=0, skip_checks=True)
        connection.close()
        shutil.copy(database, migrated)
    shutil.copy(migrated, database)
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
    (Path(settings.LOCAL_FILES_DOCUMENT_ROOT) / "tasks").mkdir(parents=True, exist_ok=True)
    seed()
    date_back()


def seed() -> None:
    create_organization = import_string("organizations.functions.create_organization")
    owner, colleague, stranger = (_user(name) for name in TOKENS)
    mine = create_organization("Mine", owner, legacy_api_tokens_enabled=True)
    theirs = create_organization("Theirs", stranger, legacy_api_tokens_enabled=True)
    mine.add_user(colleague)
    for user, organization in ((owner, mine), (colleague, mine), (stranger, theirs)):
        user.active_organization = organization
        user.save()
    for title in ("Reviews", "Mails"):
        _project(title, owner, colleague)
    _project("Letters", stranger, stranger)
    _labels(owner, mine)
    for step in ("DATA_UPLOAD", "CONF_SETTINGS"):
        _model("projects.ProjectOnboardingSteps").objects.create(
            code=step, title=step, description=step, order=1
        )


def _model(name: str) -> Any:
    return apps.get_model(name)


def _user(name: str) -> Any:
    user = _model("users.User").objects.create_user(
        email=f"{name}@example.org",
        password="a test value",
        username=name,
        first_name=name.title(),
        last_name="Test",
    )
    _model("authtoken.Token").objects.filter(user=user).delete()
    _model("authtoken.Token").objects.create(user=user, key=TOKENS[name])
    return user


def _project(title: str, owner: Any, colleague: Any) -> None:
    organization = owner.active_organization
    project = _model("projects.Project").objects.create(
        title=title, label_config=CONFIG, created_by=owner, organization=organization
    )
    _model("projects.ProjectMember").objects.create(user=colleague, project=project)
    tasks = [_task(project, at, owner, colleague) for at in range(3)]
    _views(project, owner)
    _files(project, owner, tasks)
    _storages(project)
    backend = _model("ml.MLBackend").objects.create(project=project, url=NOWHERE, title="model")
    tasks[0].predictions.update(model=backend)
    for path in ("everything", "tasks"):
        webhook = _model("webhooks.Webhook").objects.create(
            organization=organization,
            project=project if path == "tasks" else None,
            url=f"{NOWHERE}/{path}",
            send_for_all_actions=path == "everything",
            is_active=False,
        )
    webhook.set_actions({"TASKS_CREATED", "ANNOTATION_CREATED"})


def _result(choice: str) -> list[Any]:
    return [
        {
            "id": "r1",
            "from_name": "kind",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [choice]},
        }
    ]


def _task(project: Any, at: int, owner: Any, colleague: Any) -> Any:
    task = _model("tasks.Task").objects.create(
        project=project, data={"text": f"text {at}"}, meta={"at": at}, inner_id=at + 1
    )
    prediction = _model("tasks.Prediction").objects.create(
        task=task, project=project, result=_result("bad"), score=0.5, model_version="one"
    )
    annotations = [
        _model("tasks.Annotation").objects.create(
            task=task,
            project=project,
            result=_result("good"),
            completed_by=user,
            parent_prediction=prediction,
            lead_time=1.5,
        )
        for user in (owner, colleague)
    ]
    _model("tasks.AnnotationDraft").objects.create(
        task=task, annotation=annotations[0], user=owner, result=_result("bad"), lead_time=1.0
    )
    return task


def _views(project: Any, owner: Any) -> None:
    for at, title in enumerate(("All", "Labelled")):
        group = _model("data_manager.FilterGroup").objects.create(conjunction="and")
        group.filters.create(
            index=0, column="filter:tasks:id", type="Number", operator="greater", value=0
        )
        _model("data_manager.View").objects.create(
            project=project,
            user=owner,
            order=at,
            data={"title": title, "type": "list"},
            filter_group=group,
            ordering=["tasks:id"],
            selected_items={"all": False, "included": []},
        )


def _files(project: Any, owner: Any, tasks: list[Any]) -> None:
    for name in ("one.json", "two.json"):
        upload = _model("data_import.FileUpload")(user=owner, project=project)
        upload.file.save(name, ContentFile(b'[{"data": {"text": "from a file"}}]'))
        imported = _model("projects.ProjectImport").objects.create(
            project=project, status="completed", task_count=1, file_upload_ids=[upload.pk]
        )
        _model("projects.ProjectReimport").objects.create(
            project=project, status="completed", file_upload_ids=imported.file_upload_ids
        )
        export = _model("data_export.Export")(
            project=project, created_by=owner, title=name, status="completed"
        )
        export.file.save(name, ContentFile(b"[]"))
        export.converted_formats.create(
            project=project, organization=project.organization, export_type="CSV"
        )
    tasks[0].file_upload = upload
    tasks[0].save()


def _storages(project: Any) -> None:
    folder = str(Path(settings.LOCAL_FILES_DOCUMENT_ROOT) / "tasks")
    kinds: dict[str, dict[str, Any]] = {
        "AzureBlob": {"container": "box"},
        "GCS": {"bucket": "box", "google_application_credentials": "not JSON"},
        "LocalFiles": {"path": folder},
        "Redis": {"host": "127.0.0.1", "port": "9", "path": "tasks"},
        "S3": {
            "bucket": "box",
            "s3_endpoint": NOWHERE,
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
        },
    }
    import_module("io_storages.localfiles.models")  # which its URLs would import otherwise
    for kind, fields in kinds.items():
        for way in ("Import", "Export"):
            model = _model(f"io_storages.{kind}{way}Storage")
            model.objects.create(project=project, title=f"{kind} {way}", **fields)


def _labels(owner: Any, organization: Any) -> None:
    for at, title in enumerate(("good", "bad"), start=1):
        label = _model("labels_manager.Label").objects.create(
            created_by=owner, organization=organization, title=title, value=[title]
        )
        _model("labels_manager.LabelLink").objects.create(
            project_id=at, label=label, from_name="kind"
        )


def date_back() -> None:
    """Give all rows an old date, so that a new one is seen."""
    migrations: Any = MigrationRecorder(connection).Migration
    for model in (*apps.get_models(), migrations):
        dates = {
            field.name: LONG_AGO
            for field in model._meta.local_fields
            if isinstance(field, models.DateTimeField) and "expire" not in field.name
        }
        for name, date in dates.items():
            rows = model._base_manager.filter(**{f"{name}__isnull": False})
            rows.update(**{name: date})


if __name__ == "__main__":
    django.setup()
    main()
