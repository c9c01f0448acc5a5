"""The trusted device record (reference: Trusted device)."""

from typing_extensions import TypedDict


class TrustedDeviceRow(TypedDict):
    """A browser that logs in without a second factor for a while."""

    id: int
    created: str
    expiry: str
    user_agent: str
    last_authenticated: str
    last_remote_addr: str
