"""The example's settings, with middleware of every kind around views of their own."""

from bare_settings import *  # noqa: F403
from bare_settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [*INSTALLED_APPS, "odd"]
MIDDLEWARE = [
    *MIDDLEWARE,
    "middleware.Counting",  # sync only
    "middleware.AsyncOnly",
    "middleware.both_ways",
    "middleware.by_host",  # sets `request.urlconf`
    "middleware.Scoped",
    "middleware.by_header",  # answers some requests itself
]
ROOT_URLCONF = "served_urls"
