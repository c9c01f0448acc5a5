"""Work on object storage: rows become what S3 servers have.

kind                  done                                  failed
object_bucket_apply   the server has what the row says      the watch brings it there every minute;
                                                            one that is not empty is shown again,
                                                            one that the server refuses is none
object_key_apply      all servers have what the row says    the watch brings it there every minute
object_bucket_bring   as object_bucket_apply, for the watch: it tries once
object_key_bring      as object_key_apply, for the watch: it tries once
object_storage_purge  nothing of the account is left        the watch goes on every minute

A row says what is wanted, so there is nothing to undo. A key's policy names buckets, so that
whoever makes or deletes a bucket brings the account's keys too. Servers that are started for an S3
client get all keys before it is let in (`key_steps.RegionDoor`).
"""

from contextlib import suppress

from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, again, done, fail, next_step, writing
from roost.resources.object_storage import (
    acl_queries,
    key_queries,
    key_steps,
    orphan_steps,
    queries,
    usage_queries,
)
from roost.resources.object_storage.engine import (
    OBJECT_PLANE,
    BucketSpec,
    NotEmptyError,
    ObjectEngine,
    Traffic,
)
from roost.resources.object_storage.key_queries import KEY, KeyFacts
from roost.resources.object_storage.locks import resource_of
from roost.resources.object_storage.queries import BUCKET, BucketFacts
from roost.secrets import Box
from roost.store import Queries

_RETRY = Retry(attempts=4)
_PURGE_SECONDS = 900.0
_REFUSED, _CLOSED, _FULL = "refused", "closed", "full"
"""What steps hand on: why the server never takes a bucket, whether this job has closed it, and why
it stays."""


class AccountArgs(JobArgs):
    """Whose."""

    account_id: int


class BucketArgs(AccountArgs):
    """Which bucket."""

    bucket_id: int


class KeyArgs(AccountArgs):
    """Which key."""

    key_id: int


def _on_account(args: AccountArgs) -> str:
    return resource_of(args.account_id)


async def bring_bucket(run: Run[BucketArgs]) -> Verdict:
    """Make or change it as its row says, or close it to all before it is deleted."""
    bucket = await queries.find(run.store, run.args.bucket_id)
    if bucket is None:
        return done()
    engine = run.get(Engines).holding(OBJECT_PLANE, bucket)
    spec = await _spec(run.store, bucket)
    if bucket.deleting:
        await engine.close_bucket(spec)
    else:
        try:
            await orphan_steps.put(run.store, engine, spec)
        except EngineError as error:
            if not (error.lasting and spec.is_new):
                raise
            return next_step(result={_REFUSED: str(error)})
    return next_step(result={"revision": bucket.revision, _CLOSED: bucket.deleting})


async def bring_keys(run: Run[BucketArgs]) -> Verdict:
    """Keys of the account may use the bucket from now on, or know nothing of it any more."""
    bucket, brought = await queries.find(run.store, run.args.bucket_id), run.result("bring")
    if bucket is None:
        return done()
    if refused := brought.get(_REFUSED):
        return fail(str(refused))
    await _bring_keys(run, bucket)
    if brought.get(_CLOSED):
        return next_step()
    revision = brought["revision"]
    assert isinstance(revision, int)
    traffic = await _traffic_before(run, bucket)

    async def set_applied(db: Queries) -> None:
        await queries.set_applied(db, bucket.id, revision)
        if traffic is not None:
            counted = traffic.sent.get(bucket.name, 0)
            await usage_queries.set_first(db, bucket.id, traffic.since, counted)

    return next_step(set_applied)


async def _traffic_before(run: Run[BucketArgs], bucket: BucketFacts) -> Traffic | None:
    """Servers count by name: what they had sent for a name before the bucket was one."""
    if bucket.applied > 0:
        return None
    with suppress(EngineError):
        return await run.get(Engines).holding(OBJECT_PLANE, bucket).traffic()
    return None


async def _bring_keys(run: Run[BucketArgs], bucket: BucketFacts) -> None:
    engine = run.get(Engines).holding(OBJECT_PLANE, bucket)
    for key in await key_queries.of_account(run.store, bucket.account_id):
        await key_steps.bring_to(run.store, run.get(Box), key, bucket.region, engine)


async def delete_bucket(run: Run[BucketArgs]) -> Verdict:
    """Delete what this very job has closed, and only then forget it: its label is free."""
    bucket = await queries.find(run.store, run.args.bucket_id)
    if bucket is None or not run.result("bring").get(_CLOSED):
        return done()
    engine = run.get(Engines).holding(OBJECT_PLANE, bucket)
    try:
        await engine.delete_bucket(bucket.name, bucket.mark)
    except NotEmptyError as error:
        now = run.clock.now()
        return next_step(
            writing(queries.set_deleting, bucket.id, now, deleting=False),
            result={_FULL: str(error)},
        )
    return done(writing(queries.forget, bucket.id))


async def open_again(run: Run[BucketArgs]) -> Verdict:
    """What could not be deleted is there as before, with all that it holds."""
    bucket = await queries.find(run.store, run.args.bucket_id)
    if bucket is None or bucket.deleting:
        return next_step()
    engine = run.get(Engines).holding(OBJECT_PLANE, bucket)
    await engine.put_bucket(await _spec(run.store, bucket))
    await _bring_keys(run, bucket)
    return next_step(writing(queries.set_applied, bucket.id, bucket.revision))


async def say_why(run: Run[BucketArgs]) -> Verdict:
    """The event fails when clients can use the bucket again."""
    return fail(str(run.result("delete")[_FULL]))


async def bring_key(run: Run[KeyArgs]) -> Verdict:
    """A key can be used wherever its account has buckets, or nowhere any more."""
    key = await key_queries.find(run.store, run.args.key_id)
    if key is None:
        return done()
    for region, engine in run.get(Engines).by_region(OBJECT_PLANE).items():
        await _hide_objects(run.store, key, region, engine)
        await key_steps.bring_to(run.store, run.get(Box), key, region, engine)
    if key.deleting:
        return next_step(writing(key_queries.forget, key.id))
    return next_step(writing(key_queries.set_applied, key.id, key.revision))


async def _hide_objects(db: Queries, key: KeyFacts, region: str, engine: ObjectEngine) -> None:
    """Buckets that the key is going to list tell it no more than that they are there."""
    if key.deleting or not key.limited:
        return
    for bucket in await queries.of_account(db, key.account_id):
        if bucket.region == region and bucket.applied and not bucket.deleting:
            await engine.put_access(await _spec(db, bucket))


async def _spec(db: Queries, bucket: BucketFacts) -> BucketSpec:
    acls = await acl_queries.acls(db, bucket.id)
    return bucket.spec(acls, await key_queries.without_access(db, bucket.id))


async def purge_keys(run: Run[AccountArgs]) -> Verdict:
    """From now on nobody opens anything."""
    keys = await key_queries.of_account(run.store, run.args.account_id)
    ended = [key for key in keys if key.deleting]
    for engine in run.get(Engines).by_region(OBJECT_PLANE).values():
        for key in ended:
            await engine.delete_key(key.name)

    async def forget(db: Queries) -> None:
        for key in ended:
            await key_queries.forget(db, key.id)

    return next_step(forget, result={"buckets": len(await _purged(run))})


async def purge_buckets(run: Run[AccountArgs]) -> Verdict:
    """One after the other, with all that they hold."""
    left, all_ = await _purged(run), run.result("keys")["buckets"]
    if not left:
        return next_step()
    assert isinstance(all_, int)
    if all_ > len(left):
        await run.progress(100 * (all_ - len(left)) // all_)
    bucket = left[0]
    engine = run.get(Engines).holding(OBJECT_PLANE, bucket)
    await engine.close_bucket(await _spec(run.store, bucket))
    for mark in (bucket.mark, None):
        await engine.purge_bucket(bucket.name, mark)
    return again(0, writing(queries.forget, bucket.id))


async def _purged(run: Run[AccountArgs]) -> list[BucketFacts]:
    return [
        each for each in await queries.of_account(run.store, run.args.account_id) if each.purging
    ]


async def _ends(db: Queries, job: Job, args: BucketArgs) -> None:
    """What could not be deleted is there as before; what the server never takes is no more."""
    brought = job.results.get("bring")
    if isinstance(brought, dict) and brought.get(_REFUSED):
        await queries.drop_refused(db, args.bucket_id)
        return
    bucket = await queries.find(db, args.bucket_id)
    if bucket is not None and bucket.deleting and not bucket.purging:
        await queries.set_deleting(db, bucket.id, job.finished or job.created, deleting=False)


def _apply_bucket(name: str, retry: Retry) -> JobKind[BucketArgs]:
    return JobKind(
        name,
        BucketArgs,
        resource=_on_account,
        steps=(
            Step("bring", bring_bucket, timeout=120),
            Step("keys", bring_keys, timeout=120),
            Step("delete", delete_bucket, timeout=120),
            Step("open", open_again, timeout=120),
            Step("say", say_why),
        ),
        retry=retry,
        on_failed=_ends,
    )


def _apply_key(name: str, retry: Retry) -> JobKind[KeyArgs]:
    return JobKind(
        name,
        KeyArgs,
        resource=_on_account,
        steps=(Step("bring", bring_key, timeout=120),),
        retry=retry,
    )


_ONCE = Retry(attempts=1)
"""So that what fails each minute does not make the account's other work wait for attempts."""

APPLY_BUCKET = _apply_bucket("object_bucket_apply", _RETRY)
APPLY_KEY = _apply_key("object_key_apply", _RETRY)
BRING_BUCKET = _apply_bucket("object_bucket_bring", _ONCE)
BRING_KEY = _apply_key("object_key_bring", _ONCE)

PURGE = JobKind(
    "object_storage_purge",
    AccountArgs,
    resource=_on_account,
    steps=(
        Step("keys", purge_keys, timeout=120),
        Step("buckets", purge_buckets, timeout=_PURGE_SECONDS),
    ),
    retry=_RETRY,
    event="object_storage_cancel",
    per_account=1,
)


async def start_bucket(by: Context | log.Starter, action: str, bucket: BucketFacts) -> None:
    """Bring a bucket as it is from now on to its server; the event `action` tells when."""
    args = BucketArgs(account_id=bucket.account_id, bucket_id=bucket.id)
    entity = BUCKET.entity(bucket.cluster, bucket.label)
    await log.start(by, APPLY_BUCKET, args, entity, action=action)


async def start_key(by: Context | log.Starter, action: str, key: KeyFacts) -> None:
    """Start a job that brings a key to all servers."""
    args = KeyArgs(account_id=key.account_id, key_id=key.id)
    await log.start(by, APPLY_KEY, args, KEY.of(key), action=action)
