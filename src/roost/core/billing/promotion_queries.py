"""SQL that reads the promotions of accounts."""

# ruff: noqa: S608  (statements are put together from constants)

from datetime import datetime

from roost.core.billing.promotions import Promotion
from roost.store import Queries
from roost.store.query import query

_SHOWN = """
    select p.monthly_cap::text as credit_monthly_cap, p.remaining::text as credit_remaining,
        p.description, to_char(p.expires, 'YYYY-MM-DD"T"HH24:MI:SS') as expire_dt, p.image_url,
        p.summary, least(p.monthly_cap, p.remaining)::text as this_month_credit_remaining,
        p.service_type
    from (
        select p.*, p.credit + coalesce((
            select sum(t.amount) from invoice_item t
            where t.service = 'promotion' and t.resource_id = p.id), 0) as remaining
        from promotion p) p
    """
"""The items of invoices, which are less than 0, say what was used."""


def active(account: str, now: str) -> str:
    """SQL of the records of an account's promotions that pay for something at a time (UTC)."""
    return f"""
        (select coalesce(json_agg(shown), '[]') from (
            {_SHOWN} where p.account_id = {account} and p.remaining > 0
                and (p.expires is null or p.expires > {now}) order by p.id) shown)
        """


@query(f"""
    select row_to_json(shown)::text from (
        {_SHOWN} where p.account_id = $1 and p.code = $2) shown
    """)
async def record_of(db: Queries, account_id: int, code: str) -> str:
    """The record, as JSON, of the promotion that an account got by a code."""


@query("""
    select p.id, p.summary, p.service_type, p.monthly_cap, p.created, p.expires,
        p.credit + coalesce((
            select sum(t.amount) from invoice_item t join invoice i on i.id = t.invoice_id
            where t.service = 'promotion' and t.resource_id = p.id and i.starts < $2), 0)
        as "left"
    from promotion p where p.account_id = $1 order by p.id
    """)
async def before(db: Queries, account_id: int, month: datetime) -> list[Promotion]:
    """As the invoices of earlier months left those that an account had (UTC)."""


@query("select count(*) from promotion where account_id = $1")
async def count(db: Queries, account_id: int) -> int:
    """How many an account ever had."""
