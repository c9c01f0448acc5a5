"""The personal access token record (reference: Personal access token)."""

from typing_extensions import TypedDict


class PersonalTokenRow(TypedDict):
    """`token` is the whole token in the answer that creates it, then its first 16 characters."""

    id: int
    scopes: str
    created: str
    label: str
    token: str
    expiry: str | None
