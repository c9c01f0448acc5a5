"""SQL of the catalogue's tables: what fills them, and which of its regions do not work."""

# ruff: noqa: S608  (tables and columns are named by sync.py, never by a file)

from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from roost.store import Queries
from roost.store.query import query

Row = dict[str, JsonValue]


@query("select pg_advisory_xact_lock(hashtext('roost catalogue'))")
async def lock(db: Queries) -> None:
    """Held until the transaction ends: of several processes that start, one writes at a time."""


async def replace(db: Queries, table: str, rows: list[Row], among: str = "true") -> None:
    """Insert or update the rows by id; the others that meet `among` are marked as retired."""
    if rows:
        columns = ", ".join(rows[0])
        values = ", ".join(f"excluded.{column}" for column in rows[0])
        await db.execute(
            f"insert into {table} ({columns}) select {columns}"
            f" from json_populate_recordset(null::{table}, $1)"
            f" on conflict (id) do update set ({columns}) = row({values})",
            orjson.dumps(rows).decode(),
        )
    await db.execute(
        f"update {table} set retired = not retired"
        f" where {among} and retired = (id = any($1::text[]))",
        [row["id"] for row in rows],
    )


async def refill(db: Queries, table: str, rows: list[Row]) -> None:
    """Make the rows all that the table holds."""
    await db.execute(f"delete from {table}")
    if rows:
        columns = ", ".join(rows[0])
        await db.execute(
            f"insert into {table} ({columns}) select {columns}"
            f" from json_populate_recordset(null::{table}, $1)",
            orjson.dumps(rows).decode(),
        )


@dataclass(frozen=True, slots=True)
class Outage:
    id: str
    label: str


@query("select id, label from region where id = any($1) and status = 'outage' order by id")
async def in_outage(db: Queries, region_ids: list[str]) -> list[Outage]:
    """Those of some regions that do not work at present."""
