"""What the API offers: changes of whole instances (reference: operations, Compute instances)."""

from roost.resources.compute import endpoints as instances
from roost.resources.compute.disks.service import hash_password
from roost.resources.compute.lifecycle import clone_service, migration_service, service
from roost.resources.compute.lifecycle.bodies import (
    CloneInstance,
    MigrateInstance,
    MutateInstance,
    RebuildInstance,
    RescueInstance,
    ResetPassword,
    ResizeInstance,
)
from roost.resources.compute.locks import lock_idle
from roost.resources.compute.queries import INSTANCES
from roost.resources.compute.records import InstanceRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Write
from roost.web.registry import DryRun, Rate, endpoint

_WRITE = ("computes:read_write",)
_ONE = "/compute/instances/{computeId:int}"


@endpoint(
    "POST",
    f"{_ONE}/clone",
    scopes=_WRITE,
    grant=Write("compute", right="add_computes"),
    body=CloneInstance,
    of=instances.view_instance,
    returns=InstanceRow,
    events=("compute_clone",),
    rate=Rate(20, 30),
    dry_run=DryRun(),
)
async def clone_instance(call: Call, body: CloneInstance) -> bytes:
    """Clone a compute instance.

    With a `compute_id` its disks and configs are added to that instance, else to a new one.
    Source and target are `cloning` until all is copied; the clone is offline then. Users need
    to see the source, and read_write on an instance that is added to.
    """
    return await _record(call, await clone_service.clone(call, call.number("computeId"), body))


async def _foresee_plan(call: Call) -> None:
    await service.foresee_plan(call, call.number("computeId"))


async def _foresee_region(call: Call) -> None:
    await migration_service.foresee(call, call.number("computeId"))


@endpoint(
    "POST",
    f"{_ONE}/migrate",
    scopes=_WRITE,
    grant=Write("compute"),
    body=MigrateInstance,
    of=instances.view_instance,
    events=(
        "compute_migrate_datacenter_create",
        "compute_migrate_datacenter",
        "compute_migrate",
        "compute_boot",
    ),
    dry_run=DryRun(_foresee_region),
)
async def migrate_instance(call: Call, body: MigrateInstance) -> None:
    """Migrate a compute instance to another region.

    Its disks, backups, volumes, configs, firewalls, tags and grants go with it. It gets as many
    IPv4 addresses of the region, and another IPv6 address; the names of the former ones are lost.
    A guest that runs is powered off, and booted again there. In a VLAN or VPC, with an IPv6 range
    or with shared addresses it stays.
    """
    instance = await lock_idle(call, call.number("computeId"))
    await migration_service.migrate(call, instance, body)


@endpoint(
    "POST",
    f"{_ONE}/mutate",
    scopes=_WRITE,
    grant=Write("compute"),
    body=MutateInstance,
    of=instances.view_instance,
    events=("compute_mutate_create", "compute_mutate", "compute_boot"),
    dry_run=DryRun(_foresee_plan),
)
async def mutate_instance(call: Call, body: MutateInstance) -> None:
    """Upgrade a compute instance.

    Its plan becomes the successor of the plan that it has; see resize.
    """
    await service.mutate(
        call, await lock_idle(call, call.number("computeId")), body.allow_auto_disk_resize
    )


async def _hash_password(_call: Call, body: ResetPassword) -> str:
    return await hash_password(body.root_pass)


@endpoint(
    "POST",
    f"{_ONE}/password",
    scopes=_WRITE,
    grant=Write("compute"),
    body=ResetPassword,
    prepare=_hash_password,
    of=instances.view_instance,
    events=("password_reset",),
)
async def reset_instance_password(call: Call, hashed: str) -> None:
    """Reset the root password of a compute instance.

    It must be off and have one disk beside swap; the next boot applies the password.
    """
    await service.reset_password(call, await lock_idle(call, call.number("computeId")), hashed)


@endpoint(
    "POST",
    f"{_ONE}/rebuild",
    scopes=_WRITE,
    grant=Write("compute"),
    body=RebuildInstance,
    of=instances.view_instance,
    returns=InstanceRow,
    events=("compute_rebuild", "compute_boot"),
    dry_run=DryRun(),
)
async def rebuild_instance(call: Call, body: RebuildInstance) -> bytes:
    """Rebuild a compute instance.

    All its disks and configs are deleted, and made anew from an image. Addresses, backups,
    tags and volumes stay.
    """
    instance = await lock_idle(call, call.number("computeId"))
    await service.rebuild(call, instance, body)
    return await _record(call, instance.id)


@endpoint(
    "POST",
    f"{_ONE}/rescue",
    scopes=_WRITE,
    grant=Write("compute"),
    body=RescueInstance,
    of=instances.view_instance,
    events=("compute_boot", "compute_reboot"),
)
async def rescue_instance(call: Call, body: RescueInstance) -> None:
    """Boot a compute instance into the rescue system.

    A small system of its own, in which disks can be mended; root logs in with the password and
    keys of the first disk that has any. The next boot or reboot leaves it.
    """
    await service.rescue(call, await lock_idle(call, call.number("computeId")), body.devices)


@endpoint(
    "POST",
    f"{_ONE}/resize",
    scopes=_WRITE,
    grant=Write("compute"),
    body=ResizeInstance,
    of=instances.view_instance,
    events=(
        "compute_resize_create",
        "compute_resize_warm_create",
        "compute_resize",
        "compute_boot",
    ),
    dry_run=DryRun(_foresee_plan),
)
async def resize_instance(call: Call, body: ResizeInstance) -> None:
    """Resize a compute instance to another plan.

    Its disks must fit into the plan. A guest that runs is powered off, and booted again with
    the new memory and processors.
    """
    instance = await lock_idle(call, call.number("computeId"))
    await service.resize(call, instance, body)


async def _record(call: Call, compute_id: int) -> bytes:
    return await fetch_record(call.db, INSTANCES, (call.account_id,), compute_id)
