"""The SQL of lists of all accounts, for the operator: what a group shows of each row, and by what
one is found."""

# ruff: noqa: S608  (statements are put together from the constants of groups)

from collections.abc import Mapping
from dataclasses import dataclass

from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Listed:
    """One kind of thing that operators list and show.

    SQL comes from groups alone; what an operator types is only ever a parameter.
    """

    name: str
    """One of them, as the command is called."""
    source: str
    """What to select from; `t` has the columns `id` and `account_id`."""
    columns: Mapping[str, str]
    """SQL of each key of `--json`, in their order."""
    shown: tuple[str, ...]
    """Those of the table for people."""
    filters: Mapping[str, str]
    """By option: a condition in which `{}` is the value, a text."""
    resource: str
    """SQL of the name under which its jobs run."""
    entity: str | None = None
    """What its events are about; None where their ids are not those of its rows."""

    def select(self, more: str = "") -> str:
        found = ", ".join(f'{sql} as "{key}"' for key, sql in self.columns.items())
        return f"select {found}{more} from {self.source}"


async def list_rows(
    db: Queries, listed: Listed, wanted: Mapping[str, str], limit: int
) -> list[Mapping[str, object]]:
    """By id; those for which all of the filters hold that are wanted."""
    values = list(wanted.values())
    conditions = [
        listed.filters[name].format(f"${position}::text")
        for position, name in enumerate(wanted, start=1)
    ]
    where = " and ".join(conditions) or "true"
    rows = await db.fetch(
        f"{listed.select()} where {where} order by t.id limit ${len(values) + 1}", *values, limit
    )
    return [dict(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Found:
    """One of them, and by what its jobs and events are found."""

    row: Mapping[str, object]
    account_id: int
    resource: str


async def find_row(db: Queries, listed: Listed, key: int) -> Found | None:
    more = f", t.account_id, {listed.resource}"
    row = await db.fetchrow(f"{listed.select(more)} where t.id = $1", key)
    if row is None:
        return None
    values = list(row.values())
    shown = dict(zip(listed.columns, values, strict=False))
    return Found(shown, *values[len(shown) :])


def contains(column: str) -> str:
    """A filter by a part of a text, whatever its case."""
    return f"strpos(lower({column}), lower({{}})) > 0"


ACCOUNT = "t.account_id::text = {}"
