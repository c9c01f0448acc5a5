"""What an explanation says (Roost's own)."""

from typing_extensions import TypedDict

from roost.web.auth import TokenKind, UserType


class ExplanationRow(TypedDict):
    """Whether the caller's token and user may do something, and what they lack if not."""

    method: str
    path: str
    operation: str
    allowed: bool
    missing_scopes: list[str]
    missing_grant: str | None
    closed_to: UserType | TokenKind | None
    """The caller's type of user, where the operation is closed to all of them."""
