"""The examinations of `mcp_doctor --deploy`, for a project that many agents use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.management import get_commands
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from rest_framework.settings import api_settings

from toolbooth.django.conf import configuration
from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Cause, Examination, Finding

NOT_MIGRATED = Cause("migrations", messages.NOT_MIGRATED, messages.RUN_MIGRATE)


def _shared_cache() -> Iterator[Finding]:
    alias = configuration().cache
    # These two store nothing that another worker can read.
    if type(caches[alias]).__name__ in ("LocMemCache", "DummyCache"):
        yield Finding("warning", messages.cache_not_shared(alias), messages.USE_A_SHARED_CACHE)
    else:
        yield Finding("ok", messages.cache_is_shared(alias))


def _atomic_requests() -> Iterator[Finding]:
    loose = [each.alias for each in connections.all() if not each.settings_dict["ATOMIC_REQUESTS"]]
    if loose:
        yield Finding("warning", messages.writes_stay(loose), messages.set_atomic_requests(loose))
    else:
        yield Finding("ok", messages.ATOMIC)


_TIME_LIMITS = {
    "postgresql": ("SHOW statement_timeout", messages.LIMIT_POSTGRESQL),
    "mysql": ("SELECT @@max_statement_time", messages.LIMIT_MARIADB),
}
"""By kind of database: the query for the longest time of a statement, and the remedy. MySQL has no
limit for statements that write.
"""


def _time_limits() -> Iterator[Finding]:
    for each in connections.all():
        connection: Any = each
        is_mysql = connection.vendor == "mysql" and not getattr(
            connection, "mysql_is_mariadb", False
        )
        if connection.vendor not in _TIME_LIMITS or is_mysql:
            continue
        question, remedy = _TIME_LIMITS[connection.vendor]
        with connection.cursor() as cursor:
            cursor.execute(question)
            limit = cursor.fetchone()[0]
        # Zero means no limit. PostgreSQL returns it as text, MariaDB as a number.
        if str(limit) in ("0", "0.0", "0.000000"):
            yield Finding("warning", messages.no_time_limit(connection.alias), remedy)
        else:
            yield Finding("ok", messages.time_limit(connection.alias, limit))
    yield Finding("note", messages.SERVERS_TIME_LIMIT, messages.LIMIT_THE_SERVER)


def _https() -> Iterator[Finding]:
    """Examine the settings for HTTPS, because every request of an agent contains credentials."""
    redirects: bool = settings.SECURE_SSL_REDIRECT
    header: Any = settings.SECURE_PROXY_SSL_HEADER
    if not redirects and header is None:
        yield Finding("warning", messages.HTTPS_NOT_SET, messages.SET_HTTPS)
    # Without a proxy this is right, and the settings do not show whether there is one.
    elif redirects and header is None:
        yield Finding("note", messages.REDIRECTS_BEHIND_PROXY, messages.SET_PROXY_HEADER)
    else:
        yield Finding("note", messages.proxy_header_is_trusted(header), messages.STRIP_PROXY_HEADER)
    throttles = api_settings.DEFAULT_THROTTLE_CLASSES
    # REST framework then identifies callers by a header that they can choose themselves.
    if throttles and api_settings.NUM_PROXIES is None:
        yield Finding("note", messages.THROTTLES_TRUST_CALLERS, messages.SET_NUM_PROXIES)


def _hosts() -> Iterator[Finding]:
    if settings.DEBUG:
        yield Finding("error", messages.DEBUG_IS_ON, messages.SWITCH_DEBUG_OFF)
    if "*" in settings.ALLOWED_HOSTS:
        yield Finding("warning", messages.ANY_HOST, messages.NAME_YOUR_HOSTS_IN_SETTING)
    elif settings.ALLOWED_HOSTS:
        yield Finding("ok", messages.hosts_are_named(settings.ALLOWED_HOSTS))


def _migrations() -> Iterator[Finding]:
    """Yield the migrations that are not applied, for each database."""
    is_behind = False
    for each in connections.all():
        executor = MigrationExecutor(each)
        plan: Any = executor.migration_plan(executor.loader.graph.leaf_nodes())
        for migration, _ in plan:
            is_behind = True
            name = f"{migration.app_label}.{migration.name}"
            what = messages.not_migrated(name, each.alias)
            yield Finding("error", what, messages.RUN_MIGRATE, NOT_MIGRATED, name)
    if not is_behind:
        yield Finding("ok", messages.MIGRATED)


def _cleaning() -> Iterator[Finding]:
    """Recommend running `mcp_clean` regularly. If this command is installed, the project has the
    table of idempotency keys, which grows until the command removes old keys.
    """
    if "mcp_clean" in get_commands():
        yield Finding("note", messages.KEYS_PILE_UP, messages.SCHEDULE_CLEANING)


DEPLOYMENT: dict[str, Examination] = {
    "Shared cache": _shared_cache,
    "Atomic requests": _atomic_requests,
    "Time limits": _time_limits,
    "HTTPS": _https,
    "Hosts": _hosts,
    "Migrations": _migrations,
    "Clean-up": _cleaning,
}
