"""What the API offers: compute instances (spec B compute)."""

from asyncpg import UniqueViolationError

from roost.core.events import log
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.public_url import PublicUrl
from roost.core.turns import Turn
from roost.errors import invalid
from roost.resources.compute import console_service, deletion_service, jobs, queries, service
from roost.resources.compute.backups import service as backups
from roost.resources.compute.bodies import BootInstance, CreateInstance, UpdateInstance
from roost.resources.compute.configs.queries import ConfigName
from roost.resources.compute.configs.service import choose_config, find_default_config
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.jobs import start_power
from roost.resources.compute.locks import lock, lock_turn
from roost.resources.compute.queries import INSTANCES
from roost.resources.compute.records import ConsoleRow, ConsoleTicketRow, InstanceRow
from roost.resources.tags.service import change_tags
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import DryRun, Page, Rate, endpoint

_READ = ("computes:read_only",)
_WRITE = ("computes:read_write",)
_ONE = "/compute/instances/{computeId:int}"

_MAKING: tuple[InstanceStatus, ...] = ("provisioning", "rebuilding", "restoring", "cloning")
"""In which configs come, and go."""


@endpoint(
    "GET",
    "/compute/instances",
    scopes=_READ,
    grant=Listed("compute"),
    returns=Page(InstanceRow),
    filters=INSTANCES.columns,
)
async def list_instances(call: Call) -> bytes:
    """List compute instances.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(INSTANCES, call.account_id)


@endpoint(
    "POST",
    "/compute/instances",
    scopes=_WRITE,
    grant=Global("add_computes"),
    body=CreateInstance,
    returns=InstanceRow,
    events=("compute_create", "compute_boot"),
    rate=Rate(20, 30),
    dry_run=DryRun(),
)
async def create_instance(call: Call, body: CreateInstance) -> str:
    """Create a compute instance.

    The answer shows it `provisioning`; it is booted unless `booted` is false. With an `image`
    it gets a disk, a swap disk and a config that boots them; without one it has no disks and
    stays offline.
    """
    return await service.create(call, body)


@endpoint("GET", _ONE, scopes=_READ, grant=Read("compute"), returns=InstanceRow)
async def view_instance(call: Call) -> bytes:
    """View a compute instance.

    Its `status` says what it is doing.
    """
    return await _view(call, call.number("computeId"))


@endpoint(
    "GET",
    f"{_ONE}/console",
    scopes=_READ,
    grant=Read("compute"),
    returns=ConsoleRow,
    rate=Rate(50, 60),
)
async def view_console(call: Call) -> ConsoleRow:
    """View what a compute instance wrote to its serial console.

    The last 64 KiB, also of former boots. An extension of the API.
    """
    return await console_service.read(call, call.number("computeId"))


@endpoint(
    "POST",
    f"{_ONE}/console",
    scopes=_WRITE,
    grant=Write("compute"),
    returns=ConsoleTicketRow,
    rate=Rate(30, 60),
)
async def open_console(call: Call) -> ConsoleTicketRow:
    """Open the serial console of a compute instance that runs.

    Answers the URL of a WebSocket that takes one connection within a minute, without a token: what
    the guest writes comes in binary messages, what is sent is typed. An extension of the API.
    """
    path, expires = await console_service.offer(call, call.number("computeId"))
    base = call.get(PublicUrl).base or call.base
    return {
        "url": f"ws{base.removeprefix('http')}{path}",
        "expires": expires.isoformat(timespec="seconds"),
    }


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("compute"),
    body=UpdateInstance,
    of=view_instance,
    returns=InstanceRow,
    events=("compute_update",),
)
async def update_instance(call: Call, body: UpdateInstance) -> bytes:
    """Update a compute instance.

    Fields that are omitted stay as they are.
    """
    body.tags = await change_tags(call, COMPUTE, call.number("computeId"), body.tags)
    facts = await lock(call, call.number("computeId"))
    try:
        changed = await queries.update(
            call.db,
            facts.id,
            label=body.label,
            tags=body.tags,
            group=body.group,
            alerts=body.alerts.model_dump(exclude_none=True) if body.alerts else {},
            watchdog_enabled=body.watchdog_enabled,
            now=call.clock.now(),
        )
    except UniqueViolationError:
        raise invalid(service.LABEL_TAKEN, "label") from None
    if body.backups is not None and body.backups.schedule is not None:
        changed = await backups.set_schedule(call, facts, body.backups.schedule) or changed
    if changed:
        entity = COMPUTE.entity(facts.id, body.label or facts.label)
        await log.notify(call, "compute_update", entity)
    return await _view(call, facts.id)


async def _foresee_end(call: Call) -> None:
    await deletion_service.foresee_end(call, call.number("computeId"))


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Write("compute"),
    events=("compute_delete",),
    dry_run=DryRun(_foresee_end),
)
async def delete_instance(call: Call) -> None:
    """Delete a compute instance.

    With its disks, configs and backups. Volumes are detached and keep their data; a job that
    works on it is stopped. When it has been there for twelve hours, its first disk is kept as an
    image of type `automatic`, which expires after some days.
    """
    await deletion_service.delete(call, call.number("computeId"), keeps=True)


@endpoint(
    "POST",
    f"{_ONE}/boot",
    scopes=_WRITE,
    grant=Write("compute"),
    body=BootInstance,
    of=view_instance,
    events=("compute_boot",),
)
async def boot_instance(call: Call, body: BootInstance) -> None:
    """Boot a compute instance.

    It must be off.
    """
    facts, turn = await lock_turn(call, call.number("computeId"))
    config = await _config(call, facts, body.config_id, turn)
    if facts.status == "running" and not turn.queued:
        raise invalid("Compute is already running.")
    await start_power(call, jobs.BOOT, facts, config, turn)


@endpoint(
    "POST",
    f"{_ONE}/shutdown",
    scopes=_WRITE,
    grant=Write("compute"),
    events=("compute_shutdown",),
)
async def shutdown_instance(call: Call) -> None:
    """Shut down a compute instance.

    The guest is asked to power off, and made to when it does not.
    """
    facts, turn = await lock_turn(call, call.number("computeId"))
    _must_run(facts, turn)
    await start_power(call, jobs.SHUTDOWN, facts, turn=turn)


@endpoint(
    "POST",
    f"{_ONE}/reboot",
    scopes=_WRITE,
    grant=Write("compute"),
    body=BootInstance,
    of=view_instance,
    events=("compute_reboot",),
)
async def reboot_instance(call: Call, body: BootInstance) -> None:
    """Reboot a compute instance.

    The guest is asked to power off, made to when it does not, and booted again.
    """
    facts, turn = await lock_turn(call, call.number("computeId"))
    config = await _config(call, facts, body.config_id, turn)
    _must_run(facts, turn)
    await start_power(call, jobs.REBOOT, facts, config, turn)


async def _view(call: Call, compute_id: int) -> bytes:
    return await fetch_record(call.db, INSTANCES, (call.account_id,), compute_id)


def _must_run(facts: InstanceFacts, turn: Turn) -> None:
    """What waits for other work looks again when its turn comes."""
    if facts.status != "running" and not turn.queued:
        raise invalid(jobs.NOT_RUNNING)


async def _config(
    call: Call, facts: InstanceFacts, config_id: int | None, turn: Turn
) -> ConfigName | None:
    """None: the work under way may bring one, so that is for the job to find out."""
    if config_id is None and turn.queued and facts.status in _MAKING:
        return await find_default_config(call.db, facts)
    return await choose_config(call.db, facts, config_id)
