"""docs/reference/cli.md compared with the commands themselves."""

import cli_docs
import click
import pytest

from toolbooth.cli.messages import COMMANDS

TEXT = cli_docs.PAGE.read_text(encoding="utf-8")


def test_the_tables_of_options_are_those_of_the_commands():
    """If this fails: `python scripts/cli_docs.py --write`."""
    assert cli_docs.page(TEXT) == TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_a_table(name: str):
    assert f"## {name}\n" in TEXT
    assert f"<!-- options of {name} -->" in TEXT
    assert f"| [`{name}`](#{name}) |" in TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_command_has_a_help_text(name: str):
    command = cli_docs.command_of(name)
    assert command.help
    options = [param for param in command.params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("code", [0, 1, 2, 3, 130])
def test_every_exit_code_is_explained(code: int):
    assert f"\n| {code} | " in TEXT
