"""Readings of guests that no engine holds."""

from dataclasses import replace
from datetime import datetime, timedelta

from roost.app.roost import Roost
from roost.core.billing.charges import month_start
from roost.resources.compute.engine import Counters
from roost.resources.compute.network_engine import Traffic
from roost.resources.usage.rules import STEP
from roost.resources.usage.service import note

RESTED = Counters("first", 0, {}, Traffic("first"))
BUSY = tuple(replace(RESTED, cpu_seconds=300 * n) for n in range(19))
"""A processor for an hour and a half."""
STEP_TIME = timedelta(seconds=STEP)


def read_in_month(now: datetime) -> datetime:
    """When counters have to be read so that what they show was used in the month of `now`.

    A minute ago but for the first minutes of a month, as a reading is of the minutes before it.
    """
    return max(now - timedelta(minutes=1), month_start(now) + STEP_TIME)


async def as_old_as_the_month(roost: Roost, *compute_ids: int) -> None:
    """So that they give all of their plans: what is made late in a month hardly gives anything."""
    async with roost.store.transaction() as db:
        # Nobody else changes what the ledger says.
        await db.execute("set local session_replication_role = replica")
        for aged in (
            "update ledger set at = $2 where service = 'compute' and resource_id = any($1)",
            "update compute_instance set created = $2 where id = any($1)",
        ):
            await db.execute(aged, list(compute_ids), month_start(roost.clock.now()))


async def measure(roost: Roost, compute_id: int, *readings: Counters) -> datetime:
    """Readings of this month, five minutes apart, the last one a minute ago; when the first was."""
    shown = readings or (RESTED, replace(RESTED, cpu_seconds=30))
    first = read_in_month(roost.clock.now()) - (len(shown) - 1) * STEP_TIME
    for number, counters in enumerate(shown):
        await note(roost.store, {compute_id: counters}, first + number * STEP_TIME)
    return first
