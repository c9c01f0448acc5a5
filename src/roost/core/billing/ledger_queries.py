"""SQL that writes the ledger, for a service and the select of its state (`Billable`).

Both are constants of the groups: each statement is put together once.
"""

# ruff: noqa: S608  (statements are put together from constants)

from functools import cache

_COLUMNS = "label, plan, region, quantity, hourly, monthly, tags"


@cache
def first(service: str, state: str) -> str:
    """The first row about something new, $1, at $2: one plain insert."""
    return _insert(
        f"""
        select s.account_id, '{service}' as service, s.id as resource_id, {_COLUMNS}
        from ({state}) s where s.id = $1
        """,
        "$2",
    )


@cache
def of_one(service: str, state: str) -> str:
    """The rows that the ledger lacks about one thing, $1, at $2."""
    return _insert(_changes(service, state, "s.id = $1", "l.resource_id = $1"), "$2")


@cache
def of_all(service: str, state: str) -> str:
    """The rows that the ledger lacks about any of them, at $1."""
    return _insert(_changes(service, state, "true", "true"), "$1")


def price_sql(price: str, region_prices: str, region: str) -> str:
    """SQL of `hourly` and `monthly`, given the JSON of a price and of those of regions.

    Text of JSON becomes numeric without a float between.
    """
    chosen = f"""coalesce((select r from json_array_elements({region_prices}) r
        where r ->> 'id' = {region} limit 1), {price})"""
    return (
        f"({chosen} ->> 'hourly')::numeric as hourly, ({chosen} ->> 'monthly')::numeric as monthly"
    )


def _insert(rows: str, at: str) -> str:
    """A period that has been invoiced stays as it is, wherever a clock was put back; so does all
    before the month in which the account was made, or until it was canceled."""
    return f"""
        insert into ledger (account_id, service, resource_id, at, {_COLUMNS})
        select r.account_id, r.service, r.resource_id, (
            select greatest({at}::timestamp(0),
                coalesce(a.invoiced_until, date_trunc('month', a.created)), a.canceled)
            from account a where a.id = r.account_id), {_COLUMNS}
        from ({rows}) r
        """


def _changes(service: str, state: str, of_state: str, of_ledger: str) -> str:
    return f"""
        with state as materialized (select s.* from ({state}) s where {of_state}),
        last as materialized (
            select distinct on (l.resource_id) l.* from ledger l
            where l.service = '{service}' and {of_ledger}
            order by l.resource_id, l.id desc)
        select s.account_id, '{service}' as service, s.id as resource_id, s.label, s.plan,
            s.region, s.quantity, s.hourly, s.monthly, s.tags
        from state s left join last l on l.resource_id = s.id
        where (l.account_id, l.plan, l.region, l.quantity, l.hourly, l.monthly) is distinct from
            (s.account_id, s.plan, s.region, s.quantity, s.hourly, s.monthly)
        union all
        select l.account_id, l.service, l.resource_id, l.label, l.plan, l.region, l.quantity,
            null, null, l.tags
        from last l where l.hourly is not null and not exists (
            select from state s where s.id = l.resource_id and s.account_id = l.account_id)
        """
