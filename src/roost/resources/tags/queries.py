"""SQL of tags, and of the tags on entities, whose rows hold them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from functools import cache

from roost.core.entities.kind import EntityKind, ResourceKind
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.store import Queries
from roost.store.paging import Column, Listing, Part
from roost.store.query import query

TAGS = Listing(
    record="found.label",
    source="tag as found",
    scope="found.account_id = $1",
    key="found.label",
    columns={"label": Column("found.label", "text", folds=True)},
    gathered=True,
)
"""By label, which is unique in an account only."""

LIMIT = LimitGroup.of(
    "tag where account_id = $1",
    LimitKind("tags", "tags", 5000, service=False),
)

FILTERS = {
    "type": Column("found.type", "text"),
    "data.id": Column("found.id", "int"),
    "data.tags": Column("found.tags", "texts"),
}
"""What all kinds of tagged entities have."""


@cache
def tagged_listing(taggable: tuple[ResourceKind, ...]) -> Listing:
    """What the account $1 has with the tag $2: kind by kind, in each by id."""
    kinds = sorted(taggable, key=lambda kind: kind.name)
    records = " ".join(f"when '{kind.name}' then {_record_sql(kind)}" for kind in kinds)
    return Listing(
        record=f"found.type, case found.type {records} end as data",
        source=f"({' union all '.join(tagged_sql(kind) for kind in kinds)}) as found",
        scope="true",
        key="found.type, found.id",
        columns=FILTERS,
        gathered=True,
        parts=tuple(map(_part, kinds)),
    )


def tagged_sql(kind: ResourceKind) -> str:
    """SQL of `type`, `id` and `tags` of what the account $1 has with the tag $2."""
    listing = kind.listing
    return f"""
        select '{kind.name}' as type, {listing.key} as id, {listing.columns["tags"].sql} as tags
        from {listing.source} where ({listing.scope}) and {_has_tag(kind)}
        """


def _has_tag(kind: ResourceKind) -> str:
    return f"{kind.listing.columns['tags'].sql} @> array[$2::text]"


def _part(kind: ResourceKind) -> Part:
    return Part(tagged_sql(kind), kind.listing.key, _total(kind))


def _total(kind: ResourceKind) -> str:
    """Rows whose number is not kept are few, and counted."""
    listing = kind.listing
    if listing.counted is None:
        scope = f"({listing.scope}) and {_has_tag(kind)}"
        return f"(select count(*) from {listing.source} where {scope})"
    return listing.counted.tagged("$2", _has_tag(kind)).total(listing.source)


def _record_sql(kind: ResourceKind) -> str:
    listing = kind.listing
    return f"""
        (select row_to_json(record) from (
            select {listing.record} from {listing.source} where {listing.key} = found.id) record)
        """


async def claim(db: Queries, account_id: int, labels: Collection[str]) -> bool:
    """Make tags exist until the transaction ends, at least; nobody deletes them before.

    Returns whether one of them is new.

    Tags are claimed before rows of entities are locked, as `delete` goes in that order too.
    """
    wanted, added = set(labels), False
    while missing := wanted - await _hold(db, account_id, wanted):
        added = True
        await db.execute(
            """
            insert into tag (account_id, label)
            select $1, label from unnest($2::text[]) as wanted (label) order by label
            on conflict do nothing
            """,
            account_id,
            list(missing),
        )
    return added


@query("""
    select label from tag where account_id = $1 and label = any($2) order by label
    for key share
    """)
async def _hold(db: Queries, account_id: int, labels: Collection[str]) -> set[str]:
    """Those of the labels that are tags, which now cannot be deleted."""


@query("select exists (select from tag where account_id = $1 and label = $2)")
async def exists(db: Queries, account_id: int, label: str) -> bool: ...


@query("delete from tag where account_id = $1 and label = $2 returning true")
async def delete(db: Queries, account_id: int, label: str) -> bool:
    """Whether there was such a tag. It stays on entities, until `remove`; new ones wait."""


async def find_held(
    db: Queries, kind: ResourceKind, account_id: int, entity_id: int
) -> list[str] | None:
    """The tags of one of the account's entities; None when there is none."""
    tags: list[str] | None = await db.fetchval(
        f"select tags from {kind.tags_table} where account_id = $1 and id = $2",
        account_id,
        entity_id,
    )
    return tags


async def find_full(
    db: Queries, kind: ResourceKind, ids: Collection[int], label: str, most: int
) -> set[int]:
    """Those of the ids that have so many tags that another one is too many."""
    rows = await db.fetch(
        f"""
        select id from {kind.tags_table}
        where id = any($1) and cardinality(tags) >= $3 and not tags @> array[$2::text]
        """,
        list(ids),
        label,
        most,
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


async def dangling(db: Queries, kind: ResourceKind) -> list[tuple[int, str]]:
    """Ids of a kind's entities, with tags on them that their accounts do not have."""
    rows = await db.fetch(
        f"""
        select e.id, had.label from {kind.tags_table} e cross join unnest(e.tags) as had (label)
        where not exists (
            select from tag t where t.account_id = e.account_id and t.label = had.label)
        order by e.id, had.label
        """
    )
    return [(row["id"], row["label"]) for row in rows]


async def remove_dangling(db: Queries, kind: ResourceKind, entity_id: int, label: str) -> None:
    """Take a tag off an entity, unless the account has the tag by now."""
    await db.execute(
        f"""
        update {kind.tags_table} e set tags = array_remove(tags, $2)
        where id = $1 and not exists (
            select from tag t where t.account_id = e.account_id and t.label = $2)
        """,
        entity_id,
        label,
    )


TAG = EntityKind(name="tag", path="/tags/{label}")
