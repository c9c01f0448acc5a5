"""SQL of what is at the slots of configs."""

from collections.abc import Sequence
from dataclasses import dataclass

from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.engine import SLOTS, Slot
from roost.store import Queries
from roost.store.query import query


@query("select slot from compute_config_device where config_id = $1 order by slot")
async def slots_taken(db: Queries, config_id: int) -> list[Slot]:
    """Where the config has something."""


async def set_devices(db: Queries, config_id: int, devices: Sequence[SlotFacts]) -> None:
    """Replace what is at the config's slots."""
    await db.execute("delete from compute_config_device where config_id = $1", config_id)
    await db.execute(
        """
        insert into compute_config_device (config_id, slot, disk_id, volume_id)
        select $1, slot, disk_id, volume_id
        from unnest($2::text[], $3::bigint[], $4::bigint[]) as d (slot, disk_id, volume_id)
        """,
        config_id,
        [device.slot for device in devices],
        [device.disk_id for device in devices],
        [device.volume_id for device in devices],
    )


@dataclass(frozen=True, slots=True)
class VolumeSlot:
    """A slot that names a volume."""

    compute_id: int
    config_id: int
    volume_id: int


async def add_volume(db: Queries, config_id: int, volume_id: int) -> bool:
    """Put a volume in the first free slot. False when there is none.

    The caller holds the instance's row.
    """
    slot = await db.fetchval(
        """
        insert into compute_config_device (config_id, slot, volume_id)
        select c.id, slot, $2 from compute_config c, unnest($3::text[]) as slot
        where c.id = $1 and (c.virt_mode = 'paravirt' or slot <= 'sdd')
            and not exists (select from compute_config_device d
                where d.config_id = c.id and d.slot = slot.slot)
        order by slot limit 1
        returning slot
        """,
        config_id,
        volume_id,
        list(SLOTS),
    )
    return slot is not None


@query("""
    delete from compute_config_device d using compute_config c
    where c.id = d.config_id and c.compute_id = $1 and d.volume_id = $2
    """)
async def remove_volume(db: Queries, compute_id: int, volume_id: int) -> None:
    """Take a volume from all configs of an instance."""


@query("""
    select coalesce(bool_or(i.rescued or c.id = i.config_id), $3)
    from compute_instance i
    join compute_config c on c.compute_id = i.id
    join compute_config_device d on d.config_id = c.id
    where i.id = $1 and d.volume_id = $2
    """)
async def boots_with(db: Queries, compute_id: int, volume_id: int, unnamed: bool = True) -> bool:
    """Whether a guest that runs has the volume: the config of its boot names it, or none does.

    The rescue system has all volumes of its instance. `unnamed` is the answer when none does.
    """


@query("""
    select c.compute_id, d.config_id, d.volume_id
    from compute_config_device d join compute_config c on c.id = d.config_id
    where d.volume_id = any($1) order by d.volume_id, d.config_id
    """)
async def volume_slots(db: Queries, volume_ids: Sequence[int]) -> list[VolumeSlot]:
    """Slots that name any of the volumes."""


@query("""
    select distinct d.volume_id from compute_config_device d
    join compute_config c on c.id = d.config_id
    where c.compute_id = $1 and d.volume_id is not null
    """)
async def volumes_with_slot(db: Queries, compute_id: int) -> set[int]:
    """The volumes that some config of the instance names."""
