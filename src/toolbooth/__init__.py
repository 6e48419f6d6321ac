"""Toolbooth checks the tool calls that AI agents send to your Python tools: nothing is ignored,
guessed or lost.

The names here are loaded on first use, so `import toolbooth` is quick, whatever is installed.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from toolbooth.boundary.handle import handle_arguments as handle_arguments
    from toolbooth.boundary.handle import handle_arguments_async as handle_arguments_async
    from toolbooth.boundary.handle import handle_bytes as handle_bytes
    from toolbooth.boundary.handle import handle_bytes_async as handle_bytes_async
    from toolbooth.compile.json_schema import compile_json_schema as compile_json_schema
    from toolbooth.compile.signature import compile_function as compile_function
    from toolbooth.compile.signature import compile_model as compile_model
    from toolbooth.content import Audio as Audio
    from toolbooth.content import Image as Image
    from toolbooth.content import Resource as Resource
    from toolbooth.content import Text as Text
    from toolbooth.context import Context as Context
    from toolbooth.contract import Contract as Contract
    from toolbooth.contract import Limits as Limits
    from toolbooth.decorator import unpack_pydantic_params as unpack_pydantic_params
    from toolbooth.detect import detect_nested_wrapper as detect_nested_wrapper
    from toolbooth.errors import ContractError as ContractError
    from toolbooth.errors import ContractWarning as ContractWarning
    from toolbooth.errors import Problem as Problem
    from toolbooth.errors import ToolError as ToolError
    from toolbooth.errors import ToolInputError as ToolInputError
    from toolbooth.lint.check import lint as lint_tools
    from toolbooth.markers import JsonText as JsonText
    from toolbooth.markers import Unpack as Unpack
    from toolbooth.markers import Verbatim as Verbatim
    from toolbooth.protection import is_protected as is_protected
    from toolbooth.protection import protect as protect
    from toolbooth.protection import tools_for as tools_for
    from toolbooth.publish import input_schema as input_schema
    from toolbooth.server.asgi import app as asgi_app
    from toolbooth.server.dispatch.build import mcp_action as mcp_action
    from toolbooth.server.listed_tools import UnknownTool as UnknownTool
    from toolbooth.server.observe import CallRecord as CallRecord
    from toolbooth.server.registry import ToolRegistry as ToolRegistry

    __version__: str

# The module of each name; after a colon, the name that it has there.
_HOMES = {
    "Audio": "content",
    "CallRecord": "server.observe",
    "Context": "context",
    "Contract": "contract",
    "ContractError": "errors",
    "ContractWarning": "errors",
    "Image": "content",
    "JsonText": "markers",
    "Limits": "contract",
    "Problem": "errors",
    "Resource": "content",
    "Text": "content",
    "ToolError": "errors",
    "ToolInputError": "errors",
    "ToolRegistry": "server.registry",
    "UnknownTool": "server.listed_tools",
    "Unpack": "markers",
    "Verbatim": "markers",
    "asgi_app": "server.asgi:app",
    "compile_function": "compile.signature",
    "compile_json_schema": "compile.json_schema",
    "compile_model": "compile.signature",
    "detect_nested_wrapper": "detect",
    "handle_arguments": "boundary.handle",
    "handle_arguments_async": "boundary.handle",
    "handle_bytes": "boundary.handle",
    "handle_bytes_async": "boundary.handle",
    "input_schema": "publish",
    "is_protected": "protection",
    "lint_tools": "lint.check:lint",
    "mcp_action": "server.dispatch.build",
    "protect": "protection",
    "tools_for": "protection",
    "unpack_pydantic_params": "decorator",
}

__all__ = [
    "Audio",
    "CallRecord",
    "Context",
    "Contract",
    "ContractError",
    "ContractWarning",
    "Image",
    "JsonText",
    "Limits",
    "Problem",
    "Resource",
    "Text",
    "ToolError",
    "ToolInputError",
    "ToolRegistry",
    "UnknownTool",
    "Unpack",
    "Verbatim",
    "asgi_app",
    "compile_function",
    "compile_json_schema",
    "compile_model",
    "detect_nested_wrapper",
    "handle_arguments",
    "handle_arguments_async",
    "handle_bytes",
    "handle_bytes_async",
    "input_schema",
    "is_protected",
    "lint_tools",
    "mcp_action",
    "protect",
    "tools_for",
    "unpack_pydantic_params",
]


def _attribute(name: str) -> _typing.Any:
    if name == "__version__":
        # `importlib.metadata` imports `email`, `zipfile` and `csv`: it is loaded only for this
        # name.
        return _importlib.import_module("importlib.metadata").version("toolbooth")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolbooth' has no attribute {name!r}")
    module, _, name_there = home.partition(":")
    found = getattr(_importlib.import_module(f"toolbooth.{module}"), name_there or name)
    # Python calls this function only for names that the module does not have: kept, the name is
    # found without it from now on.
    globals()[name] = found
    return found


# Not as `def __getattr__`: type checkers would then accept every name, a misspelt one too.
globals()["__getattr__"] = _attribute


def __dir__() -> list[str]:
    return __all__
