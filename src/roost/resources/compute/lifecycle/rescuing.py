"""Rescuing: a boot of the rescue system with chosen devices (reference: rescue)."""

from roost.core.context import Context
from roost.core.events import log
from roost.errors import Problem, invalid_fields
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import jobs, rules
from roost.resources.compute.lifecycle.args import RescueArgs
from roost.resources.compute.lifecycle.bodies import RescueDevices
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.volumes import InstanceVolumes

_TOLD = "The instance boots in rescue mode."
"""In the event, whose action is that of any boot."""


async def rescue(context: Context, instance: InstanceFacts, devices: RescueDevices | None) -> None:
    """A guest that runs is stopped before."""
    running = instance.status == "running"
    args = RescueArgs(
        compute_id=instance.id,
        username=context.identity.username,
        slots=await _slots(context, instance, devices),
        status="rebooting" if running else "booting",
    )
    action = "compute_reboot" if running else "compute_boot"
    entity = COMPUTE.of(instance)
    await log.start(context, jobs.RESCUE, args, entity, action=action, message=_TOLD)


async def _slots(
    context: Context, instance: InstanceFacts, devices: RescueDevices | None
) -> tuple[SlotFacts, ...]:
    """400 for disks and volumes that the instance does not have."""
    owned = await disks.of_instance(context.db, instance.id)
    if devices is None:
        return rules.rescue_slots(owned)
    volumes = {v.id for v in await context.get(InstanceVolumes).attached(context.db, instance.id)}
    made, problems = {disk.id for disk in owned if disk.made}, list[Problem]()
    for at in devices.taken():
        if at.disk_id is not None and at.disk_id not in made:
            problems.append(Problem("disk_id is not valid", f"devices.{at.slot}.disk_id"))
        if at.volume_id is not None and at.volume_id not in volumes:
            problems.append(Problem("volume_id is not valid", f"devices.{at.slot}.volume_id"))
    if problems:
        raise invalid_fields(problems)
    return tuple(devices.taken())
