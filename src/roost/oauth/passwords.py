"""Checking passwords: off the event loop, and as slow for unknown users as for known ones."""

import os
import secrets
from functools import cache

from roost.secrets import hash_password, verify_password
from roost.threads import Threads


class PasswordChecker:
    """At most one check per core at a time, as each takes a core for a tenth of a second."""

    def __init__(self) -> None:
        self._threads = Threads("password", os.cpu_count() or 1)

    async def matches(self, hashed: str | None, password: str) -> bool:
        """False for a user who is unknown or has no password, after the same time."""
        return await self._threads.run(_matches, hashed, password)


def _matches(hashed: str | None, password: str) -> bool:
    dummy = _dummy_hash()
    return verify_password(hashed or dummy, password) and hashed is not None


@cache
def _dummy_hash() -> str:
    return hash_password(secrets.token_hex())
