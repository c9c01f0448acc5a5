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
    listing = kind.listing
    where, arguments = [f"({listing.scope})"], list[object]([account_id])

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
            if kind.tags_table is None:
                return frozenset()
            tagged = f"select id from {kind.tags_table} where account_id = $1 and tags && {{}}"
            hold(f"{listing.key} in ({tagged}::text[])", list(each.tags))
        if each.label_prefix is not None:
            hold(f"starts_with({kind.label}, {{}}::text)", each.label_prefix)
    sql = f"select {listing.key} as id from {listing.source} where {' and '.join(where)}"
    return frozenset(row["id"] for row in await db.fetch(sql, *arguments))
