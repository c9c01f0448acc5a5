"""SSH public keys of every type, and made-up ones."""

import base64
from collections.abc import Iterable

BLOB = "AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB"
KEY = f"ssh-ed25519 {BLOB}"


def public_key(kind: str, *parts: bytes) -> str:
    """A key of a type with the parts that follow the type in its data."""
    return f"{kind} {base64.b64encode(packed((kind.encode(), *parts))).decode()}"


def packed(parts: Iterable[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
