"""`toolbooth lint`: what real clients will make of a server's tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from toolbooth.cli import messages

if TYPE_CHECKING:
    from toolbooth.lint.check import Report
    from toolbooth.lint.evidence import Severity
    from toolbooth.lint.rule import Rule

_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "tool": {"bold": True},
    "error": {"fg": "red"},
    "refuses": {"fg": "red"},
    "warning": {"fg": "yellow"},
    "misreads": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "drops": {"fg": "cyan"},
}
_UNWRAPPED = 10_000


def _names(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Names that were given one by one, or with commas between."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _show_rules(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from toolbooth.lint.catalogue import RULES

        for rule in RULES.values():
            click.echo(f"{rule.severity:8}{rule.id:31}{'fix ' if rule.fix else '    '}{rule.title}")
        context.exit()


def _show_clients(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from toolbooth.lint.evidence import ANY, clients

        for client in clients().values():
            if client.id != ANY:
                newest = max(claim.on for claim in client.claims)
                row = messages.client_row(client.id, client.title, len(client.claims), newest)
                click.echo(row)
        context.exit()


def _explain(context: click.Context, option: click.Parameter, name: str | None) -> None:
    if name is not None:
        from toolbooth.lint.catalogue import RULES
        from toolbooth.lint.explain import explanation

        _check_known([name], RULES, "rule")
        click.echo(explanation(RULES[name]))
        context.exit()


@click.command(epilog=messages.LINT_EXIT_CODES)
@click.argument("target", nargs=-1, metavar="TARGET")
@click.option(
    "--client",
    "only",
    multiple=True,
    callback=_names,
    help=messages.LINT_CLIENT,
)
@click.option("--select", multiple=True, callback=_names, help=messages.LINT_SELECT)
@click.option("--ignore", multiple=True, callback=_names, help=messages.LINT_IGNORE)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["terminal", "json", "markdown"]),
    default="terminal",
)
@click.option("--notes", is_flag=True, help=messages.LINT_NOTES)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="warning",
    show_default=True,
    help=messages.LINT_FAIL_ON,
)
@click.option("--strict", is_flag=True, help=messages.LINT_STRICT)
@click.option(
    "--fix",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help=messages.LINT_FIX,
)
@click.option("--server", default="", help=messages.LINT_SERVER)
@click.option(
    "--header",
    multiple=True,
    metavar="'NAME: VALUE'",
    help=messages.LINT_HEADER,
)
@click.option(
    "--timeout",
    type=float,
    default=30,
    show_default=True,
    help=messages.LINT_TIMEOUT,
)
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_rules,
    help=messages.LINT_RULES,
)
@click.option(
    "--clients",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_clients,
    help=messages.LINT_CLIENTS,
)
@click.option(
    "--explain",
    metavar="RULE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help=messages.LINT_EXPLAIN,
)
def lint(
    target: tuple[str, ...],
    only: list[str],
    select: list[str],
    ignore: list[str],
    output_format: str,
    notes: bool,
    fail_on: Severity | Literal["never"],
    strict: bool,
    fix: str | None,
    server: str,
    header: tuple[str, ...],
    timeout: float,
) -> None:
    """Tell what real clients will make of a server's tools.

    TARGET is one of

    \b
      server.py:mcp or package.module:mcp   a ToolRegistry, FastMCP or SDK server
      https://example.org/mcp               a running server
      -- npx -y @example/server             a command that starts one (stdio)
      tools.json                            a saved tools/list; - for standard input
    """
    from toolbooth.lint.catalogue import RULES
    from toolbooth.lint.check import lint as check
    from toolbooth.lint.evidence import ANY, clients

    _check_known(only, [name for name in clients() if name != ANY], "client")
    _check_known([*select, *ignore], RULES, "rule")
    rules = {
        name: rule
        for name, rule in RULES.items()
        if (not select or name in select) and name not in ignore
    }
    found = _listing(target, server, header, timeout)
    try:
        report = check(found, only=only, rules=rules)
        report = report if fix is None else _fix(report, fix, rules)
    except RecursionError:
        raise click.UsageError(messages.TOO_DEEP) from None
    shows_notes = notes or strict or fail_on == "note"
    _show(report, output_format, "note" if shows_notes else "warning")
    level: Severity | Literal["never"] = "note" if strict else fail_on
    sys.exit(1 if level != "never" and report.at_least(level) else 0)


def _check_known(names: Iterable[str], known: Iterable[str], kind: str) -> None:
    """Raises click's own error for a name that is not known."""
    for name in names:
        if name not in known:
            raise click.BadParameter(messages.unknown_choice(kind, name, list(known)))


def _fix(report: Report, file: str, rules: dict[str, Rule]) -> Report:
    import json

    from toolbooth.lint.apply import apply_fixes
    from toolbooth.lint.check import lint as check

    tools = apply_fixes(report, rules)
    left = check(tools, server=report.listing.server, only=report.clients, rules=rules)
    try:
        Path(file).write_text(json.dumps({"tools": tools}, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(messages.not_written(file, error.strerror)) from None
    gone = len(report.findings) - len(left.findings)
    click.echo(messages.fixed_findings(file, gone, len(report.findings)), err=True)
    return left


def _show(report: Report, output_format: str, least: Severity) -> None:
    import json
    import shutil

    from toolbooth.lint.report import as_json, as_markdown, as_text

    if output_format == "json":
        click.echo(json.dumps(as_json(report), indent=2))
    elif output_format == "markdown":
        click.echo(as_markdown(report))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNWRAPPED
        click.echo(as_text(report, width=max(width, 40), paint=_paint, least=least))


def _paint(text: str, style: str) -> str:
    coloured = (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
    return click.style(text, **_STYLES.get(style, {})) if coloured else text


# --- where the tools come from ---


def _listing(target: tuple[str, ...], server: str, headers: tuple[str, ...], timeout: float) -> Any:
    from toolbooth.lint.listing import Unlisted, listing

    name, tools = _listed_tools(target, headers, timeout)
    try:
        return listing(tools, server or name)
    except Unlisted as error:
        raise click.UsageError(f"{' '.join(target)}: {error}") from None


def _listed_tools(
    target: tuple[str, ...], headers: tuple[str, ...], timeout: float
) -> tuple[str, Any]:
    """The server's name, where it is known, and what it lists."""
    import shutil

    if not target:
        raise click.UsageError(messages.NO_TARGET)
    first = target[0]
    if len(target) > 1:
        return _running_tools(list(target), headers, timeout)
    if first.startswith(("http://", "https://")):
        return _running_tools(first, headers, timeout)
    if (
        first == "-"
        or first.endswith(".json")
        or (Path(first).is_file() and not _is_program(first))
    ):
        return "", _saved_tools(first)
    if ":" in first or first.endswith(".py"):
        return _module_tools(first)
    if shutil.which(first):
        return _running_tools([first], headers, timeout)
    raise click.UsageError(messages.unknown_target(first))


def _is_program(file: str) -> bool:
    return file.endswith(".py") or os.access(file, os.X_OK)


def _saved_tools(file: str) -> Any:
    import json

    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(text)
    except RecursionError:
        raise click.UsageError(messages.TOO_DEEP) from None
    except OSError as error:
        raise click.UsageError(messages.not_read(file, error.strerror)) from None
    except ValueError as error:
        raise click.UsageError(messages.not_json(file, error)) from None


def _module_tools(target: str) -> tuple[str, Any]:
    import asyncio
    import traceback

    from toolbooth.adapters.connect import TargetError, load, served

    try:
        found = served(load(target))
        return found.name, asyncio.run(found.tools())
    except TargetError as error:
        raise click.UsageError(str(error)) from None
    # The author's module failed: the traceback is the answer, and its exit code must not look like
    # findings.
    except Exception:
        traceback.print_exc()
        raise click.UsageError(messages.not_loaded(target)) from None


def _running_tools(
    server: str | list[str], headers: tuple[str, ...], timeout: float
) -> tuple[str, Any]:
    import asyncio
    import importlib.util

    if importlib.util.find_spec("mcp") is None:
        raise click.UsageError(messages.CLIENT_MISSING)
    from toolbooth.adapters.sdk.client import Unreachable, list_tools

    try:
        return asyncio.run(list_tools(server, headers=_headers(headers), timeout=timeout))
    except Unreachable as error:
        name = server if isinstance(server, str) else " ".join(server)
        raise click.UsageError(f"{name}: {error}") from None


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition(":") for text in given]
    if wrong := [name for name, colon, _ in pairs if not colon]:
        raise click.UsageError(messages.bad_header(wrong[0]))
    return {name.strip(): value.strip() for name, _, value in pairs}
