"""The trusted device record (reference: Trusted device)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp


class TrustedDeviceRow(TypedDict):
    """A browser that logs in without a second factor for a while."""

    id: Id
    created: Created
    expiry: Timestamp
    """Until when it is trusted (UTC)."""
    user_agent: str
    """What the browser calls itself."""
    last_authenticated: Timestamp
    """When it last logged in (UTC)."""
    last_remote_addr: str
    """The address that it did so from."""
