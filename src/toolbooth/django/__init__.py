"""The REST gateway: a Django REST framework API as MCP tools.

Start at `call/endpoint.py`, then `describe/catalogue.py`.
"""

from importlib import import_module as _import_module

__all__ = ["warm"]


def warm() -> None:
    """Describe all tools now. Otherwise each is described when it is first called or listed.

    Call it in `wsgi.py`, after `get_wsgi_application()`: under `gunicorn --preload` the tools are
    then described once, before the workers are forked. It makes no query and starts no thread.
    """
    # Imported late: the catalogue can only be imported after Django has loaded the apps.
    found = _import_module("toolbooth.django.describe.catalogue").catalogue()
    found.registry.page(0, None)
