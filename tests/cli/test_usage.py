"""Options that a command does not have, and programs without `--` before them."""

from pathlib import Path

import click
import pytest

from commands import toolbooth
from toolbooth.cli.main import main
from toolbooth.cli.usage import messages, options


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        # The value of an option, written as an option.
        (["lint", "t.json", "--sarif"], "There is no option '--sarif'; write `--format sarif`."),
        (["config", "--cursor", "a:b"], "There is no option '--cursor'; write `--client cursor`."),
        # Options of other tools.
        (["serve", "a:b", "--port", "80"], "There is no option '--port'; write `--http PORT`."),
        (["serve", "a:b", "-p", "80"], "There is no option '-p'; write `--http PORT`."),
        (["tools", "a:b", "--format", "json"], "There is no option '--format'; write `--json`."),
        (["tools", "a:b", "-json"], "There is no option '-json'; write `--json`."),
        (["call", "a:b", "t", "-v"], "There is no option '-v'; write `--meta`."),
        (
            ["tools", "a:b", "-H", "A: b"],
            "There is no option '-H'; write `--header 'NAME: VALUE'`.",
        ),
        # Words that need no option here.
        (
            ["serve", "a:b", "--stdio"],
            "There is no option '--stdio'; stdio is used unless you add --http PORT.",
        ),
        (
            ["call", "a:b", "t", "--args", "{}"],
            "There is no option '--args'; the arguments are one JSON object in single quotes, "
            "after TOOL.",
        ),
        (
            ["tools", "a:b", "-o", "file"],
            "There is no option '-o'; the result is on standard output, so write `> FILE` at the "
            "end.",
        ),
        # Typing errors, and options of other commands.
        (
            ["lint", "t.json", "--fail_on"],
            "There is no option '--fail_on'; did you mean '--fail-on'?",
        ),
        (["lint", "t.json", "--seelct"], "There is no option '--seelct'; did you mean '--select'?"),
        (
            ["replay", "c.jsonl", "a:b", "--fix"],
            "There is no option '--fix'; it is an option of `toolbooth lint`.",
        ),
        (["lint", "t.json", "--nonsense"], "There is no option '--nonsense'."),
        (["lint", "t.json", "--fail-on"], "Option '--fail-on' requires an argument."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_unknown_option_is_answered_with_the_right_one(
    words: list[str], sentence: str, tmp_path: Path
):
    told = f"Error: {sentence} See `toolbooth {words[0]} --help`."
    assert toolbooth(tmp_path, *words) == (2, "", told)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--meta", "tools", "a:b"],
            "There is no option '--meta'; options come after the command, such as "
            "`toolbooth call --meta`.",
        ),
        (
            ["--timeout", "5", "tools", "a:b"],
            "There is no option '--timeout'; options come after the command, such as "
            "`toolbooth tools --timeout`.",
        ),
        (["-V"], "There is no option '-V'; write `--version`."),
        (["--versoin"], "There is no option '--versoin'; did you mean '--version'?"),
        (["--nonsense"], "There is no option '--nonsense'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_before_the_command_is_explained(words: list[str], sentence: str, tmp_path: Path):
    assert toolbooth(tmp_path, *words) == (2, "", f"Error: {sentence} See `toolbooth --help`.")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["tools", "npx", "-y", "@example/server"], "toolbooth tools -- npx -y @example/server"),
        (["doctor", "--token", "t", "npx", "a b"], "toolbooth doctor --token t -- npx 'a b'"),
        (["call", "python", "server.py"], "toolbooth call TOOL -- python server.py"),
    ],
    ids=["tools", "doctor", "call"],
)
def test_a_program_without_dashes_is_answered_with_the_right_line(
    words: list[str], line: str, tmp_path: Path
):
    program = line.partition("-- ")[2].split()[0]
    assert toolbooth(tmp_path, *words) == (
        2,
        "",
        f"Error: {program!r} is a program; the command that starts a server comes after `--`: "
        f"`{line}`. See `toolbooth {words[0]} --help`.",
    )


def test_a_program_is_no_target_for_serve(tmp_path: Path):
    assert toolbooth(tmp_path, "serve", "python", "server.py") == (
        2,
        "",
        "Error: 'python' is a program, and `toolbooth serve` loads the server itself: write "
        "module:object or file.py:object, such as server.py:mcp. See `toolbooth serve --help`.",
    )


def test_long_json_is_not_taken_for_a_program(tmp_path: Path):
    numbers = f"[{', '.join(['1'] * 300)}]"
    code, shown, _ = toolbooth(tmp_path, "explain", numbers, "--schema", '{"type": "object"}')
    assert code == 1
    assert "the arguments must be one JSON object" in shown


def test_a_file_with_the_name_of_a_program_is_a_target(tmp_path: Path):
    (tmp_path / "python").write_text('{"tools": []}')
    assert toolbooth(tmp_path, "lint", "python")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["config", "shop.py:server", "--client", "claud-code"],
            "Invalid value for '--client': there is no 'claud-code'; did you mean 'claude-code'? "
            "See `toolbooth config --help`.",
        ),
        (
            ["lint", "shop.py:server", "--fail-on", "bad"],
            "Invalid value for '--fail-on': there is no 'bad'; it is one of error, warning, note, "
            "never. See `toolbooth lint --help`.",
        ),
        (["help"], "There is no command 'help'; did you mean '--help'? See `toolbooth --help`."),
        (["list"], "There is no command 'list'; did you mean 'tools'? See `toolbooth --help`."),
        (
            ["tools", "http://127.0.0.1:99999/mcp"],
            "'http://127.0.0.1:99999/mcp' is not the URL of a server: write a host, a port up to "
            "65535 and the path",
        ),
        (
            ["config", "http:///mcp"],
            "'http:///mcp' is not the URL of a server: write a host, a port up to 65535 and the path",
        ),
        (
            ["test", "calls.jsonl"],
            "'calls.jsonl' is a file, and not a server; TARGET is module:object, file.py:object, a "
            "URL, or -- and the command that starts a server",
        ),
        (
            ["call", "order", "{}", "shop.py:server"],
            "'order' does not name a server: write the file or module, a colon and the name of the "
            "variable, such as server.py:server",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_word_is_answered_with_the_right_one(
    words: list[str], sentence: str, tmp_path: Path
):
    (tmp_path / "calls.jsonl").write_text("{}\n")
    assert toolbooth(tmp_path, *words) == (2, "", f"Error: {sentence}")


def test_every_proposed_option_exists():
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in main.list_commands(context)]
    existing = {name for each in commands if each for param in each.params for name in param.opts}
    proposed = {way.split()[0] for _, ways in options.SAME_HERE for way in ways}
    assert proposed <= existing
    assert set(options.SAME_WORD.values()) <= set(messages.WITHOUT_OPTION)
