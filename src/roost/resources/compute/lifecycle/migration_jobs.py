"""An instance goes to another region, as a table of steps.

kind              while it runs    done                          failed
compute_migrate   migrating        there: offline, then booted   as before, in its former region
                                   if it ran

Its disks, its backups and its volumes go with it. Its addresses are the region's, so that it gets
as many others there.
"""

from functools import partial

from roost.core import instance_queries
from roost.core.addresses.queries import release
from roost.core.addresses.service import PoolExhaustedError, allocate, held_by
from roost.core.addresses.share_queries import has_left, leave
from roost.core.catalog import Catalog
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute import address_queries, rules
from roost.resources.compute import queries as instances
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.filter_service import bring
from roost.resources.compute.jobs import becomes, settle
from roost.resources.compute.lifecycle import migration_queries, queries
from roost.resources.compute.lifecycle.rules import Specs
from roost.resources.compute.locks import CreateArgs, facts_of, on_instance
from roost.resources.compute.steps import GRACE, start_again, stop
from roost.store import Queries

ACTION = "compute_migrate_datacenter"
"""Of the events, as other clouds call it."""

_MOVE_SECONDS = 3600
"""Where the regions keep their files on different file systems."""


class MigrateArgs(CreateArgs):
    """From where to where. `booted`: whether it ran; `specs`: of another plan that it gets."""

    source: str
    region: str
    specs: Specs | None = None


async def move(run: Run[MigrateArgs]) -> Verdict:
    """What data planes hold goes first, then the rows."""
    facts = await facts_of(run)
    await _carry(run, facts, run.args.source, run.args.region)

    async def write(db: Queries) -> None:
        await _arrive(db, run)

    return next_step(write)


async def bring_back(run: Run[MigrateArgs]) -> Verdict:
    """Unless the rows say that it has arrived: then it stays there."""
    facts = await facts_of(run)
    if facts.region == run.args.source:
        await _carry(run, facts, run.args.region, run.args.source)
    return next_step()


async def _carry(run: Run[MigrateArgs], facts: InstanceFacts, source: str, target: str) -> None:
    engines, backups = run.get(Engines), await instances.backup_ids(run.store, facts.id)
    taker, holder = engines.of(INSTANCE_PLANE, target), engines.of(INSTANCE_PLANE, source)
    await taker.take(facts.id, holder, backups)
    neighbours = run.get(Neighbours)
    await neighbours.carry(run.store, run.tools.services, facts.id, source, target)


async def _arrive(db: Queries, run: Run[MigrateArgs]) -> None:
    """Its former addresses are nobody's before the former region has let go of them."""
    facts, region, now = (
        await instance_queries.lock_any(db, run.args.compute_id),
        run.args.region,
        run.clock.now(),
    )
    assert facts is not None
    former = await held_by(db, facts.id)
    await run.get(Neighbours).moved(db, run.tools.services, facts.id, region)
    await release(db, facts.id, now)
    for each in former:
        await leave(db, facts.id, str(each.interface.ip))
    try:
        held = [await allocate(db, region, a.public, facts.account_id, facts.id) for a in former]
    except PoolExhaustedError:
        raise Fatal("The region has no free IPv4 address.") from None
    ipv4 = [str(each.interface.ip) for each in held]
    network = run.get(Catalog).ipv6_network(region)
    ipv6 = f"{rules.slaac_address(network, rules.mac_address(facts.id))}/128"
    await migration_queries.set_region(db, facts.id, region, now)
    await address_queries.set_addresses(db, facts.id, ipv4, ipv6)
    if run.args.specs is None:
        await charge(db, facts.id, now)
    else:
        await queries.set_specs(db, facts.id, run.args.specs, now)


async def let_go(run: Run[MigrateArgs]) -> Verdict:
    """The former region filters nothing for the instance any more; its addresses there are free."""
    left = await bring(run.store, run.tools.services, await facts_of(run))
    return next_step(writing(has_left, left))


async def _arrived(db: Queries, job: Job, args: MigrateArgs) -> None:
    await migration_queries.set_target(db, args.compute_id, None)


async def _stays(db: Queries, job: Job, args: MigrateArgs) -> None:
    status: InstanceStatus = "running" if args.booted else "offline"
    await migration_queries.set_target(db, args.compute_id, None)
    await instance_queries.set_status(db, args.compute_id, status, job.finished or job.created)


MIGRATE = JobKind(
    "compute_migrate",
    MigrateArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=start_again, timeout=2 * GRACE),
        Step("move", move, undo=bring_back, timeout=_MOVE_SECONDS),
        Step("let_go", let_go, undo=let_go),
        Step("settle", partial(settle, shown="offline")),
    ),
    retry=Retry(attempts=3),
    on_enqueued=becomes("migrating"),
    on_done=_arrived,
    on_failed=_stays,
)
