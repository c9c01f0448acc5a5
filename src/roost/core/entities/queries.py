"""SQL that is the same for all kinds of entities, made of their declarations."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection

from roost.core.entities.kind import BASE, ResourceKind
from roost.store import Queries
from roost.store.query import query


def entities_sql(kind: ResourceKind) -> str:
    """SQL of `id` and `label` of all entities of the account $1."""
    listing = kind.listing
    return f"""
        select {listing.key} as id, {kind.label} as label
        from {listing.source} where ({listing.scope})
        """


def entity_sql(kind: ResourceKind, entity_id: str) -> str:
    """SQL of an entity as records name it, null when it is gone; `entity_id` is SQL too."""
    listing = kind.listing
    url = (BASE + kind.path).replace("{id}", f"' || {listing.key} || '")
    url = url.replace("{variant}", f"' || {kind.variant} || '")
    return f"""
        (select row_to_json(entity) from (
            select {kind.label} as label, {listing.key} as id, '{kind.name}' as type,
                '{url}' as url
            from {listing.source} where {listing.key} = {entity_id}) entity)
        """


def label_sql(kind: ResourceKind, entity_id: str) -> str:
    """SQL of an entity's label, null when it is gone; `entity_id` is SQL too."""
    listing = kind.listing
    return f"(select {kind.label} from {listing.source} where {listing.key} = {entity_id})"


async def labels(
    db: Queries, kind: ResourceKind, account_id: int, ids: Collection[int]
) -> dict[int, str]:
    """The labels of those of the ids that are entities of the account."""
    sql = f"{entities_sql(kind)} and {kind.listing.key} = any($2)"
    rows = await db.fetch(sql, account_id, list(ids))
    return {row["id"]: row["label"] for row in rows}


@query("""
    with many as (
        select owner, kind, label from row_count group by owner, kind, label
        having count(*) > 1),
    folded as (
        delete from row_count n using many m
        where n.owner = m.owner and n.kind = m.kind and n.label = m.label returning n.*)
    insert into row_count (owner, kind, label, amount)
    select owner, kind, label, sum(amount) from folded group by owner, kind, label
    having sum(amount) <> 0
    """)
async def fold_counts(db: Queries) -> None:
    """Make one row of all rows of `row_count` on the same; others may add more meanwhile."""


async def records(
    db: Queries, kind: ResourceKind, account_id: int, ids: Collection[int]
) -> dict[int, str]:
    """Their records as JSON, the same as a list or a view has."""
    listing = kind.listing
    rows = await db.fetch(
        f"""
        select {listing.key} as id, {listing.record_text} as record
        from {listing.source} where ({listing.scope}) and {listing.key} = any($2)
        """,
        account_id,
        list(ids),
    )
    return {row["id"]: row["record"] for row in rows}
