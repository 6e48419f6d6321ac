"""SQLite in memory, as Django's own, but the threads of a test can close their connections.

Django ignores `close()` for every database in memory, since the last connection takes the rows with
it. Connections of threads that have ended are left to the garbage collector then, of which Python
warns since 3.13. Here one connection is kept, and the others are closed.
"""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    is_kept = False
    """Whether the rows live as long as this connection."""

    def close(self):
        if self.is_kept:
            super().close()
        else:
            BaseDatabaseWrapper.close(self)
