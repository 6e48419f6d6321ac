"""Settings for all tests: the long ones, the number and order of Hypothesis examples, the number of
processes.
"""

import random
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

HERE = Path(__file__).resolve().parent

# A background job is started with Ctrl-C ignored. The servers that tests start and interrupt would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG: dict[str, set[str]] = {
    # The package is built, and installed on each Python of this machine.
    "test_release.py": {
        "test_a_release_is_written_built_tested_and_its_commands_printed",
        "test_every_file_is_restored_if_the_package_check_fails",
    },
    # Fifty thousand calls.
    "boundary/test_swallowed_real_texts.py": {"test_ten_thousand_real_texts_are_not_refused"},
    # A new project, created and served in processes of its own.
    "django/test_stock.py": {"test_a_stock_project_is_served"},
    # The shape corpus over every transport, revision and host.
    "matrix/test_matrix.py": {"test_every_call_has_the_outcome_in_the_corpus_and_the_docs"},
    # The shape corpus through the proxy, over every transport and revision.
    "proxy/test_corpus.py": {
        "test_the_whole_corpus_loses_nothing_in_silence_behind_the_proxy",
    },
    # 500 open streams, 100 MB in one answer, and 50,000 notifications.
    "proxy/test_load.py": {
        "test_five_hundred_streams_take_little_memory_and_each_gets_its_own_messages",
        "test_an_answer_of_100_mb_over_http_is_reported_and_takes_little_memory",
        "test_an_answer_of_100_mb_over_stdio_is_reported_and_takes_little_memory",
        "test_a_flood_over_http_waits_until_its_own_client_reads",
        "test_a_flood_over_stdio_waits_until_the_client_reads",
    },
    # A thousand calls of each of six servers, in this process and over HTTP.
    "testing/test_call.py": {"test_a_thousand_random_calls_are_answered_as_over_http"},
    # Hundreds of Hypothesis examples. No profile reduces them, because their number is asserted.
    "testing/test_honesty.py": {
        "test_our_own_schemas_are_honest",
        "test_schemas_of_the_inventory_example_are_honest",
    },
    # pytest with our plugin on all tools of the inventory.
    "testing/test_kit_finds.py": {
        "test_unprotected_official_sdk_server_is_found_to_lose_arguments",
        "test_the_protected_servers_follow_the_law",
    },
}
"""The tests that `make test` leaves to `make check`, by file."""

EXAMPLES = {"quick": 0.2, "thorough": 20}
"""Hypothesis profiles, with the factor by which each multiplies the examples that a test asks for.
"""
FEWEST = 10

for profile in EXAMPLES:
    settings.register_profile(profile)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write half a surrogate pair as an escape: some tests log one, and xdist cannot send it."""
    report = yield
    shown = [(name, text.encode(errors="backslashreplace")) for name, text in report.sections]
    report.sections = [(name, text.decode()) for name, text in shown]
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="Run the tests in random order.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: left to `make check`, by tests/conftest.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With `-n auto`, run a few tests in one process: every worker would collect all that one can
    run.
    """
    few = config.option.keyword or any(".py" in word for word in config.args)
    return 0 if few else None


# This hook runs before pytest leaves out the tests that `-m` deselects.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        file = item.path.relative_to(HERE).as_posix()
        if getattr(item, "originalname", None) in LONG.get(file, ()):
            item.add_marker(pytest.mark.long)
    scale_examples(items)
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)


def scale_examples(items: list[pytest.Item]) -> None:
    """Multiply the examples of each Hypothesis test by the factor of the chosen profile.

    Only the thorough profile chooses its examples at random. The others choose the same ones in
    every run, so that a failing check fails again and coverage does not depend on luck. A profile
    alone changes only the tests without settings of their own. Hypothesis has no public way to
    change the settings of a test; its own pytest plugin does it in this way too.
    """
    profile = settings.get_current_profile_name()
    factor = EXAMPLES.get(profile, 1)
    same = profile != "thorough"
    tests = {item.function for item in items if isinstance(item, pytest.Function)}
    for test in filter(is_hypothesis_test, tests):
        asked = test._hypothesis_internal_use_settings
        number = max(round(asked.max_examples * factor), min(FEWEST, asked.max_examples))
        test._hypothesis_internal_use_settings = settings(
            asked,
            max_examples=number,
            derandomize=same,
            database=None if same else asked.database,
            deadline=None,  # a busy machine is not a failure
        )
