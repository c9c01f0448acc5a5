"""SQL of configs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.resources.compute.configs.records import Helpers, VirtMode
from roost.resources.compute.engine import SLOTS, Slot
from roost.resources.compute.interface_bodies import Purpose
from roost.store import Queries
from roost.store.paging import Column, Listing
from roost.store.statement import Statement

_RUNS = "i.status in ('running', 'rebooting', 'shutting_down') and not i.rescued"
ACTIVE = f"coalesce(i.config_id = c.id and {_RUNS}, false)"
"""SQL of whether the guest of the instance `i` runs with its config `c`."""

_PRIMARY = """
    (f."primary" or f.purpose <> 'vlan' and not exists (
        select from compute_interface o where o.config_id = f.config_id
            and (o."primary" or (o.purpose <> 'vlan' and o.position < f.position))))
    """

_INTERFACE = f"""
    f.id, f.label, f.ipam_address, f.purpose, {ACTIVE} as active, {_PRIMARY} as "primary",
    f.vpc_id, f.subnet_id,
    case when f.purpose = 'vpc' then (select row_to_json(place) from (select
        host(f.address) as vpc, host(f.nat_1_1) as nat_1_1) place) end as ipv4,
    to_json(f.ip_ranges) as ip_ranges
    """  # noqa: S608 - constants

_SLOTS = ", ".join(
    f"(array_agg(device) filter (where slot = 'sd{n}'))[1] as sd{n}" for n in "abcdefgh"
)

INTERFACES = Listing(
    record=_INTERFACE,
    source="""
        compute_interface f join compute_config c on c.id = f.config_id
        join compute_instance i on i.id = c.compute_id
        """,
    scope="i.account_id = $1 and i.id = $2 and c.id = $3",
    key="f.id",
    columns={},
)

CONFIGS = Listing(
    record=f"""
        c.id, c.label, c.kernel, c.comments, c.memory_limit, c.run_level, c.virt_mode,
        (select coalesce(json_agg((select row_to_json(record) from (select {_INTERFACE}) record)
                order by f.position), '[]')
            from compute_interface f where f.config_id = c.id) as interfaces,
        c.helpers,
        (select row_to_json(slots) from (select {_SLOTS} from (
            select d.slot, (select row_to_json(it) from (select d.disk_id, d.volume_id) it)
                as device
            from compute_config_device d where d.config_id = c.id) d) slots) as devices,
        c.root_device, null as initrd, c.created, c.updated
        """,  # noqa: S608 - constants
    source="compute_config c join compute_instance i on i.id = c.compute_id",
    scope="i.account_id = $1 and c.compute_id = $2",
    key="c.id",
    columns={
        "label": Column("c.label", "text", folds=True),
        "created": Column("c.created", "time"),
    },
)


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
class BootInterface:
    """What a guest's network device is made from."""

    purpose: Purpose
    primary: bool
    ipam_address: str | None
    vlan_id: int | None = None
    vpc_id: int | None = None
    subnet_id: int | None = None
    address: str | None = None
    """With the prefix length of the subnet."""
    nat_1_1: str | None = None
    ip_ranges: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BootConfig:
    """What a guest is started from."""

    id: int
    memory_limit: int
    """MB; 0: all that the plan has."""
    root_device: str
    interfaces: tuple[BootInterface, ...]
    """In their order; none means a public one."""
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
            array(select (f.purpose, f."primary", f.ipam_address, f.vlan_id, f.vpc_id,
                    f.subnet_id, f.address::text, host(f.nat_1_1), f.ip_ranges)
                from compute_interface f where f.config_id = c.id
                order by f.position) as interfaces,
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
        interfaces=tuple(BootInterface(*each) for each in row["interfaces"]),
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


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """What rules need of a config."""

    id: int
    label: str
    kernel: str
    virt_mode: VirtMode
    helpers: Helpers
    active: bool
    """Whether the instance runs with it, or is about to."""


async def find(db: Queries, compute_id: int, config_id: int) -> ConfigFacts | None:
    """A config of the instance."""
    row = await db.fetchrow(
        """
        select c.id, c.label, c.kernel, c.virt_mode, c.helpers,
            coalesce(i.config_id = c.id and i.status in ('running', 'booting', 'rebooting')
                and not i.rescued, false) as active
        from compute_config c join compute_instance i on i.id = c.compute_id
        where c.compute_id = $1 and c.id = $2
        """,
        compute_id,
        config_id,
    )
    if row is None:
        return None
    return ConfigFacts(**{**row, "helpers": orjson.loads(row["helpers"])})


_INSERT = Statement(
    """
    insert into compute_config (compute_id, label, comments, kernel, memory_limit, run_level,
        virt_mode, root_device, helpers, created, updated)
    values (:compute_id, :label, :comments, :kernel, :memory_limit, :run_level, :virt_mode,
        :root_device, :helpers, :now, :now)
    returning id
    """
)
_UPDATE = Statement(
    """
    update compute_config set label = coalesce(:label, label),
        comments = coalesce(:comments, comments), kernel = coalesce(:kernel, kernel),
        memory_limit = coalesce(:memory_limit, memory_limit),
        run_level = coalesce(:run_level, run_level), virt_mode = coalesce(:virt_mode, virt_mode),
        root_device = coalesce(:root_device, root_device), helpers = :helpers, updated = :now
    where id = :config_id
    """
)


async def insert(
    db: Queries, compute_id: int, values: Mapping[str, object], helpers: Helpers, now: datetime
) -> int:
    row = {
        **values,
        "compute_id": compute_id,
        "helpers": orjson.dumps(helpers).decode(),
        "now": now,
    }
    config_id: int = await db.fetchval(*_INSERT.of(**row))
    return config_id


async def update(
    db: Queries, config_id: int, changes: Mapping[str, object], helpers: Helpers, now: datetime
) -> None:
    """Change the columns that have a value."""
    row = {
        **changes,
        "config_id": config_id,
        "helpers": orjson.dumps(helpers).decode(),
        "now": now,
    }
    await db.execute(*_UPDATE.of(**row))


async def delete(db: Queries, config_id: int) -> None:
    """The config; nothing is the config of the instance's last boot then, if it was this."""
    await db.execute("delete from compute_config where id = $1", config_id)


async def touch(db: Queries, config_id: int, now: datetime) -> None:
    await db.execute("update compute_config set updated = $2 where id = $1", config_id, now)


async def slots_taken(db: Queries, config_id: int) -> list[Slot]:
    """Where the config has something."""
    rows = await db.fetch(
        "select slot from compute_config_device where config_id = $1 order by slot", config_id
    )
    return [row["slot"] for row in rows]


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


async def remove_volume(db: Queries, compute_id: int, volume_id: int) -> None:
    """Take a volume from all configs of an instance."""
    await db.execute(
        """
        delete from compute_config_device d using compute_config c
        where c.id = d.config_id and c.compute_id = $1 and d.volume_id = $2
        """,
        compute_id,
        volume_id,
    )


async def boots_with(db: Queries, compute_id: int, volume_id: int, unnamed: bool = True) -> bool:
    """Whether a guest that runs has the volume: the config of its boot names it, or none does.

    The rescue system has all volumes of its instance. `unnamed` is the answer when none does.
    """
    has: bool = await db.fetchval(
        """
        select coalesce(bool_or(i.rescued or c.id = i.config_id), $3)
        from compute_instance i
        join compute_config c on c.compute_id = i.id
        join compute_config_device d on d.config_id = c.id
        where i.id = $1 and d.volume_id = $2
        """,
        compute_id,
        volume_id,
        unnamed,
    )
    return has


async def volume_slots(db: Queries, volume_ids: Sequence[int]) -> list[VolumeSlot]:
    """Slots that name any of the volumes."""
    rows = await db.fetch(
        """
        select c.compute_id, d.config_id, d.volume_id
        from compute_config_device d join compute_config c on c.id = d.config_id
        where d.volume_id = any($1) order by d.volume_id, d.config_id
        """,
        volume_ids,
    )
    return [VolumeSlot(**row) for row in rows]


def config_entity(compute_id: int, config: ConfigName) -> Entity:
    path = f"/compute/instances/{compute_id}/configs/{{id}}"
    return EntityKind(name="compute_config", path=path).entity(config.id, config.label)
