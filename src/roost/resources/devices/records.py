"""The trusted device record (reference: Trusted device)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp, example


@example(
    {
        "id": 100001,
        "created": "2030-01-31T12:00:00",
        "expiry": "2030-03-02T12:00:00",
        "user_agent": "Mozilla/5.0 (X11; Linux x86_64)",
        "last_authenticated": "2030-01-31T12:00:00",
        "last_remote_addr": "198.51.100.7",
    },
)
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
