"""SQL of configs: what a boot needs of them."""

from dataclasses import dataclass

from roost.resources.compute.engine import Slot
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class ConfigName:
    """A config as events name it."""

    id: int
    label: str


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """What is at a slot: a disk or a volume."""

    slot: Slot
    disk_id: int | None
    volume_id: int | None


@dataclass(frozen=True, slots=True)
class BootConfig:
    """What a guest is started from."""

    id: int
    memory_limit: int
    """MB; 0: all that the plan has."""
    root_device: str
    purposes: tuple[str, ...]
    """Of its interfaces; none means a public one."""
    slots: tuple[SlotFacts, ...]


async def names(db: Queries, compute_id: int) -> list[ConfigName]:
    """The configs of an instance, by id."""
    rows = await db.fetch(
        "select id, label from compute_config where compute_id = $1 order by id", compute_id
    )
    return [ConfigName(**row) for row in rows]


async def find_boot(db: Queries, config_id: int) -> BootConfig | None:
    row = await db.fetchrow(
        """
        select c.id, c.memory_limit, c.root_device,
            array(select f.purpose from compute_interface f where f.config_id = c.id
                order by f.position) as purposes,
            array(select (d.slot, d.disk_id, d.volume_id) from compute_config_device d
                where d.config_id = c.id order by d.slot) as slots
        from compute_config c where c.id = $1
        """,
        config_id,
    )
    if row is None:
        return None
    return BootConfig(
        id=row["id"],
        memory_limit=row["memory_limit"],
        root_device=row["root_device"],
        purposes=tuple(row["purposes"]),
        slots=tuple(SlotFacts(*slot) for slot in row["slots"]),
    )


async def volumes_with_slot(db: Queries, compute_id: int) -> set[int]:
    """The volumes that some config of the instance names."""
    rows = await db.fetch(
        """
        select distinct d.volume_id from compute_config_device d
        join compute_config c on c.id = d.config_id
        where c.compute_id = $1 and d.volume_id is not null
        """,
        compute_id,
    )
    return {row["volume_id"] for row in rows}
