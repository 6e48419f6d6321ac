"""`toolbooth lint`: what real clients will make of a server's tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

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
_TOO_DEEP = "a schema is nested too deep to be judged, and for any client"
_FORMS = (
    "TARGET should be module:server or file.py:server, an http(s) address, a file with a saved tools/list, - for"
    " standard input, or -- and the command that starts a server"
)


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
                click.echo(
                    f"{client.id:15}{client.title:37}{len(client.claims):3} claims, the newest of {newest}"
                )
        context.exit()


def _explain(context: click.Context, option: click.Parameter, name: str | None) -> None:
    if name is not None:
        from toolbooth.lint.catalogue import RULES
        from toolbooth.lint.explain import explained

        _known([name], RULES, "rule")
        click.echo(explained(RULES[name]))
        context.exit()


@click.command(
    epilog="Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 the tools could not be read."
)
@click.argument("target", nargs=-1, metavar="TARGET")
@click.option(
    "--client",
    "only",
    multiple=True,
    callback=_names,
    help="Only what hurts these clients (see --clients).",
)
@click.option("--select", multiple=True, callback=_names, help="Only these rules (see --rules).")
@click.option("--ignore", multiple=True, callback=_names, help="Not these rules.")
@click.option(
    "--format", "form", type=click.Choice(["terminal", "json", "markdown"]), default="terminal"
)
@click.option("--notes", is_flag=True, help="Show notes too; counted they are always.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="warning",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@click.option("--strict", is_flag=True, help="The same as --notes --fail-on note.")
@click.option(
    "--fix",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the tools/list there, fixed.",
)
@click.option(
    "--server", default="", help="The server's name, which some clients put before a tool's."
)
@click.option(
    "--header",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="Sent with every request to an http(s) address.",
)
@click.option(
    "--timeout",
    type=float,
    default=30,
    show_default=True,
    help="Seconds that a running server has.",
)
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_rules,
    help="List the rules.",
)
@click.option(
    "--clients",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_clients,
    help="List the clients.",
)
@click.option(
    "--explain",
    metavar="RULE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="What a rule is about.",
)
def lint(
    target: tuple[str, ...],
    only: list[str],
    select: list[str],
    ignore: list[str],
    form: str,
    notes: bool,
    fail_on: str,
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

    _known(only, [name for name in clients() if name != ANY], "client")
    _known([*select, *ignore], RULES, "rule")
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
        raise click.UsageError(_TOO_DEEP) from None
    _show(report, form, "note" if notes or strict or fail_on == "note" else "warning")
    level = "note" if strict else fail_on
    sys.exit(1 if level != "never" and report.at_least(cast("Severity", level)) else 0)


def _known(names: Iterable[str], known: Iterable[str], what: str) -> None:
    from toolbooth.jsonvalue import near_name

    for name in names:
        if name not in known:
            near = near_name(name, known)
            hint = f"; did you mean {near!r}?" if near else f"; --{what}s lists them"
            raise click.BadParameter(f"there is no {what} {name!r}{hint}")


def _fix(report: Report, file: str, rules: dict[str, Rule]) -> Report:
    import json

    from toolbooth.lint.apply import fixed
    from toolbooth.lint.check import lint as check

    tools = fixed(report, rules)
    left = check(tools, server=report.listing.server, only=report.clients, rules=rules)
    try:
        Path(file).write_text(json.dumps({"tools": tools}, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{file} could not be written: {error.strerror}") from None
    gone = len(report.findings) - len(left.findings)
    click.echo(
        f"{file}: {gone} of {len(report.findings)} findings fixed. What is left:\n", err=True
    )
    return left


def _show(report: Report, form: str, least: Severity) -> None:
    import json
    import shutil

    from toolbooth.lint.report import as_json, as_markdown, as_text

    if form == "json":
        click.echo(json.dumps(as_json(report), indent=2))
    elif form == "markdown":
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

    name, tools = _found(target, headers, timeout)
    try:
        return listing(tools, server or name)
    except Unlisted as error:
        raise click.UsageError(f"{' '.join(target)}: {error}") from None


def _found(target: tuple[str, ...], headers: tuple[str, ...], timeout: float) -> tuple[str, Any]:
    """The server's name, where it is known, and what it lists."""
    import shutil

    if not target:
        raise click.UsageError(f"there is no TARGET. {_FORMS}")
    first = target[0]
    if len(target) > 1:
        return _running(list(target), headers, timeout)
    if first.startswith(("http://", "https://")):
        return _running(first, headers, timeout)
    if (
        first == "-"
        or first.endswith(".json")
        or (Path(first).is_file() and not _is_program(first))
    ):
        return "", _read(first)
    if ":" in first or first.endswith(".py"):
        return _loaded(first)
    if shutil.which(first):
        return _running([first], headers, timeout)
    raise click.UsageError(f"there is no {first!r} here. {_FORMS}")


def _is_program(file: str) -> bool:
    return file.endswith(".py") or os.access(file, os.X_OK)


def _read(file: str) -> Any:
    import json

    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(text)
    except RecursionError:
        raise click.UsageError(_TOO_DEEP) from None
    except OSError as error:
        raise click.UsageError(f"{file} could not be read: {error.strerror}") from None
    except ValueError as error:
        raise click.UsageError(f"{file} is no JSON: {error}") from None


def _loaded(target: str) -> tuple[str, Any]:
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
        raise click.UsageError(f"{target} could not be loaded; the reason stands above") from None


def _running(server: str | list[str], headers: tuple[str, ...], timeout: float) -> tuple[str, Any]:
    import asyncio
    import importlib.util

    if importlib.util.find_spec("mcp") is None:
        raise click.UsageError(
            "asking a running server needs the official client: pip install 'toolbooth[mcp]'"
        )
    from toolbooth.adapters.sdk.client import Unreachable, list_tools

    try:
        return asyncio.run(list_tools(server, headers=_headers(headers), timeout=timeout))
    except Unreachable as error:
        name = server if isinstance(server, str) else " ".join(server)
        raise click.UsageError(f"{name}: {error}") from None


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition(":") for text in given]
    if wrong := [name for name, colon, _ in pairs if not colon]:
        raise click.UsageError(f"a header is written 'Name: value', not {wrong[0]!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}
