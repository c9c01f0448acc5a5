"""Redeeming promo codes."""

from roost.core import account_queries as accounts
from roost.core.billing.promotion_queries import record_of
from roost.core.context import Context
from roost.errors import invalid, unauthenticated
from roost.resources.promotions import queries, rules


async def redeem(context: Context, text: str) -> str:
    """The record of what the account is promised from now on.

    Raises 400; a code that is used up or has ended is told from one that never was to nobody.
    """
    db, now, name = context.db, context.clock.seconds(), text.upper()
    if (await accounts.lock(db, context.account_id)).canceled:
        raise unauthenticated()
    opened = (await accounts.created(db, [context.account_id]))[context.account_id]
    if now - opened >= rules.NEW:
        raise invalid(rules.TOO_OLD)
    code = await queries.lock_code(db, name)
    if code is None or not rules.usable(code, now):
        raise invalid(rules.NOT_VALID, "promo_code")
    expires = rules.expiry(code, now)
    if not await queries.insert_promotion(db, context.account_id, name, now, expires):
        raise invalid(rules.TAKEN, "promo_code")
    await queries.count_use(db, name)
    return await record_of(db, context.account_id, name)
