"""JSON-Schema-Test-Suite 2020-12: every case as a call of a tool that has the schema.

The suite comes with the sdist of `jsonschema`. Each schema is tried at two places: as the property
`v` of a tool, and, for instances that are objects, as the whole schema of a tool.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".schemas"
INSIDE = "json/tests/draft2020-12/"

Place = Literal["property", "arguments"]

TABLES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
DATA = frozenset({"const", "enum", "default", "examples"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One instance of the suite, as the arguments of a call."""

    name: str
    file: str
    schema: dict[str, Any]
    arguments: Any
    is_valid: bool
    place: Place


# --- getting the suite --------------------------------------------------------------------------


def version() -> str:
    """The version of `jsonschema` that constraints.txt pins."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(r"^jsonschema==(\S+)", pins, re.MULTILINE)
    assert found is not None
    return found[1]


def set_up() -> Path:
    """The folder of the suite, downloaded with pip if it is not there."""
    name = f"jsonschema-{version()}"
    folder = HOME / name / INSIDE
    if not folder.is_dir():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-binary", "jsonschema", "--dest", str(HOME)]
        subprocess.run([*pip, *options, f"jsonschema=={version()}"], check=True, cwd=ROOT)
        with tarfile.open(HOME / f"{name}.tar.gz") as archive:
            members = [each for each in archive if f"/{INSIDE}" in each.name]
            archive.extractall(HOME, members=members, filter="data")
    return folder


def cases(folder: Path) -> Iterator[Case]:
    """Every case of the suite at every place that it fits."""
    for path in sorted(folder.rglob("*.json")):
        file = path.relative_to(folder).as_posix()
        for group in json.loads(path.read_text(encoding="utf-8")):
            for test in group["tests"]:
                name = f"{group['description']}: {test['description']}"
                common = {"name": name, "file": file, "is_valid": test["valid"]}
                yield Case(
                    schema=as_property(group["schema"]),
                    arguments={"v": test["data"]},
                    place="property",
                    **common,
                )
                if isinstance(group["schema"], dict) and isinstance(test["data"], dict):
                    yield Case(
                        schema=group["schema"],
                        arguments=test["data"],
                        place="arguments",
                        **common,
                    )


# --- schemas ------------------------------------------------------------------------------------


def as_property(schema: Any) -> dict[str, Any]:
    """The schema of a tool that has one property, with this schema."""
    whole: dict[str, Any] = {"type": "object", "required": ["v"]}
    if isinstance(schema, dict) and "$schema" in schema:
        whole["$schema"] = schema["$schema"]
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    return {**whole, "properties": {"v": _moved(schema)}}


def _moved(schema: Any) -> Any:
    """The schema with its references to itself as they are below `properties`."""
    if isinstance(schema, list):
        return [_moved(each) for each in schema]
    # In a schema with an `$id` of its own, references are relative to that.
    if not isinstance(schema, dict) or isinstance(schema.get("$id"), str):
        return schema
    return {key: _moved_keyword(key, value) for key, value in schema.items()}


def _moved_keyword(key: str, value: Any) -> Any:
    if key in DATA:
        return value
    if key in TABLES and isinstance(value, dict):
        return {name: _moved(each) for name, each in value.items()}
    is_local = isinstance(value, str) and (value == "#" or value.startswith("#/"))
    if key in ("$ref", "$dynamicRef") and is_local:
        return f"#/properties/v{value[1:]}"
    return _moved(value)
