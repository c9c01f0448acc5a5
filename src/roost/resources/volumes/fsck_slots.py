"""`roost fsck` of slots: configs name only volumes that their instance has, and keeps."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.fsck import Finding, Installation
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import slot_queries as slots
from roost.resources.compute.configs.slot_queries import VolumeSlot
from roost.resources.volumes import queries
from roost.store import Queries


async def check_slots(installation: Installation) -> AsyncIterator[Finding]:
    """Slots of all configs that name a volume."""
    for slot in await slots.volume_slots(installation.store):
        if await _is_wrong(installation.store, slot):
            text = (
                f"config {slot.config_id} of instance {slot.compute_id} names volume"
                f" {slot.volume_id}, which the instance does not keep"
            )
            yield Finding(text, partial(_repair, installation, slot))


async def _is_wrong(db: Queries, slot: VolumeSlot) -> bool:
    """Rows of slots and volumes change together, so a slot that is still there is compared."""
    volume = await queries.find(db, slot.volume_id)
    if volume is None or (volume.compute_id == slot.compute_id and volume.persist_across_boots):
        return False
    return slot in await slots.volume_slots(db, slot.volume_id)


async def _repair(installation: Installation, slot: VolumeSlot) -> str:
    async with installation.store.transaction() as db:
        await computes.lock_any(db, slot.compute_id)
        if not await _is_wrong(db, slot):
            return "it is well by now"
        await slots.remove_volume(db, slot.compute_id, slot.volume_id)
    return "freed its slots"
