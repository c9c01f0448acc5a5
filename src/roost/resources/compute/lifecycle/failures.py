"""What rows become when work on whole instances fails."""

from roost.jobs.model import Job
from roost.resources.addresses import allocation
from roost.resources.compute import queries as instances
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.lifecycle import clone_queries, queries
from roost.resources.compute.lifecycle.args import CloneArgs, RebuildArgs
from roost.store import Queries


async def restore_rows(db: Queries, job: Job, args: RebuildArgs) -> None:
    """With any of its former disks an instance is what it was; else it is what it was to become.

    The new disks are then made when it is booted.
    """
    compute_id, now = args.compute_id, job.finished or job.created
    if await instances.lock_any(db, compute_id) is None:
        return
    owned = [disk.id for disk in await disks.of_instance(db, compute_id)]
    if any(disk_id in args.disks for disk_id in owned):
        await _forget_new(db, args, owned)
        await queries.set_specs(db, compute_id, args.specs, now)
        await queries.set_image(db, compute_id, args.image)
        await queries.set_user_data(db, compute_id, args.user_data)
    else:
        await queries.delete_configs(db, args.configs)
    await disks.settle(db, compute_id)
    await instances.set_status(db, compute_id, "offline", now)


async def _forget_new(db: Queries, args: RebuildArgs, owned: list[int]) -> None:
    await disks.delete_all(db, set(owned) - set(args.disks))
    found = {config.id for config in await configs.names(db, args.compute_id)}
    await queries.delete_configs(db, found - set(args.configs))


async def abandon_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    """Nothing of the clone stays."""
    await clone_queries.lock_both(db, args.source_id, args.compute_id)
    now = job.finished or job.created
    await clone_queries.end(db, args.source_id, args.compute_id, now)
    if args.new:
        await allocation.release(db, args.compute_id, now)
        await instances.delete(db, args.compute_id)
    else:
        await disks.delete_all(db, args.disks.values())
        await queries.delete_configs(db, args.configs)
