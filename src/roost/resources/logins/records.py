"""The login record (reference: Login)."""

from typing import Literal

from typing_extensions import TypedDict

LoginStatus = Literal["successful", "failed"]


class LoginRow(TypedDict):
    """Somebody came in as a user."""

    id: int
    datetime: str
    ip: str
    username: str
    status: LoginStatus
    restricted: bool
