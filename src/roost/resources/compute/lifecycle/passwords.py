"""The root password of an instance that is off (reference: password)."""

from roost.errors import invalid
from roost.resources.compute.disks import changes
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.lifecycle import rules
from roost.resources.compute.queries import InstanceFacts
from roost.web.call import Call


async def reset(call: Call, instance: InstanceFacts, hashed: str) -> None:
    """The next boot applies it."""
    if instance.status != "offline":
        raise invalid("Compute must be shut down before its root password is reset.")
    disk = rules.with_password(await disks.of_instance(call.db, instance.id))
    if disk is None:
        raise invalid(rules.NOT_ONE_DISK)
    await changes.set_password(call, instance, disk, hashed)
