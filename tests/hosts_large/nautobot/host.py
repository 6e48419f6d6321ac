"""Settings of the comparisons for nautobot: the callers, the rows, and the writes."""

from collections.abc import Iterator
from typing import Any

from rest_framework.schemas.generators import EndpointEnumerator
from rows import TOKENS, called, key_of

__all__ = [
    "CHANGED_TABLES",
    "COST",
    "LEFT_OUT",
    "OF_THE_HOST",
    "PACKAGES",
    "PATHS",
    "RANDOM",
    "RANDOM_TEXTS",
    "UNLIKE",
    "USERS",
    "WRITES",
]

PACKAGES = ("nautobot",)

USERS: dict[str, dict[str, str]] = {
    **{name: {"Authorization": f"Token {token}"} for name, token in TOKENS.items()},
    "anonymous": {},
}

_NAMES = ("Berlin", "berlin-1", "public", "Tenant A", "eth0", "Site", "seven")
"""The rows that are named in a path, if they exist: the colleague can see most of them."""


def _row(model: Any) -> Any:
    rows = model._default_manager.all()
    has_name = any(field.name == "name" for field in model._meta.get_fields())
    named = rows.filter(name__in=_NAMES).first() if has_name else None
    return named or rows.first()


def _paths() -> Iterator[tuple[tuple[str, str], str]]:
    """Yield a row for each path that names one, if there is one of its kind."""
    for path, _, callback in EndpointEnumerator().get_api_endpoints():
        queryset = getattr(callback.cls, "queryset", None)
        if path.startswith("/api/") and "{pk}" in path and queryset is not None:
            found = _row(queryset.model)
            if found is not None:
                yield (path, "pk"), str(found.pk)


_NOWHERE = "5f1bcb1a-0000-4000-8000-000000000001"
PATHS: dict[Any, Any] = {**dict(_paths()), "pk": _NOWHERE, "name": "Export Object List"}

RANDOM = {"key", "natural_slug", "password", "request_id", "task_id"}
"""A natural slug ends in four digits of the row's key."""
RANDOM_TEXTS = (r"\b[0-9a-f]{6}(?= \()",)
"""The display of a token."""
CHANGED_TABLES = ("auth_permission", "django_migrations", "constance_constance")
"""The comparisons do not write to these, and they are long."""

OF_THE_HOST = ("open-map", "number-enum")
"""Custom fields and relationships, and choices that are numbers."""

LEFT_OUT: dict[str, str] = {
    "schema__get": "it is the OpenAPI document of the whole API, not data",
    "schema_json__get": "it is the OpenAPI document of the whole API, not data",
    "schema_yaml__get": "it is the OpenAPI document of the whole API, not data",
}
UNLIKE: dict[str, str] = {"api_status__get": "it tells how long the database has been up"}

_ACTIVE = called("Active")


def _key(label: str, name: str = "") -> str:
    return key_of(label, name)


_BERLIN = _key("dcim.location", "Berlin")
_SITE = _key("dcim.locationtype", "Site")
_ON = _key("extras.status", "Active")
_TAG = _key("extras.tag", "public")
_ONE = _key("dcim.device", "berlin-1")

_URL = "http://testserver/api"

COST = [
    ("retrieve", ("location__retrieve", {"id": _BERLIN})),
    ("list", ("location__list", {})),
]

_LOCATION: dict[str, Any] = {"name": "Berlin 2", "location_type": _SITE, "status": _ON}

WRITES: list[Any] = [
    # Relations in every form that REST accepts.
    ("location__create", _LOCATION),
    ("location__create", {**_LOCATION, "status": _ACTIVE, "location_type": called("Site")}),
    ("location__create", {**_LOCATION, "status": {"id": _ON}, "location_type": {"id": _SITE}}),
    (
        "location__create",
        {
            **_LOCATION,
            "status": f"{_URL}/extras/statuses/{_ON}/",
            "location_type": {"url": f"{_URL}/dcim/location-types/{_SITE}/"},
        },
    ),
    ("location__create", {**_LOCATION, "status": "Active", "location_type": "Site"}),
    (
        "location__create",
        {
            **_LOCATION,
            "status": {
                "id": _ON,
                "object_type": "extras.status",
                "url": f"{_URL}/extras/statuses/{_ON}/",
            },
        },
    ),
    ("location__create", {**_LOCATION, "status": called("No such status")}),
    ("location__create", {**_LOCATION, "status": {"no_such_field": 1}}),
    ("location__create", {**_LOCATION, "name": "Hidden", "tags": [_TAG, called("secret")]}),
    ("location__create", {**_LOCATION, "tags": [_TAG], "tenant": called("Tenant A")}),
    ("location__create", {**_LOCATION, "tenant": called("Tenant B")}),
    ("location__create", {**_LOCATION, "custom_fields": {"floor": "3", "kind": "small"}}),
    ("location__create", {**_LOCATION, "custom_fields": {"kind": "no such choice"}}),
    (
        "location__create",
        {**_LOCATION, "relationships": {"backup": {"source": {"objects": [called("berlin-1")]}}}},
    ),
    (
        "location__create",
        {**_LOCATION, "relationships": {"backup": {"source": {"objects": [_ONE]}}}},
    ),
    ("location__create", {**_LOCATION, "latitude": "52.52", "time_zone": "Europe/Berlin"}),
    ("location__create", {"name": "Berlin 3"}),
    # Many rows in one call.
    ("location__create", {"objects": [_LOCATION, {**_LOCATION, "name": "Berlin 3"}]}),
    ("location__bulk_partial_update", {"objects": [{"id": _BERLIN, "asn": 65001}]}),
    (
        "location__bulk_partial_update",
        {"objects": [{"id": _BERLIN, "description": "x", "status": called("Planned")}]},
    ),
    ("location__bulk_update", {"objects": [{**_LOCATION, "id": _BERLIN, "name": "Berlin 9"}]}),
    ("location__bulk_destroy", {"objects": [{"id": _key("dcim.location", "Secret Site")}]}),
    ("tag__bulk_destroy", {"objects": [{"id": _TAG}]}),
    # Updates.
    ("location__partial_update", {"id": _BERLIN, "description": "By the river"}),
    ("location__partial_update", {"id": _BERLIN, "status": called("Planned"), "tags": [_TAG]}),
    ("location__partial_update", {"id": _BERLIN, "tags": []}),
    ("location__partial_update", {"id": _BERLIN, "tenant": None}),
    ("location__partial_update", {"id": _BERLIN, "name": "Hamburg"}),
    ("location__partial_update", {"id": _key("dcim.location", "Secret Site"), "name": "Known"}),
    ("location__update", {**_LOCATION, "id": _BERLIN, "name": "Berlin 1"}),
    ("location__update", {"id": _BERLIN, "name": "Berlin 1"}),
    ("location__partial_update", {"id": _NOWHERE, "name": "Berlin 1"}),
    ("location__destroy", {"id": _BERLIN}),
    ("location__destroy", {"id": _key("dcim.location", "Secret Site")}),
    ("device__partial_update", {"id": _ONE, "comments": "Loud", "serial": "123"}),
    ("device__partial_update", {"id": _ONE, "rack": called("Rack 1"), "position": 3}),
    ("device__partial_update", {"id": _ONE, "rack": called("Rack 1"), "face": "front"}),
    (
        "device__partial_update",
        {"id": _ONE, "primary_ip4": {"host": "192.168.0.1"}, "local_config_context_data": {"a": 1}},
    ),
    (
        "device__create",
        {
            "name": "berlin-3",
            "device_type": {"model": "A100", "manufacturer": called("Acme")},
            "role": called("router"),
            "status": _ON,
            "location": _BERLIN,
        },
    ),
    ("device__destroy", {"id": _key("dcim.device", "berlin-2")}),
    ("devicetype__create", {"model": "A200", "manufacturer": called("Acme"), "u_height": 2}),
    ("manufacturer__create", {"name": "Other"}),
    ("manufacturer__create", {"name": "Acme"}),
    ("manufacturer__destroy", {"id": _key("dcim.manufacturer", "Acme")}),
    ("locationtype__create", {"name": "Hall", "parent": _SITE, "content_types": ["dcim.device"]}),
    ("locationtype__create", {"name": "Hall", "content_types": ["no.such"]}),
    ("tag__create", {"name": "public 2", "content_types": ["dcim.device"], "color": "00ff00"}),
    ("tag__create", {"name": "private", "content_types": ["dcim.device"]}),
    ("tag__destroy", {"id": _TAG}),
    ("tag__destroy", {"id": _key("extras.tag", "secret")}),
    ("status__create", {"name": "Lost", "content_types": ["dcim.device", "dcim.location"]}),
    ("role__create", {"name": "spare", "content_types": ["dcim.device"], "weight": 5}),
    ("tenant__create", {"name": "Tenant C", "description": "New"}),
    ("tenant__partial_update", {"id": _key("tenancy.tenant", "Tenant A"), "description": "Old"}),
    ("tenant__partial_update", {"id": _key("tenancy.tenant", "Tenant B"), "description": "Old"}),
    (
        "prefix__create",
        {"prefix": "192.168.0.128/25", "namespace": called("Lab"), "status": _ACTIVE},
    ),
    ("prefix__create", {"prefix": "no prefix", "namespace": called("Lab"), "status": _ACTIVE}),
    (
        "ipaddress__create",
        {"address": "192.168.0.9/24", "namespace": called("Lab"), "status": _ON},
    ),
    ("vlan__create", {"vid": 8, "name": "eight", "status": _ON}),
    (
        "vlan__create",
        {"vid": 9, "name": "nine", "status": _ACTIVE, "vlan_group": called("Lab VLANs")},
    ),
    ("vlan__create", {"vid": 99, "name": "high", "status": _ACTIVE, "vlan_group": "Lab VLANs"}),
    ("vrf__create", {"name": "red", "namespace": called("Lab"), "rd": "65000:1"}),
    (
        "interface__create",
        {"device": _ONE, "name": "eth9", "type": "1000base-t", "status": _ON},
    ),
    (
        "interface__create",
        {"device": _ONE, "name": "eth9", "type": {"value": "virtual"}, "status": _ON},
    ),
    (
        "interface__partial_update",
        {
            "id": _key("dcim.interface", "eth2"),
            "mode": "tagged",
            "tagged_vlans": [{"vid": 7}],
            "untagged_vlan": None,
        },
    ),
    (
        "cable__create",
        {
            "termination_a_type": "dcim.consoleport",
            "termination_a_id": _key("dcim.consoleport", "con0"),
            "termination_b_type": "dcim.consoleserverport",
            "termination_b_id": _key("dcim.consoleserverport", "con0"),
            "status": called("Connected"),
            "label": "C",
            "length": 1,
            "length_unit": "m",
        },
    ),
    ("rack__create", {"name": "Rack 2", "location": _BERLIN, "status": _ON, "u_height": 10}),
    ("rackreservation__create", {"rack": called("Rack 1"), "units": [9], "description": "x"}),
    ("contact__create", {"name": "Ann", "email": "ann@example.org"}),
    (
        "note__create",
        {
            "assigned_object_type": "dcim.location",
            "assigned_object_id": _BERLIN,
            "note": "Closed on Mondays",
        },
    ),
    ("location__notes_post", {"id": _BERLIN, "note": "Use the back door"}),
    (
        "customfield__create",
        {"label": "Age", "key": "age", "type": "integer", "content_types": ["dcim.device"]},
    ),
    (
        "webhook__create",
        {
            "name": "Hook 2",
            "content_types": ["dcim.rack"],
            "type_delete": True,
            "payload_url": "https://hooks.example.org/b",
            "http_method": "POST",
            "http_content_type": "application/json",
        },
    ),
    (
        "configcontext__create",
        {"name": "DNS", "data": {"dns": ["10.0.0.2"]}, "locations": [_BERLIN], "weight": 1},
    ),
    (
        "secret__create",
        {
            "name": "Key 2",
            "provider": "environment-variable",
            "parameters": {"variable": "NOT_SET_ANYWHERE"},
        },
    ),
    ("cluster__create", {"name": "Cluster 2", "cluster_type": called("KVM")}),
    (
        "virtualmachine__create",
        {"name": "vm-2", "cluster": called("Cluster 1"), "status": _ON, "vcpus": 2},
    ),
    ("group__create", {"name": "writers"}),
    ("user__create", {"username": "dan", "password": "not a real one"}),
    ("token__create", {"description": "For a script"}),
    (
        "objectpermission__create",
        {
            "name": "read",
            "object_types": ["dcim.location"],
            "actions": ["view"],
            "constraints": {"name": "Berlin"},
            "users": [],
        },
    ),
    ("graphqlquery__create", {"name": "Tags", "query": "{ tags { name } }"}),
]
