"""What an explanation says (Roost's own)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.identity import TokenKind, UserType


class ExplanationRow(TypedDict):
    """Whether the caller's token and user may do something, and what they lack if not."""

    method: str
    """The method that was asked about."""
    path: str
    """The path that was asked about."""
    operation: str
    """The operation that answers it."""
    allowed: bool
    """Whether your token and user may do it."""
    missing_scopes: list[str]
    """The scopes that the token lacks."""
    missing_grant: str | None
    """What the user lacks; null when nothing."""
    closed_to: Literal[UserType, TokenKind] | None
    """The caller's type of user, where the operation is closed to all of them."""
    restricted_by: str | None
    """What does not allow it, of a narrowed token; null when nothing."""
