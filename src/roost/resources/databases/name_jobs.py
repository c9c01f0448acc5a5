"""Telling the name server how databases are called."""

from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.databases import name_queries
from roost.resources.databases.name_queries import ZoneRow
from roost.resources.databases.name_service import OWNER, find_names, make_zone
from roost.resources.databases.settings import DatabaseZone
from roost.resources.domains import rules
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import digest
from roost.store import Queries

RESOURCE = "schedule:database_names_sync"
"""One job at a time writes the zone, as jobs of one schedule do."""


class NamesArgs(JobArgs):
    """What is to be done, the job finds out."""


async def serve(run: Run[NamesArgs]) -> Verdict:
    """Put the zone if it is not as the name server was told last; drop former ones."""
    services, dns = run.tools.services, run.get(Dns)
    name = services.get(DatabaseZone).name
    known = await name_queries.zones(run.store)
    before = known.get(name) or ZoneRow(name, "", 0)
    serial = rules.next_serial(before.serial, run.clock.now())
    zone = make_zone(services, await find_names(run.store, services), serial)
    row = ZoneRow(name, digest(zone), serial)
    if row.digest != before.digest:
        await dns.engine.put_zone(zone)
    gone = known.keys() - {name}
    for former in gone:
        await dns.engine.delete_zone(f"{former}.", OWNER)

    async def write(db: Queries) -> None:
        if row.digest != before.digest:
            await name_queries.keep_zone(db, row)
        for former in gone:
            await name_queries.forget_zone(db, former)

    return next_step(write)


async def name_soon(db: Queries, queue: JobQueue) -> None:
    """The name server is told once the transaction is committed."""
    await queue.enqueue(db, SYNC, NamesArgs(), resource=RESOURCE)


SYNC = JobKind(
    "database_names_sync",
    NamesArgs,
    steps=(Step("serve", serve, timeout=60),),
    retry=Retry(attempts=20, base=0.25, longest=30.0),
)

EVERY_MINUTE = Schedule("database_names_sync", "* * * * *", SYNC, NamesArgs())
"""What an operator changes, nobody tells."""
