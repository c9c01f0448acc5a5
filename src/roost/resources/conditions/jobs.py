"""Looking every minute for what has begun or ended, and telling operators of it."""

from functools import partial

from roost.core.conditions import Found, Watches
from roost.core.context import Context
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.upkeep_queries import count_unfinished
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.conditions import queries
from roost.resources.conditions.engine import Letters
from roost.resources.conditions.letter_jobs import LETTER, LetterArgs
from roost.store import Queries

MOST_LETTERS = 200
"""On their way at the same time; what there is no room for is told when there is."""


async def _look(run: Run[JobArgs]) -> Verdict:
    context = Context(caller=None, db=run.store, services=run.tools.services, clock=run.clock)
    found = await run.get(Watches).look(context)
    return next_step(partial(_note, run, found))


async def _note(run: Run[JobArgs], found: Found, db: Queries) -> None:
    now, channels = run.clock.seconds(), run.get(Letters).channels
    await queries.note(db, found, now)
    if not channels:
        return
    room = MOST_LETTERS - await count_unfinished(db, LETTER.name)
    for row in await queries.tell(db, now, max(0, room // len(channels))):
        for channel in channels:
            args = LetterArgs(condition_id=row.id, ended=row.ended is not None, channel=channel)
            await run.get(JobQueue).enqueue(db, LETTER, args)


WATCH = JobKind(
    "condition_watch",
    JobArgs,
    steps=(Step("look", _look),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("condition_watch", "* * * * *", WATCH, JobArgs())
