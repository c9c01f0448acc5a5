"""SQL of images."""

from dataclasses import replace

from roost.store.paging import Column, Listing

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
        "label": Column("i.label", "text"),
        "deprecated": Column("i.deprecated", "bool"),
        "is_public": Column("(i.account_id is null)", "bool"),
        "size": Column("i.size", "int"),
        "type": Column("i.type", "text"),
        "vendor": Column("i.vendor", "text"),
        "status": Column("i.status", "text", sortable=False),
    },
)
"""Scope: the account of the caller, or None for one without a token."""

EVERY_IMAGE = replace(IMAGES, scope="(i.account_id is null or i.account_id = $1::bigint)")
"""With public images that the catalogue no longer has: instances still name them."""
