"""The settings of the tests, for a process that serves numbers."""

from gateway_settings import *  # noqa: F403  # the same key above all

ROOT_URLCONF = "number_urls"
