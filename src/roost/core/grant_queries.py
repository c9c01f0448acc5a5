"""SQL of grants: what restricted users may do with which entity."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Literal

from roost.store import Queries
from roost.store.paging import Listing
from roost.store.query import query

Permission = Literal["read_only", "read_write"]

_REMEMBERED = 256
"""Listings: each has two or three as restricted users see it."""


@query("""
    select permissions from entity_grant
    where user_id = $1 and kind = $2 and entity_id = $3
    """)
async def permission(db: Queries, user_id: int, kind: str, entity_id: int) -> Permission | None:
    """What the user may do with the entity."""


@query("""
    select entity_id, permissions from entity_grant
    where user_id = $1 and kind = $2 and entity_id = any($3)
    """)
async def permissions(
    db: Queries, user_id: int, kind: str, ids: Collection[int]
) -> dict[int, Permission]:
    """What the user may do with entities of a kind; those without a grant are left out."""


async def give(
    db: Queries, user_id: int, kind: str, entity_id: int, permissions: Permission | None
) -> None:
    """Replace what the user may do with the entity; None takes it away."""
    if permissions is None:
        await db.execute(
            "delete from entity_grant where user_id = $1 and kind = $2 and entity_id = $3",
            user_id,
            kind,
            entity_id,
        )
        return
    await db.execute(
        """
        insert into entity_grant (user_id, kind, entity_id, permissions) values ($1, $2, $3, $4)
        on conflict (user_id, kind, entity_id) do update set permissions = excluded.permissions
        """,
        user_id,
        kind,
        entity_id,
        permissions,
    )


async def give_all(
    db: Queries, user_id: int, kind: str, wanted: Mapping[int, Permission | None]
) -> None:
    """Set a user's grants on entities of a kind."""
    await db.execute(
        "delete from entity_grant where user_id = $1 and kind = $2 and entity_id = any($3)",
        user_id,
        kind,
        [entity_id for entity_id, permissions in wanted.items() if permissions is None],
    )
    held = {entity_id: text for entity_id, text in wanted.items() if text is not None}
    await db.execute(
        """
        insert into entity_grant (user_id, kind, entity_id, permissions)
        select $1, $2, entity_id, permissions
        from unnest($3::bigint[], $4::text[]) as wanted (entity_id, permissions)
        on conflict (user_id, kind, entity_id) do update set permissions = excluded.permissions
        """,
        user_id,
        kind,
        list(held),
        list(held.values()),
    )


@query("delete from entity_grant where user_id = $1")
async def forget_user(db: Queries, user_id: int) -> None:
    """Drop all grants of a user."""


@query("delete from entity_grant where kind = $1 and entity_id = $2")
async def forget_entity(db: Queries, kind: str, entity_id: int) -> None:
    """Drop all grants on an entity."""


def granted_sql(kind: str, entity_id: str, grantee: str) -> str:
    """SQL of whether a user has a grant on an entity, or is null: somebody who needs none."""
    return f"""
        ({grantee}::bigint is null or exists (select from entity_grant g
            where g.user_id = {grantee} and g.kind = {kind} and g.entity_id = {entity_id}))
        """


@lru_cache(_REMEMBERED)
def only_granted(listing: Listing, user_position: int) -> Listing:
    """The listing as a restricted user sees it; `$user_position` is the user's id."""
    if listing.granted is None:
        return listing
    kind, entity_id = listing.granted
    held = (
        f"exists (select from entity_grant g where g.user_id = ${user_position}"
        f" and g.kind = {kind} and g.entity_id = {entity_id})"
    )
    counted = listing.counted and listing.counted.granted(f"${user_position}", held)
    return listing.narrowed(held, counted)


@lru_cache(_REMEMBERED)
def only_of(listing: Listing, kinds_position: int) -> Listing:
    """The rows of entities whose kinds are `$kinds_position`, and whose ids the next parameter."""
    assert listing.granted is not None
    kind, entity_id = listing.granted
    left = f"unnest(${kinds_position}::text[], ${kinds_position + 1}::bigint[])"
    return listing.narrowed(f"({kind}, {entity_id}) in (select * from {left})")  # noqa: S608
