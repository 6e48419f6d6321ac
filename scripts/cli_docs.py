"""Write the tables of options into docs/reference/cli.md, from the commands themselves.

`python scripts/cli_docs.py --write` writes the page; without `--write` the exit code is 0 if it is
up to date. `tests/cli/test_docs.py` checks the same.
"""

import re
import sys
from pathlib import Path

import click

from toolbooth.cli.main import main as commands
from toolbooth.cli.messages import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "cli.md"
TABLE = re.compile(r"(<!-- options of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def command_of(name: str) -> click.Command:
    found = commands.get_command(click.Context(commands), name)
    assert found is not None
    return found


def table(name: str) -> str:
    """The usage and the options of one command."""
    command = command_of(name)
    context = click.Context(command, info_name=f"toolbooth {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = ["```text", f"toolbooth {name} {usage}", "```", "", "| option | meaning |", "|---|---|"]
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden:
            lines.append(row(param, context))
    return "\n".join(["", *lines, "", ""])


def row(option: click.Option, context: click.Context) -> str:
    words = ", ".join(option.opts)
    if not option.is_flag:
        kind = option.type
        values = " \\| ".join(kind.choices) if isinstance(kind, click.Choice) else None
        words += f" {values or option.make_metavar(context)}"
    meaning = (option.help or "").replace("|", "\\|")
    if option.show_default and option.default is not None:
        meaning += f" Default: {option.default}."
    return f"| `{words}` | {meaning} |"


def page(text: str) -> str:
    """The page with its tables as they should be."""
    return TABLE.sub(lambda found: f"{found[1]}{table(found[2])}{found[3]}", text)


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    made = page(text)
    if "--write" in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    missing = [name for name in COMMANDS if f"<!-- options of {name} -->" not in text]
    return 1 if missing or made != text else 0


if __name__ == "__main__":
    sys.exit(main())
