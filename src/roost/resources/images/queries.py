"""SQL of images."""

from dataclasses import replace
from datetime import datetime

from roost.core.catalog.entries import ImageEntry
from roost.core.entities.kind import EntityKind
from roost.store import Queries
from roost.store.paging import Column, Listing

_OPERATOR = "operator"
"""`created_by` of imported images; those of the catalogue have its own.

A user may have the same name, but no user's image is public.
"""

IMAGES = Listing(
    record="""
        i.id, i.label, i.description, i.created, i.updated, i.created_by, i.deprecated,
        i.account_id is null as is_public, i.size, i.type, i.expiry, i.eol, i.vendor, i.status,
        i.capabilities
        """,
    source="image i",
    scope="not i.retired and (i.account_id is null or i.account_id = $1::bigint)",
    key="i.id",
    columns={
        "label": Column("i.label", "text", folds=True),
        "created": Column("i.created", "time"),
        "deprecated": Column("i.deprecated", "bool"),
        "is_public": Column("(i.account_id is null)", "bool"),
        "size": Column("i.size", "int"),
        "type": Column("i.type", "text"),
        "vendor": Column("i.vendor", "text", folds=True),
        "status": Column("i.status", "text", sortable=False),
    },
)
"""Scope: the account of the caller, or None for one without a token."""

EVERY_IMAGE = replace(IMAGES, scope="(i.account_id is null or i.account_id = $1::bigint)")
"""With public images that the catalogue no longer has: instances still name them."""


async def put_imported(db: Queries, image_id: str, label: str, size: int, now: datetime) -> None:
    """Insert or replace a public image of cloud-init that is not in the catalogue."""
    await db.execute(
        """
        insert into image (id, label, created, updated, created_by, size, type, status,
            capabilities)
        values ($1, $2, $3, $3, $4, $5, 'manual', 'available', '{cloud-init}')
        on conflict (id) do update set label = excluded.label, updated = excluded.updated,
            created_by = excluded.created_by, size = excluded.size, retired = false
        """,
        image_id,
        label,
        now.replace(microsecond=0),
        _OPERATOR,
        size,
    )


async def list_imported(db: Queries) -> list[ImageEntry]:
    rows = await db.fetch(
        """
        select id, label, coalesce(vendor, label) as vendor, size, created, capabilities
        from image where created_by = $1 and account_id is null
        """,
        _OPERATOR,
    )
    return [ImageEntry(**row) for row in rows]


IMAGE = EntityKind(name="image", path="/images/{id}")
