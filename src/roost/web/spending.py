"""The amount of money for each month of a narrowed token: what it makes may cost no more."""

from roost.core.billing import spending_queries as queries
from roost.core.billing.charges import month_start
from roost.core.billing.price_changes import last_row
from roost.core.context import Context
from roost.core.limits.queries import hold
from roost.core.narrowing.restrictions import Budget
from roost.errors import restricted

NAME = "monthly_cost"


def budgets_of(context: Context) -> tuple[Budget, ...]:
    narrowing = None if context.caller is None else context.caller.narrowing
    return () if narrowing is None else narrowing.budgets


async def before(context: Context) -> int:
    """Where the ledger ends before a write."""
    return await last_row(context.db)


async def require_affordable(context: Context, start: int) -> None:
    """Note what a write has made dearer since then, for each budget of its token. Raises 403 when
    that is more than one of them has for the month; the caller takes the write back.

    The last thing that a write does: others with tokens of the same wait from here to the commit,
    so that of two that one budget cannot pay for one is refused.
    """
    found = await queries.raised(context.db, context.account_id, start)
    if not found:
        return
    token_id = context.identity.token_id
    await hold(context.db, NAME, token_id)
    month = month_start(context.clock.now())
    for budget in budgets_of(context):
        await queries.add(context.db, budget.key, token_id, found)
        spent = await queries.spent(context.db, budget.key, month)
        if spent > budget.amount:
            raise restricted(f"{NAME} is {budget.amount}, and it would be {spent:.2f}")
