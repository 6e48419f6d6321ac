"""Reads the configuration file of a proxy, `booth.toml`. The file lists the servers and, for each
server, its rules.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from toolbooth.jsonvalue import is_array, is_mapping, near_name
from toolbooth.proxy import messages
from toolbooth.proxy.rules import Policy, Publish, Rules

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class BoothError(ValueError):
    """The configuration file is wrong. The message has one line for each mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The settings of one server in the configuration file."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    timeout: float = 300.0
    rules: Rules = field(default_factory=Rules)


def read_booth(
    text: str, environ: Mapping[str, str], *, starts: str | None = None
) -> dict[str, ServerSettings]:
    """Return the settings of each server, by its name. In `env` and `headers`, `${NAME}` is
    replaced by the variable NAME of `environ`. If `starts` is given, variables are replaced only in
    the settings of the server with this name.

    Raises:
        BoothError: the file is not TOML, or has mistakes.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BoothError(messages.not_toml(error)) from None
    reader = _Reader(environ, starts)
    reader.only_known("", found, ("servers",))
    servers = reader.table("servers", found.get("servers", {}))
    if not servers and not reader.mistakes:
        reader.mistakes.append(messages.NO_SERVERS)
    made = {name: reader.server(name, each) for name, each in servers.items()}
    if reader.mistakes:
        raise BoothError("\n".join(reader.mistakes))
    return made


class _Reader:
    """Reads one configuration file and collects its mistakes."""

    def __init__(self, environ: Mapping[str, str], starts: str | None) -> None:
        self.environ = environ
        self.starts = starts
        self.mistakes: list[str] = []

    def server(self, name: str, found: Any) -> ServerSettings:
        where = f"servers.{name}"
        table = self.table(where, found)
        self.only_known(where, table, _KEYS)
        command, url = self.command(f"{where}.command", table), table.get("url")
        expand = self.starts in (None, name)
        # A misspelt `comand` is already reported as an unknown key.
        meant = {near_name(key, _KEYS) for key in table if key not in _KEYS}
        if not meant & {"command", "url"} and bool(table.get("command")) == bool(url):
            self.mistakes.append(messages.command_or_url(where))
        elif not meant and table.get("command"):
            self.without_effect(where, table, ("headers",), "url")
        elif not meant and url:
            self.without_effect(where, table, ("env", "cwd"), "command")
        return ServerSettings(
            name=name,
            command=command,
            url=self.text(f"{where}.url", url or ""),
            env=self.texts(f"{where}.env", table.get("env", {}), expand=expand),
            headers=self.texts(f"{where}.headers", table.get("headers", {}), expand=expand),
            cwd=self.text(f"{where}.cwd", table.get("cwd", "")) or None,
            timeout=self.seconds(f"{where}.timeout", table.get("timeout", 300)),
            rules=self.rules(where, table),
        )

    def command(self, where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
        found = table.get("command", [])
        if not isinstance(found, str) or not found.strip():
            return self.words(where, found)
        try:
            words = shlex.split(found)
        except ValueError:  # an unclosed quotation mark
            return self.words(where, found)
        self.mistakes.append(messages.command_as_text(where, words))
        return ()

    def rules(self, where: str, table: Mapping[str, Any]) -> Rules:
        policies = self.texts(f"{where}.policies", table.get("policies", {}))
        for tool, policy in policies.items():
            self.one_of(f"{where}.policies.{tool}", policy, get_args(Policy))
        chosen: Any = policies
        return Rules(
            policy=self.one_of(f"{where}.policy", table.get("policy", "default"), get_args(Policy)),
            policies=chosen,
            publish=self.one_of(
                f"{where}.publish", table.get("publish", "portable"), get_args(Publish)
            ),
            flatten=self.flag(f"{where}.flatten", table.get("flatten", False)),
            allow=self.words(f"{where}.allow", table.get("allow", [])),
            deny=self.words(f"{where}.deny", table.get("deny", [])),
            rename=self.texts(f"{where}.rename", table.get("rename", {})),
            prefix=self.text(f"{where}.prefix", table.get("prefix", "")),
        )

    # --- values of one kind ---

    def only_known(self, where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                near = near_name(key, list(known))
                self.mistakes.append(messages.unknown_key(f"{where}.{key}".lstrip("."), near))

    def without_effect(
        self, where: str, table: Mapping[str, Any], keys: tuple[str, ...], other: str
    ) -> None:
        """Report settings that have an effect only on a server with the setting `other`."""
        for key in keys:
            if key in table:
                self.mistakes.append(messages.without_effect(f"{where}.{key}", other))

    def table(self, where: str, found: Any) -> Mapping[str, Any]:
        return found if is_mapping(found) else self.wrong(where, messages.A_TABLE, {})

    def text(self, where: str, found: Any) -> str:
        return found if isinstance(found, str) else self.wrong(where, messages.A_TEXT, "")

    def flag(self, where: str, found: Any) -> bool:
        return found if isinstance(found, bool) else self.wrong(where, messages.A_FLAG, False)

    def seconds(self, where: str, found: Any) -> float:
        if isinstance(found, int | float) and not isinstance(found, bool) and found > 0:
            return float(found)
        return self.wrong(where, messages.SECONDS, 300.0)

    def words(self, where: str, found: Any) -> tuple[str, ...]:
        if is_array(found) and all(isinstance(each, str) for each in found):
            return tuple(found)
        return self.wrong(where, messages.A_LIST, ())

    def texts(self, where: str, found: Any, *, expand: bool = False) -> dict[str, str]:
        table = self.table(where, found)
        made = {key: self.text(f"{where}.{key}", each) for key, each in table.items()}
        if not expand:
            return made
        return {key: self.expanded(f"{where}.{key}", each) for key, each in made.items()}

    def expanded(self, where: str, text: str) -> str:
        for name in _VARIABLE.findall(text):
            if name not in self.environ:
                self.mistakes.append(messages.not_in_environment(where, name))
        return _VARIABLE.sub(lambda match: self.environ.get(match[1], ""), text)

    def one_of(self, where: str, found: Any, choices: tuple[Any, ...]) -> Any:
        if found in choices:
            return found
        return self.wrong(where, messages.one_of(choices), choices[0])

    def wrong(self, where: str, wanted: str, instead: Any) -> Any:
        self.mistakes.append(messages.wrong_value(where, wanted))
        return instead


_KEYS = (
    "command",
    "url",
    "env",
    "headers",
    "cwd",
    "timeout",
    "policy",
    "policies",
    "publish",
    "flatten",
    "allow",
    "deny",
    "rename",
    "prefix",
)
