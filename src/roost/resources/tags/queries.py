"""SQL of the tags on entities; the rows of the entities hold them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection

from roost.resources.entities.kind import ResourceKind
from roost.store import Queries


def tagged_sql(kind: ResourceKind) -> str:
    """SQL of `type` and `id` of what the account $1 has with the tag $2."""
    listing = kind.listing
    return f"""
        select '{kind.name}' as type, {listing.key} as id from {listing.source}
        where ({listing.scope}) and {listing.columns["tags"].sql} @> array[$2::text]
        """


async def lock(db: Queries, kind: ResourceKind, account_id: int, ids: Collection[int]) -> set[int]:
    """Those of the ids that are the account's; they stay as they are until the transaction ends.

    Only unrestricted users have to do with tags, and they may write whatever the account has.
    """
    rows = await db.fetch(
        f"""
        select id from {kind.tags_table} where account_id = $1 and id = any($2)
        order by id for update
        """,
        account_id,
        list(ids),
    )
    return {row["id"] for row in rows}


async def add(db: Queries, kind: ResourceKind, ids: Collection[int], label: str) -> None:
    """Tag entities that are locked; those which have the tag keep it once."""
    await db.execute(
        f"""
        update {kind.tags_table} set tags = array_append(tags, $2)
        where id = any($1) and not tags @> array[$2::text]
        """,
        list(ids),
        label,
    )


async def remove(db: Queries, kind: ResourceKind, account_id: int, label: str) -> None:
    """Take a tag off all entities of the account."""
    await db.execute(
        f"""
        update {kind.tags_table} set tags = array_remove(tags, $2) where id in (
            select id from {kind.tags_table}
            where account_id = $1 and tags @> array[$2::text] order by id for update)
        """,
        account_id,
        label,
    )
