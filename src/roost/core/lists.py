"""Lists whose columns and filters are those of their record.

    class VolumeRow(TypedDict):
        id: Id
        label: Folded[str]
        size: int
        compute_label: str | None
        created: Created

    VOLUMES = listing_of(
        VolumeRow,
        source="volume v",
        scope="v.account_id = $1",
        key="v.id",
        sql={"compute_label": "(select i.label from compute_instance i where i.id = v.compute_id)"},
    )

A field is the column of its name in the table of the key, unless `sql` says otherwise. What is put
together here is put together once, when the module is imported.
"""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from roost.core.formats import Filter, Timestamp
from roost.store.conditions import Column, ColumnType
from roost.store.paging import Counted, Listing

_TIME = get_args(Timestamp)[1]
_TYPES: Mapping[object, ColumnType] = {
    bool: "bool",
    int: "int",
    float: "number",
    str: "text",
    list: "texts",
}


def listing_of(
    row: type,
    *,
    source: str,
    scope: str,
    key: str,
    sql: Mapping[str, str] | None = None,
    columns: Mapping[str, Column] | None = None,
    granted: tuple[str, str] | None = None,
    counted: Counted | None = None,
    descending: bool = False,
) -> Listing:
    """How a collection of such records is read; what the others mean says `Listing`.

    `sql` are the fields that are no column of the table, `columns` are filters on what is no field
    of the record. ValueError where either names something that is of the other sort.
    """
    table, given = key.partition(".")[0], dict(sql or {})
    fields = {name: given.pop(name, f'{table}."{name}"') for name in row.__annotations__}
    filters = {
        name: Column(fields[name], _type(kind), found.sortable, folds=found.folds)
        for name, kind in row.__annotations__.items()
        if (found := _filter(kind)) is not None
    }
    more = dict(columns or {})
    if unknown := given.keys() | (more.keys() & filters.keys()):
        raise ValueError(f"{row.__name__}: {', '.join(sorted(unknown))}")
    return Listing(
        record=", ".join(f'{value} as "{name}"' for name, value in fields.items()),
        source=source,
        scope=scope,
        key=key,
        columns={**filters, **more},
        descending=descending,
        granted=granted,
        counted=counted,
    )


def _filter(kind: Any) -> Filter | None:
    marks = kind.__metadata__ if get_origin(kind) is Annotated else ()
    return next((mark for mark in marks if isinstance(mark, Filter)), None)


def _type(kind: Any) -> ColumnType:
    """How values of a field are compared."""
    origin = get_origin(kind)
    if origin is Annotated:
        return "time" if _TIME in kind.__metadata__ else _type(get_args(kind)[0])
    if origin in (Union, UnionType):
        (inner,) = (each for each in get_args(kind) if each is not NoneType)
        return _type(inner)
    if origin is Literal:
        return "text"
    return _TYPES[origin or kind]
