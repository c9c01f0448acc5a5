"""SQL of configs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.core.lists import listing_of
from roost.resources.compute.configs.records import ConfigRow, Helpers, InterfaceRow, VirtMode
from roost.resources.compute.engine import Slot
from roost.resources.compute.interface_bodies import Purpose
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, changed

_RUNS = "i.status in ('running', 'rebooting', 'shutting_down') and not i.rescued"
ACTIVE = f"coalesce(i.config_id = c.id and {_RUNS}, false)"
"""SQL of whether the guest of the instance `i` runs with its config `c`."""


def nats_of(compute_id: str, address: str) -> str:
    """SQL of what a public address of an instance stands for in a VPC: in the config of its last
    boot, else the oldest one."""
    return f"""
        select host(n.address) as address, n.subnet_id, n.vpc_id
        from compute_interface n join compute_config c on c.id = n.config_id
        join compute_instance i on i.id = c.compute_id
        where i.id = {compute_id} and n.nat_1_1 = {address}::inet
        order by i.config_id is not distinct from c.id desc, c.id limit 1
        """  # noqa: S608 - constants


_PRIMARY = """
    (f."primary" or f.purpose <> 'vlan' and not exists (
        select from compute_interface o where o.config_id = f.config_id
            and (o."primary" or (o.purpose <> 'vlan' and o.position < f.position))))
    """

_SLOTS = ", ".join(
    f"(array_agg(device) filter (where slot = 'sd{n}'))[1] as sd{n}" for n in "abcdefgh"
)

INTERFACES = listing_of(
    InterfaceRow,
    source="""
        compute_interface f join compute_config c on c.id = f.config_id
        join compute_instance i on i.id = c.compute_id
        """,
    scope="i.account_id = $1 and i.id = $2 and c.id = $3",
    key="f.id",
    sql={
        "active": ACTIVE,
        "primary": _PRIMARY,
        "ipv4": """
            case when f.purpose = 'vpc' then (select row_to_json(place) from (select
                host(f.address) as vpc, host(f.nat_1_1) as nat_1_1) place) end
            """,
        "ip_ranges": "to_json(f.ip_ranges)",
    },
)

CONFIGS = listing_of(
    ConfigRow,
    source="compute_config c join compute_instance i on i.id = c.compute_id",
    scope="i.account_id = $1 and c.compute_id = $2",
    key="c.id",
    sql={
        "interfaces": f"""
            (select coalesce(json_agg(
                (select row_to_json(record) from (select {INTERFACES.record}) record)
                order by f.position), '[]')
            from compute_interface f where f.config_id = c.id)
            """,  # noqa: S608 - constants
        "devices": f"""
            (select row_to_json(slots) from (select {_SLOTS} from (
                select d.slot,
                    (select row_to_json(it) from (select d.disk_id, d.volume_id) it) as device
                from compute_config_device d where d.config_id = c.id) d) slots)
            """,  # noqa: S608 - constants
        "initrd": "null",
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


@query("select id, label from compute_config where compute_id = $1 order by id")
async def names(db: Queries, compute_id: int) -> list[ConfigName]:
    """The configs of an instance, by id."""


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
_COLUMNS = (
    "label",
    "comments",
    "kernel",
    "memory_limit",
    "run_level",
    "virt_mode",
    "root_device",
)
_UPDATE = Statement(
    f"""
    update compute_config set {changed(*_COLUMNS)}, helpers = :helpers, updated = :now
    where id = :config_id
    """  # noqa: S608 - constants
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


@query("delete from compute_config where id = $1")
async def delete(db: Queries, config_id: int) -> None:
    """The config; nothing is the config of the instance's last boot then, if it was this."""


@query("update compute_config set updated = $2 where id = $1")
async def touch(db: Queries, config_id: int, now: datetime) -> None: ...


def config_entity(compute_id: int, config: ConfigName) -> Entity:
    path = f"/compute/instances/{compute_id}/configs/{{id}}"
    return EntityKind(name="compute_config", path=path).entity(config.id, config.label)
