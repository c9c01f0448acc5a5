"""The authorised app record (reference: Authorized app)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Timestamp, Uri, UriReference


class AuthorizedAppRow(TypedDict):
    """An OAuth client that the user let in, and what it may do."""

    id: Id
    label: Folded[str]
    """The name of the application."""
    thumbnail_url: UriReference | None
    """Its picture; null when it has none."""
    scopes: str
    """What it may do, scopes with a space between them."""
    created: Created
    expiry: Filtered[Timestamp | None]
    """When it is let in no longer (UTC); null for never."""
    website: Uri | None
    """Where it is; null when unknown."""
