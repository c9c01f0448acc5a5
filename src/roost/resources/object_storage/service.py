"""Making, changing and deleting buckets, and ending object storage (spec A object storage)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from roost.core.catalog import Catalog
from roost.core.catalog.entries import ObjectClusterEntry
from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.core.planes import Engines
from roost.errors import ApiError, Problem, invalid
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.object_storage import (
    jobs,
    key_queries,
    limits,
    locks,
    queries,
    rules,
    usage_queries,
)
from roost.resources.object_storage.bodies import ChangeAccess, CreateBucket
from roost.resources.object_storage.engine import OBJECT_PLANE, Acl, ObjectEngine
from roost.resources.object_storage.queries import BucketFacts, NewBucket
from roost.resources.suspension.service import is_late

IN_DEBT = "A payment is past due. Object storage takes nothing new until it is made"
TAKEN = "The cluster has a bucket of this label already"
LEAVING = "The bucket of this label is being deleted"
NOT_OFFERED = "Its name cannot be the label of a bucket"
NOT_EMPTY = "The bucket is not empty"
UNREACHABLE = "Object storage does not answer. Please try again later."

T = TypeVar("T")

_LOOKS, _PAUSE = 20, 0.01
"""How often, and seconds between; together a fifth of a second."""


async def create(context: Context, body: CreateBucket) -> str:
    """The record of a new bucket, or of that which the account has already."""
    await check_solvent(context)
    cluster = context.get(Catalog).find_cluster(body.cluster)
    assert cluster is not None
    made = await _make(context, cluster, body.label, body.acl, body.cors_enabled)
    return await _own(context, body) if made is None else made


async def take_up(context: Context, region: str, label: str) -> None:
    """A bucket that an S3 client has made for the account is one of its own, as if the API had made
    it. Nothing happens when somebody has one of this label. ApiError when it may not be."""
    cluster = context.get(Catalog).find_cluster_of(region)
    if cluster is None or not rules.is_new_label(label):
        raise invalid(NOT_OFFERED)
    await check_solvent(context)
    await _make(context, cluster, label, "private", False)


async def _make(
    context: Context, cluster: ObjectClusterEntry, label: str, acl: Acl, cors_enabled: bool
) -> str | None:
    """The record of a new bucket; None when the cluster has one of this label."""
    new = NewBucket(
        account_id=context.account_id,
        cluster=cluster.id,
        region=cluster.region,
        engine=context.get(Engines).of(OBJECT_PLANE, cluster.region).name,
        label=label,
        hostname=f"{label}.{cluster.domain}",
        acl=acl,
        cors_enabled=cors_enabled,
        now=context.clock.seconds(),
    )
    made = await queries.insert(context.db, new)
    if made is None:
        return None
    await queries.set_object_storage(context.db, context.account_id, "active")
    bucket = await queries.find(context.db, made[0])
    assert bucket is not None
    await jobs.start_bucket(context, "obj_bucket_create", bucket)
    await check_limits(context, limits.BUCKETS)
    return made[1]


async def _own(context: Context, body: CreateBucket) -> str:
    taken = await queries.find_taken(context.db, body.cluster, body.label)
    if taken is None or taken.account_id != context.account_id:
        raise invalid(TAKEN, "label")
    if taken.deleting:
        raise invalid(LEAVING, "label")
    return await queries.record(context.db, taken.id)


async def check_solvent(context: Context) -> None:
    """Rule 1: a balance that is negative from the customer's side, and due. Credit refuses nothing,
    nor does an invoice that there is still time to pay."""
    if await is_late(context.db, context.account_id, context.clock.now()):
        raise invalid(IN_DEBT)


async def change_access(context: Context, cluster: str, label: str, body: ChangeAccess) -> None:
    bucket = await locks.lock(context, cluster, label)
    assert body.acl != "custom"
    acl: Acl = body.acl or bucket.acl
    cors = bucket.cors_enabled if body.cors_enabled is None else body.cors_enabled
    if (acl, cors) != (bucket.acl, bucket.cors_enabled):
        await queries.set_access(context.db, bucket.id, acl, cors)
        await jobs.start_bucket(context, "obj_bucket_update", bucket)


async def check_empty(context: Context, cluster: str, label: str) -> None:
    """Rule 4, as far as it can be told before the deletion; 400."""
    bucket = await locks.find(context, cluster, label)
    with reaching():
        empty = await engine_of(context, bucket).is_empty(bucket.name)
    if not empty:
        raise invalid(NOT_EMPTY)


async def delete(context: Context, cluster: str, label: str) -> None:
    """From now on nobody sees it; one that gets an object meanwhile is there again."""
    bucket = await locks.lock(context, cluster, label)
    await queries.set_deleting(context.db, bucket.id, context.clock.now(), deleting=True)
    await jobs.start_bucket(context, "obj_bucket_delete", bucket)


async def cancel(context: Context) -> None:
    """Rule 9: all buckets with what they hold, and all keys."""
    buckets = await queries.lock_all(context.db, context.account_id)
    keys = await key_queries.lock_all(context.db, context.account_id)
    for bucket in buckets:
        await queries.set_purging(context.db, bucket.id, context.clock.now())
    for key in keys:
        await key_queries.set_deleting(context.db, key.id)
    was_active = await queries.set_object_storage(context.db, context.account_id, "disabled")
    if buckets or keys or was_active:
        args = jobs.AccountArgs(account_id=context.account_id)
        await log.start(context, jobs.PURGE, args, ACCOUNT_KIND.entity())


def engine_of(context: Context, bucket: BucketFacts) -> ObjectEngine:
    """Raises EngineError."""
    return context.get(Engines).holding(OBJECT_PLANE, bucket)


@contextmanager
def reaching() -> Iterator[None]:
    """503 when the data plane does not answer somebody who waits."""
    try:
        yield
    except EngineError as error:
        raise ApiError(503, [Problem(UNREACHABLE)]) from error


async def sent(context: Context) -> int:
    """Bytes that clients of the account have got this month."""
    month = context.clock.now().date().replace(day=1)
    return await usage_queries.sent_in(context.db, context.account_id, month)


async def in_force(context: Context, reply: T) -> T:
    """The reply, as soon as servers do what the account has asked for.

    After a moment in any case: the event tells then when they do.
    """
    for _ in range(_LOOKS):
        if await queries.is_at_rest(context.db, context.account_id):
            break
        await asyncio.sleep(_PAUSE)
    return reply
