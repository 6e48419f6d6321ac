"""The databases that `make services` and the part `kills` of `make long` run on.

Each run has its own databases with random names. They are dropped when the run ends.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pymysql

HOST = "127.0.0.1"
PREFIX = "toolbooth_services_"
CONNECT_SECONDS = 5

Config = dict[str, Any]
"""An entry of Django's `DATABASES`."""


class NotThere(Exception):
    """A service does not answer or refuses the login; the text explains how to fix that."""


class Service(Protocol):
    """A kind of database."""

    name: str

    def version(self) -> str:
        """Raises NotThere."""
        ...

    def create(self, database: str) -> Config: ...

    def drop(self, database: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQL:
    """User `postgres`, without a password."""

    name: str = "PostgreSQL"
    host: str = HOST
    port: int = 5432

    def version(self) -> str:
        try:
            return self._run("SHOW server_version")
        except psycopg.OperationalError as error:
            docker = (
                f"docker run --rm -d -p {self.host}:{self.port}:5432 "
                "-e POSTGRES_HOST_AUTH_METHOD=trust postgres:15"
            )
            where = f"{self.name} as user postgres without a password"
            told = not_there(where, self.host, self.port, error, "service postgresql start", docker)
            raise NotThere(told) from error

    def create(self, database: str) -> Config:
        self._run(f'CREATE DATABASE "{database}"')
        return {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": self.host,
            "PORT": self.port,
            "USER": "postgres",
            "NAME": database,
        }

    def drop(self, database: str) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    def _run(self, statement: str) -> str:
        """The first value that a statement returns, if it returns rows."""
        options: dict[str, Any] = {"user": "postgres", "dbname": "postgres", "autocommit": True}
        with psycopg.connect(
            host=self.host, port=self.port, connect_timeout=CONNECT_SECONDS, **options
        ) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return str(row[0]) if row else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MariaDB:
    """User `root`, without a password."""

    name: str = "MariaDB"
    host: str = HOST
    port: int = 3306

    def version(self) -> str:
        try:
            return self._run("SELECT VERSION()")
        except pymysql.err.OperationalError as error:
            docker = (
                f"docker run --rm -d -p {self.host}:{self.port}:3306 "
                "-e MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1 mariadb:10.11"
            )
            where = f"{self.name} as user root without a password"
            told = not_there(where, self.host, self.port, error, "service mariadb start", docker)
            raise NotThere(told) from error

    def create(self, database: str) -> Config:
        self._run(f"CREATE DATABASE `{database}` CHARACTER SET utf8mb4")
        return {
            "ENGINE": "django.db.backends.mysql",
            "HOST": self.host,
            "PORT": self.port,
            "USER": "root",
            "NAME": database,
            "OPTIONS": {"charset": "utf8mb4"},
        }

    def drop(self, database: str) -> None:
        self._run(f"DROP DATABASE IF EXISTS `{database}`")

    def _run(self, statement: str) -> str:
        """The first value that a statement returns, if it returns rows."""
        options: dict[str, Any] = {"user": "root", "connect_timeout": CONNECT_SECONDS}
        connection = pymysql.connect(host=self.host, port=self.port, **options)
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            row = cursor.fetchone()
            return str(row[0]) if row else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLite:
    """A file in a temporary folder."""

    name: str = "SQLite"

    def version(self) -> str:
        return sqlite3.sqlite_version

    def create(self, database: str) -> Config:
        folder = Path(tempfile.gettempdir()) / database
        folder.mkdir()
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "database.sqlite3")}

    def drop(self, database: str) -> None:
        shutil.rmtree(Path(tempfile.gettempdir()) / database, ignore_errors=True)


SERVICES: tuple[Service, ...] = (PostgreSQL(), MariaDB(), SQLite())


def not_there(what: str, host: str, port: int, error: Exception, *commands: str) -> str:
    """The service, why it does not answer, and the commands that start it."""
    reason = " ".join(str(error).split())
    lines = [f"{what} does not answer on {host}:{port}: {reason}", f"  start it: {commands[0]}"]
    lines += [f"        or: {command}" for command in commands[1:]]
    return "\n".join(lines)


@contextlib.contextmanager
def database(service: Service) -> Iterator[Config]:
    """A new database of a random name, dropped at the end."""
    name = PREFIX + secrets.token_hex(4)
    try:
        yield service.create(name)
    finally:
        service.drop(name)
