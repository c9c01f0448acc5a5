"""`Idempotency-Key` on any POST: the same key and body get the same answer for 24 h.

The key is stored in the write's own transaction, so it exists exactly when the write does.
Answers are sealed, as some show a secret for the only time.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from roost.core.identity import Identity
from roost.errors import invalid
from roost.secrets import Box
from roost.store import Queries
from roost.web import queries

HEADER = "Idempotency-Key"
_MAX_LENGTH = 255
_BOUNDARY = re.compile(r"multipart/form-data\b.*; *boundary=\"?([^\s\";]+)", re.IGNORECASE)


def check_key(key: str) -> None:
    """Raises 400 for a key that is not 1-255 printable ASCII characters."""
    if not 1 <= len(key) <= _MAX_LENGTH or not key.isascii() or not key.isprintable():
        raise invalid(f"Must be 1-{_MAX_LENGTH} printable ASCII characters", HEADER)


def canonical(content_type: str | None, body: bytes) -> bytes:
    """What makes a body equal to another: clients give each form another random boundary."""
    found = _BOUNDARY.match(content_type or "")
    return body if found is None else body.replace(b"--" + found[1].encode(), b"--")


async def answer_once(
    db: Queries,
    box: Box,
    caller: Identity,
    key: str,
    request: tuple[str, bytes],
    now: datetime,
    answer: Callable[[], Awaitable[bytes]],
) -> bytes:
    """The kept answer of an equal request, else a new one; raises 400 when the key was used for
    another request or with another token, which a narrowed one is too. `request` is the operation
    with its path, and the body. Answers may show a secret that is shown once, so they are kept
    sealed; a body may hold a card's number, which a plain hash of it would not hide."""
    operation, body = request
    said = f"{caller.token_id} {operation}".encode()
    if caller.narrowing is not None:
        said = caller.narrowing.key + said
    fingerprint = box.mark(b"idempotency", said + b"\0" + body)
    kept = await queries.claim_key(db, caller.account_id, key, fingerprint, now)
    if kept is None:
        fresh = await answer()
        await queries.keep_answer(db, caller.account_id, key, box.seal(fresh))
        return fresh
    if kept["fingerprint"] != fingerprint or kept["body"] is None:
        raise invalid("This key was used for another request", HEADER)
    return box.open(kept["body"])
