"""SQL of which entities the restrictions of a narrowed token leave."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection

from roost.core.entities.kind import ResourceKind
from roost.core.narrowing.restrictions import Restriction
from roost.store import Queries


async def covered(
    db: Queries,
    kind: ResourceKind,
    account_id: int,
    restrictions: Collection[Restriction],
    ids: Collection[int] | None = None,
) -> frozenset[int]:
    """The entities of a kind, or those of `ids`, that all restrictions leave to the account."""
    arguments: list[object] = [account_id]
    sql = leaving(kind, restrictions, arguments, ids)
    if sql is None:
        return frozenset()
    return frozenset(row["id"] for row in await db.fetch(sql, *arguments))


def leaving(
    kind: ResourceKind,
    restrictions: Collection[Restriction],
    arguments: list[object],
    ids: Collection[int] | None = None,
) -> str | None:
    """SQL of what `covered` finds, for the account $1; its arguments are added behind those that
    there are. None, and no arguments more, where nothing can be left."""
    if kind.tags_table is None and any(each.tags is not None for each in restrictions):
        return None
    listing = kind.listing
    where = [f"({listing.scope})"]

    def hold(condition: str, argument: object) -> None:
        arguments.append(argument)
        where.append(condition.format(f"${len(arguments)}"))

    if ids is not None:
        hold(f"{listing.key} = any({{}}::bigint[])", list(ids))
    for each in restrictions:
        if each.entities is not None:
            named = each.entities.get(kind.name, ())
            if named != "*":
                hold(f"{listing.key} = any({{}}::bigint[])", list(named))
        if each.tags is not None:
            tagged = f"select id from {kind.tags_table} where account_id = $1 and tags && {{}}"
            hold(f"{listing.key} in ({tagged}::text[])", list(each.tags))
        if each.label_prefix is not None:
            hold(f"starts_with({kind.label}, {{}}::text)", each.label_prefix)
    return f"select {listing.key} as id from {listing.source} where {' and '.join(where)}"
