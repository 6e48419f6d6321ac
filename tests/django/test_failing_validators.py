"""An exception in a validator, of Pydantic or of a serializer, is a refusal that names the field. No
row is written.
"""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field, model_validator
from rest_framework.request import Request

from odd.models import Log
from toolbooth import ToolError, Unpack
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_dispatcher, mcp_tool
from toolbooth.server.dispatchers import mcp_action

UNREAD = "its value could not be read"


@pytest.fixture(autouse=True)
def declared(settings_of, monkeypatch):
    """Leave only the tools of the test and the views that fail."""
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(ROOT_URLCONF="failing_api")


def problems(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    assert "secret" not in str(result)
    assert Log.objects.count() == 0
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"], each["message"].partition(";")[0]) for each in found]


def fails(value: Any) -> Any:
    raise KeyError("secret")


class Entry(BaseModel):
    line: str
    size: int = Field(default_factory=lambda: fails(None))

    @model_validator(mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        if value.get("line") == "odd":
            return value["line"].nothing
        return value


# --- hand-written tools -------------------------------------------------------------------------


def test_a_validator_of_a_hand_written_tool_names_its_field(mcp, caplog):
    @mcp_tool
    def write(line: Annotated[str, BeforeValidator(fails)], request: Request) -> str:
        Log.objects.create(line=line)
        return "written"

    result = mcp("write", {"line": "x"})
    assert result["content"][0]["text"] == (
        "Refused: 1 problem in the arguments of 'write'. Nothing was done.\n"
        f'- $.line: {UNREAD}; got "x"'
    )
    assert problems(result) == [("invalid", "$.line", UNREAD)]
    assert [each.name for each in caplog.records if each.exc_info] == ["toolbooth"]


def test_models_and_defaults_of_a_hand_written_tool_are_named(mcp):
    @mcp_tool
    def write(entry: Annotated[Entry, Unpack()], others: list[Entry] | None = None) -> str:
        Log.objects.create(line=entry.line)
        return "written"

    sent = {"line": "a", "size": 1, "others": [{"line": "odd", "size": 1}]}
    assert problems(mcp("write", sent)) == [("invalid", "$.others[0]", UNREAD)]
    [(_, path, said)] = problems(mcp("write", {"line": "a"}))
    assert (path, said) == ("$.size", f"{UNREAD} from the default")


def test_a_tool_behind_a_dispatcher_names_its_field(mcp):
    @mcp_dispatcher
    class Notes:
        @mcp_action
        def write(self, line: Annotated[str, BeforeValidator(fails)]) -> str:
            Log.objects.create(line=line)
            return "written"

    sent = {"action": "write", "line": "x"}
    assert problems(mcp("notes", sent)) == [("invalid", "$.line", UNREAD)]
    sent = {"action": "write", "params": {"line": "x"}}
    assert problems(mcp("notes", sent)) == [("invalid", "$.params.line", UNREAD)]


def test_a_tool_error_in_a_validator_keeps_its_message(mcp):
    def says(value: Any) -> Any:
        raise ToolError("write", "not today")

    @mcp_tool
    def write(line: Annotated[str, BeforeValidator(says)]) -> str:
        return "written"

    assert mcp("write", {"line": "x"})["content"][0]["text"] == "Tool 'write' failed: not today"


def test_failing_validator_is_a_protocol_error_with_errors_protocol(mcp, settings_of):
    @mcp_tool
    def write(line: Annotated[str, BeforeValidator(fails)]) -> str:
        return "written"

    settings_of(ROOT_URLCONF="failing_api", TOOLBOOTH={"ERRORS": "protocol"})
    error = mcp("write", {"line": "x"})["error"]
    assert error["code"] == -32602
    assert error["data"]["toolbooth"]["problems"][0]["path"] == "$.line"


# --- serializers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ({"line": "broken"}, "$.line"),
        ({"line": "a", "tags": ["bb"]}, "$.tags"),
        ({"line": "a", "tags": ["b", "x"]}, "$.tags[1]"),
        ({"line": "a", "named": {"b": "x"}}, "$.named.b"),
        ({"line": "a", "parts": [{"number": "1"}, {"number": "2"}]}, "$.parts[1].number"),
        ({"line": "wholly broken"}, "$"),
    ],
)
def test_a_serializer_that_fails_names_its_field(mcp, caplog, sent, path):
    result = mcp("lines__create", sent)
    assert problems(result) == [("invalid", path, UNREAD)]
    assert result["content"][0]["text"].startswith("Refused: 1 problem")
    [record] = [each for each in caplog.records if each.exc_info]
    assert record.name == "toolbooth"


def test_rows_of_a_bulk_create_are_named(mcp):
    rows = [{"line": "a"}, {"line": "broken"}, {"line": "b", "parts": [{"number": "2"}]}]
    assert problems(mcp("lines__create", {"objects": rows})) == [
        ("invalid", "$.objects[1].line", UNREAD),
        ("invalid", "$.objects[2].parts[0].number", UNREAD),
    ]


def test_an_update_names_its_field(mcp):
    row = Log.objects.create(line="before")
    result = mcp("lines__partial_update", {"id": row.pk, "line": "broken"})
    assert result["_meta"]["toolbooth"]["problems"][0]["path"] == "$.line"
    row.refresh_from_db()
    assert row.line == "before"


def test_an_exception_while_a_serializer_saves_is_a_failed_tool(mcp):
    result = mcp("lines__create", {"line": "unsaved"})
    assert result["content"][0]["text"] == "Tool 'lines__create' failed unexpectedly."
