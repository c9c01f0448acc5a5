"""Jobs on object storage for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from roost.core.events import log
from roost.core.planes import Engines
from roost.engines.simulated.objects import SimulatedObjects
from roost.ids import new_uuid
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs, JobKind
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.object_storage import (
    adoption_jobs,
    jobs,
    key_queries,
    key_steps,
    name_jobs,
    queries,
    watch_jobs,
)
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.resources.object_storage.group import GROUP as OBJECT_STORAGE
from roost.resources.object_storage.key_queries import KeyFacts, NewKey
from roost.resources.object_storage.queries import BucketFacts, NewBucket
from roost.secrets import Box
from tests.jobs.harness import Scenario
from tests.support.drift import differences
from tests.support.stage import REGION, Stage


@dataclass(frozen=True)
class Setting:
    """An account's bucket and key."""

    stage: Stage
    account_id: int
    bucket_id: int
    label: str
    key_id: int

    @property
    def engine(self) -> SimulatedObjects:
        engine = self.stage.roost.services.get(Engines).of(OBJECT_PLANE, REGION)
        assert isinstance(engine, SimulatedObjects)
        return engine

    async def bucket(self) -> BucketFacts | None:
        return await queries.find(self.stage.roost.store, self.bucket_id)

    async def key(self) -> KeyFacts | None:
        return await key_queries.find(self.stage.roost.store, self.key_id)

    async def found(self, *, repair: bool = False) -> list[str]:
        lines = await differences(self.stage.roost, OBJECT_STORAGE, repair=repair)
        names = (f"bucket {self.label} ", f"key {self.key_id} ")
        return [line for line in lines if any(name in line for name in names)]


@dataclass(frozen=True)
class ObjectCase:
    """One job; a Case of the harness."""

    setting: Setting
    job_id: int
    bucket: bool
    """Whether the bucket is there when it is done, and opened by the key."""
    key: bool
    """Whether the key is."""

    async def check_done(self) -> None:
        label, engine = self.setting.label, self.setting.engine
        assert (label in await engine.buckets()) is self.bucket
        spec = await engine.spec(label)
        assert (spec is not None and not spec["closed"]) is self.bucket
        assert (await self.setting.bucket() is not None) is self.bucket
        grants = await engine.grants(f"key-{self.setting.key_id}")
        assert (await self.setting.key() is not None) is self.key
        opened = {label: True} if self.bucket else {}
        assert grants == (opened if self.key else None)
        assert await self.setting.found() == []

    async def check_failed(self) -> None:
        """Rows say what is wanted, and what is late is found."""
        row, key = await self.setting.bucket(), await self.setting.key()
        found = await self.setting.found()
        pending = [each for each in (row, key) if each is not None and each.pending]
        assert bool(found) is bool(pending)


Prepare = Callable[[Setting], Awaitable[None]]


async def placed(environment: Environment) -> Setting:
    """Rows of an account of their own, which no engine knows yet."""
    stage = environment.services.get(Stage)
    store, now = stage.roost.store, stage.roost.clock.seconds()
    account_id = await store.fetchval(
        "insert into account (euuid, created, email) values ($1, $2, '') returning id",
        new_uuid(),
        now,
    )
    label = f"b-{new_uuid()[:18]}"
    bucket = NewBucket(
        account_id=account_id,
        cluster="us-lake-1",
        region=REGION,
        engine=SimulatedObjects.name,
        label=label,
        hostname=f"{label}.example.com",
        acl="private",
        cors_enabled=False,
        now=now,
    )
    made = await queries.insert(store, bucket)
    assert made is not None
    key = NewKey(
        account_id=account_id,
        label="key",
        access_key=new_uuid(),
        secret_key=environment.services.get(Box).seal(b"secret"),
        limited=False,
        now=now,
    )
    key_id = await key_queries.insert(store, key, {})
    return Setting(stage, account_id, made[0], label, key_id)


async def bring_bucket(setting: Setting) -> None:
    bucket = await setting.bucket()
    assert bucket is not None
    await setting.engine.put_bucket(bucket.spec({}))
    await queries.set_applied(setting.stage.roost.store, bucket.id, bucket.revision)


async def bring_key(setting: Setting) -> None:
    """To all regions."""
    services, store, key = (
        setting.stage.roost.services,
        setting.stage.roost.store,
        await setting.key(),
    )
    assert key is not None
    for region, engine in services.get(Engines).by_region(OBJECT_PLANE).items():
        await key_steps.bring_to(store, services.get(Box), key, region, engine)
    await key_queries.set_applied(store, key.id, key.revision)


async def bucket_alone(setting: Setting) -> None:
    await bring_bucket(setting)


async def both(setting: Setting) -> None:
    await bring_bucket(setting)
    await bring_key(setting)


async def bucket_leaves(setting: Setting) -> None:
    await both(setting)
    await queries.set_deleting(
        setting.stage.roost.store, setting.bucket_id, setting.stage.roost.clock.now(), deleting=True
    )


async def full_bucket_leaves(setting: Setting) -> None:
    await bucket_leaves(setting)
    await setting.engine.write(setting.label, "a")


async def key_leaves(setting: Setting) -> None:
    await both(setting)
    await key_queries.set_deleting(setting.stage.roost.store, setting.key_id)


async def all_leave(setting: Setting) -> None:
    await both(setting)
    await setting.engine.write(setting.label, "a")
    await queries.set_purging(
        setting.stage.roost.store, setting.bucket_id, setting.stage.roost.clock.now()
    )
    await key_queries.set_deleting(setting.stage.roost.store, setting.key_id)


async def begin(
    environment: Environment, prepare: Prepare, kind: str, bucket: bool, key: bool
) -> ObjectCase:
    setting = await placed(environment)
    await prepare(setting)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, setting.account_id, "somebody")
        row, held = await queries.find(db, setting.bucket_id), await setting.key()
        assert row is not None
        assert held is not None
        bucket_args = jobs.BucketArgs(account_id=setting.account_id, bucket_id=row.id)
        key_args = jobs.KeyArgs(account_id=setting.account_id, key_id=held.id)
        if kind == jobs.APPLY_BUCKET.name:
            await jobs.start_bucket(by, "obj_bucket_create", row)
        elif kind == jobs.BRING_BUCKET.name:
            await environment.queue.enqueue(db, jobs.BRING_BUCKET, bucket_args)
        elif kind == jobs.BRING_KEY.name:
            await environment.queue.enqueue(db, jobs.BRING_KEY, key_args)
        elif kind == jobs.APPLY_KEY.name:
            await jobs.start_key(by, "obj_access_key_create", held)
        else:
            args = jobs.AccountArgs(account_id=setting.account_id)
            await log.start(by, jobs.PURGE, args, ACCOUNT_KIND.entity())
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", kind)
    return ObjectCase(setting, job_id, bucket, key)


@dataclass(frozen=True)
class MadeCase:
    """A bucket that an S3 client has made."""

    setting: Setting
    label: str
    job_id: int
    taken: bool
    """Whether the account may have it."""

    async def check_done(self) -> None:
        row = await queries.find_in(self.setting.stage.roost.store, REGION, self.label)
        assert (row is not None) is self.taken
        assert (self.label in await self.setting.engine.buckets()) is self.taken
        key = await self.setting.key()
        assert key is not None
        assert key.barred is not self.taken

    async def check_failed(self) -> None:
        """The watch finds who has made it, unless all was done before the step failed."""
        held = (await self.setting.engine.buckets()).get(self.label)
        if held is None or held.maker != f"key-{self.setting.key_id}":
            await self.check_done()


async def client_makes(environment: Environment, taken: bool) -> MadeCase:
    setting = await placed(environment)
    await both(setting)
    label = f"b-{new_uuid()[:18]}" if taken else f"with.dots-{new_uuid()[:8]}"
    await setting.engine.make(label, f"key-{setting.key_id}")
    args = adoption_jobs.MadeArgs(
        account_id=setting.account_id, key_id=setting.key_id, region=REGION, label=label
    )
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(
            db, adoption_jobs.TAKE_UP, args, account_id=setting.account_id
        )
    return MadeCase(setting, label, job.id, taken)


@dataclass(frozen=True)
class TickCase:
    """A job of the clock, which begins others at most."""

    job_id: int

    async def check_done(self) -> None:
        """The harness has seen that it ended well."""

    async def check_failed(self) -> None:
        """The next tick does the same."""


async def tick(environment: Environment, kind: JobKind[JobArgs]) -> TickCase:
    await both(await placed(environment))
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, kind, JobArgs())
    return TickCase(job.id)


Scenarios = tuple[Scenario, ...]
_SHORT = ("bring", "keys", "delete")
_NOT_EMPTY = "The bucket is not empty"


def _scenario(
    kind: JobKind[jobs.BucketArgs] | JobKind[jobs.KeyArgs] | JobKind[jobs.AccountArgs],
    title: str,
    prepare: Prepare,
    *,
    bucket: bool,
    key: bool,
    passes: tuple[str, ...] | None = None,
    error: str | None = None,
) -> Scenario:
    chosen = partial(begin, prepare=prepare, kind=kind.name, bucket=bucket, key=key)
    return Scenario(kind, chosen, title, passes, error)


def _bucket_scenarios(kind: JobKind[jobs.BucketArgs], titles: tuple[str, str, str]) -> Scenarios:
    """Only what is found not empty is opened again, and its event told why."""
    made, gone, full = titles
    return (
        _scenario(kind, made, bring_key, bucket=True, key=True, passes=_SHORT),
        _scenario(kind, gone, bucket_leaves, bucket=False, key=True, passes=_SHORT),
        _scenario(kind, full, full_bucket_leaves, bucket=True, key=True, error=_NOT_EMPTY),
    )


SCENARIOS = (
    *_bucket_scenarios(
        jobs.APPLY_BUCKET, ("a bucket is made", "a bucket is deleted", "a bucket is not empty")
    ),
    _scenario(jobs.APPLY_KEY, "a key is made", bucket_alone, bucket=True, key=True),
    _scenario(jobs.APPLY_KEY, "a key is revoked", key_leaves, bucket=True, key=False),
    *_bucket_scenarios(
        jobs.BRING_BUCKET,
        ("a bucket is late", "a deletion is late", "a late deletion finds the bucket not empty"),
    ),
    _scenario(jobs.BRING_KEY, "a key is late", bucket_alone, bucket=True, key=True),
    _scenario(jobs.PURGE, "object storage is cancelled", all_leave, bucket=False, key=False),
    Scenario(adoption_jobs.TAKE_UP, partial(client_makes, taken=True), "it may be"),
    Scenario(adoption_jobs.TAKE_UP, partial(client_makes, taken=False), "it may not be"),
    Scenario(watch_jobs.WATCH, partial(tick, kind=watch_jobs.WATCH)),
    Scenario(watch_jobs.COUNT, partial(tick, kind=watch_jobs.COUNT)),
    Scenario(name_jobs.NAMES, partial(tick, kind=name_jobs.NAMES)),
)
