"""SQL that changes configs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.configs.records import Helpers, VirtMode
from roost.resources.compute.engine import Slot
from roost.store import Queries
from roost.store.statement import Statement


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
