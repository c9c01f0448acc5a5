"""The root password of an instance that is off (reference: password)."""

from roost.core.context import Context
from roost.errors import invalid
from roost.resources.compute.disks import changes
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.lifecycle import rules
from roost.resources.compute.queries import InstanceFacts


async def reset(context: Context, instance: InstanceFacts, hashed: str) -> None:
    """The next boot applies it."""
    if instance.status != "offline":
        raise invalid("Compute must be shut down before its root password is reset.")
    disk = rules.with_password(await disks.of_instance(context.db, instance.id))
    if disk is None:
        raise invalid(rules.NOT_ONE_DISK)
    await changes.set_password(context, instance, disk, hashed)
