"""The authorised app record (reference: Authorized app)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Timestamp, Uri, UriReference, example


@example(
    {
        "id": 100001,
        "label": "Status page",
        "thumbnail_url": None,
        "scopes": "computes:read_only events:read_only",
        "created": "2030-01-31T12:00:00",
        "expiry": "2030-01-31T14:00:00",
        "website": "https://status.example.com",
    },
)
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
