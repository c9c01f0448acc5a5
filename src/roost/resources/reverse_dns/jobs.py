"""Keeping the zones of reverse DNS as addresses and their names are."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.domains import rules
from roost.resources.domains.engine import Zone
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import digest
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.queries import ZoneRow
from roost.resources.reverse_dns.service import OWNER, Desired, find_desired, make_zone
from roost.resources.reverse_dns.settings import ReverseDns
from roost.store import Queries
from roost.threads import COMPUTING

RESOURCE = "schedule:reverse_dns_sync"
"""One job at a time writes these zones, as jobs of one schedule do."""


class ReverseArgs(JobArgs):
    """What is to be done, the job finds out."""


async def serve(run: Run[ReverseArgs]) -> Verdict:
    """Put the zones that are not as the name server was told last; drop those of former pools."""
    versions = await queries.changed(run.store)
    return await _serve(run, versions, None)


async def serve_names(run: Run[ReverseArgs]) -> Verdict:
    """Put the zones in which users have set names; of each only what differs is changed there."""
    await queries.settle(run.store)
    versions = await queries.changed(run.store)
    return await _serve(run, versions, versions)


async def _serve(
    run: Run[ReverseArgs], versions: Mapping[str, int], only: Collection[str] | None
) -> Verdict:
    dns, platform = run.get(Dns), run.get(ReverseDns)
    desired = await find_desired(run.store, platform, only)
    known = await queries.zones(run.store)
    changed = []
    for zone, row in await COMPUTING.run(
        lambda: list(_changed(desired, known, platform, dns.nameservers, run.clock.now()))
    ):
        await dns.engine.put_zone(zone)
        changed.append(row)
    gone = known.keys() - desired.zones.keys() if only is None else set()
    for name in gone:
        await dns.engine.delete_zone(f"{name}.", OWNER)

    async def write(db: Queries) -> None:
        await queries.forget(db, desired.stale)
        await queries.forget_changes(db, versions)
        for row in changed:
            await queries.keep_zone(db, row)
        for name in gone:
            await queries.forget_zone(db, name)

    return next_step(write)


def _changed(
    desired: Desired,
    known: Mapping[str, ZoneRow],
    platform: ReverseDns,
    nameservers: tuple[str, ...],
    now: datetime,
) -> Iterator[tuple[Zone, ZoneRow]]:
    """Slow, where pools are large."""
    for name, names in desired.zones.items():
        before = known.get(name) or ZoneRow(name, "", 0)
        serial = rules.next_serial(before.serial, now)
        zone = make_zone(name, names, platform, nameservers, serial)
        row = ZoneRow(name, digest(zone), serial)
        if row.digest != before.digest:
            yield zone, row


SYNC = JobKind(
    "reverse_dns_sync",
    ReverseArgs,
    steps=(Step("serve", serve, timeout=300),),
    retry=Retry(attempts=60, base=0.25, longest=30.0),
)

NAMES = JobKind(
    "reverse_dns_update",
    ReverseArgs,
    resource=lambda _args: RESOURCE,
    event="ipaddress_update",
    joined=True,
    steps=(Step("serve", serve_names, timeout=120),),
    retry=Retry(attempts=60, base=0.25, longest=30.0),
)

EVERY_MINUTE = Schedule("reverse_dns_sync", "* * * * *", SYNC, ReverseArgs())
"""Layouts of pools grow and instances go without telling anybody."""
