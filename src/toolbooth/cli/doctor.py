"""`toolbooth doctor`: checks versions and extras, and whether clients can use a target."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

import click

from toolbooth.cli.checks import messages
from toolbooth.cli.command import Command
from toolbooth.cli.messages import EXIT_CODES, asking
from toolbooth.cli.mistakes import DONE, MISUSED, REFUSED
from toolbooth.cli.target import Target, ask, open_target, takes_target
from toolbooth.cli.terminal import paint
from toolbooth.extras import EXTRAS, MissingExtra, install_line, is_installed

if TYPE_CHECKING:
    from toolbooth.adapters.connect import Served

Level = Literal["ok", "note", "warning", "error"]

_PACKAGES = ("toolbooth", "pydantic", "pydantic-core", "jiter", "orjson", "jsonschema-rs", "click")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result of the doctor, with the next step."""

    level: Level
    what: str
    cure: str = ""


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target(required=False)
@click.option("--json", "as_json", is_flag=True, help=messages.JSON)
def doctor(target: Target | None, as_json: bool) -> int:
    """Check this installation, and TARGET: whether it loads or answers, whether each schema
    compiles, which clients refuse its tools. No tool is called.

    \b
    Examples:
      toolbooth doctor
      toolbooth doctor server.py:mcp
      toolbooth doctor -- npx -y @example/server

    Exit code 1 means that something has to be corrected.
    """
    findings = [*_installation()]
    code = DONE
    if target is None:
        findings.append(Finding(level="note", what=messages.NO_TARGET))
    else:
        try:
            findings += _server(target)
        # A server that cannot be reached is one of the findings. The versions above it are often
        # the cause, so they are printed as well.
        except click.ClickException as error:
            findings.append(Finding(level="error", what=error.format_message()))
            code = error.exit_code
        except MissingExtra as error:
            findings.append(Finding(level="error", what=str(error)))
            code = MISUSED
    if code == DONE and any(each.level == "error" for each in findings):
        code = REFUSED
    if as_json:
        import json

        document = {"findings": [asdict(each) for each in findings], "exit_code": code}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(findings)))
    return code


def _lines(findings: list[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{paint(f'{each.level:8}', each.level)}{each.what}"
        if each.cure:
            yield f"{'':8}-> {each.cure}"
    if not any(each.level in ("warning", "error") for each in findings):
        yield messages.ALL_WELL


# --- the installation ---------------------------------------------------------------------------


def _installation() -> Iterator[Finding]:
    names = [messages.version("Python", platform.python_version())]
    names += [messages.version(name, found) for name in _PACKAGES if (found := _version(name))]
    yield Finding(level="ok", what=", ".join(names))
    yield from _hosts()
    missing = {extra: _missing(modules) for extra, modules in EXTRAS.items()}
    yield Finding(
        level="ok", what=messages.extras(extra for extra, gone in missing.items() if not gone)
    )
    for extra, gone in missing.items():
        # FastMCP and most projects install some modules of these two extras, such as pytest. So a
        # missing module does not mean that an installation failed.
        if gone and len(gone) < len(EXTRAS[extra]) and extra not in ("mcp", "testing"):
            what = messages.incomplete_extra(extra, gone)
            yield Finding(level="warning", what=what, cure=install_line(extra))


def _hosts() -> Iterator[Finding]:
    """Compare the versions of the installed hosts with the versions that the tests use."""
    from toolbooth.adapters.kinds import TESTED

    for name, tested in TESTED.items():
        installed = _version(name)
        if installed == tested:
            yield Finding(level="ok", what=messages.version(name, installed))
        elif installed:
            what = messages.tested(name, installed, tested)
            yield Finding(level="warning", what=what, cure=messages.install_tested(name, tested))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _missing(modules: tuple[str, ...]) -> list[str]:
    # The module is not run, so a broken package cannot end the doctor.
    return [module for module in modules if not is_installed(module)]


# --- the target ---------------------------------------------------------------------------------


def _server(target: Target) -> Iterator[Finding]:
    there = open_target(target)

    async def question() -> tuple[list[Any], str]:
        async with there:
            # Only a remote server has a negotiated revision.
            return await there.tools(), getattr(there, "revision", "")

    listed, revision = ask(target, question, asking(target.name))
    name = there.name or target.name
    yield Finding(level="ok", what=messages.loads(name, there.kind, len(listed)))
    if not listed:
        yield Finding(level="warning", what=messages.no_tools(name), cure=messages.REGISTER_TOOLS)
    yield Finding(level="ok", what=messages.revisions(_revisions(there.kind, revision)))
    yield _protection(there, name)
    yield from _schemas(listed)
    yield from _lint(listed, name)


def _revisions(kind: str, negotiated: str) -> list[str]:
    """Return the revisions of MCP to report. For a running server, this is the revision that the
    client negotiated. A registry supports all revisions. A server of a host in this process is
    always called with the newest ones.
    """
    from toolbooth.server.revisions import HANDSHAKE, STATELESS

    if negotiated:
        return [negotiated]
    return [*STATELESS, *HANDSHAKE] if kind == "toolbooth" else [*STATELESS]


def _protection(there: Served, name: str) -> Finding:
    if there.kind == "remote":
        return Finding(level="note", what=messages.NOT_KNOWN)
    if there.protected:
        return Finding(level="ok", what=messages.protected(name))
    return Finding(level="warning", what=messages.unprotected(name), cure=messages.PROTECT_IT)


def _schemas(listed: list[Any]) -> Iterator[Finding]:
    from toolbooth.compile.json_schema import compile_json_schema
    from toolbooth.errors import ContractError

    compiled = 0
    for tool in listed:
        try:
            compile_json_schema(tool.get("inputSchema"), name=tool.get("name", ""))
            compiled += 1
        # A schema of another server may be any value.
        except Exception as error:
            reason = "; ".join(error.mistakes) if isinstance(error, ContractError) else str(error)
            what = messages.schema_fails(tool.get("name", "?"), reason)
            yield Finding(level="error", what=what, cure=messages.CORRECT_SCHEMA)
    yield Finding(level="ok", what=messages.schemas_compile(compiled))


def _lint(listed: list[Any], name: str) -> Iterator[Finding]:
    """Yield a warning for each client that refuses tools, with the number of tools that it refuses.
    This is not an error, because nobody uses all clients.
    """
    from toolbooth.lint.check import lint
    from toolbooth.lint.evidence import clients

    report = lint(listed, server=name)
    refused: Counter[str] = Counter()
    for row in report.matrix.values():
        refused.update(client for client, effect in row.items() if effect == "refuses")
    for client, count in refused.most_common():
        what = messages.lint_errors(clients()[client].title, count, len(listed))
        yield Finding(level="warning", what=what, cure=messages.LOOK_AT_LINT)
    if not refused:
        yield Finding(level="ok", what=messages.NO_LINT_ERRORS)
