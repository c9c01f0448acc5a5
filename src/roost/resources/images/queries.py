"""SQL of images."""

from dataclasses import replace

from roost.store.paging import Column, Listing

IMAGES = Listing(
    record="""json_build_object(
        'id', i.id, 'label', i.label, 'description', i.description, 'created', i.created,
        'updated', i.updated, 'created_by', i.created_by, 'deprecated', i.deprecated,
        'is_public', i.account_id is null, 'size', i.size, 'type', i.type, 'expiry', i.expiry,
        'eol', i.eol, 'vendor', i.vendor, 'status', i.status, 'capabilities', i.capabilities)""",
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
