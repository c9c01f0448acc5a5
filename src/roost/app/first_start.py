"""The first start: an account, its unrestricted user `admin`, that user's token, and a link with
which that user chooses a password."""

import os
from pathlib import Path

from roost.clock import Clock
from roost.core import account_queries as accounts
from roost.core.scopes import Scopes
from roost.ids import new_uuid
from roost.oauth.first_link import LINK_FILE, new_link
from roost.resources.account import queries
from roost.resources.tokens.service import issue_token
from roost.store import Store

TOKEN_FILE = "admin.token"  # noqa: S105  (a file's name)
ADMIN = "admin"


async def ensure_admin(store: Store, clock: Clock, state: Path, email: str) -> bool:
    """Make account, user and the two files unless there is an account; True when made now.

    The files are written before the commit: a crash in between leaves files that the next start
    overwrites, never an account whose token nobody knows.
    """
    async with store.transaction() as connection:
        await queries.lock_first_start(connection)
        if await queries.has_account(connection):
            return False
        now = clock.seconds()
        account_id = await queries.create_account(connection, new_uuid(), now, email)
        user_id = await accounts.create_user(connection, account_id, ADMIN, False, now, email)
        token = await issue_token(connection, clock, user_id, ADMIN, Scopes.parse("*"))
        _write_private(state / TOKEN_FILE, token + "\n")
        _write_private(state / LINK_FILE, new_link())
    return True


def _write_private(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        os.fsync(file.fileno())
    draft.replace(path)
