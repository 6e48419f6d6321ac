"""Toolbooth's own published schemas pass the lint for every client; the exceptions are known and
listed in the docs.
"""

import enum
import json
import os
import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, Json, SecretStr
from typing_extensions import TypedDict

from toolbooth import JsonText, ToolRegistry, Unpack
from toolbooth.lint.check import lint

ROOT = Path(__file__).resolve().parents[2]

KNOWN = {
    "deep-schema",
    "empty-object",
    "exclusive-bound",
    "number-enum",
    "open-map",
    "union",
}
"""Findings that the portable form does not prevent: see docs/guides/lint.md."""


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Point(NamedTuple):
    x: float
    y: float


class Options(TypedDict, total=False):
    verbose: bool
    colour: Colour


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sku: Annotated[str, Field(min_length=2, pattern="^[A-Z]+$")]
    quantity: int = Field(1, ge=1, le=99)
    note: str | None = None


class Cash(BaseModel):
    kind: Literal["cash"] = "cash"
    amount: Decimal


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: SecretStr


class Folder(BaseModel):
    name: str
    inside: list["Folder"] = []


class Order(BaseModel):
    customer: str = Field(alias="customerName")
    lines: list[Line] = Field(description="What is ordered")
    payment: Annotated[Union[Cash, Card], Field(discriminator="kind")]
    folder: Folder | None = None


SAMPLE: dict[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "decimal": Decimal,
    "optional": Optional[int],
    "optional_model": Line | None,
    "literal": Literal["a", "b"],
    "one_literal": Literal["a"],
    "enum": Colour,
    "datetime": datetime,
    "list": list[str],
    "bare_list": Annotated[list, Field(description="e.g. [1]")],
    "nested_list": list[list[int]],
    "set": set[str],
    "tuple": tuple[int, str],
    "endless_tuple": tuple[int, ...],
    "named_tuple": Point,
    "typed_dict": Options,
    "model": Line,
    "models": list[Line],
    "recursive": Folder,
    "tagged": Annotated[Union[Cash, Card], Field(discriminator="kind")],
    "union_of_models": Union[Cash, Line],
    "json": Json[list[int]],
    "json_text": Annotated[dict[str, str], JsonText(example={"a": "b"})],
    "secret": SecretStr,
    "bytes": bytes,
    "anything": Any,
    "unpacked": Annotated[Order, Unpack()],
    "date": date,
    "time": time,
    "timedelta": timedelta,
    "uuid": UUID,
    "uuids": list[UUID],
    "dates": list[date],
    "url": AnyUrl,
    # Known findings:
    "int_enum": Size,
    "dict": dict[str, int],
    "bare_dict": Annotated[dict, Field(description='e.g. {"a": 1}')],
    "either": int | str,
    "positive": Annotated[float, Field(gt=0)],
    "deep": list[list[list[list[list[list[list[list[list[list[list[str]]]]]]]]]]],
}


def complaints(tools: list[dict[str, Any]], server: str) -> set[str]:
    """Return the rules with more than a note."""
    return {finding.rule for finding in lint(tools, server=server).at_least("warning")}


def published(hint: Any) -> list[dict[str, Any]]:
    def tool(value: Any) -> str:
        """Do it."""
        return ""

    tool.__annotations__["value"] = hint
    registry = ToolRegistry("sample")
    registry.tool(tool)
    return [each.listing() for each in registry.tools.values()]


@pytest.mark.parametrize("hint", SAMPLE.values(), ids=SAMPLE)
def test_published_schemas_have_only_known_findings(hint):
    # A single model is a wrapper, and a plain list has no example. Their author should see that.
    of_the_author = {"wrapper-parameter", "opaque-parameter"}
    assert complaints(published(hint), "sample") - of_the_author <= KNOWN


@pytest.mark.parametrize("name", ["date", "time", "timedelta", "uuid", "uuids", "dates", "url"])
def test_texts_with_a_format_have_no_finding_for_any_client(name):
    assert complaints(published(SAMPLE[name]), "sample") == set()


def test_known_findings_still_occur_and_are_documented():
    found = [complaints(published(hint), "sample") for hint in SAMPLE.values()]
    assert set.union(*found) >= KNOWN
    assert [
        name
        for name in KNOWN
        if f"`{name}`" not in (ROOT / "docs" / "guides" / "lint.md").read_text(encoding="utf-8")
    ] == []


@pytest.mark.parametrize(
    "target",
    [
        "inventory/on_toolbooth.py:registry",
        "inventory/on_fastmcp.py:server",
        "inventory/on_mcp_sdk.py:server",
        "recon/server.py:registry",
    ],
)
def test_examples_have_only_known_findings(target: str, tmp_path: Path):
    toolbooth = Path(sys.executable).with_name("toolbooth")
    command = [toolbooth, "lint", target, "--format", "json", "--fail-on", "never"]
    stores = {"INVENTORY_DB": str(tmp_path / "inventory"), "RECON_DB": str(tmp_path / "recon")}
    ended = subprocess.run(
        command,
        cwd=ROOT / "examples",
        env={**os.environ, **stores},
        check=True,
        capture_output=True,
        text=True,
    )
    findings = json.loads(ended.stdout)["findings"]
    assert {each["rule"] for each in findings if each["severity"] != "note"} <= KNOWN
