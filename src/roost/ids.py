"""Identifiers: how they are made and which values a path may carry."""

import secrets
import uuid

FIRST_ID = 100_000
"""Numeric ids start with six digits (DESIGN, section 8)."""

MAX_ID = 2**63 - 1
"""The largest id that the store can hold; a larger one in a path names nothing."""


def new_token() -> str:
    """A bearer token: 256 random bits as 64 hex digits."""
    return secrets.token_hex(32)


def new_uuid() -> str:
    return str(uuid.uuid4())


def new_suffix() -> str:
    """Makes a name that Roost gives unique among those that users give."""
    return secrets.token_hex(4)
