"""What runs becomes as its account is, as tables of steps.

kind               done                                              failed
account_suspension all that runs rests, or goes on as it was before  the watch begins it again
suspensions        who is late is told, suspended or let go on       the next minute does it
"""

from roost.core.context import Context
from roost.core.identity import in_name_of
from roost.core.suspensions import Change, Suspensions
from roost.errors import ApiError
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.suspension import queries
from roost.resources.suspension.queries import SuspensionFacts

_BATCH = 100
"""Of each kind of things, between two looks at what is left."""
_PAUSE = 1.0


class AccountArgs(JobArgs):
    """Which account."""

    account_id: int


def resource_of(account_id: int) -> str:
    """The name under which one job at a time works on an account."""
    return f"suspension:{account_id}"


def _on_account(args: AccountArgs) -> str:
    return resource_of(args.account_id)


async def settle(run: Run[AccountArgs]) -> Verdict:
    """Begin what can begin now, and look again until everything is as the account is by then."""
    facts = await queries.find(run.store, run.args.account_id)
    if facts is None or facts.canceled:
        return next_step()
    suspensions, suspended = run.get(Suspensions), facts.suspended
    due = await suspensions.due(run.store, facts.id, _BATCH, suspended=suspended)
    for change, found in due:
        await _begin(run, facts, change, found)
    if await suspensions.unsettled(run.store, facts.id, suspended=suspended):
        return again(_PAUSE)
    return next_step()


async def _begin(run: Run[AccountArgs], facts: SuspensionFacts, change: Change, found: str) -> None:
    """What is busy is begun later, and nothing when the account has changed meanwhile."""
    try:
        async with run.store.transaction() as db:
            now = await queries.lock(db, facts.id)
            if now is not None and now.suspended == facts.suspended:
                caller = in_name_of(facts.id, facts.euuid)
                context = Context(
                    caller=caller, db=db, services=run.tools.services, clock=run.clock
                )
                await change(context, found)
    except ApiError:
        return


SETTLE = JobKind(
    "account_suspension",
    AccountArgs,
    resource=_on_account,
    steps=(Step("settle", settle, timeout=300),),
)
