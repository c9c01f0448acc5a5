"""The end of what canceled accounts have, as tables of steps.

kind            done                                       failed
account_close   the last invoice, and nothing is left      the watch begins it again
accounts_erase  users of accounts of long ago are gone     the next night does the rest
"""

import structlog

from roost.core.context import Context
from roost.core.endings import Ending, Endings
from roost.core.identity import in_name_of
from roost.errors import ApiError
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, done, next_step, writing
from roost.resources.billing.service import invoice_last
from roost.resources.cancellation import queries, rules
from roost.resources.cancellation.queries import CancelFacts
from roost.resources.cancellation.settings import Cancellation
from roost.resources.payments.queries import remove_methods
from roost.resources.payments.service import forget_cards
from roost.store import Connection, Queries
from roost.web.revocation import settle

_log = structlog.get_logger(__name__)

_BATCH = 100
"""Of each kind of things, between two looks at what is left."""


class CloseArgs(JobArgs):
    """Which account."""

    account_id: int


def resource_of(account_id: int) -> str:
    """The name under which an account is closed by one job at a time."""
    return f"cancellation:{account_id}"


def _on_account(args: CloseArgs) -> str:
    return resource_of(args.account_id)


async def invoice(run: Run[CloseArgs]) -> Verdict:
    """What it used since its last invoice, until it was canceled."""
    facts = await queries.find(run.store, run.args.account_id)
    if facts is None or facts.canceled is None:
        return done()
    await invoice_last(run.store, run.tools.services, facts.id, facts.canceled)
    return next_step()


async def end_all(run: Run[CloseArgs]) -> Verdict:
    """Start the end of what can end now, and look again until nothing is left."""
    facts, endings = await queries.find(run.store, run.args.account_id), run.get(Endings)
    assert facts is not None
    for ending, found in await endings.due(run.store, facts.id, _BATCH):
        await _end(run, facts, ending, found)
    if await endings.holds(run.store, facts.id):
        return again(rules.pause(run.clock.now() - run.job.created))
    return next_step(writing(queries.set_closed, facts.id, run.clock.seconds()))


async def _end(run: Run[CloseArgs], facts: CancelFacts, ending: Ending, found: str) -> None:
    """What is busy ends later."""

    async def work(db: Connection) -> bool:
        context = _context(run, facts, db)
        await ending.end(context, found)
        return context.revokes

    try:
        revokes = await run.store.commit(work)
    except ApiError as error:
        _log.debug("not_ended_yet", noun=ending.noun, id=found, reason=str(error))
    else:
        if revokes:
            await settle(run.store)


def _context(run: Run[CloseArgs], facts: CancelFacts, db: Queries) -> Context:
    """The context of the user who canceled the account, as events tell."""
    caller = in_name_of(facts.id, facts.euuid, facts.canceled_by or "")
    return Context(caller=caller, db=db, services=run.tools.services, clock=run.clock)


CLOSE = JobKind(
    "account_close",
    CloseArgs,
    resource=_on_account,
    steps=(
        Step("invoice", invoice, timeout=300),
        Step("services", end_all, timeout=300),
    ),
)


async def erase(run: Run[JobArgs]) -> Verdict:
    """Forget who used accounts that were canceled long ago; their books stay."""
    now = run.clock.seconds()
    before = now - run.get(Cancellation).kept
    for account_id in await queries.expired(run.store, before, _BATCH):
        async with run.store.transaction() as db:
            cards = await remove_methods(db, account_id, now)
            await forget_cards(db, run.get(JobQueue), account_id, cards)
            await queries.erase(db, account_id, now)
    left = await queries.expired(run.store, before, 1)
    return again(0) if left else next_step()


ERASE = JobKind("accounts_erase", JobArgs, steps=(Step("erase", erase, timeout=120),))
NIGHTLY = Schedule("accounts_erase", "57 3 * * *", ERASE, JobArgs())
