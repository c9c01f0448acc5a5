"""Making, renaming and revoking keys (spec A object storage 8 limited)."""

import secrets
import string

import orjson

from roost.core.context import Context
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.errors import invalid
from roost.resources.object_storage import jobs, key_queries, limits, locks, queries
from roost.resources.object_storage.bodies import CreateKey
from roost.resources.object_storage.key_queries import KEY, KEYS, NewKey
from roost.resources.object_storage.records import KeyRow
from roost.resources.object_storage.service import check_solvent
from roost.secrets import Box
from roost.store.paging import fetch_record

_ACCESS_LETTERS = string.ascii_uppercase + string.digits
_SECRET_LETTERS = string.ascii_letters + string.digits
_ACCESS_LENGTH, _SECRET_LENGTH = 20, 40


async def create(context: Context, body: CreateKey) -> KeyRow:
    """The record of a new key, with its secret."""
    await check_solvent(context)
    secret = _random(_SECRET_LETTERS, _SECRET_LENGTH)
    new = NewKey(
        account_id=context.account_id,
        label=body.label,
        access_key=_random(_ACCESS_LETTERS, _ACCESS_LENGTH),
        secret_key=context.get(Box).seal(secret.encode()),
        limited=body.bucket_access is not None,
        now=context.clock.seconds(),
    )
    wanted = {each.path: each.permissions for each in body.bucket_access or ()}
    found = await queries.labels(context.db, context.account_id, wanted)
    if len(found) < len(wanted):
        raise invalid("A bucket is being deleted", "bucket_access")
    access = {found[path]: permissions for path, permissions in wanted.items()}
    key_id = await key_queries.insert(context.db, new, access)
    await queries.set_object_storage(context.db, context.account_id, "active")
    key = await locks.lock_key(context, key_id)
    await jobs.start_key(context, "obj_access_key_create", key)
    await check_limits(context, limits.KEYS)
    row: KeyRow = orjson.loads(await fetch_record(context.db, KEYS, (context.account_id,), key_id))
    return {**row, "secret_key": secret}


async def rename(context: Context, key_id: int, label: str | None) -> None:
    key = await locks.lock_key(context, key_id)
    if label not in (None, key.label):
        await key_queries.rename(context.db, key.id, label)
        await log.notify(context, "obj_access_key_update", KEY.entity(key.id, label))


async def delete(context: Context, key_id: int) -> None:
    """It opens nothing when the event is finished."""
    key = await locks.lock_key(context, key_id)
    await key_queries.set_deleting(context.db, key.id)
    await jobs.start_key(context, "obj_access_key_delete", key)


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))
