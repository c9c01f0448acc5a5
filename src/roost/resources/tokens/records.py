"""The personal access token record (reference: Personal access token)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Folded, Id, Timestamp, example


@example(
    {
        "id": 100001,
        "scopes": "volumes:read_write events:read_only",
        "created": "2030-01-31T12:00:00",
        "label": "ci",
        "token": "5f1c8e0b7a2d4c6e",
        "expiry": None,
    },
)
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
