"""The login record (reference: Login)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Id, Timestamp

LoginStatus = Literal["successful", "failed"]


class LoginRow(TypedDict):
    """Somebody came in as a user."""

    id: Id
    datetime: Timestamp
    """When somebody logged in or tried to (UTC)."""
    ip: str
    """The address that it came from."""
    username: str
    """The user that it was."""
    status: LoginStatus
    """Whether the password and, where enabled, the second factor were right."""
    restricted: bool
    """Whether the user was restricted then."""
