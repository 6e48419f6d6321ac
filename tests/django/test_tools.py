"""Hand-written tools pass the same boundary, and run as a view of REST framework does."""

import asyncio
import json

import pytest
from django.http import HttpRequest
from django.test import Client
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.request import Request

from odd.models import Log
from toolbooth import Context, ContractError, ToolError
from toolbooth.content import Image
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture(autouse=True)
def declared(settings_of, monkeypatch):
    """Remove all hand-written tools except those of the test."""
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(TOOLBOOTH={"EXCLUDE": ["answers__*"]})


def test_a_function_tool_has_access_to_its_caller(mcp):
    @mcp_tool
    def greet(name: str, request: Request, times: int = 1) -> dict[str, str]:
        """Greet somebody."""
        return {"said": f"{request.user.username} greets {name}" * times}

    assert mcp("greet", {"name": "Bob"})["structuredContent"] == {"said": "ann greets Bob"}
    assert mcp("greet", {"data": {"name": "Bob"}})["_meta"]["toolbooth"]["corrected"] == {
        "name": "Bob"
    }
    assert mcp("greet", {"name": "Bob", "request": 1})["isError"] is True
    assert mcp("greet", {"name": "Bob", "times": "1"})["_meta"]["toolbooth"]["repairs"] == [
        {"code": "scalar-text", "path": "$.times"}
    ]


def test_own_tool_is_listed_and_called_like_any_other(mcp):
    @mcp_tool(
        name="hello",
        title="Hello",
        annotations={"readOnlyHint": True},
        permission_classes=[AllowAny],
    )
    def greet(name: str, request: HttpRequest) -> dict[str, str]:
        """Greet somebody."""
        return {"user": request.user.username, "said": name}

    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    tools = client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
        "result"
    ]["tools"]
    assert next(tool for tool in tools if tool["name"] == "hello") == {
        "name": "hello",
        "title": "Hello",
        "description": "Greet somebody.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "help": {"type": "boolean"}},
            "required": ["name"],
        },
        "outputSchema": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"readOnlyHint": True},
    }
    assert mcp("hello", {"name": "x"})["structuredContent"] == {"user": "ann", "said": "x"}


def test_permissions_apply_to_list_and_call(mcp, mcp_as):
    @mcp_tool(permission_classes=[IsAdminUser])
    def wipe(confirm: bool) -> str:
        """Wipe."""
        return "wiped"

    told = (
        "Tool 'wipe' failed: You do not have permission to perform this action."
        " Use other credentials, or ask your user."
    )
    assert mcp("wipe", {"confirm": True})["content"][0]["text"] == told
    assert mcp("wipe", {"data": {"confirm": True}})["content"][0]["text"] == told
    assert mcp_as(None)("wipe", {"confirm": True}, raw=True).status_code == 401


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError("note", "no paper"), "Tool 'note' failed: no paper"),
        (
            PermissionDenied("not today"),
            "Tool 'note' failed: not today. Use other credentials, or ask your user.",
        ),
        (
            ValidationError({"line": ["too dull"]}),
            "Refused: 1 problem in the arguments of 'note'. Nothing was done.\n- $.line: too dull",
        ),
        (RuntimeError("secret"), "Tool 'note' failed unexpectedly."),
    ],
    ids=lambda each: type(each).__name__,
)
def test_writes_of_a_failed_tool_are_rolled_back(mcp, error, told):
    @mcp_tool
    def note(line: str) -> str:
        """Write a line."""
        Log.objects.create(line=line)
        raise error

    assert mcp("note", {"line": "x"})["content"][0]["text"] == told
    assert Log.objects.count() == 0


def test_an_async_tool_is_awaited(mcp):
    @mcp_tool
    async def slow(name: str, request: Request) -> str:
        """Take your time."""
        await asyncio.sleep(0)
        return f"{request.user.username} {name}"

    assert mcp("slow", {"name": "x"})["content"][0]["text"] == "ann x"


def test_own_tool_can_return_an_image(mcp):
    @mcp_tool
    def draw(context: Context) -> Image:
        """Draw."""
        return Image(data=b"png")

    assert mcp("draw")["content"] == [{"type": "image", "data": "cG5n", "mimeType": "image/png"}]


def test_a_hand_written_tool_replaces_a_view_of_the_same_name(mcp):
    @mcp_tool(name="contacts__list")
    def contacts() -> str:
        """By hand."""
        return "by hand"

    assert mcp("contacts__list")["content"][0]["text"] == "by hand"
    assert "results" in mcp("api_contacts__list")["structuredContent"]


def test_contract_error_is_raised_where_the_tool_is_defined():
    with pytest.raises(ContractError, match="accepts undeclared names"):

        @mcp_tool
        def wrong(**anything: str) -> str:
            """Wrong."""
            return ""


def test_full_updates_can_be_left_out_if_partial_updates_exist(settings_of, ann):
    settings_of(TOOLBOOTH={"UPDATES": "partial"})
    found = catalogue()
    assert "contacts__partial_update" in found.actions
    assert "contacts__update" not in found.actions
    reasons = {each.what: each.why for each in found.left_out}
    assert reasons["contacts__update"] == 'a full update, and TOOLBOOTH["UPDATES"] is "partial"'
