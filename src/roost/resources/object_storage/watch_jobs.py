"""What the clock does with object storage: bring what is late, keep serving, and count."""

from datetime import UTC, datetime, timedelta

import structlog

from roost.core.catalog import Catalog
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.object_storage import (
    acl_queries,
    adoption_jobs,
    jobs,
    key_queries,
    key_steps,
    orphan_steps,
    queries,
    usage_queries,
)
from roost.resources.object_storage.engine import OBJECT_PLANE, MadeBucket, ObjectEngine
from roost.resources.object_storage.limits import STORED
from roost.resources.object_storage.locks import resource_of
from roost.store import Queries, Store

_log = structlog.get_logger(__name__)
_BATCH = 500
_COUNT_SECONDS = 600.0
_UNFINISHED = timedelta(days=7)
"""How long an upload in parts may take; its parts are counted, and charged for, meanwhile."""


async def watch(run: Run[JobArgs]) -> Verdict:
    """Servers that hold something serve, and get what no job brings to them."""
    for region, engine in run.get(Engines).by_region(OBJECT_PLANE).items():
        try:
            await engine.keep_serving()
        except EngineError as error:
            _log.warning("object_storage_down", region=region, reason=str(error))
    queue = run.get(JobQueue)
    await _look_around(run, queue)
    await key_queries.unbar(run.store, _BATCH)
    for bucket in await queries.pending(run.store, _BATCH):
        async with run.store.transaction() as db:
            await bring_bucket(db, queue, bucket.id)
    for key in await key_queries.pending(run.store, _BATCH):
        async with run.store.transaction() as db:
            await bring_key(db, queue, key.id)
    return next_step()


async def _look_around(run: Run[JobArgs], queue: JobQueue) -> None:
    """Buckets that S3 clients made while nobody listened, those that belong to nobody any more, and
    those of rows that have no mark yet."""
    for region, engine in run.get(Engines).by_region(OBJECT_PLANE).items():
        try:
            held = await engine.buckets()
            for name, each in (await orphan_steps.unknown(run.store, region, held)).items():
                if each.mark is None and each.maker is not None:
                    async with run.store.transaction() as db:
                        made = MadeBucket(name, each.maker)
                        await adoption_jobs.look(db, queue, region, made)
                await orphan_steps.remove(run.store, region, engine, name, each)
            unmarked = [name for name, each in held.items() if each.mark is None]
            for bucket_id in await queries.applied_in(run.store, region, unmarked):
                async with run.store.transaction() as db:
                    await bring_bucket(db, queue, bucket_id)
            await _look_at_keys(run, queue, engine)
        except EngineError as error:
            _log.warning("object_storage_not_seen", region=region, reason=str(error))


async def _look_at_keys(run: Run[JobArgs], queue: JobQueue, engine: ObjectEngine) -> None:
    """Those that a server has not got, as it was started or made anew since, and those that it
    should have no more."""
    if await engine.takes_keys():
        await key_steps.remove_orphans(run.store, engine)
        for key_id in (await key_steps.missing(run.store, engine))[:_BATCH]:
            async with run.store.transaction() as db:
                await bring_key(db, queue, key_id)


async def bring_bucket(db: Queries, queue: JobQueue, bucket_id: int) -> bool:
    """Let a job bring a bucket, unless one works for the account already; whether it does."""
    bucket = await queries.find(db, bucket_id)
    if bucket is None or await queue.busy(db, resource_of(bucket.account_id)):
        return False
    account_id = bucket.account_id
    if bucket.purging:
        await queue.enqueue(
            db, jobs.PURGE, jobs.AccountArgs(account_id=account_id), account_id=account_id
        )
    else:
        args = jobs.BucketArgs(account_id=account_id, bucket_id=bucket.id)
        await queue.enqueue(db, jobs.BRING_BUCKET, args, account_id=account_id)
    return True


async def bring_key(db: Queries, queue: JobQueue, key_id: int) -> bool:
    """Let a job bring a key, unless one works for the account already; whether it does."""
    key = await key_queries.find(db, key_id)
    if key is None or await queue.busy(db, resource_of(key.account_id)):
        return False
    args = jobs.KeyArgs(account_id=key.account_id, key_id=key.id)
    await queue.enqueue(db, jobs.BRING_KEY, args, account_id=key.account_id)
    return True


async def count(run: Run[JobArgs]) -> Verdict:
    """Bytes sent, and what each bucket holds; the smallest first, so that large ones delay none."""
    now = run.clock.now()
    most = run.get(Catalog).entries.limits.get(STORED.name, STORED.default)
    for region, engine in run.get(Engines).by_region(OBJECT_PLANE).items():
        try:
            await _count(run.store, region, engine, now)
            await engine.set_shares(await usage_queries.shares(run.store, region, most))
        except EngineError as error:
            _log.warning("object_storage_not_counted", region=region, reason=str(error))
    return next_step()


async def _count(store: Store, region: str, engine: ObjectEngine, now: datetime) -> None:
    minute = int(now.replace(tzinfo=UTC).timestamp()) // 60
    buckets = await usage_queries.smallest_first(store, region, minute)
    traffic = await engine.traffic()
    async with store.transaction() as db:
        month = now.date().replace(day=1)
        await usage_queries.add_sent(db, region, traffic.since, dict(traffic.sent), month)
    for bucket in await acl_queries.with_acls(store, region):
        ended = await engine.ended_acls(bucket.name)
        async with store.transaction() as db:
            await acl_queries.drop_acls(db, bucket.id, ended)
    for bucket in buckets:
        await engine.end_uploads(bucket.name, now - _UNFINISHED)
        usage = await engine.usage(bucket.name)
        async with store.transaction() as db:
            await usage_queries.set_usage(db, bucket.id, usage.objects, usage.size, now)


WATCH = JobKind(
    "object_storage_watch",
    JobArgs,
    steps=(Step("watch", watch),),
    retry=Retry(attempts=2),
    deadline=120,
)
COUNT = JobKind(
    "object_storage_count",
    JobArgs,
    steps=(Step("count", count, timeout=_COUNT_SECONDS),),
    retry=Retry(attempts=2),
    resource=lambda _args: "object_storage_count",
)

EVERY_MINUTE = Schedule("object_storage_watch", "* * * * *", WATCH, JobArgs())
COUNTED = Schedule("object_storage_count", "* * * * *", COUNT, JobArgs())
