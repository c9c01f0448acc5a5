"""The OAuth client record (reference: OAuth client)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Filtered, Folded, Uri, UriReference

ClientStatus = Literal["active", "disabled", "suspended"]


class OAuthClientRow(TypedDict):
    """An application that may ask users for access to their account.

    `secret` is plain only in the answer of its reset (spec B oauth-clients secret).
    """

    id: str
    """The client id of OAuth: 20 hexadecimal digits."""
    redirect_uri: Uri
    """Where users are sent once they have logged in."""
    label: Folded[str]
    """The name that users are shown."""
    status: ClientStatus
    """Whether it can ask users in; the operator of the cloud decides."""
    secret: str
    """`<REDACTED>`, except in the answer of the reset."""
    thumbnail_url: UriReference | None
    """Its picture; null until there is one."""
    public: Filtered[bool]
    """Whether it runs where no secret can be kept, as in a browser or on a telephone."""
