"""Run the checks in a project that is set up: its models cannot be imported before."""

import sys
from pathlib import Path

import django
import pytest

# The warnings of a host are not ours to fix.
OPTIONS = [
    "-q",
    "-o",
    "filterwarnings=ignore",
    "-p",
    "no:cacheprovider",
    "-o",
    "verbosity_assertions=2",
]

if __name__ == "__main__":
    django.setup()
    sys.exit(pytest.main([str(Path(__file__).with_name("checks.py")), *OPTIONS, *sys.argv[1:]]))
