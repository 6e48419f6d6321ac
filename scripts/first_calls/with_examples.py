"""The extra `examples`: everything that the examples import is installed, and the core answers."""

import runpy
from pathlib import Path

import django_filters
import httpx2

assert httpx2.__version__
assert django_filters.__version__
runpy.run_path(str(Path(__file__).with_name("with_alone.py")))
