"""Calls of label-studio's tools that write. Some must be refused."""

from typing import Any

from prepare import CONFIG, NOWHERE
from twin_calls import RestCall


def _result(choice: str) -> list[Any]:
    return [
        {
            "id": "new",
            "from_name": "kind",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [choice]},
        }
    ]


def _acting(name: str, project: int, **body: Any) -> tuple[str, dict[str, Any], RestCall]:
    """Return an action of the data manager, whose name is in the query."""
    call = RestCall("POST", f"/api/dm/actions/?id={name}&project={project}", body)
    return "dm_actions__post", {"id": name, "project": project, **body}, call


def _imported(query: dict[str, Any], objects: list[Any]) -> tuple[str, dict[str, Any], RestCall]:
    words = "&".join(f"{name}={str(each).lower()}" for name, each in query.items())
    call = RestCall("POST", f"/api/projects/1/import?{words}", objects)
    return "project_import__create", {"id": 1, **query, "objects": objects}, call


_SOME = {"all": False, "included": [1, 2]}
_FILTER = {
    "conjunction": "and",
    "items": [
        {"filter": "filter:tasks:id", "operator": "greater", "type": "Number", "value": 1},
    ],
}

WRITES: list[tuple[Any, ...]] = [
    # projects
    ("projects__create", {"title": "New project"}),
    ("projects__create", {"title": "Labelled", "label_config": CONFIG, "color": "#FF0000"}),
    ("projects__create", {"title": "No", "label_config": CONFIG}),
    ("projects__create", {"title": "Broken", "label_config": "<View"}),
    ("projects__create", {"title": "Elsewhere", "organization": 2}),
    ("projects__partial_update", {"id": 1, "title": "Renamed", "show_instruction": True}),
    ("projects__partial_update", {"id": 1, "sampling": "Uniform sampling"}),
    ("projects__partial_update", {"id": 1, "control_weights": {"kind": {"overall": 0.5}}}),
    ("projects__partial_update", {"id": 2, "maximum_annotations": 3, "description": None}),
    ("projects__partial_update", {"id": 2, "label_config": "<View><Text/></View>"}),
    ("projects__destroy", {"id": 1}),
    ("projects__destroy", {"id": 3}),
    ("label_config_validate__create", {"label_config": CONFIG}),
    ("label_config_validate__create", {"label_config": "<View"}),
    ("project_label_config_validate__post", {"id": 1, "label_config": CONFIG}),
    ("project_label_config_validate__post", {"id": 1, "label_config": "<View></View>"}),
    ("project_tasks__destroy", {"id": 2}),
    ("project_file_uploads__destroy", {"id": 1}),
    # tasks
    ("tasks__create", {"project": 1, "data": {"text": "one more"}}),
    ("tasks__create", {"project": 1, "data": {"no_text": "one more"}}),
    ("tasks__create", {"data": {"text": "nowhere"}}),
    ("tasks__partial_update", {"id": 1, "data": {"text": "changed", "more": [1, {"deep": True}]}}),
    ("tasks__partial_update", {"id": 1, "project": 2}),
    ("tasks__destroy", {"id": 1}),
    ("tasks__destroy", {"id": 7}),
    ("task_annotations__create", {"id": 1, "result": _result("good"), "lead_time": 2.5}),
    ("task_annotations__create", {"id": 2, "result": [], "was_cancelled": True}),
    ("task_annotations__create", {"id": 3, "result": _result("bad"), "ground_truth": True}),
    ("annotations__partial_update", {"id": 1, "result": _result("bad")}),
    ("annotations__partial_update", {"id": 2, "ground_truth": True, "lead_time": 7}),
    ("annotations__partial_update", {"id": 13, "result": _result("bad")}),
    ("annotations__destroy", {"id": 2}),
    ("annotation_convert_to_draft__post", {"id": 2}),
    ("prediction__create", {"task": 1, "result": _result("good"), "score": 0.9}),
    ("prediction__create", {"task": 1, "result": _result("no such choice")}),
    ("prediction__create", {"task": 99, "result": _result("good")}),
    ("prediction__update", {"id": 1, "task": 1, "result": _result("good"), "model_version": "b"}),
    ("prediction__partial_update", {"id": 2, "score": 0.1}),
    ("prediction__destroy", {"id": 3}),
    # imports and exports
    _imported({}, [{"data": {"text": "imported"}}]),
    _imported(
        {"return_task_ids": True, "commit_to_project": True},
        [
            {"data": {"text": "a"}, "annotations": [{"result": _result("good")}]},
            {"data": {"text": "b"}, "predictions": [{"result": _result("bad"), "score": 0.5}]},
        ],
    ),
    _imported({"commit_to_project": False}, [{"data": {"text": "kept apart"}}]),
    _imported({}, [{"data": {"other": "no text"}}]),
    ("project_import_predictions__create", {"id": 1, "objects": [{"task": 1, "result": []}]}),
    (
        "project_import_predictions__create",
        {"id": 1, "objects": [{"task": 2, "result": _result("good"), "model_version": "two"}]},
    ),
    ("project_exports__create", {"id": 1, "title": "An export"}),
    (
        "project_exports__create",
        {
            "id": 1,
            "title": "Some of it",
            "task_filter_options": {"view": 1, "annotated": "only"},
            "annotation_filter_options": {"usual": True, "skipped": False},
            "serialization_options": {
                "drafts": {"only_id": True},
                "predictions": {"only_id": True},
            },
        },
    ),
    ("project_exports__destroy", {"id": 1, "export_pk": 1}),
    ("project_exports_convert__create", {"id": 1, "export_pk": 1, "export_type": "CSV"}),
    ("project_exports_convert__create", {"id": 1, "export_pk": 2, "export_type": "NOTHING"}),
    ("file_upload__destroy", {"id": 1}),
    # the data manager
    _acting("delete_tasks", 1, selectedItems=_SOME),
    _acting("delete_tasks_annotations", 1, selectedItems=_SOME),
    _acting("delete_tasks_predictions", 1, selectedItems={"all": True, "excluded": [3]}),
    _acting("delete_tasks", 1, selectedItems={"all": True, "excluded": []}, filters=_FILTER),
    _acting("predictions_to_annotations", 1, selectedItems=_SOME),
    _acting("delete_tasks", 3, selectedItems={"all": False, "included": [7]}),
    ("view__create", {"project": 1, "data": {"filters": _FILTER, "ordering": ["tasks:id"]}}),
    ("view__create", {"project": 1, "data": {"title": "Titled", "type": "list"}}),
    ("view__update", {"id": 1, "project": 1, "data": {"filters": _FILTER}}),
    ("view__partial_update", {"id": 2, "data": {"filters": _FILTER, "ordering": ["-tasks:id"]}}),
    ("view__partial_update", {"id": 5, "data": {"filters": _FILTER}}),
    ("view__update_order", {"project": 1, "ids": [2, 1]}),
    ("view__reset", {"project": 1}),
    ("view__destroy", {"id": 1}),
    # labels
    (
        "label__create",
        {
            "objects": [
                {"project": 1, "from_name": "kind", "value": ["fine"], "title": "fine"},
                {"project": 2, "from_name": "kind", "value": ["poor"], "title": "poor"},
            ]
        },
    ),
    ("label__partial_update", {"id": 1, "title": "very good", "approved": True}),
    ("label__partial_update", {"id": 2, "value": {"a": ["document"]}}),
    ("label__destroy", {"id": 2}),
    ("label_link__create", {"project": 2, "label": 1, "from_name": "kind"}),
    ("label_link__partial_update", {"id": 1, "from_name": "other"}),
    ("label_link__destroy", {"id": 2}),
    # machine learning
    ("ml__create", {"project": 1, "url": NOWHERE, "title": "unreachable"}),
    ("ml__partial_update", {"id": 1, "title": "renamed", "timeout": 5}),
    ("ml__partial_update", {"id": 1, "auth_method": "BASIC_AUTH", "basic_auth_user": "me"}),
    ("ml__destroy", {"id": 1}),
    ("ml_train__post", {"id": 1}),
    ("ml_interactive_annotating__post", {"id": 1, "task": 1, "context": {"result": []}}),
    # storages
    ("storage_localfiles__create", {"project": 1, "title": "Nowhere", "path": "/nowhere"}),
    ("storage_localfiles__partial_update", {"id": 1, "title": "Renamed", "use_blob_urls": True}),
    ("storage_localfiles__destroy", {"id": 1}),
    ("storage_localfiles_sync__post", {"id": 1}),
    ("storage_redis__create", {"project": 1, "host": "127.0.0.1", "port": "9", "path": "x"}),
    ("storage_redis__destroy", {"id": 1}),
    ("storage_azure__destroy", {"id": 1}),
    ("storage_gcs__destroy", {"id": 1}),
    ("storage_s3__destroy", {"id": 1}),
    ("export_storage_localfiles__partial_update", {"id": 2, "description": "of annotations"}),
    ("export_storage_localfiles__destroy", {"id": 2}),
    ("export_storage_s3__destroy", {"id": 1}),
    # webhooks
    ("webhooks__create", {"url": f"{NOWHERE}/new", "is_active": False}),
    (
        "webhooks__create",
        {
            "url": f"{NOWHERE}/some",
            "project": 1,
            "send_for_all_actions": False,
            "actions": ["TASKS_CREATED", "LABEL_LINK_DELETED"],
            "headers": {"X-Test": "yes"},
        },
    ),
    ("webhooks__create", {"url": "no address", "project": 1}),
    ("webhooks__update", {"id": 2, "url": f"{NOWHERE}/put", "actions": ["PROJECT_UPDATED"]}),
    ("webhooks__partial_update", {"id": 2, "actions": [], "is_active": False}),
    ("webhooks__destroy", {"id": 1}),
    # people
    ("current_user_hotkeys__patch", {"custom_hotkeys": {"a:b": {"key": "ctrl+m"}}}),
    ("current_user_hotkeys__patch", {"custom_hotkeys": {"a": {"key": "ctrl+m"}}}),
    ("current_user_reset_token__post", {}),
    ("organization_reset_token__post", {}),
    ("api_labels_bulk__post", {}),
    ("user__create", {"username": "newcomer", "email": "newcomer@example.org"}),
    ("user__partial_update", {"id": 1, "first_name": "Olga", "allow_newsletters": True}),
    ("user__partial_update", {"id": 2, "last_name": "Other"}),
    ("user__destroy", {"id": 2}),
    ("organizations__partial_update", {"id": 1, "title": "Ours", "contact_info": "a@example.org"}),
    ("organizations__partial_update", {"id": 2, "title": "Not mine"}),
    ("organization_memberships__destroy", {"id": 1, "user_pk": 2}),
    ("session_policy__partial_update", {"max_session_age": 60, "max_time_between_activity": 30}),
    ("session_policy__partial_update", {"max_session_age": 0}),
    ("api_jwt_settings__create", {"api_tokens_enabled": True, "legacy_api_tokens_enabled": True}),
    ("token_manage__create", {}),
    ("token_refresh__post", {"refresh": "no token"}),
    ("token_blacklist__post", {"refresh": "no token"}),
    (
        "fsm_entity_transition__post",
        {"entity_name": "task", "entity_id": 1, "transition_name": "task_in_progress"},
    ),
    (
        "fsm_entity_transition__post",
        {
            "entity_name": "project",
            "entity_id": 1,
            "transition_name": "project_in_progress",
            "transition_data": {},
        },
    ),
]
