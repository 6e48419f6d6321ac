"""The server: three providers in one registry, set up from the environment.

RECON_DB       the SQLite file; recon.sqlite3 beside this file unless set
RECON_ALLOW    addresses that may be called although they are not public, e.g. 127.0.0.1,10.0.0.0/8
RECON_TIMEOUT  seconds for one HTTP request with its redirects; 30 unless set
RECON_COOKIES  a JSON file with profiles of cookies, e.g. {"ann": {"session": "…"}}
"""

import os
import sqlite3
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from recon.ai_logging_tools import AiLoggingToolProvider
from recon.http_models import HttpConfig
from recon.http_tools import HttpToolProvider
from recon.mission_tools import MissionToolProvider
from recon.store import Store
from toolbooth import ToolRegistry

COOKIES = TypeAdapter(dict[str, dict[str, str]])
SECONDS = TypeAdapter(Annotated[float, Field(gt=0, le=600)])

SETTINGS: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    "RECON_ALLOW": (
        "allowed",
        lambda text: tuple(map(ip_network, text.split(","))),
        "127.0.0.1,10.0.0.0/8",
    ),
    "RECON_TIMEOUT": ("timeout", SECONDS.validate_python, "30"),
    "RECON_COOKIES": (
        "cookie_profiles",
        lambda text: COOKIES.validate_json(Path(text).read_bytes()),
        'a file with {"ann": {"session": "…"}}',
    ),
}
"""For each variable: the setting of HttpConfig, its parser, an example."""


def configured(environment: Mapping[str, str]) -> HttpConfig:
    """Read the settings from the environment. Ends the program if one is not valid."""
    found: dict[str, Any] = {}
    for variable, (setting, read, example) in SETTINGS.items():
        if environment.get(variable):
            try:
                found[setting] = read(environment[variable])
            except (ValueError, OSError):  # its text could hold a cookie
                raise SystemExit(
                    f"{variable}={environment[variable]} cannot be read; e.g. {example}"
                ) from None
    return HttpConfig(**found)


def opened(path: str | Path) -> Store:
    """Open the store in this file. Ends the program if that fails."""
    try:
        return Store(path)
    except sqlite3.Error as error:
        raise SystemExit(
            f"the database {path} cannot be opened: {error}; RECON_DB names another"
        ) from None


READS = {"readOnlyHint": True, "openWorldHint": False}
WRITES = {"destructiveHint": False, "openWorldHint": False}
CALLS = {"openWorldHint": True}

config = configured(os.environ)
store = opened(os.environ.get("RECON_DB") or Path(__file__).with_name("recon.sqlite3"))
http = HttpToolProvider(store, config)
missions = MissionToolProvider(store, config.cookie_profiles)
targets = AiLoggingToolProvider(store)

registry = ToolRegistry(
    "recon", instructions="Create a target, then a mission for it; record what you try."
)
registry.tool(http.http_request, annotations=CALLS)
registry.tool(missions.create_mission, annotations=WRITES)
registry.tool(missions.set_mission_context, annotations=WRITES)
registry.tool(missions.get_mission_context, annotations=READS)
registry.tool(missions.record_action, annotations=WRITES)
registry.tool(missions.search_techniques, annotations=READS)
registry.tool(missions.get_technique_stats, annotations=READS)
registry.tool(targets.create_target, annotations=WRITES)
registry.tool(targets.update_target_status, annotations=WRITES)
registry.tool(targets.get_target_summary, annotations=READS)
registry.tool(targets.search_targets, annotations=READS)
registry.tool(targets.get_target_context, annotations=READS)
registry.tool(targets.update_target_context, annotations=WRITES)
