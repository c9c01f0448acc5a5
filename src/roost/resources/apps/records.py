"""The authorised app record (reference: Authorized app)."""

from typing_extensions import TypedDict


class AuthorizedAppRow(TypedDict):
    """An OAuth client that the user let in, and what it may do."""

    id: int
    label: str
    thumbnail_url: str | None
    scopes: str
    created: str
    expiry: str | None
    website: str | None
