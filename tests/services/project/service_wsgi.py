"""Loaded by gunicorn before it starts its workers (`--preload`)."""

from django.core.wsgi import get_wsgi_application

import kill_points

application = get_wsgi_application()

from toolbooth.django.describe.catalogue import catalogue  # noqa: E402  # needs the apps

# Each worker would build it for its first call, and many workers are killed after one call.
catalogue()
kill_points.install()
