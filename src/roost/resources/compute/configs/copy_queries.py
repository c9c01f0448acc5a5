"""SQL of whole configs, to be written again: for a clone, or from a backup."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import BaseModel, TypeAdapter

from roost.resources.compute.configs.records import Helpers, RunLevel, VirtMode
from roost.resources.compute.engine import Slot
from roost.resources.compute.interface_bodies import Purpose
from roost.store import Queries
from roost.store.query import query


class SavedInterface(BaseModel):
    purpose: Purpose
    label: str | None
    ipam_address: str | None
    primary: bool


class SavedConfig(BaseModel):
    """A config without its volumes, which are in one place only."""

    label: str
    comments: str
    kernel: str
    memory_limit: int
    run_level: RunLevel
    virt_mode: VirtMode
    root_device: str
    helpers: Helpers
    interfaces: list[SavedInterface]
    disks: dict[Slot, int]
    booted: bool = False
    """Whether the last boot was with it."""


CONFIGS = TypeAdapter(list[SavedConfig])


async def read(
    db: Queries, compute_id: int, config_ids: Collection[int] | None = None
) -> list[SavedConfig]:
    """Those of the instance, or those of them that are named, by id."""
    found: str = await db.fetchval(
        """
        select coalesce(json_agg(saved order by id), '[]') from (
            select c.id, c.label, c.comments, c.kernel, c.memory_limit, c.run_level, c.virt_mode,
                c.root_device, c.helpers,
                (select coalesce(json_agg(json_build_object('purpose', f.purpose, 'label', f.label,
                        'ipam_address', f.ipam_address, 'primary', f."primary")
                        order by f.position), '[]')
                    from compute_interface f where f.config_id = c.id) as interfaces,
                (select coalesce(json_object_agg(d.slot, d.disk_id), '{}')
                    from compute_config_device d
                    where d.config_id = c.id and d.disk_id is not null) as disks,
                i.config_id is not distinct from c.id as booted
            from compute_config c join compute_instance i on i.id = c.compute_id
            where c.compute_id = $1 and ($2::bigint[] is null or c.id = any($2))) saved
        """,
        compute_id,
        None if config_ids is None else list(config_ids),
    )
    return CONFIGS.validate_json(found)


_WRITE = """
    with config as (
        insert into compute_config (compute_id, label, comments, kernel, memory_limit,
            run_level, virt_mode, root_device, helpers, created, updated)
        select $1, label, comments, kernel, memory_limit, run_level, virt_mode, root_device,
            helpers, $3, $3
        from json_to_record($2) as (label text, comments text, kernel text, memory_limit int,
            run_level text, virt_mode text, root_device text, helpers json)
        returning id
    ), slots as (
        insert into compute_config_device (config_id, slot, disk_id)
        select config.id, given.slot, given.disk_id
        from config, unnest($4::text[], $5::bigint[]) as given (slot, disk_id)
    ), interfaces as (
        insert into compute_interface (config_id, position, purpose, label, ipam_address,
            "primary")
        select config.id, given.position, given.purpose, given.label, given.ipam_address,
            given."primary"
        from config, rows from (json_to_recordset($2::json -> 'interfaces') as
                (purpose text, label text, ipam_address text, "primary" boolean))
            with ordinality as given (purpose, label, ipam_address, "primary", position)
    )
    select id from config
"""
"""From the JSON of a SavedConfig, with disks at its slots."""


async def write(
    db: Queries,
    compute_id: int,
    configs: Sequence[SavedConfig],
    disks: Mapping[int, int],
    now: datetime,
) -> list[int]:
    """Give configs to an instance; returns their ids.

    `disks` are the instance's by those that were saved; slots of others stay empty.
    """
    ids = []
    for config in configs:
        text = config.model_dump_json(exclude={"disks", "booted"})
        held = {slot: disks[disk] for slot, disk in config.disks.items() if disk in disks}
        at = now.replace(microsecond=0)
        ids.append(await db.fetchval(_WRITE, compute_id, text, at, list(held), list(held.values())))
    return ids


@query("delete from compute_config where compute_id = $1")
async def delete_all(db: Queries, compute_id: int) -> None: ...
