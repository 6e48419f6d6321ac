"""Makes digests of everything that the descriptions of tools depend on: versions, routes, settings
and code. Another process can later compare its digests with them.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise
from typing_extensions import TypeIs

from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.names import Name, identity_of
from toolbooth.jsonvalue import is_array, is_object

Part = Mapping[str, str]
Key = Mapping[str, Part]
"""The parts of the key, by their names in messages. Each part maps the names of its items to
digests.
"""

_PACKAGES = (
    "toolbooth",
    "Django",
    "djangorestframework",
    "drf-spectacular",
    "django-filter",
    "pydantic",
)
_SECRETS = frozenset(("SECRET_KEY", "SECRET_KEY_FALLBACKS"))
"""Settings without a digest. The file is signed with the first of them."""

_DEEPEST = 12
"""The deepest level of a nested setting that is part of its digest."""

_STDLIB = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_PROGRAM = ("__main__", "__mp_main__")
"""The module that was started: `manage.py` for the command, and the server later."""

_INSTALLED = ("site-packages", "dist-packages")


def key_of(
    named: Iterable[tuple[Name, Action]], own: Iterable[str], language: str | None
) -> dict[str, Part]:
    """Return the parts of the key. The code is missing, because it is known only after the tools
    are described.
    """
    routes = {name.tool: " ".join(identity_of(action)) for name, action in named}
    return {
        "versions": _versions(),
        "routes": {**routes, **dict.fromkeys(own, "mcp_tools")},
        "settings": _settings(),
        "language": {language or "none": ""},
    }


def differences(before: Part, now: Part) -> list[str]:
    """Return the names of the items that differ."""
    return [each for each in dict.fromkeys((*before, *now)) if before.get(each) != now.get(each)]


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# --- settings ---


def _settings() -> dict[str, str]:
    """Return a digest of every setting, including Django's defaults. A digest does not reveal the
    value.
    """
    _ = connections.settings  # it writes defaults into DATABASES, once
    names = (each for each in dir(settings) if each.isupper() and each not in _SECRETS)
    lazy: Any = settings
    # `settings` itself warns when a deprecated setting is read, even if the project has none.
    values = lazy._wrapped
    return {name: _digest_of_setting(getattr(values, name, None)) for name in names}


def _digest_of_setting(value: Any) -> str:
    return salted_hmac("toolbooth.setting", _text(value), algorithm="sha256").hexdigest()[:16]


def _text(value: Any, depth: int = 0) -> str:
    """Return a value as text that is the same in every process."""
    if depth > _DEEPEST:
        return "…"
    if is_object(value):
        pairs = (f"{_text(key)}: {_text(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if _is_set(value):
        # The order of the texts in a set differs from process to process.
        return f"set({sorted(_text(each, depth + 1) for each in value)})"
    if is_array(value) or _is_tuple(value):
        return f"[{', '.join(_text(each, depth + 1) for each in value)}]"
    if isinstance(value, Promise):  # text that is still to be translated
        return str(value)
    name = getattr(value, "__qualname__", None)
    if name is not None:
        return f"{value.__module__}.{name}"
    inside: Any = getattr(value, "__dict__", None)
    if inside:
        return f"{_text(type(value))}({_text(dict(inside), depth + 1)})"
    # The default `repr` contains an address, which differs in every process.
    is_plain = type(value).__repr__ is not object.__repr__
    return repr(value) if is_plain else _text(type(value))


def _is_set(value: Any) -> TypeIs[set[Any] | frozenset[Any]]:
    return isinstance(value, set | frozenset)


def _is_tuple(value: Any) -> TypeIs[tuple[Any, ...]]:
    return isinstance(value, tuple)


# --- code ---


def code_in_use() -> dict[str, tuple[str, str]]:
    """Return every loaded module except Python's own, with the path and the digest of its file."""
    found: dict[str, tuple[str, str]] = {}
    for name, module in sorted(sys.modules.items()):
        file: Any = getattr(module, "__file__", None)
        if name in _PROGRAM or not isinstance(file, str) or _is_pythons_own(file):
            continue
        digest = _digest_of_file(file)
        # A module inside a zip archive has a path that cannot be read.
        if digest is not None:
            found[name] = (file, digest)
    return found


def changed_code(before: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the modules whose files have changed."""
    changed: list[str] = []
    for name, (file, digest) in before.items():
        # This process may have the module in another file, or may not have loaded it yet.
        present: Any = getattr(sys.modules.get(name), "__file__", None) or file
        if _digest_of_file(present) != digest:
            changed.append(name)
    return changed


def _is_pythons_own(file: str) -> bool:
    # Installed packages may be in a folder below the standard library.
    is_below = file.startswith(_STDLIB)
    return is_below and not any(part in _INSTALLED for part in Path(file).parts)


def _digest_of_file(file: str) -> str | None:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
    except OSError:
        return None
