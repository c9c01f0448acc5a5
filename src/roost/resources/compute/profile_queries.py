"""SQL of what an instance gets with an image: disks, and a config that names them."""

from dataclasses import dataclass
from datetime import datetime

from roost.resources.compute.configs.interface_rules import INTERFACE_COLUMNS, INTERFACE_TYPES
from roost.store import Queries
from roost.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Profile:
    """Rows to insert; sizes in MB."""

    compute_id: int
    now: datetime
    image: str
    disk_label: str
    disk_size: int
    setup: bytes
    swap_label: str
    swap_size: int
    config_label: str
    kernel: str
    helpers: str
    """JSON."""
    interfaces: str
    """JSON."""


_INSERT = Statement(
    f"""
    with config as (
        insert into compute_config (compute_id, label, kernel, helpers, created, updated)
        values (:compute_id, :config_label, :kernel, :helpers, :now, :now) returning id
    ), root as (
        insert into compute_disk (compute_id, label, status, size, filesystem, image, setup,
            created, updated)
        values (:compute_id, :disk_label, 'not ready', :disk_size, 'ext4', :image, :setup,
            :now, :now)
        returning id
    ), swap as (
        insert into compute_disk (compute_id, label, status, size, filesystem, created, updated)
        select :compute_id, :swap_label, 'not ready', :swap_size::int, 'swap', :now, :now
        where :swap_size > 0 returning id
    ), slots as (
        insert into compute_config_device (config_id, slot, disk_id)
        select config.id, 'sda', root.id from config, root
        union all
        select config.id, 'sdb', swap.id from config, swap
    ), interfaces as (
        insert into compute_interface (config_id, position, {INTERFACE_COLUMNS})
        select config.id, position, {INTERFACE_COLUMNS}
        from config, rows from (json_to_recordset(:interfaces) as ({INTERFACE_TYPES}))
            with ordinality as given ({INTERFACE_COLUMNS}, position)
    )
    select id from config
    """  # noqa: S608 - constants
)


async def insert(db: Queries, profile: Profile) -> int:
    """The config's id. The image's disk is sda, the swap, if there is any, sdb."""
    config_id: int = await db.fetchval(*_INSERT.of(profile))
    return config_id
