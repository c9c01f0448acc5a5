"""Refusals of the endpoints for programs (RFC 6749, 5.2)."""

from collections.abc import Mapping


class TokenError(Exception):
    def __init__(
        self,
        error: str,
        description: str,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status
        self.headers = dict(headers or {})


def invalid_request(description: str) -> TokenError:
    return TokenError("invalid_request", description)


def invalid_grant() -> TokenError:
    """One answer for all that can be wrong with a code or a refresh token."""
    return TokenError("invalid_grant", "The code or token is not valid")
