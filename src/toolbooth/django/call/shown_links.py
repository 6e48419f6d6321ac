"""Finds the links between rows that a view shows to its caller, and the rows that it shows nested
in other rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rest_framework import serializers

_stock: Any = serializers.Serializer
"""REST framework's own serializer, as Any because its generic type is of no use here."""

_stock_of_list: Any = serializers.ListSerializer
_stock_of_field: Any = serializers.Field


def shows_one_of(view: Any, attributes: Iterable[str]) -> bool:
    """Return True if the rows of a view have a field for one of these attributes."""
    return _has_one_of(view.get_serializer(), attributes)


def nested_in(view: Any, rows: Any, key: Any, attributes: Iterable[str] = ()) -> Any:
    """Return the rows that a view shows nested in its `rows`. Return None if the view nests no such
    rows.

    `key` is the foreign key from the nested rows to `rows`. If `attributes` is given, the nested
    rows must have a field for one of these attributes.
    """
    accessor: str = key.remote_field.get_accessor_name()
    for field in _fields(view.get_serializer()):
        child: Any = getattr(field, "child", field)
        is_nested = field.source == accessor and isinstance(child, serializers.BaseSerializer)
        if is_nested and _is_plain(field) and (not attributes or _has_one_of(child, attributes)):
            return _prefetched(rows, accessor, _of_relation(key))
    return None


def _of_relation(key: Any) -> Any:
    """Return the rows on the other side of a relation. The manager of their model may hide some
    rows.
    """
    model = key.model
    manager = model._base_manager if key.one_to_one else model._default_manager
    return manager.all()


def _prefetched(queryset: Any, accessor: str, usual: Any) -> Any:
    """Return the queryset with which the view prefetches a relation. Return `usual` if the view
    does not set a queryset, and None if its queryset is limited to a number of rows.
    """
    lookups: tuple[Any, ...] = queryset._prefetch_related_lookups
    for each in lookups:
        # Other lookups are plain names.
        chosen: Any = getattr(each, "queryset", None)
        if chosen is not None and each.prefetch_to == accessor:
            return None if chosen.query.is_sliced else chosen
    return usual


def _has_one_of(serializer: Any, attributes: Iterable[str]) -> bool:
    wanted = frozenset(attributes)
    # `company`, `company_id` and `company.name` all show the link.
    return any(each.source.partition(".")[0] in wanted for each in _fields(serializer))


def _fields(serializer: Any) -> Iterator[Any]:
    """Yield the fields that a serializer shows. Yield nothing if the project's own code makes the
    output, because this code may leave fields out.
    """
    cls: Any = serializer.__class__
    if cls.to_representation is _stock.to_representation:
        yield from serializer._readable_fields


def _is_plain(field: Any) -> bool:
    """Return True if a field shows all rows of its attribute."""
    cls: Any = field.__class__
    if cls.get_attribute is not _stock_of_field.get_attribute:
        return False
    is_list = issubclass(cls, _stock_of_list)
    return not is_list or cls.to_representation is _stock_of_list.to_representation
