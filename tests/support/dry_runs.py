"""What a dry run must not change, and what it foretells."""

from collections.abc import Mapping
from decimal import Decimal

from roost.app.roost import Roost
from tests.support.client import Client, Json

_TABLES = """
select c.relname as name, exists (
    select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id'
) as owned
from pg_class c
where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not c.relispartition
order by c.relname
"""
_BESIDE = frozenset(
    (
        *("worker", "host", "region_capacity", "job_schedule", "operator_condition"),
        *("api_user", "login", "token", "token_use"),
        *("row_count", "usage_amount", "usage_month", "usage_reading"),
        *("event_order", "event_reader"),
    )
)
"""What is written by the clock, or of the use of tokens."""
_COSTS = """
select coalesce(sum(hourly * quantity), 0) as hourly,
    coalesce(sum(monthly * quantity), 0) as monthly
from (
    select distinct on (service, resource_id) hourly, monthly, quantity from ledger
    where account_id = $1 order by service, resource_id, id desc) last
"""


async def contents(roost: Roost, account_id: int) -> Mapping[str, str]:
    """A digest of each table: the rows of the account, or of all where they belong to nobody."""
    found: dict[str, str] = {}
    for table in await roost.store.fetch(_TABLES):
        name = table["name"]
        if name in _BESIDE:
            continue
        owned = "account_id = $1" if table["owned"] else "$1::bigint is not null"
        found[name] = await roost.store.fetchval(
            f"""
            select count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '')
            from {name} t where {owned}
            """,
            account_id,
        )
    return found


async def costs(roost: Roost, account_id: int) -> tuple[Decimal, Decimal]:
    """What the account costs in an hour, and at most in a month."""
    row = await roost.store.fetchrow(_COSTS, account_id)
    assert row is not None
    return row["hourly"], row["monthly"]


async def tried(client: Client, method: str, path: str, body: Json = None) -> Json:
    """What a dry run answers."""
    answer = await client.send(method, f"{path}?dry_run=true", body)
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"] == "application/vnd.roost.dry-run+json"
    return answer.body
