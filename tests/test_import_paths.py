"""Every import path that the README, docs or examples have ever named keeps working."""

import importlib
import subprocess
import sys

import pytest

PATHS = """
toolbooth: Context ContractError ContractWarning JsonText Limits ToolError ToolInputError ToolRegistry Unpack Verbatim
toolbooth: compile_function compile_json_schema compile_model detect_nested_wrapper input_schema unpack_pydantic_params
toolbooth: is_protected protect
toolbooth: handle_arguments handle_arguments_async handle_bytes handle_bytes_async
toolbooth.content: Audio Image Resource Text
toolbooth.adapters.fastmcp: protect
toolbooth.adapters.lowlevel: protect
toolbooth.adapters.mcp_sdk: protect
toolbooth.adapters.sdk.exact_stdin: exact_stdin
toolbooth.adapters.served: served
toolbooth.lint.check: lint
toolbooth.publish: Portable Profile
toolbooth.server.asgi: app
toolbooth.server.dispatchers: mcp_action
toolbooth.server.observe: log_calls
toolbooth.server.respond: respond respond_sync
toolbooth.server.stdio: serve
toolbooth.testing: NotJson UNDEFINED agent_shapes assert_boundary call_over_wire record_calls replay_calls
toolbooth.testing: arguments_for schema_honesty wire
toolbooth.unpack: Unpack unpack_pydantic_params
"""

ON_DJANGO = """
toolbooth.django.decorators: mcp_action mcp_bulk mcp_dispatcher mcp_ignore mcp_tool
toolbooth.django.testing: acting_as
toolbooth.django.management.commands.mcp_config: configuration_for
toolbooth.django.urls: urlpatterns
"""


def named(paths):
    lines = (line.partition(": ") for line in paths.strip().splitlines())
    return [(module, name) for module, _, names in lines for name in names.split()]


NAMED = named(PATHS)


@pytest.mark.parametrize(
    ("module", "name"), NAMED, ids=[f"{module}.{name}" for module, name in NAMED]
)
def test_a_documented_name_can_be_imported(module, name):
    assert hasattr(importlib.import_module(module), name)


def test_the_documented_names_of_the_gateway_can_be_imported():
    installed = [
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "toolbooth.django",
    ]
    program = f"""
import importlib, django
from django.conf import settings
settings.configure(INSTALLED_APPS={installed})
django.setup()
for module, name in {named(ON_DJANGO)}:
    getattr(importlib.import_module(module), name)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
