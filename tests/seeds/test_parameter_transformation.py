"""The code and the calls of the parameter-transformation decision
(docs/project/evidence/parameter-transformation.md) on our registry and on both protected hosts.

First its own two layers, as originally written; then the same parameters with `JsonText`, which
needs no second layer.
"""

import json
import warnings
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from document_servers import EVERY_HOST, listed, passed, refused, serve
from toolbooth import ContractWarning, JsonText, ToolError, Unpack, compile_function
from toolbooth.testing import call_over_wire

HEADERS_TEXT = '{"User-Agent": "Bot", "Accept": "application/json"}'
HEADERS = {"User-Agent": "Bot", "Accept": "application/json"}


# --- its own code: text outside, a model inside ---


class HttpRequestParams(BaseModel):
    """Parameters of an HTTP request. The validator reads JSON text."""

    HEADERS_DESC: ClassVar[str] = 'Custom headers as JSON object, e.g. {"User-Agent": "MyBot"}'

    headers: dict[str, str] | None = Field(None, description=HEADERS_DESC)

    @field_validator("headers", mode="before")
    @classmethod
    def parse_json_strings(cls, v: Any) -> dict[str, str] | None:
        if v is None:
            return None
        if isinstance(v, str):
            parsed = json.loads(v)
            return {str(k): str(val) for k, val in parsed.items()}
        return v


class HttpRequestTool:
    """A tool of two layers: `execute` takes text and builds the model itself."""

    async def execute(
        self,
        headers: Annotated[str | None, Field(description=HttpRequestParams.HEADERS_DESC)] = None,
    ) -> dict[str, Any]:
        """Execute the tool."""
        try:
            request = HttpRequestParams(headers=headers)
        except Exception as e:
            raise ToolError("http_request", f"Invalid parameters: {e}") from e
        return {"headers": request.headers}


async def unpacked(request: Annotated[HttpRequestParams, Unpack()]) -> dict[str, Any]:
    """The same model, unpacked: one layer."""
    return {"headers": request.headers}


@EVERY_HOST
def test_both_layers_publish_the_description_that_is_written_once(host):
    tools = listed(serve(host, HttpRequestTool().execute, unpacked))
    described = {"description": HttpRequestParams.HEADERS_DESC}
    assert tools["execute"]["inputSchema"] == {
        "type": "object",
        "properties": {"headers": {"type": "string", **described}},
    }
    headers = tools["unpacked"]["inputSchema"]["properties"]["headers"]
    assert headers["description"].startswith(HttpRequestParams.HEADERS_DESC)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"headers": HEADERS_TEXT}, HEADERS),
        ({"headers": None}, None),
        ({}, None),
        ({"headers": '{"page": 2}'}, {"page": "2"}),
    ],
    ids=["text", "null", "absent", "values-that-the-validator-makes-text"],
)
@pytest.mark.parametrize("tool", ["execute", "unpacked"])
@EVERY_HOST
def test_tool_with_json_text_gets_the_text_unchanged(host, tool, arguments, headers):
    server = serve(host, HttpRequestTool().execute, unpacked)
    assert passed(call_over_wire(server, tool, arguments)) == ({"headers": headers}, [])


@EVERY_HOST
def test_object_is_accepted_for_a_model_and_refused_for_text(host):
    server = serve(host, HttpRequestTool().execute, unpacked)
    sent = {"headers": HEADERS}
    assert passed(call_over_wire(server, "unpacked", sent)) == (sent, [])
    problems, _ = refused(call_over_wire(server, "execute", sent))
    assert problems == [("wrong-type", "$.headers")]


@EVERY_HOST
def test_a_tool_error_is_shown_with_its_own_message(host):
    server = serve(host, HttpRequestTool().execute)
    result = call_over_wire(server, "execute", {"headers": "no JSON"})
    assert (result.is_error, result.problems) == (True, ())
    assert result.text.startswith("Tool 'http_request' failed: Invalid parameters: ")


# --- the same parameters with `JsonText` ---

Status = Literal["active", "inactive", "blocked", "completed"]
Risk = Literal["low", "medium", "high", "critical"]
TextMap = dict[str, str]


class Login(BaseModel):
    username: str
    password: str


class HttpToolProvider:
    """Much JSON: most calls use these fields."""

    def http_request(
        self,
        url: str,
        method: Literal["GET", "POST"] = "GET",
        headers: Annotated[TextMap | None, JsonText(example={"User-Agent": "MyBot"})] = None,
        params: Annotated[TextMap | None, JsonText(example={"q": "tea"})] = None,
        cookies: Annotated[TextMap | None, JsonText(example={"lang": "en"})] = None,
        auth: Annotated[Login | None, JsonText(example={"username": "a", "password": "b"})] = None,
        follow_redirects: bool = True,
    ) -> dict[str, Any]:
        """Make an HTTP request."""
        login = auth.model_dump() if auth else None
        sent = {"headers": headers, "params": params, "cookies": cookies, "auth": login}
        return {"url": url, "method": method, "follow_redirects": follow_redirects, **sent}


Metadata = Annotated[
    dict[str, Any] | None,
    Field(description='Additional metadata, e.g. {"priority": "high", "reviewer": "alice"}'),
]
Tags = Annotated[
    list[str] | None,
    Field(description='Tags for categorization, e.g. ["security", "critical", "auth-bypass"]'),
]


class MissionToolProvider:
    """JSON for the one field that nests."""

    def create_mission(
        self,
        mission_id: str,
        name: str,
        goal: str,
        scope: Annotated[
            dict[str, list[str]] | None, JsonText(example={"hosts": ["shop.test"]})
        ] = None,
        tags: Tags = None,
        metadata: Metadata = None,
    ) -> dict[str, Any]:
        """Create a mission."""
        texts = {"mission_id": mission_id, "name": name, "goal": goal}
        return {**texts, "scope": scope, "tags": tags, "metadata": metadata}


class AiLoggingToolProvider:
    """JSON for filters with several values."""

    def create_target(
        self,
        host: Annotated[str, Field(pattern=r"^[\w.-]+$")],
        port: int = 443,
        protocol: Literal["http", "https"] = "https",
        notes: str = "",
    ) -> dict[str, Any]:
        """Record a target."""
        return {"host": host, "port": port, "protocol": protocol, "notes": notes}

    def search_targets(
        self,
        status: Annotated[list[Status] | None, JsonText(example=["active"])] = None,
        risk_level: Annotated[list[Risk] | None, JsonText(example=["high"])] = None,
    ) -> dict[str, Any]:
        """Find targets."""
        return {"status": status, "risk_level": risk_level}

    def search_by_type(self, status: list[Status] | None = None) -> dict[str, Any]:
        """The same filter as a typed list, as `examples/recon` has it."""
        return {"status": status}


def all_providers(host: str) -> Any:
    logs = AiLoggingToolProvider()
    return serve(
        host,
        HttpToolProvider().http_request,
        MissionToolProvider().create_mission,
        logs.create_target,
        logs.search_targets,
        logs.search_by_type,
    )


def kind_of(schema: dict[str, Any]) -> str:
    is_json = schema.get("contentMediaType") == "application/json"
    return "JSON text" if is_json else schema["type"]


@EVERY_HOST
def test_parameters_of_three_providers_are_published_as_in_the_guideline(host):
    published = {
        name: {
            param: kind_of(schema) for param, schema in tool["inputSchema"]["properties"].items()
        }
        for name, tool in listed(all_providers(host)).items()
    }
    assert published == {
        "http_request": {
            "url": "string",
            "method": "string",
            "headers": "JSON text",
            "params": "JSON text",
            "cookies": "JSON text",
            "auth": "JSON text",
            "follow_redirects": "boolean",
        },
        "create_mission": {
            "mission_id": "string",
            "name": "string",
            "goal": "string",
            "scope": "JSON text",
            "tags": "array",
            "metadata": "object",
        },
        "create_target": {
            "host": "string",
            "port": "integer",
            "protocol": "string",
            "notes": "string",
        },
        "search_targets": {"status": "JSON text", "risk_level": "JSON text"},
        "search_by_type": {"status": "array"},
    }


@EVERY_HOST
def test_json_text_is_published_as_a_string_with_an_example(host):
    headers = listed(all_providers(host))["http_request"]["inputSchema"]["properties"]["headers"]
    assert headers["type"] == "string"
    assert '{"User-Agent": "MyBot"}' in headers["description"]
    assert "JSON" in headers["description"]


NATIVE = {
    "headers": HEADERS,
    "params": {"q": "tea"},
    "cookies": {"lang": "en"},
    "auth": {"username": "ann", "password": "pw"},
}
AS_TEXT = {name: json.dumps(value) for name, value in NATIVE.items()}


@pytest.mark.parametrize("fields", [AS_TEXT, NATIVE], ids=["text", "native"])
@EVERY_HOST
def test_text_and_native_objects_give_the_tool_the_same_values(host, fields):
    arguments = {"url": "https://example.org", **fields}
    result = call_over_wire(all_providers(host), "http_request", arguments)
    direct = {"url": "https://example.org", "method": "GET", "follow_redirects": True}
    assert passed(result) == ({**direct, **NATIVE}, [])


@pytest.mark.parametrize("scope", [{"hosts": ["a", "b"]}, '{"hosts": ["a", "b"]}'], ids=type)
@EVERY_HOST
def test_a_nested_scope_is_json_text_and_tags_and_metadata_are_direct(host, scope):
    direct = {"mission_id": "m-1", "name": "Shop", "goal": "Log in"}
    rest = {"tags": ["security"], "metadata": {"priority": "high"}}
    result = call_over_wire(
        all_providers(host), "create_mission", {**direct, **rest, "scope": scope}
    )
    assert passed(result) == ({**direct, **rest, "scope": {"hosts": ["a", "b"]}}, [])


@pytest.mark.parametrize("status", ['["active", "inactive"]', ["active", "inactive"]], ids=type)
@EVERY_HOST
def test_a_filter_of_several_values_may_be_sent_as_text(host, status):
    server = all_providers(host)
    both = ["active", "inactive"]
    found = call_over_wire(server, "search_targets", {"status": status})
    assert passed(found) == ({"status": both, "risk_level": None}, [])

    # A typed list accepts the text too, and reports a repair.
    repairs = [("json-text", "$.status")] if isinstance(status, str) else []
    found = call_over_wire(server, "search_by_type", {"status": status})
    assert passed(found) == ({"status": both}, repairs)


@EVERY_HOST
def test_a_simple_value_is_sent_unchanged_and_json_around_it_is_refused(host):
    server = all_providers(host)
    simple = {"host": "example.com", "port": 443, "protocol": "https", "notes": ""}
    result = call_over_wire(server, "create_target", {"host": "example.com"})
    assert passed(result) == (simple, [])
    problems, corrected = refused(
        call_over_wire(server, "create_target", {"host": '{"value": "example.com"}'})
    )
    assert (problems, corrected) == ([("invalid", "$.host")], None)


# --- examples for direct types ---


class BadMission(BaseModel):
    metadata: dict[str, Any] | None = Field(None, description="Additional metadata")


class GoodMission(BaseModel):
    metadata: Metadata = None
    tags: Tags = None


def test_a_dict_without_an_example_is_a_contract_warning_that_names_it():
    def bad(mission: BadMission) -> str:
        return ""

    with pytest.warns(ContractWarning, match="metadata'"):
        compile_function(bad)


def test_a_dict_and_a_list_with_examples_give_no_warning():
    def good(mission: GoodMission) -> str:
        return ""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_function(good)
