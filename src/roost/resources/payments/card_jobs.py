"""Cards that were removed: the gateway is told to keep them no longer, and then its token goes."""

from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.payments import queries
from roost.resources.payments.engine import Gateways
from roost.resources.payments.jobs import resource_of
from roost.secrets import Box


class CardArgs(JobArgs):
    method_id: int
    account_id: int


def _of_account(args: CardArgs) -> str:
    """After the payments that are on their way."""
    return resource_of(args.account_id)


async def forget(run: Run[CardArgs]) -> Verdict:
    """Where cards are not taken any more, nobody can be told."""
    sealed = await queries.token_of(run.store, run.args.method_id)
    gateway = run.get(Gateways).gateway
    if sealed and gateway is not None:
        await gateway.forget_card(run.get(Box).open(sealed).decode())
    return next_step(writing(queries.forget_token, run.args.method_id))


FORGET = JobKind(
    "card_forget",
    CardArgs,
    resource=_of_account,
    steps=(Step("forget", forget, timeout=60),),
    retry=Retry(attempts=150, base=5.0, longest=3600.0),
)
