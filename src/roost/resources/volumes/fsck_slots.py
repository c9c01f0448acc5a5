"""`roost fsck` of slots: configs name only volumes that their instance has, and keeps."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.fsck import Finding, Installation
from roost.core.reconcile import PAGE
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import queries as slots
from roost.resources.compute.configs.queries import VolumeSlot
from roost.resources.volumes import queries
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


async def check_slots(installation: Installation) -> AsyncIterator[Finding]:
    """Slots of all configs that name a volume. A finding is of one slot, which has no key."""
    store, after = installation.store, 0
    while volumes := await queries.in_region(store, None, after, PAGE):
        found = {volume.id: volume for volume in volumes}
        after = volumes[-1].id
        for slot in await slots.volume_slots(store, list(found)):
            if not _keeps(found[slot.volume_id], slot) and await _is_wrong(store, slot):
                text = (
                    f"config {slot.config_id} of instance {slot.compute_id} names volume"
                    f" {slot.volume_id}, which the instance does not keep"
                )
                yield Finding(text, partial(_repair, installation, slot))


def _keeps(volume: VolumeFacts, slot: VolumeSlot) -> bool:
    return volume.compute_id == slot.compute_id and volume.persist_across_boots


async def _is_wrong(db: Queries, slot: VolumeSlot) -> bool:
    """Rows of slots and volumes change together, so a slot that is still there is compared."""
    volume = await queries.find(db, slot.volume_id)
    if volume is None or _keeps(volume, slot):
        return False
    return slot in await slots.volume_slots(db, [slot.volume_id])


async def _repair(installation: Installation, slot: VolumeSlot) -> str:
    async with installation.store.transaction() as db:
        await computes.lock_any(db, slot.compute_id)
        if not await _is_wrong(db, slot):
            return "it is well by now"
        await slots.remove_volume(db, slot.compute_id, slot.volume_id)
    return "freed its slots"
