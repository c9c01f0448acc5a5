"""Whole configs, to be written again: for a clone, or from a backup."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import BaseModel, TypeAdapter

from roost.resources.compute.configs import copy_queries
from roost.resources.compute.configs.records import Helpers, RunLevel, VirtMode
from roost.resources.compute.engine import Slot
from roost.resources.compute.interfaces import Purpose
from roost.store import Queries


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
    return CONFIGS.validate_json(await copy_queries.read(db, compute_id, config_ids))


async def delete_all(db: Queries, compute_id: int) -> None:
    """Every config of an instance."""
    await copy_queries.delete_all(db, compute_id)


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
    return [
        await copy_queries.write(
            db,
            compute_id,
            config.model_dump_json(exclude={"disks", "booted"}),
            {slot: disks[disk] for slot, disk in config.disks.items() if disk in disks},
            now.replace(microsecond=0),
        )
        for config in configs
    ]
