"""`toolbooth lint`: checks a server's tools for real clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command, OneOf
from toolbooth.cli.mistakes import DONE, REFUSED, Mistake
from toolbooth.cli.target import Target, ask, open_target, takes_target
from toolbooth.cli.terminal import paint, width

if TYPE_CHECKING:
    from toolbooth.lint.check import Report
    from toolbooth.lint.evidence import Severity
    from toolbooth.lint.rule import Rule


def _names(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Return the values of an option. The option may be repeated, and a value may be a list
    separated by commas.
    """
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


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@takes_target(required=False)
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
    type=OneOf(["terminal", "json", "markdown", "sarif"]),
    default="terminal",
    help=messages.LINT_FORMAT,
)
@click.option("--json", "as_lines", is_flag=True, help=messages.LINT_JSON)
@click.option("--notes", is_flag=True, help=messages.LINT_NOTES)
@click.option(
    "--fail-on",
    type=OneOf(["error", "warning", "note", "never"]),
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
    target: Target | None,
    only: list[str],
    select: list[str],
    ignore: list[str],
    output_format: str,
    as_lines: bool,
    notes: bool,
    fail_on: Severity | Literal["never"],
    strict: bool,
    fix: str | None,
    server: str,
) -> int:
    """Find tools that real clients refuse, misread or drop.

    \b
    TARGET is one of
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
    found = _listing(target, server)
    try:
        report = check(found, only=only, rules=rules)
        report = report if fix is None else _fix(report, fix, rules)
    except RecursionError:
        raise Mistake(messages.TOO_DEEP) from None
    level: Severity | Literal["never"] = "note" if strict else fail_on
    code = REFUSED if level != "never" and report.at_least(level) else DONE
    # If notes make the command fail, they must be visible.
    shows_notes = notes or level == "note"
    if as_lines:
        _show_lines(report, code)
    else:
        _show(report, output_format, "note" if shows_notes else "warning", target)
    return code


def _check_known(names: Iterable[str], known: Iterable[str], kind: str) -> None:
    """Raise click's own error if one of `names` is not in `known`."""
    for name in names:
        if name not in known:
            raise Mistake(messages.unknown_choice(kind, name, list(known)))


def _fix(report: Report, file: str, rules: dict[str, Rule]) -> Report:
    import json

    from toolbooth.lint.apply import apply_fixes
    from toolbooth.lint.check import lint as check

    tools = apply_fixes(report, rules)
    # The findings that remain after the fix decide the exit code and the output.
    left = check(tools, server=report.listing.server, only=report.clients, rules=rules)
    try:
        Path(file).write_text(json.dumps({"tools": tools}, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise Mistake(messages.unusable_file(file, "written", error.strerror)) from None
    gone = len(report.findings) - len(left.findings)
    # On standard error, because standard output may be one JSON document.
    click.echo(messages.fixed_findings(file, gone, len(report.findings)), err=True)
    return left


def _show(report: Report, output_format: str, least: Severity, target: Target | None) -> None:
    import json

    from toolbooth import __version__
    from toolbooth.lint.report import as_json, as_markdown, as_text
    from toolbooth.lint.sarif import as_sarif

    if output_format == "json":
        click.echo(json.dumps(as_json(report), indent=2))
    elif output_format == "markdown":
        click.echo(as_markdown(report))
    elif output_format == "sarif":
        log = as_sarif(report, version=__version__, least=least, uri=_file_uri(target))
        click.echo(json.dumps(log, indent=2))
    else:
        click.echo(as_text(report, width=width(), paint=paint, least=least))


def _file_uri(target: Target | None) -> str | None:
    """Return the URI of the target's file. If the file is inside the current folder, the URI is
    relative.
    """
    from urllib.parse import quote

    if target is None or target.kind != "object":
        return None
    # For `server.py:mcp`, the findings are shown at the file of the server.
    file = Path(target.text if _is_saved(target.text) else target.text.partition(":")[0])
    if not file.is_file():
        return None
    path = file.resolve()
    here = Path.cwd()
    # GitHub's code scanning finds a file only by a path inside the repository.
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()


def _show_lines(report: Report, code: int) -> None:
    """Print one JSON document per line: first the findings, then the summary."""
    import json

    from toolbooth.lint.report import as_json

    whole = as_json(report)
    for finding in whole.pop("findings"):
        click.echo(json.dumps({"kind": "finding", **finding}))
    click.echo(json.dumps({"kind": "summary", **whole, "exit_code": code}))


# --- where the tools come from ---


def _listing(target: Target | None, server: str) -> Any:
    from toolbooth.lint.listing import Unlisted, listing

    if target is None:
        raise Mistake(messages.NO_TARGET)
    name, tools = _listed_tools(target)
    try:
        return listing(tools, server or name)
    except Unlisted as error:
        raise Mistake(f"{target.name}: {error}") from None


def _listed_tools(target: Target) -> tuple[str, Any]:
    """Return the name of the server and its list of tools. The name is empty if it is unknown."""
    if target.kind == "object" and _is_saved(target.text):
        return "", _saved_tools(target.text)
    is_module = target.text.endswith(".py") and Path(target.text).is_file()
    if target.kind == "object" and ":" not in target.text and not is_module:
        raise Mistake(messages.unknown_target(target.text))

    async def question() -> tuple[str, Any]:
        async with open_target(target) as there:
            return there.name, await there.tools()

    return ask(target, question, messages.asking(target.name))


def _is_saved(text: str) -> bool:
    """Return True if the target is a file with a saved `tools/list`."""
    # A file that does not exist counts too. Then the error is about a file and not about a module.
    if text == "-" or text.endswith(".json"):
        return True
    # An executable file is probably a server, and the user has forgotten `--`. The message about
    # targets helps more than "no JSON".
    return os.path.isfile(text) and not text.endswith(".py") and not os.access(text, os.X_OK)


def _saved_tools(file: str) -> Any:
    import json

    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        if file == "-" and not text.strip():
            raise Mistake(messages.NO_LIST)
        return json.loads(text)
    except RecursionError:
        raise Mistake(messages.TOO_DEEP) from None
    except OSError as error:
        raise Mistake(messages.unusable_file(file, "read", error.strerror)) from None
    except ValueError as error:
        raise Mistake(messages.not_json(file, error)) from None
