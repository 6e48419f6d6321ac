"""Keys whose names show that they hold a secret: two lists from real APIs, written before the rule."""

from pathlib import Path

import pytest

from toolbooth.secret_names import is_secret_name, may_be_secret_name

LISTS = Path(__file__).with_name("names")


def names_in(file: str) -> list[str]:
    return (LISTS / file).read_text(encoding="ascii").split()


@pytest.mark.parametrize("name", names_in("secret.txt"))
def test_names_of_secrets_are_recognised(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", names_in("not_secret.txt"))
def test_names_that_only_look_like_a_secret_are_not(name: str):
    assert not is_secret_name(name)


def test_each_list_has_80_names():
    assert [len(set(names_in(file))) for file in ("secret.txt", "not_secret.txt")] == [80, 80]


@pytest.mark.parametrize(
    "name",
    [
        "SharedAccessSignature",
        "JSESSIONID",
        "connect.sid",
        "recovery_codes",
        "2fa_code",
        "user_pin",
        "dbpass",
        "basicauth",
        "secretkey",
        "vault_secret_id",
        "x-functions-key",
        "X-Amz-Signature",
        "sig",
        "KeyMaterial",
    ],
)
def test_words_may_be_plural_numbered_or_written_together(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "7",
        "---",
        "gpio_pin",
        "season_pass",
        "n_tokens",
        "turkey",
        "sig_level",
        "AccessTokenValidity",
    ],
)
def test_a_short_word_alone_is_not_a_secret(name: str):
    assert not is_secret_name(name)


def test_only_the_beginning_of_a_very_long_key_is_examined():
    assert is_secret_name("password" + "_x" * 1_000_000)


@pytest.mark.parametrize("name", names_in("secret.txt"))
def test_every_secret_name_passes_the_quick_first_check(name: str):
    assert may_be_secret_name(name)
