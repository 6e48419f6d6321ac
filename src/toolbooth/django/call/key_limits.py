"""Finds writes that cannot take an idempotency key, because they do not run in one transaction with
the key.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

from django.db import connections, router, transaction
from django.db.transaction import Atomic

from toolbooth.django.call import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.known_code import in_closure
from toolbooth.django.describe.previews import has_transactions
from toolbooth.django.describe.published_models import model_of

_READS = re.compile(
    r"(?:\s|\(|/\*.*?\*/)*"
    r"(?:(?:SELECT|SHOW|EXPLAIN|PRAGMA|SET|SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT)\b"
    r"|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|MERGE)\b))",
    re.I | re.S,
)
"""Statements that write nothing."""

_METHODS = {
    "create": "perform_create",
    "update": "perform_update",
    "partial_update": "perform_update",
    "destroy": "perform_destroy",
}
"""Methods of REST framework's views that authors override, by action."""


KeyLimitKind = Literal["no-transactions", "non-atomic", "durable", "other-database"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLimit:
    """The reason why an action takes no key."""

    kind: KeyLimitKind
    message: str
    method: Any = None
    """The method of the view that contains a durable block, if this is the reason."""


def limit_of_keys(action: Action, alias: str) -> KeyLimit | None:
    """Return the reason why an action cannot take a key. Return None if its code shows no reason.
    `alias` is the database with the keys.
    """
    if not has_transactions(connections[alias]):
        return KeyLimit(kind="no-transactions", message=messages.NO_TRANSACTIONS)
    # Set by Django's decorator `non_atomic_requests`: the view wants no transaction around it.
    if getattr(action.callback, "_non_atomic_requests", None):
        return KeyLimit(kind="non-atomic", message=messages.NON_ATOMIC)
    durable = next(filter(_is_durable, _methods(action)), None)
    if durable is not None:
        return KeyLimit(kind="durable", message=messages.DURABLE, method=durable)
    model = model_of(action)
    # Without a model, the database is not known before the view runs. `only_writing_to` checks each
    # statement.
    written = alias if model is None else router.db_for_write(model)
    if written == alias:
        return None
    return KeyLimit(kind="other-database", message=messages.other_database(written, alias))


def _methods(action: Action) -> Iterator[Any]:
    callback: Any = action.callback
    handlers: dict[str, str] = getattr(callback, "actions", None) or {}
    method = action.method.lower()
    names = ["dispatch", method, handlers.get(method, action.name), _METHODS.get(action.name, "")]
    for name in names:
        found: Any = getattr(action.view, name, None)
        if found is not None:
            yield found


def _is_durable(method: Any) -> bool:
    """Return True if a method contains `transaction.atomic(durable=True)`, as a block or as a
    decorator. Django requires a durable block to be the outermost block.
    """
    # Decorators may hide the block, so each layer of the method is examined.
    while method is not None:
        # `@transaction.atomic(durable=True)` keeps its block in the closure of the function that it
        # returns.
        if any(isinstance(each, Atomic) and _durable(each) for each in in_closure(method)):
            return True
        inner = getattr(method, "__wrapped__", None)
        if inner is None:
            return _names_durable_block(method)
        method = inner
    return False


def _durable(block: Any) -> bool:
    return block.durable


def _names_durable_block(function: Any) -> bool:
    code: Any = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType):
        return False
    # `with transaction.atomic(durable=True):` leaves both words in the code of the function.
    return "atomic" in code.co_names and "durable" in _texts(code.co_consts)


def _texts(constants: Iterable[str | tuple[Any, ...] | None]) -> Iterator[str]:
    """Yield the texts among the constants of a function's code. The names of keyword arguments are
    inside tuples.
    """
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple):
            yield from _texts(each)


def is_nested_durable(error: BaseException) -> bool:
    """Return True if an exception was raised because a durable block is not the outermost one."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    # Django raises a plain RuntimeError. Only its place distinguishes it from others.
    enter: Any = transaction.Atomic.__enter__
    return (
        isinstance(error, RuntimeError)
        and trace is not None
        and trace.tb_frame.f_code is enter.__code__
    )


class WrittenElsewhere(Exception):
    """A statement would write to another database than the one with the keys."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        super().__init__(alias)


@contextmanager
def only_writing_to(alias: str) -> Generator[None]:
    """A context in which statements that would write to another database raise WrittenElsewhere.
    The exception is raised again at the end, in case the view has caught it.
    """
    tried: list[str] = []

    def execute(run: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:  # Django's
        # A statement of an unknown kind counts as a write. Refusing a key is less harmful than
        # making a write twice.
        if not _READS.match(str(sql)):
            tried.append(context["connection"].alias)
            raise WrittenElsewhere(tried[0])
        return run(sql, params, many, context)

    with ExitStack() as stack:
        for connection in connections.all():
            if connection.alias != alias:
                stack.enter_context(connection.execute_wrapper(execute))
        yield
    if tried:
        raise WrittenElsewhere(tried[0])
