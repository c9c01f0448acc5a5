"""The personal access token record (reference: Personal access token)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Folded, Id, Timestamp


class PersonalTokenRow(TypedDict):
    """`token` is the whole token in the answer that creates it, then its first 16 characters."""

    id: Id
    scopes: str
    """What it may do: `*`, or scopes with a space between them."""
    created: Created
    label: Folded[str]
    """The name of the token."""
    token: str
    """The whole token in the answer that creates it, its first 16 characters afterwards."""
    expiry: Timestamp | None
    """When it ends (UTC); null for never."""
    revision: str
    """The revision of the API that requests are in which name none."""
