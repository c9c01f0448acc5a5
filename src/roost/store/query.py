"""SQL as the declaration of a function: its signature says what goes in and what comes out.

    @query("select id, label from vpc where account_id = $1 and id = $2 for no key update")
    async def lock(db: Queries, account_id: int, vpc_id: int) -> VpcFacts | None:
        \"""The account's VPC, which nobody else changes until the transaction ends.\"""

Parameters are `$1`, `$2` in their order; any Collection is sent as an array, also a mapping. The
function has no body, and returns by its annotation:

    None            nothing
    Row, Row | None the first row, as a dataclass with a field for each column
    list[Row]       all rows
    list[T], set[T] the first column of all rows
    dict[K, T]      the second column of all rows by the first
    T, T | None     the first column of the first row; of `bool` null is False

`tests/store/test_declared_queries.py` has the server check each against the tables.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import is_dataclass
from functools import cache, wraps
from inspect import Signature, signature
from types import UnionType
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin

from roost.store.queries import Queries

P = ParamSpec("P")
R = TypeVar("R")

Statement = Callable[Concatenate[Queries, P], Coroutine[Any, Any, R]]
_Read = Callable[[Queries, str, tuple[object, ...]], Awaitable[Any]]

_PARAMETER = re.compile(r"\$(\d+)")


def query(sql: str) -> Callable[[Statement[P, R]], Statement[P, R]]:
    """ValueError for SQL with more or fewer parameters than the function."""

    def declare(function: Statement[P, R]) -> Statement[P, R]:
        code, annotations = function.__code__, function.__annotations__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        numbers = {int(number) for number in _PARAMETER.findall(sql)}
        if numbers != set(range(1, len(names) + 1)):
            raise ValueError(f"{function.__qualname__} has other parameters than its SQL")
        read, values = _reader(annotations["return"]), _values(function)
        plain = not any(get_origin(annotations.get(name)) is Collection for name in names)

        @wraps(function)
        async def run(db: Queries, /, *args: P.args, **kwargs: P.kwargs) -> R:
            whole = plain and len(args) == len(names)
            found: R = await read(db, sql, args if whole else values(*args, **kwargs))
            return found

        vars(run)["sql"] = sql
        return run

    return declare


def _values(function: Callable[..., object]) -> Callable[..., tuple[object, ...]]:
    """What gives the values of a call in the order of the parameters."""

    @cache
    def parameters() -> tuple[Signature, Collection[str]]:
        """Found with the first call: to look at all functions is a tenth of a start's imports."""
        found = list(signature(function).parameters.values())[1:]
        collections = {each.name for each in found if get_origin(each.annotation) is Collection}
        return Signature(found), collections

    def values(*args: object, **kwargs: object) -> tuple[object, ...]:
        bound, collections = parameters()
        given = bound.bind(*args, **kwargs)
        given.apply_defaults()
        return tuple(
            list(given.arguments[name]) if name in collections else given.arguments[name]
            for name in bound.parameters
        )

    return values


def _reader(returns: Any) -> _Read:
    origin, kinds = get_origin(returns), get_args(returns)
    if returns is None:
        return _execute
    if origin is UnionType and len(kinds) == 2 and kinds[1] is type(None):
        return _first(kinds[0], optional=True)
    if origin is dict:
        return _pairs
    if origin in (list, set):
        return _all_of(origin, kinds[0])
    return _first(returns, optional=False)


async def _execute(db: Queries, sql: str, values: tuple[object, ...]) -> None:
    await db.execute(sql, *values)


async def _pairs(db: Queries, sql: str, values: tuple[object, ...]) -> dict[Any, Any]:
    return {row[0]: row[1] for row in await db.fetch(sql, *values)}


def _all_of(container: Callable[[Any], Any], kind: Any) -> _Read:
    async def rows(db: Queries, sql: str, values: tuple[object, ...]) -> Any:
        return container(kind(**row) for row in await db.fetch(sql, *values))

    async def column(db: Queries, sql: str, values: tuple[object, ...]) -> Any:
        return container(row[0] for row in await db.fetch(sql, *values))

    return rows if is_dataclass(kind) else column


def _first(kind: Any, *, optional: bool) -> _Read:
    async def row(db: Queries, sql: str, values: tuple[object, ...]) -> Any:
        found = await db.fetchrow(sql, *values)
        if found is None and optional:
            return None
        assert found is not None
        return kind(**found)

    async def value(db: Queries, sql: str, values: tuple[object, ...]) -> Any:
        return await db.fetchval(sql, *values)

    async def truth(db: Queries, sql: str, values: tuple[object, ...]) -> bool:
        return bool(await db.fetchval(sql, *values))

    if is_dataclass(kind):
        return row
    return truth if kind is bool and not optional else value
