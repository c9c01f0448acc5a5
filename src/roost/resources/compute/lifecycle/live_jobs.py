"""A guest goes to another host of its region while it runs, as a table of steps.

kind                while it runs    done             failed
compute_move_live   migrating        running, there   running, where the rows say that it is

    offer (here) -> receive (there) -> send (here), whose rows say "there" -> enter (there)

What fails before the rows say so is undone, and the guest goes on here; what fails after it does
not bring the guest back: it goes on there. So no two of it run.
"""

from roost.core import instance_queries
from roost.core.hosts import queries as hosts
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, JsonObject, Verdict, next_step, writing
from roost.resources.compute import queries as instances
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import INSTANCE_PLANE, DiskDevice, InstanceSpec, LiveEngine
from roost.resources.compute.jobs import becomes
from roost.resources.compute.lifecycle.move_jobs import MoveArgs, give_up, rehost, send_parcel
from roost.resources.compute.live_engine import Destination, HostAddress, Offer, UnfitError
from roost.resources.compute.locks import engine_of, facts_of, on_instance
from roost.resources.compute.steps import specify_boot
from roost.secrets import Box
from roost.store import Queries

UNFIT = "It has to be powered off for the move"
"""How the reason begins where the guest cannot go while it runs."""

_SEND_SECONDS = 24 * 3600.0
_READY_SECONDS = 600.0


async def offer(run: Run[MoveArgs]) -> Verdict:
    """What runs here, for the other host, which fetches files of it."""
    facts = await facts_of(run)
    await _check_disks(run, facts)
    address = await _address(run, run.args.source)
    try:
        made = await engine_of(run, facts).live.offer(facts.id, address)
    except UnfitError as error:
        raise Fatal(f"{UNFIT}: {error}") from None
    return next_step(result=_seal(run, made))


async def receive(run: Run[MoveArgs]) -> Verdict:
    """All is ready for it on the other host."""
    facts, services = await facts_of(run), run.tools.services
    spec = await specify_boot(run, facts)
    address = await _address(run, run.args.host)
    await run.get(Neighbours).expect(run.store, services, facts.id)
    try:
        destination = await _live(run, facts).receive(spec, Offer(_opened(run, "offer")), address)
    except UnfitError as error:
        raise Fatal(f"{UNFIT}: {error}") from None
    return next_step(result=_seal(run, destination))


async def send(run: Run[MoveArgs]) -> Verdict:
    """It is halted here and whole there when this ends, and the rows say that it is there."""
    facts = await facts_of(run)
    if await instances.backup_ids(run.store, facts.id):
        target = await hosts.find(run.store, run.args.host)
        if target is None or target.address is None:
            raise Fatal("The other host takes no instances.")
        await send_parcel(run, facts, target.address, guest=False)
    destination = Destination(_opened(run, "receive"))
    await engine_of(run, facts).live.send(facts.id, destination, None, run.progress)
    return next_step(writing(rehost, run))


async def enter(run: Run[MoveArgs]) -> Verdict:
    """It goes on there, behind its firewalls."""
    facts = await facts_of(run)
    await run.get(Neighbours).settle(run.store, run.tools.services, facts.id)
    await _live(run, facts).enter(await specify_boot(run, facts))
    return next_step()


async def stay(run: Run[MoveArgs]) -> Verdict:
    """It goes on here, unless it has gone; the other host drops what it has."""
    facts = await facts_of(run)
    if facts.host != run.args.source:
        return next_step()
    await engine_of(run, facts).live.stay(facts.id)
    return await give_up(run)


async def arrive_anyhow(run: Run[MoveArgs]) -> Verdict:
    """Once it has gone there is no way back."""
    facts = await facts_of(run)
    return await enter(run) if facts.host == run.args.host else next_step()


async def _check_disks(run: Run[MoveArgs], facts: InstanceFacts) -> None:
    """Only what the guest runs with goes with it."""
    spec = await specify_boot(run, facts)
    if {each.id for each in await disks.of_instance(run.store, facts.id)} != _disks_of(spec):
        raise Fatal(f"{UNFIT}: it has disks that its configuration does not use.")


def _disks_of(spec: InstanceSpec) -> set[int]:
    return {each.disk_id for each in spec.devices if isinstance(each, DiskDevice)}


async def _address(run: Run[MoveArgs], host: str) -> HostAddress:
    """Where QEMU of that host is reached: at the address where its worker takes instances."""
    found = await hosts.find(run.store, host)
    if found is None or found.ip is None:
        raise Fatal(f"{UNFIT}: host {host} is not reached by others.")
    return found.ip


def _live(run: Run[MoveArgs], facts: InstanceFacts) -> LiveEngine:
    """The engine of this host, whichever has the instance."""
    return run.get(Engines).of(INSTANCE_PLANE, facts.region).live


def _seal(run: Run[MoveArgs], secret: str) -> JsonObject:
    return {"sealed": run.get(Box).seal(secret.encode()).hex()}


def _opened(run: Run[MoveArgs], step: str) -> str:
    return run.get(Box).open(bytes.fromhex(str(run.result(step)["sealed"]))).decode()


async def _goes_on(db: Queries, job: Job, args: MoveArgs) -> None:
    await instances.set_target_host(db, args.compute_id, None)
    await instance_queries.set_status(db, args.compute_id, "running", job.finished or job.created)


def _here(args: MoveArgs) -> str:
    return args.source


def _there(args: MoveArgs) -> str:
    return args.host


MOVE_LIVE = JobKind(
    "compute_move_live",
    MoveArgs,
    resource=on_instance,
    event="compute_migrate",
    steps=(
        Step("offer", offer, undo=stay, host=_here),
        Step("receive", receive, timeout=_READY_SECONDS, host=_there),
        Step("send", send, timeout=_SEND_SECONDS, host=_here),
        Step("enter", enter, undo=arrive_anyhow, retry=Retry(attempts=30, longest=10), host=_there),
    ),
    deadline=_SEND_SECONDS,
    retry=Retry(attempts=3),
    on_enqueued=becomes("migrating"),
    on_done=becomes("running"),
    on_failed=_goes_on,
)
