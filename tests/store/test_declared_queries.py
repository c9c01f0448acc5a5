"""Functions that are declared by their SQL fit the tables.

The server takes each statement, and its parameters and columns have the names and types that the
signature says.
"""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin

from asyncpg.prepared_stmt import PreparedStatement

import roost
from roost.store import Store

_TYPES = {
    "int2": {"int"},
    "int4": {"int"},
    "int8": {"int"},
    "xid": {"int"},
    "bool": {"bool"},
    "text": {"str"},
    "bpchar": {"str"},
    "name": {"str"},
    "json": {"str"},
    "jsonb": {"str"},
    "bytea": {"bytes"},
    "numeric": {"Decimal"},
    "float8": {"float"},
    "timestamp": {"datetime"},
    "interval": {"timedelta"},
    "date": {"date"},
    "uuid": {"UUID"},
    "cidr": {"IPv4Network", "IPv6Network"},
    "inet": {"IPv4Address", "IPv6Address", "IPv4Interface", "IPv6Interface"},
}
_SENT = _TYPES | {each: {*_TYPES[each], "str"} for each in ("uuid", "inet", "cidr")}
_SENT["timestamptz"] = {"datetime"}
"""As what values may be given: what is more than they are read as."""


async def test_they_fit_the_tables(store: Store) -> None:
    problems, count = [], 0
    async with store.transaction() as db:
        for function in _declared():
            statement = await db.prepare(vars(function)["sql"])
            name = f"{function.__module__}.{function.__name__}"
            problems += [f"{name}: {problem}" for problem in _problems(function, statement)]
            count += 1
    assert not problems, "\n".join(problems)
    assert count > 400


def _declared() -> Iterator[Callable[..., Any]]:
    for found in pkgutil.walk_packages(roost.__path__, "roost."):
        if found.name.endswith("queries"):
            for each in vars(import_module(found.name)).values():
                if inspect.isfunction(each) and "sql" in vars(each):
                    yield each


def _problems(function: Callable[..., Any], statement: "PreparedStatement[Any]") -> Iterator[str]:
    hints = dict(function.__annotations__)
    returns, given = hints.pop("return"), list(hints.values())[1:]
    for parameter, hint in zip(statement.get_parameters(), given, strict=True):
        if not _fits(parameter.name, hint, _SENT):
            yield f"{parameter.name} is given {hint}"
    columns = {each.name: each.type.name for each in statement.get_attributes()}
    if returns is not None:
        for column, hint in _read(returns, columns).items():
            if column not in columns:
                yield f"no column {column}"
            elif hint is None or not _fits(columns[column], hint, _TYPES):
                yield f"{column}, a {columns[column]}, is read as {hint}"


def _read(returns: Any, columns: dict[str, str]) -> dict[str, Any]:
    """By column as what each is read; None: nothing reads it."""
    inner = get_args(returns) if get_origin(returns) in (list, set, dict) else (returns,)
    row = next((each for each in (inner[0], *get_args(inner[0])) if is_dataclass(each)), None)
    if row is not None:
        return dict.fromkeys(columns) | {each.name: each.type for each in fields(row)}
    return dict.fromkeys(columns) | dict(zip(columns, inner, strict=False))


def _fits(type_name: str, hint: Any, types: dict[str, set[str]]) -> bool:
    if type_name.endswith("[]"):
        present = next((each for each in get_args(hint) if get_args(each)), hint)
        return all(_fits(type_name.removesuffix("[]"), each, types) for each in get_args(present))
    names = set(_names(hint))
    return bool(names) and names <= types.get(type_name, set())


def _names(hint: Any) -> Iterator[str]:
    """Of the types that a value can have, but that of None."""
    if isinstance(hint, NewType):
        yield from _names(hint.__supertype__)
    elif get_origin(hint) is Literal:
        yield from (type(each).__name__ for each in get_args(hint))
    elif isinstance(hint, UnionType) or get_origin(hint) is Union:
        yield from (name for each in get_args(hint) for name in _names(each))
    elif hint is not NoneType:
        yield getattr(hint, "__name__", str(hint))
