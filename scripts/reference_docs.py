"""Code -> docs/reference/settings.md and docs/reference/api.md.

`python scripts/reference_docs.py --write` writes both pages, `--print api.md` prints one. A setting
is described where it is declared, in `src/toolbooth/django/conf.py`; a public name by the first
paragraph of its docstring.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import django
from django.conf import settings

from toolbooth import testing

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"


# --- settings -----------------------------------------------------------------------------------

SETTINGS_HEAD = """# Settings of the Django gateway

<!-- Written by scripts/reference_docs.py from src/toolbooth/django/conf.py. -->

You set these keys in a dictionary `TOOLBOOTH` in your `settings.py`. You need none of them to begin
with. `manage.py check` reports mistakes, with the nearest name; a wrong value counts as not set.
Patterns such as `notes__*` match [names of tools](../guides/names.md#names-in-settings).
"""

GUIDES: Mapping[str, str] = {
    "ARGUMENTS": "[Protocol arguments](../guides/django.md#protocol-arguments)",
    "BODIES": "[Bodies of actions](../guides/django.md#bodies-of-actions)",
    "BULK_TOOLS": "[Many rows at once](../guides/django.md#many-rows-at-once)",
    "CACHE": "[Results that fit](../guides/django.md#results-that-fit)",
    "DESCRIBE": "[Views that depend on the request]"
    "(../guides/django.md#views-that-depend-on-the-request)",
    "DISPATCH": "[Dispatchers](../guides/django.md#dispatchers)",
    "ERRORS": "[Result or protocol error](refusals.md#result-or-protocol-error)",
    "EXCLUDE": "[Names in settings](../guides/names.md#names-in-settings)",
    "INCLUDE": "[Names in settings](../guides/names.md#names-in-settings)",
    "INHERITED_BODIES": "[Bodies of actions](../guides/django.md#bodies-of-actions)",
    "INNER_MIDDLEWARE": "[Middleware](../guides/django.md#middleware)",
    "KEY_AGE": "[Retry](../guides/preview-and-retry.md#retry)",
    "KEY_WAIT": "[Retry](../guides/preview-and-retry.md#retry)",
    "LOGIN_VIEWS": "[Login views](../guides/credentials.md#login-views)",
    "MAX_BULK": "[Many rows at once](../guides/django.md#many-rows-at-once)",
    "MAX_PAGE_SIZE": "[Pages of any size](../guides/django.md#pages-of-any-size)",
    "MAX_RESULT": "[Results that fit](../guides/django.md#results-that-fit)",
    "NAMES_LOCK": "[Keep names](../guides/names.md#keep-names-mcp_nameslock)",
    "PREVIEW_MIDDLEWARE": "[Views and middleware of your own]"
    "(../guides/preview-and-retry.md#views-and-middleware-of-your-own)",
    "PROFILE": "[Choose a profile](publishing.md#choose-a-profile)",
    "TOKEN_AGE": "[Results that fit](../guides/django.md#results-that-fit)",
    "VERBATIM": "[Swallowed arguments](law.md#swallowed-arguments)",
}
"""The part of a guide with more about a setting."""


def settings_page() -> str:
    return "\n".join([SETTINGS_HEAD, *settings_lines()])


def settings_lines() -> Iterator[str]:
    conf = importlib.import_module("toolbooth.django.conf")
    described = attribute_docs(conf.Configuration)
    for each in sorted(fields(conf.Configuration), key=lambda found: found.name):
        key = each.name.upper()
        default = each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        yield f"## {key}\n"
        yield f"{described[each.name]}\n"
        yield f"- Default: `{default_text(default)}`"
        yield f"- Takes: {accepted(key)}"
        if key in GUIDES:
            yield f"- See: {GUIDES[key]}"
        yield ""


def default_text(value: Any) -> str:
    """A default as you would write it in `settings.py`."""
    if isinstance(value, tuple):
        return repr(list(value))
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:_}" if type(value) is int and value >= 10_000 else repr(value)


def accepted(key: str) -> str:
    if key == "ARGUMENTS":
        return "a dictionary from the name of an argument to another name, or to `None`"
    words = importlib.import_module("toolbooth.django.conf")._RULES[key][1]()
    return "one of the names in `CACHES`" if key == "CACHE" else words


def attribute_docs(cls: type) -> dict[str, str]:
    """The text below each field of a dataclass."""
    (definition,) = ast.parse(inspect.getsource(cls)).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    found: dict[str, str] = {}
    for node, after in pairwise(body):
        match node, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found


# --- the public API -----------------------------------------------------------------------------

API_HEAD = """# Public API

<!-- Written by scripts/reference_docs.py from the signatures and docstrings. -->

Everything on this page is public: it changes only with a line in the changelog. Modules and names
that are not here may change in any release. All of it has type hints. `toolbooth.__version__` is
the installed version.
"""

GROUPS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("Protect a server", "toolbooth", ("protect", "is_protected", "tools_for")),
    ("Serve your own tools", "toolbooth", ("ToolRegistry", "mcp_action", "Context", "CallRecord")),
    ("Serve over HTTP", "toolbooth", ("asgi_app",)),
    ("Results with pictures and files", "toolbooth", ("Text", "Image", "Audio", "Resource")),
    ("Markers in a signature", "toolbooth", ("Unpack", "JsonText", "Verbatim")),
    ("Flattening elsewhere", "toolbooth", ("unpack_pydantic_params",)),
    (
        "Errors",
        "toolbooth",
        (
            "ToolError",
            "ToolInputError",
            "Problem",
            "UnknownTool",
            "ContractError",
            "ContractWarning",
        ),
    ),
    (
        "The boundary without a server",
        "toolbooth",
        (
            "compile_function",
            "compile_model",
            "compile_json_schema",
            "Contract",
            "Limits",
            "handle_bytes",
            "handle_bytes_async",
            "handle_arguments",
            "handle_arguments_async",
            "input_schema",
            "detect_nested_wrapper",
        ),
    ),
    ("Check schemas", "toolbooth", ("lint_tools",)),
    ("Test your tools", "toolbooth.testing", tuple(testing.__all__)),
    ("Django", "toolbooth.django.decorators", ()),
    ("Test a Django project", "toolbooth.django.testing", ("acting_as", "unread_fields")),
)


MADE_FOR_YOU = ("Contract", "CallRecord", "WireResult", "AgentShape", "NoExample", "NotJson")
"""Classes that users receive but do not create, so the page shows no signature."""

LONGEST_DEFAULT = 60
"""Longer defaults are written as `…`."""

CONSTANTS = {"UNDEFINED": 'JavaScript\'s `undefined`, for `wire(arguments, host="js")`.'}


def api_page() -> str:
    return "\n".join([API_HEAD, *api_lines()])


def api_lines() -> Iterator[str]:
    for title, module_name, listed in GROUPS:
        module = importlib.import_module(module_name)
        names = listed or [name for name in vars(module) if name.startswith("mcp_")]
        yield f"## {title}\n"
        yield f"Import from `{module_name}`.\n"
        for name in names:
            yield from entry(name, getattr(module, name))


def entry(name: str, thing: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if name not in MADE_FOR_YOU and (signature := signature_of(name, thing)):
        yield f"```text\n{signature}\n```\n"
    yield f"{CONSTANTS.get(name) or first_paragraph(thing)}\n"
    if is_dataclass(thing) and isinstance(thing, type) and name != "Contract":
        yield from field_lines(thing)
    if name == "ToolRegistry":
        yield from method_lines(thing)


def signature_of(name: str, thing: Any) -> str:
    if not callable(thing) or is_exception_group(thing):
        return ""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return ""
    prefix = "async " if inspect.iscoroutinefunction(thing) else ""
    return wrapped(prefix + name, signature)


def is_exception_group(thing: Any) -> bool:
    return isinstance(thing, type) and thing.__init__ is Exception.__init__


def wrapped(name: str, signature: inspect.Signature) -> str:
    """A signature as in a stub file: on one line if it fits, else a line for each parameter."""
    returns = signature.return_annotation
    arrow = "" if returns in (signature.empty, None, "None") else f" -> {plain(returns)}"
    parameters = list(parameter_texts(signature))
    whole = f"{name}({', '.join(parameters)}){arrow}"
    if len(whole) <= 88:
        return whole
    return "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f"){arrow}"])


def parameter_texts(signature: inspect.Signature) -> Iterator[str]:
    star = False
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            star = True
        if each.kind is each.KEYWORD_ONLY and not star:
            star = True
            yield "*"
        if len(repr(each.default)) > LONGEST_DEFAULT:
            each = each.replace(default=...)
        yield plain(each).replace("Ellipsis", "…")


def plain(value: Any) -> str:
    """An annotation without the quotes of postponed evaluation and without module names."""
    text = value if isinstance(value, str) else str(value)
    text = re.sub(r"(?<=: )'([^']+)'|(?<=-> )'([^']+)'", lambda m: m[1] or m[2], text)
    text = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", text)
    text = re.sub(r"<factory>", "…", text)
    text = re.sub(r"<(?:function|object) ([\w.]+)[^>]*>", r"…", text)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Z]\w)", "", text)


def first_paragraph(thing: Any) -> str:
    text = (inspect.getdoc(thing) or "") if callable(thing) or inspect.isclass(thing) else ""
    return " ".join(text.split("\n\n")[0].split())


def field_lines(cls: type) -> Iterator[str]:
    described = attribute_docs(cls)
    if not described:
        return
    yield "| attribute | type | |"
    yield "|---|---|---|"
    for each in fields(cls):
        if each.name in described:
            kind = plain(each.type).replace("|", r"\|")
            yield f"| `{each.name}` | `{kind}` | {described[each.name]} |"
    yield ""


def method_lines(cls: type) -> Iterator[str]:
    yield "| method | |"
    yield "|---|---|"
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            yield f"| `{name}` | {first_paragraph(member)} |"
    yield ""


PAGES = {"settings.md": settings_page, "api.md": api_page}


def main(words: list[str]) -> None:
    # The rules of the settings and the Django decorators need a project, an empty one.
    settings.configure(TOOLBOOTH={})
    django.setup()
    for name, made in PAGES.items():
        if words == ["--write"]:
            (REFERENCE / name).write_text(made(), encoding="utf-8")
        elif words == ["--print", name]:
            print(made(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
