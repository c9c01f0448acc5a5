"""The whole state: back to the beginning, into a file, out of a file."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import IO

import asyncpg

from roost.app.lab import queries
from roost.app.lab.archive import Archive, Header, broken
from roost.app.lab.engines import kept_on_failure, restore
from roost.app.lab.lab import Lab, begin_schedules
from roost.app.lab.queries import Table
from roost.core.catalog import sync
from roost.errors import ApiError, Problem, invalid
from roost.resources.support.engine import ATTACHMENT_PLANE, AttachmentStore
from roost.secrets import Box
from roost.store import Connection, Queries, migrate

_IDENTITY = {"account", "api_user", "token", "authorized_app", "oauth_client", "refresh_token"}
_KEPT = {*_IDENTITY, "setting", "image", "host", "web_session"}
"""What a reset keeps, though no private image and no session. The catalogue's other tables are
filled again."""

_STAYS = {
    "account": {
        *("id", "euuid", "created", "company", "first_name", "last_name", "email", "address_1"),
        *("address_2", "city", "state", "zip", "country", "phone", "tax_id", "parent_id"),
        *("parent_pays", "limits", "canceled", "canceled_by", "cancel_comments", "closed"),
        "erased",
    },
    "api_user": {
        *("id", "account_id", "username", "email", "restricted", "created", "user_type"),
        *("password_hash", "password_created", "tfa_secret", "tfa_enabled", "tfa_scratch"),
        *("tfa_expiry", "timezone", "email_notifications", "lish_auth_method"),
        *("authorized_keys", "preferences", "account_access", "rights", "phone_number"),
    },
    "token": {
        *("id", "user_id", "label", "hash", "prefix", "scopes", "created", "expiry", "revoked"),
        *("kind", "app_id", "made_by", "narrowing_key", "revision"),
    },
}
"""Who accounts and users are, and what lets them in. All else in these tables, such as what an
account owes, is what they have done: it goes back to the column's default."""

_SEALED_TEXT = b"the state of a Roost"

_BUSY = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)
_UNFIT = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, KeyError, ValueError)


async def reset(lab: Lab) -> None:
    """Drop all but accounts, users, tokens and OAuth apps; ids and the time start again.

    What is kept was made now at the latest: the time that was skipped has not been.
    """
    async with _replacing(lab, None) as (db, tables):
        await queries.empty(db, [table for table in tables if table.name not in _KEPT])
        await queries.drop_private_images(db)
        await queries.drop_sessions(db)
        for table in tables:
            if table.name in _IDENTITY:
                await _restore_identity(db, table)
        await begin_schedules(db, _real_time())
        await restore(lab.engines.all(), {})
        former = await _attachment_keys(lab)
    await _delete_attachments(lab, former)


async def _restore_identity(db: Queries, table: Table) -> None:
    stays = _STAYS.get(table.name)
    if stays is not None:
        await queries.set_defaults(db, table, [c for c in table.columns if c not in stays])
    await queries.limit_times(db, table, _real_time().replace(microsecond=0))


async def save(lab: Lab, file: IO[bytes]) -> None:
    """Write the state as it is between two steps of jobs."""
    engines, store = lab.engines.all(), lab.roost.store
    async with lab.quiet(), store.transaction() as db:
        tables = await queries.find_tables(db)
        await _lock(db, tables, "share")
        with closing(Archive.create(file)) as archive:
            await archive.write_header(await _describe(lab, db, tables))
            for table in tables:
                await archive.write_rows(db, table)
            for region, engine in engines.items():
                await archive.write_snapshot(region, await engine.snapshot())
            for key in sorted(await _attachment_keys(lab)):
                await archive.write_attachment(key, await _attachments(lab).get(key))


async def load(lab: Lab, file: IO[bytes]) -> None:
    """Go back to a saved state and its time. ApiError 400, and no change, when that can't be."""
    with closing(await Archive.read(file)) as archive:
        header = await archive.read_header()
        await _refuse_unfit(lab, header)
        async with _replacing(lab, header.now) as (db, tables):
            await queries.empty(db, tables)
            former = await _attachment_keys(lab)
            try:
                await _fill(lab, db, archive, header)
                kept = await _fill_attachments(lab, archive)
            except _UNFIT:
                raise broken() from None
        await _delete_attachments(lab, former - kept)


async def _fill(lab: Lab, db: Connection, archive: Archive, header: Header) -> None:
    for table in header.tables:
        await archive.read_rows(db, table)
    await queries.set_next_ids(db, header.next_ids)
    await restore(lab.engines.all(), await archive.read_snapshots(header))


async def _fill_attachments(lab: Lab, archive: Archive) -> set[str]:
    """Their keys. Should the state not be loaded then, they belong to no row."""
    kept = set()
    async for key, content in archive.read_attachments():
        await _attachments(lab).put(key, content)
        kept.add(key)
    return kept


async def _attachment_keys(lab: Lab) -> set[str]:
    return {file.key for file in await _attachments(lab).list()}


async def _delete_attachments(lab: Lab, keys: set[str]) -> None:
    """When their rows are gone."""
    for key in keys:
        await _attachments(lab).delete(key)


def _attachments(lab: Lab) -> AttachmentStore:
    return lab.roost.engines.of(ATTACHMENT_PLANE)


@asynccontextmanager
async def _replacing(
    lab: Lab, now: datetime | None
) -> AsyncIterator[tuple[Connection, list[Table]]]:
    """Nobody sees the state inside the block; afterwards all of it is new, or nothing.

    Time goes on from `now`; None: real time.
    """
    roost = lab.roost
    engines = lab.engines.all().values()
    async with lab.quiet():
        async with kept_on_failure(engines), roost.store.transaction() as db:
            tables = await queries.find_tables(db)
            await _lock(db, tables, "access exclusive")
            yield db, tables
            moved = await lab.clock.put(db, timedelta() if now is None else now - _real_time())
        lab.clock.follow(moved)
        await lab.revocations.settle()
        roost.faults.clear()
        await sync(roost.store, roost.catalog)


async def _lock(db: Queries, tables: list[Table], mode: queries.LockMode) -> None:
    try:
        await queries.lock_tables(db, tables, mode)
    except _BUSY:
        raise ApiError(503, [Problem("The state is in use; try again")]) from None


async def _describe(lab: Lab, db: Queries, tables: list[Table]) -> Header:
    sealed = lab.roost.services.get(Box).seal(_SEALED_TEXT)
    return Header(
        format="roost-state-1",
        revision=migrate.head(),
        sealed_text=base64.b64encode(sealed).decode(),
        now=lab.clock.now(),
        tables=tables,
        next_ids=await queries.find_next_ids(db),
        regions=list(lab.engines.all()),
    )


async def _refuse_unfit(lab: Lab, header: Header) -> None:
    here = await queries.find_tables(lab.roost.store)
    if header.revision != migrate.head() or not _same(header.tables, here):
        raise invalid(
            f"The state was saved with schema {header.revision}; this program has {migrate.head()}"
        )
    if missing := set(header.regions) - set(lab.engines.all()):
        raise invalid(f"The state needs regions that are not here: {', '.join(sorted(missing))}")
    try:
        lab.roost.services.get(Box).open(base64.b64decode(header.sealed_text))
    except ValueError:
        raise invalid("The secrets in the state are sealed with another key file") from None


def _same(tables: list[Table], others: list[Table]) -> bool:
    columns = ({t.name: set(t.columns) for t in some} for some in (tables, others))
    return next(columns) == next(columns)


def _real_time() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
