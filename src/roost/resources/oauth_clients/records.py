"""The OAuth client record (reference: OAuth client)."""

from typing import Literal

from typing_extensions import TypedDict

ClientStatus = Literal["active", "disabled", "suspended"]


class OAuthClientRow(TypedDict):
    """An application that may ask users for access to their account.

    `secret` is plain only in the answer of its reset (spec B, OAuth client request fields).
    """

    id: str
    redirect_uri: str
    label: str
    status: ClientStatus
    secret: str
    thumbnail_url: str | None
    public: bool
