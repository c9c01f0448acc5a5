"""Buckets that S3 clients make: they become rows within a moment, or are removed (rule 8).

Until then nobody has access to one, so that it is empty, whatever becomes of it.
"""

from roost.core.context import Context
from roost.core.events import log
from roost.core.identity import in_name_of
from roost.core.planes import Engines
from roost.errors import ApiError
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, done, next_step, writing
from roost.resources.object_storage import key_queries, key_steps, queries, service
from roost.resources.object_storage.engine import OBJECT_PLANE, MadeBucket
from roost.resources.object_storage.jobs import KeyArgs
from roost.resources.object_storage.locks import resource_of
from roost.resources.object_storage.queries import BUCKET
from roost.secrets import Box
from roost.store import Queries

_GONE = "The key with which it was made is revoked"


class MadeArgs(KeyArgs):
    """Which bucket, and whose key has made it."""

    region: str
    label: str


async def look(db: Queries, queue: JobQueue, region: str, made: MadeBucket) -> None:
    """Let a job see to a bucket that somebody seems to have made."""
    key_id = key_queries.id_of(made.key)
    key = None if key_id is None else await key_queries.find(db, key_id)
    if key is not None and await queries.find_in(db, region, made.name) is None:
        args = MadeArgs(account_id=key.account_id, key_id=key.id, region=region, label=made.name)
        await queue.enqueue(db, TAKE_UP, args, account_id=key.account_id)


async def take_up(run: Run[MadeArgs]) -> Verdict:
    """It is a bucket of the account from now on, which a job of its own brings."""
    args = run.args
    if await queries.find_in(run.store, args.region, args.label) is not None:
        return next_step(result={"reason": None})
    key = await key_queries.find(run.store, args.key_id)
    if key is None or key.deleting:
        return next_step(result={"reason": _GONE})
    try:
        async with run.store.transaction() as db:
            owner = await queries.owner(db, args.account_id)
            context = Context(
                caller=in_name_of(args.account_id, owner),
                db=db,
                services=run.tools.services,
                clock=run.clock,
            )
            await service.take_up(context, args.region, args.label)
    except ApiError as error:
        return next_step(result={"reason": error.problems[0].reason})
    return next_step(result={"reason": None})


async def remove(run: Run[MadeArgs]) -> Verdict:
    """What was not allowed goes, and the account's keys make no more for a minute."""
    args, reason = run.args, run.result("take_up")["reason"]
    if reason is None or await queries.find_in(run.store, args.region, args.label) is not None:
        return done()
    engines = run.get(Engines).by_region(OBJECT_PLANE)
    await key_queries.set_barred(run.store, args.account_id)
    for region, engine in engines.items():
        for key in await key_queries.of_account(run.store, args.account_id):
            await key_steps.bring_to(run.store, run.get(Box), key, region, engine)
    await engines[args.region].purge_bucket(args.label, None)
    return next_step(writing(_tell, run, str(reason)))


async def _tell(db: Queries, run: Run[MadeArgs], reason: str) -> None:
    by = log.Starter(run.get(JobQueue), db, run.args.account_id)
    entity = BUCKET.entity(run.args.region, run.args.label)
    await log.notify(by, "obj_bucket_delete", entity, message=reason)


TAKE_UP = JobKind(
    "object_bucket_take_up",
    MadeArgs,
    resource=lambda args: resource_of(args.account_id),
    steps=(Step("take_up", take_up), Step("remove", remove, timeout=120)),
    retry=Retry(attempts=4),
)
